//! One observation: a complex number for every bin and channel.

use num_complex::Complex32;

use crate::array::ELEMENTS;

/// Bins that share one coarse phasor in the sum over paths; channels are padded to a multiple of it.
pub(crate) const GROUP: usize = 16;

/// A block of `bins` x 2 complex bins, stored planar (real and imaginary parts of each channel apart), which is what
/// vector units like. Files and tensors hold it as `[bins][2]` complex64, channel last.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    bins: usize,
    /// Real parts, then imaginary parts; each channel padded with zeros to a multiple of `GROUP`.
    pub(crate) re: [Vec<f32>; ELEMENTS],
    pub(crate) im: [Vec<f32>; ELEMENTS],
}

impl Observation {
    /// A block of zeros.
    #[must_use]
    pub fn zeros(bins: usize) -> Self {
        let channel = || vec![0.0; bins.next_multiple_of(GROUP)];
        Self { bins, re: [channel(), channel()], im: [channel(), channel()] }
    }

    /// From the file layout `[bins][2]`, channel last; an odd last element is ignored.
    #[must_use]
    pub fn from_interleaved(elements: &[Complex32]) -> Self {
        let mut block = Self::zeros(elements.len() / ELEMENTS);
        for (k, pair) in elements.chunks_exact(ELEMENTS).enumerate() {
            for (channel, z) in pair.iter().enumerate() {
                block.re[channel][k] = z.re;
                block.im[channel][k] = z.im;
            }
        }
        block
    }

    /// Into the file layout `[bins][2]`, channel last; elements beyond the shorter of the two are left alone.
    pub fn write_interleaved(&self, elements: &mut [Complex32]) {
        let (re, im) = (&self.re, &self.im);
        let first = re[0].iter().zip(&im[0]);
        let second = re[1].iter().zip(&im[1]);
        for (pair, (a, b)) in elements.chunks_exact_mut(ELEMENTS).zip(first.zip(second)).take(self.bins) {
            pair[0] = Complex32::new(*a.0, *a.1);
            pair[1] = Complex32::new(*b.0, *b.1);
        }
    }

    /// Number of bins.
    #[must_use]
    pub fn bins(&self) -> usize {
        self.bins
    }

    /// Real parts of a channel (0 or 1).
    #[must_use]
    pub fn re(&self, channel: usize) -> &[f32] {
        &self.re[channel][..self.bins]
    }

    /// Imaginary parts of a channel (0 or 1).
    #[must_use]
    pub fn im(&self, channel: usize) -> &[f32] {
        &self.im[channel][..self.bins]
    }

    /// The planes, to be written: real and imaginary parts of channel 0, then of channel 1.
    pub fn planes_mut(&mut self) -> [&mut [f32]; 2 * ELEMENTS] {
        let [re_0, re_1] = &mut self.re;
        let [im_0, im_1] = &mut self.im;
        [re_0, im_0, re_1, im_1].map(|plane| &mut plane[..self.bins])
    }

    /// Adds another block, bin by bin; bins that only one of them has stay as they are.
    pub fn add(&mut self, other: &Self) {
        let parts = other.re.iter().chain(&other.im);
        for (part, other) in self.re.iter_mut().chain(&mut self.im).zip(parts) {
            for (x, y) in part.iter_mut().zip(other) {
                *x += y;
            }
        }
    }

    /// Bin `k` of a channel (0 or 1).
    #[must_use]
    pub fn get(&self, k: usize, channel: usize) -> Complex32 {
        Complex32::new(self.re(channel)[k], self.im(channel)[k])
    }

    /// Sum of the squared magnitudes of all bins of both channels.
    #[must_use]
    pub fn energy(&self) -> f64 {
        let parts = self.re.iter().chain(&self.im).flat_map(|part| part.as_chunks::<GROUP>().0);
        // Sixteen lanes of partial sums, in a fixed order, so that any vector width gives the same bits.
        let mut lanes = [0.0f64; GROUP];
        for group in parts {
            for (lane, x) in lanes.iter_mut().zip(group) {
                *lane += f64::from(*x) * f64::from(*x);
            }
        }
        lanes.iter().sum()
    }

    /// Makes the padding zero again.
    pub(crate) fn clear_padding(&mut self) {
        let bins = self.bins;
        for part in self.re.iter_mut().chain(&mut self.im) {
            part[bins..].fill(0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_layouts_hold_the_same_numbers() {
        let elements: Vec<_> = (0..2 * 22).map(|i| Complex32::new(i as f32, -(i as f32))).collect();
        let block = Observation::from_interleaved(&elements);
        assert_eq!(block.bins(), 22);
        assert_eq!(block.get(3, 1), Complex32::new(7.0, -7.0));
        let mut back = vec![Complex32::default(); elements.len()];
        block.write_interleaved(&mut back);
        assert_eq!(back, elements);
        let energy: f64 = elements.iter().map(|z| f64::from(z.norm_sqr())).sum();
        assert_eq!(block.energy(), energy);
    }
}
