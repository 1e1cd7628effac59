//! Convolution as a product of matrices.

use super::product::product;
use crate::Array;

/// A kernel and the images it goes over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kernel {
    channels: usize,
    rows: usize,
    columns: usize,
    pub(crate) outputs: usize,
    side: usize,
    stride: usize,
}

impl Kernel {
    /// Of `x[b, c, h, w]` and `weight[o, c, k, k]`.
    pub(crate) fn new(x: &Array, weight: &Array, stride: usize) -> Self {
        let [_, channels, rows, columns] = *x.shape() else { panic!("[b, c, h, w] is expected") };
        let [outputs, _, side, _] = *weight.shape() else { panic!("[o, c, k, k] is expected") };
        Self { channels, rows, columns, outputs, side, stride }
    }

    /// Rows and columns of an output.
    fn high_and_wide(&self) -> (usize, usize) {
        (self.rows.div_ceil(self.stride), self.columns.div_ceil(self.stride))
    }

    /// Products that are summed for an output.
    pub(crate) fn terms(&self) -> usize {
        self.channels * self.side * self.side
    }

    /// Places of an output.
    pub(crate) fn places(&self) -> usize {
        self.high_and_wide().0 * self.high_and_wide().1
    }

    /// The images, one after the other.
    pub(crate) fn images<'a>(&self, x: &'a Array) -> impl Iterator<Item = &'a [f32]> + use<'a> {
        x.values().chunks_exact(self.channels * self.rows * self.columns)
    }

    /// Calls `meet` with runs of a patch and what its term meets of the image: where either begins and how many places
    /// there are. Nothing is called beyond the edges.
    fn runs(&self, mut meet: impl FnMut(usize, usize, usize)) {
        let ((high, wide), margin) = (self.high_and_wide(), self.side / 2);
        for term in 0..self.terms() {
            let (channel, offset) = (term / (self.side * self.side), term % (self.side * self.side));
            let (down, right) = (offset / self.side, offset % self.side);
            // Outputs whose column lies within the image.
            let first = margin.saturating_sub(right).div_ceil(self.stride);
            let end = (self.columns + margin - right).div_ceil(self.stride).min(wide);
            for i in 0..high {
                let row = (i * self.stride + down).checked_sub(margin).filter(|row| *row < self.rows);
                if let Some(row) = row.filter(|_| first < end) {
                    let column = first * self.stride + right - margin;
                    let from = (channel * self.rows + row) * self.columns + column;
                    meet((term * high + i) * wide + first, from, end - first);
                }
            }
        }
    }

    /// `[terms, places]`: what each term of the kernel meets, output by output; zeros beyond the edges.
    pub(crate) fn patches(&self, image: &[f32]) -> Vec<f32> {
        let mut patches = vec![0f32; self.terms() * self.places()];
        self.runs(|to, from, count| {
            let met = image[from..].iter().step_by(self.stride);
            patches[to..to + count].iter_mut().zip(met).for_each(|(patch, value)| *patch = *value);
        });
        patches
    }

    /// The sums, pixel by pixel, of what patches hold of it.
    pub(crate) fn unpatched(&self, patches: &[f32]) -> Vec<f32> {
        let mut image = vec![0f32; self.channels * self.rows * self.columns];
        self.runs(|to, from, count| {
            let met = image[from..].iter_mut().step_by(self.stride);
            patches[to..to + count].iter().zip(met).for_each(|(patch, value)| *value += patch);
        });
        image
    }
}

/// Convolution of `x[b, c, h, w]` with `weight[o, c, k, k]`; see [`crate::Engine::convolve`].
pub(super) fn convolve(x: &Array, weight: &Array, bias: &Array, stride: usize) -> Array {
    let kernel = Kernel::new(x, weight, stride);
    let ((high, wide), places) = (kernel.high_and_wide(), kernel.places());
    let mut y = Vec::with_capacity(x.shape()[0] * kernel.outputs * places);
    for image in kernel.images(x) {
        let first = y.len();
        y.extend(bias.values().iter().flat_map(|bias| std::iter::repeat_n(*bias, places)));
        product(kernel.outputs, kernel.terms(), places, weight.values(), &kernel.patches(image), &mut y[first..]);
    }
    Array::new(&[x.shape()[0], kernel.outputs, high, wide], y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_sum_over_the_kernel_with_zeros_beyond_the_edges() {
        let number = |n: usize| ((n * 37 + 11) % 19) as f32 / 9.0 - 1.0;
        for (kernel, stride, rows, columns) in [(3, 1, 5, 4), (3, 2, 5, 4), (3, 2, 7, 9), (1, 1, 3, 3)] {
            let (images, channels, outputs) = (2, 3, 2);
            let x = Array::new(
                &[images, channels, rows, columns],
                (0..images * channels * rows * columns).map(number).collect(),
            );
            let terms = channels * kernel * kernel;
            let weight =
                Array::new(&[outputs, channels, kernel, kernel], (5..5 + outputs * terms).map(number).collect());
            let bias = Array::new(&[outputs], vec![0.5, -0.25]);
            let y = convolve(&x, &weight, &bias, stride);
            let (high, wide) = (y.shape()[2], y.shape()[3]);
            assert_eq!([high, wide], [rows.div_ceil(stride), columns.div_ceil(stride)]);
            let at = |b: usize, c: usize, i: isize, j: isize| {
                let inside = (0..rows as isize).contains(&i) && (0..columns as isize).contains(&j);
                if inside { x.values()[((b * channels + c) * rows + i as usize) * columns + j as usize] } else { 0.0 }
            };
            for (n, value) in y.values().iter().enumerate() {
                let (b, o) = (n / (outputs * high * wide), n / (high * wide) % outputs);
                let (i, j) = (n / wide % high * stride, n % wide * stride);
                let mut sum = bias.values()[o];
                for c in 0..channels {
                    for (down, right) in (0..kernel).flat_map(|d| (0..kernel).map(move |r| (d, r))) {
                        let shift = |place: usize, by: usize| (place + by) as isize - (kernel / 2) as isize;
                        let w = weight.values()[((o * channels + c) * kernel + down) * kernel + right];
                        sum += w * at(b, c, shift(i, down), shift(j, right));
                    }
                }
                assert!((sum - value).abs() < 1e-5);
            }
        }
    }
}
