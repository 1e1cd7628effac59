//! Convolution as a product of matrices.
//!
//! An image with zeros around it, row after row, is its own matrix of patches: what a kernel's term meets at successive
//! outputs are successive numbers, from a place on that only the term decides. So nothing is copied out; the outputs between
//! the rows (where a kernel reaches over an edge) are computed and dropped. With a stride, patches are copied out.

use super::product::{Operand, product};
use super::sums::sum_in_lanes;
use crate::Array;

/// A kernel and the images it goes over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kernel {
    channels: usize,
    rows: usize,
    columns: usize,
    outputs: usize,
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
    fn terms(&self) -> usize {
        self.channels * self.side * self.side
    }

    /// Places of an output.
    fn places(&self) -> usize {
        self.high_and_wide().0 * self.high_and_wide().1
    }

    /// Columns of an image with zeros to its right, which are to the left of the next row as well.
    fn wide(&self) -> usize {
        self.columns + self.side / 2
    }

    /// Numbers of an output with what is between its rows, up to the end of the last.
    fn span(&self) -> usize {
        (self.rows - 1) * self.wide() + self.columns
    }

    /// `channels` planes with zeros around them, and where each term of a kernel over them begins.
    fn padded(&self, channels: usize, image: &[f32]) -> (Vec<f32>, Vec<usize>) {
        let (margin, wide) = (self.side / 2, self.wide());
        // Zeros above, below, and `margin` before the first row and after the last.
        let length = (self.rows + 2 * margin) * wide + 2 * margin;
        let mut padded = vec![0f32; channels * length];
        for (from, to) in image.chunks_exact(self.rows * self.columns).zip(padded.chunks_exact_mut(length)) {
            let to = to[margin + margin * wide..].chunks_mut(wide);
            from.chunks_exact(self.columns).zip(to).for_each(|(from, to)| to[..self.columns].copy_from_slice(from));
        }
        let square = self.side * self.side;
        let start = |t: usize| t / square * length + t % square / self.side * wide + t % self.side;
        (padded, (0..channels * square).map(start).collect())
    }

    /// Adds the convolution of `channels` planes with `weights[outputs, channels k k]` to `outputs` planes; stride 1.
    fn add_shifted(&self, weights: Operand<'_>, channels: usize, outputs: usize, image: &[f32], y: &mut [f32]) {
        let (padded, starts) = self.padded(channels, image);
        let span = self.span();
        let mut sums = vec![0f32; outputs * span];
        product(outputs, starts.len(), span, weights, Operand::rows_at(&padded, &starts), &mut sums);
        for (sums, y) in sums.chunks_exact(span).zip(y.chunks_exact_mut(self.rows * self.columns)) {
            for (sums, y) in sums.chunks(self.wide()).zip(y.chunks_exact_mut(self.columns)) {
                y.iter_mut().zip(sums).for_each(|(y, sum)| *y += sum);
            }
        }
    }

    /// Convolution of an image, added to what `y` holds.
    fn forward(&self, image: &[f32], weight: &[f32], y: &mut [f32]) {
        let weights = Operand::rows(weight, self.terms());
        if self.stride == 1 {
            return self.add_shifted(weights, self.channels, self.outputs, image, y);
        }
        let patches = self.patches(image);
        product(self.outputs, self.terms(), self.places(), weights, Operand::rows(&patches, self.places()), y);
    }

    /// From the gradient of an output, what is added to that of the weights.
    fn back_to_weights(&self, image: &[f32], g: &[f32], gradient: &mut [f32]) {
        if self.stride == 1 {
            let (padded, starts) = self.padded(self.channels, image);
            let span = self.span();
            let mut spread = vec![0f32; self.outputs * span];
            for (g, spread) in g.chunks_exact(self.rows * self.columns).zip(spread.chunks_exact_mut(span)) {
                let to = spread.chunks_mut(self.wide());
                g.chunks_exact(self.columns).zip(to).for_each(|(g, to)| to[..self.columns].copy_from_slice(g));
            }
            let patches = Operand::rows_at(&padded, &starts).turned();
            return product(self.outputs, span, self.terms(), Operand::rows(&spread, span), patches, gradient);
        }
        let patches = self.patches(image);
        let turned = Operand::rows(&patches, self.places()).turned();
        product(self.outputs, self.places(), self.terms(), Operand::rows(g, self.places()), turned, gradient);
    }

    /// From the gradient of an output, what is added to that of the image. `turned` is of [`Kernel::turned_weights`].
    fn back_to_image(&self, turned: &[f32], g: &[f32], gradient: &mut [f32]) {
        if self.stride == 1 {
            let weights = Operand::rows(turned, self.outputs * self.side * self.side);
            return self.add_shifted(weights, self.outputs, self.channels, g, gradient);
        }
        let mut patches = vec![0f32; self.terms() * self.places()];
        let weights = Operand::rows(turned, self.terms()).turned();
        product(self.terms(), self.outputs, self.places(), weights, Operand::rows(g, self.places()), &mut patches);
        self.add_unpatched(&patches, gradient);
    }

    /// Weights for the way back: with stride 1 those of the convolution that undoes the shifts, `[c, o, k, k]` with both
    /// sides of the kernel reversed; with another as they are.
    fn turned_weights(&self, weight: &[f32]) -> Vec<f32> {
        if self.stride != 1 {
            return weight.to_vec();
        }
        let square = self.side * self.side;
        let mut turned = vec![0f32; weight.len()];
        for (n, kernel) in weight.chunks_exact(square).enumerate() {
            let (o, c) = (n / self.channels, n % self.channels);
            let to = &mut turned[(c * self.outputs + o) * square..][..square];
            to.iter_mut().zip(kernel.iter().rev()).for_each(|(to, from)| *to = *from);
        }
        turned
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
    fn patches(&self, image: &[f32]) -> Vec<f32> {
        let mut patches = vec![0f32; self.terms() * self.places()];
        self.runs(|to, from, count| {
            let met = image[from..].iter().step_by(self.stride);
            patches[to..to + count].iter_mut().zip(met).for_each(|(patch, value)| *patch = *value);
        });
        patches
    }

    /// Adds to an image, pixel by pixel, what patches hold of it.
    fn add_unpatched(&self, patches: &[f32], image: &mut [f32]) {
        self.runs(|to, from, count| {
            let met = image[from..].iter_mut().step_by(self.stride);
            patches[to..to + count].iter().zip(met).for_each(|(patch, value)| *value += patch);
        });
    }

    /// The images, one after the other.
    fn images<'a>(&self, x: &'a Array) -> impl Iterator<Item = &'a [f32]> + use<'a> {
        x.values().chunks_exact(self.channels * self.rows * self.columns)
    }

    /// The gradient of the weights from that of all outputs.
    pub(crate) fn weight_gradient(&self, x: &Array, g: &[f32]) -> Vec<f32> {
        let mut gradient = vec![0.0; self.outputs * self.terms()];
        for (g, image) in g.chunks_exact(self.outputs * self.places()).zip(self.images(x)) {
            self.back_to_weights(image, g, &mut gradient);
        }
        gradient
    }

    /// The gradient of the biases from that of all outputs.
    pub(crate) fn bias_gradient(&self, g: &[f32]) -> Vec<f32> {
        let mut gradient = vec![0.0; self.outputs];
        for (n, plane) in g.chunks_exact(self.places()).enumerate() {
            gradient[n % self.outputs] += sum_in_lanes(plane, |_, v| v);
        }
        gradient
    }

    /// The gradient of the images from that of all outputs.
    pub(crate) fn image_gradient(&self, weight: &Array, g: &[f32]) -> Vec<f32> {
        let turned = self.turned_weights(weight.values());
        let (output, image) = (self.outputs * self.places(), self.channels * self.rows * self.columns);
        let mut gradient = vec![0f32; g.len() / output * image];
        for (g, gradient) in g.chunks_exact(output).zip(gradient.chunks_exact_mut(image)) {
            self.back_to_image(&turned, g, gradient);
        }
        gradient
    }
}

/// Convolution of `x[b, c, h, w]` with `weight[o, c, k, k]`; see [`crate::Engine::convolve`].
pub(super) fn convolve(x: &Array, weight: &Array, bias: &Array, stride: usize) -> Array {
    let kernel = Kernel::new(x, weight, stride);
    let ((high, wide), places) = (kernel.high_and_wide(), kernel.places());
    let mut y = vec![0f32; x.shape()[0] * kernel.outputs * places];
    for (image, y) in kernel.images(x).zip(y.chunks_exact_mut(kernel.outputs * places)) {
        y.chunks_exact_mut(places).zip(bias.values()).for_each(|(plane, bias)| plane.fill(*bias));
        kernel.forward(image, weight.values(), y);
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
