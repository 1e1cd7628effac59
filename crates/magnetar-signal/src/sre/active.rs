//! Which bins carry signal, and how an observation is loaded.

#![allow(clippy::needless_range_loop, reason = "matrices and lanes read best by their indices")]

use std::f64::consts::TAU;
use std::ops::Range;

use num_complex::Complex;

use super::fit::ComponentFit;
use super::{MAX_ENERGY, SreError, SreOptions};
use crate::{Band, ConfigError};

/// The active bins: an unbroken span, perhaps with gaps inside.
#[derive(Debug, Clone)]
pub(super) struct ActiveBins {
    bins: usize,
    /// From the first to the last active bin.
    pub span: Range<usize>,
    /// Number of active bins.
    pub count: usize,
    /// Other bins inside the span, counted from its start.
    pub gaps: Vec<usize>,
    /// The bins that hold noise alone, without repetition.
    pub inactive: Vec<usize>,
    /// The bins that are not looked at, without repetition.
    excluded: Vec<usize>,
}

impl ActiveBins {
    /// Splits the bins of a band into active ones, ones of noise alone and ones that are not looked at.
    pub fn of(band: &Band, options: &SreOptions) -> Result<Self, ConfigError> {
        let bins = band.bins;
        let [inactive, excluded] = [&options.inactive_bins, &options.excluded_bins].map(|list| {
            let mut list = list.clone();
            list.sort_unstable();
            list.dedup();
            list
        });
        let is_active = |bin: &usize| inactive.binary_search(bin).is_err() && excluded.binary_search(bin).is_err();
        let first = (0..bins).find(is_active).unwrap_or(0);
        let last = (0..bins).rfind(is_active).unwrap_or(0);
        let span = first..last + 1;
        let gaps: Vec<usize> = span.clone().filter(|bin| !is_active(bin)).map(|bin| bin - first).collect();
        let count = bins - inactive.len() - excluded.len();
        let active = Self { bins, span, count, gaps, inactive, excluded };
        active.require(count >= 8, "at least 8 active bins".to_owned())?;
        Ok(active)
    }

    /// Whether at most a quarter of the span is empty: what filling the gaps with a prediction can bear.
    pub fn is_dense(&self) -> bool {
        4 * self.gaps.len() <= self.span.len()
    }

    /// An error about the bins that are left out unless `holds`.
    pub fn require(&self, holds: bool, expected: String) -> Result<(), ConfigError> {
        let key = if self.excluded.is_empty() { "sre.inactive_bins" } else { "sre.excluded_bins" };
        let out = self.bins - self.count;
        let found = format!("{out} of {} bins, {} of them between active ones", self.bins, self.gaps.len());
        ConfigError::require(holds, key, found, expected)
    }

    /// The largest distance that divides those of all active bins: 1 unless every so many bins are active at most.
    pub fn step(&self) -> usize {
        let active = (0..self.span.len()).filter(|bin| self.gaps.binary_search(bin).is_err());
        active.fold(0, greatest_common_divisor)
    }

    /// Centre of the span, bins from the first bin of the band.
    pub fn centre(&self) -> f64 {
        0.5 * (self.span.start + self.span.end - 1) as f64
    }

    /// Rms distance of the active bins from the centre of their span, bins.
    pub fn rms(&self) -> f64 {
        let active = self.span.clone().filter(|bin| self.gaps.binary_search(&(bin - self.span.start)).is_err());
        let (sum, count) = active.fold((0.0, 0.0), |(s, n), bin| (s + (bin as f64 - self.centre()).powi(2), n + 1.0));
        f64::sqrt(sum / count)
    }

    /// Checks a block and writes its active bins, scaled to unit noise variance and with empty gaps; returns the noise
    /// variance, which is `known` or estimated from the inactive bins.
    #[inline(always)]
    pub fn load(
        &self,
        block: &[[Complex<f32>; 2]],
        known: f64,
        out: &mut [[Complex<f32>; 2]],
    ) -> Result<f64, SreError> {
        if block.len() != self.bins {
            return Err(SreError::BinCount { expected: self.bins, found: block.len() });
        }
        let power = |x: &[Complex<f32>; 2]| {
            let [a, b] = x.map(|z| (f64::from(z.re), f64::from(z.im)));
            a.0 * a.0 + a.1 * a.1 + b.0 * b.0 + b.1 * b.1
        };
        // Four running sums: one alone would wait for its own additions.
        let mut sums = [0.0; 4];
        for four in block.chunks(4) {
            for (sum, x) in sums.iter_mut().zip(four) {
                *sum += power(x);
            }
        }
        let mut energy: f64 = sums.iter().sum();
        if !self.excluded.is_empty() {
            let used = |bin: &usize| self.excluded.binary_search(bin).is_err();
            energy = (0..block.len()).filter(used).map(|bin| power(&block[bin])).sum();
        }
        if !energy.is_finite() {
            for (bin, x) in block.iter().enumerate() {
                let used = self.excluded.binary_search(&bin).is_err();
                if let Some(channel) = x.iter().position(|z| !z.is_finite()).filter(|_| used) {
                    return Err(SreError::NotFinite { bin, channel });
                }
            }
        }
        let variance = if self.inactive.is_empty() || energy == 0.0 {
            known
        } else {
            self.inactive.iter().map(|&bin| power(&block[bin])).sum::<f64>() / (2 * self.inactive.len()) as f64
        };
        if variance <= 0.0 {
            return Err(SreError::NoNoise);
        }
        let scale = variance.sqrt().recip() as f32;
        let scaled = energy / variance;
        if !(scaled <= MAX_ENERGY && scale.is_finite()) {
            return Err(SreError::TooStrong { energy: scaled });
        }
        for (to, from) in out.iter_mut().zip(&block[self.span.clone()]) {
            *to = from.map(|z| z * scale);
        }
        for &gap in &self.gaps {
            out[gap] = [Complex::new(0.0, 0.0); 2];
        }
        Ok(variance)
    }

    /// Writes what the components predict into the gaps of a loaded block; returns the energy of the change.
    pub fn fill(&self, fit: &ComponentFit, len: usize, block: &mut [[Complex<f32>; 2]]) -> f64 {
        let centre = 0.5 * (self.span.len() - 1) as f64;
        let mut change = 0.0;
        for &gap in &self.gaps {
            let n = gap as f64 - centre;
            let mut value = [Complex::new(0.0, 0.0); 2];
            for i in 0..fit.count {
                let atom = fit.atom(i);
                for m in 0..2 {
                    let (im, re) = libm::sincos(-n * TAU * atom.delay[m] / len as f64);
                    value[m] += atom.gain[m] * Complex::new(re, im);
                }
            }
            for (old, new) in block[gap].iter_mut().zip(value) {
                let new = Complex::new(new.re as f32, new.im as f32);
                change += f64::from((new - *old).norm_sqr());
                *old = new;
            }
        }
        change
    }
}

/// The largest number that divides both; that of zero and a number is the number.
pub(crate) fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
