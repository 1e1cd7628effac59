//! A D x H x W distribution over candidate poses: the spatial posterior.

use crate::{Mask, PosteriorError, SupportSize};

/// A normalised posterior: mass of candidate (d, i, j) at flat index `(d H + i) W + j`.
#[derive(Debug, Clone, PartialEq)]
pub struct Volume {
    size: SupportSize,
    mass: Vec<f32>,
}

impl Volume {
    /// The uniform posterior over the valid candidates.
    ///
    /// # Errors
    /// When no candidate is valid or the mask is of another grid.
    pub fn uniform(size: SupportSize, mask: &Mask) -> Result<Self, PosteriorError> {
        Self::from_weights(size, mask, &vec![1.0; size.len()])
    }

    /// Normalises non-negative weights over the valid candidates; the others get exactly zero.
    ///
    /// # Errors
    /// When a shape differs, a valid weight is negative or not finite, or nothing is left.
    pub fn from_weights(size: SupportSize, mask: &Mask, weights: &[f64]) -> Result<Self, PosteriorError> {
        check("weights", size.len(), weights.len())?;
        let plane = size.rows * size.columns;
        check("mask", plane, mask.spatial().len())?;
        let mut total = 0.0;
        for (d, slice) in weights.chunks_exact(plane).enumerate() {
            for (n, w) in slice.iter().enumerate().filter(|(n, _)| mask.spatial()[*n]) {
                if !(w.is_finite() && *w >= 0.0) {
                    return Err(PosteriorError::Mass { index: d * plane + n, mass: *w });
                }
                total += w;
            }
        }
        if !(total.is_finite() && total > 0.0) {
            return Err(PosteriorError::NoMass);
        }
        let scaled = |(w, valid): (&f64, &bool)| if *valid { (w / total) as f32 } else { 0.0 };
        let slices = weights.chunks_exact(plane);
        Ok(Self { size, mass: slices.flat_map(|slice| slice.iter().zip(mask.spatial()).map(scaled)).collect() })
    }

    /// The joint softmax of scores over the valid candidates, in place of the masked ones zero.
    ///
    /// # Errors
    /// As [`Volume::from_weights`]; a score may be minus infinity but not NaN.
    pub fn from_scores(size: SupportSize, mask: &Mask, scores: &[f64]) -> Result<Self, PosteriorError> {
        check("scores", size.len(), scores.len())?;
        let plane = size.rows * size.columns;
        let valid = || scores.iter().enumerate().filter(|(n, _)| mask.is_valid(n % plane));
        let top = valid().map(|(_, s)| *s).fold(f64::NEG_INFINITY, f64::max);
        if !top.is_finite() {
            return Err(PosteriorError::NoMass);
        }
        let weights: Vec<f64> = scores.iter().map(|s| libm::exp(s - top)).collect();
        Self::from_weights(size, mask, &weights)
    }

    /// D, H and W.
    #[must_use]
    pub fn size(&self) -> SupportSize {
        self.size
    }

    /// The masses, flat.
    #[must_use]
    pub fn mass(&self) -> &[f32] {
        &self.mass
    }

    /// The H x W position marginal.
    #[must_use]
    pub fn position_marginal(&self) -> Vec<f64> {
        let plane = self.size.rows * self.size.columns;
        let mut sums = vec![0.0; plane];
        for slice in self.mass.chunks_exact(plane) {
            for (sum, m) in sums.iter_mut().zip(slice) {
                *sum += f64::from(*m);
            }
        }
        sums
    }

    /// The D heading marginal.
    #[must_use]
    pub fn heading_marginal(&self) -> Vec<f64> {
        let plane = self.size.rows * self.size.columns;
        self.mass.chunks_exact(plane).map(|slice| slice.iter().map(|m| f64::from(*m)).sum()).collect()
    }

    /// Flat index of the joint mode (the first of equals).
    #[must_use]
    pub fn mode(&self) -> usize {
        let mut best = 0;
        for (n, m) in self.mass.iter().enumerate() {
            if *m > self.mass[best] {
                best = n;
            }
        }
        best
    }
}

pub(crate) fn check(what: &'static str, expected: usize, got: usize) -> Result<(), PosteriorError> {
    if expected == got { Ok(()) } else { Err(PosteriorError::Shape { what, expected, got }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{small_support, support};
    use magnetar_scene::Pose;
    use proptest::prelude::*;

    #[test]
    fn masked_candidates_hold_exactly_nothing() {
        let support = small_support();
        let mask = support.mask(&Pose::new(support.xs()[1], support.ys()[0], 1.0, 0.0));
        let volume = Volume::uniform(support.size(), &mask).unwrap();
        assert_eq!(volume.mass()[1], 0.0);
        let valid = mask.count() as f32;
        assert!(volume.mass().iter().filter(|m| **m > 0.0).all(|m| (m * valid - 1.0).abs() < 1e-6));
    }

    #[test]
    fn hostile_weights_are_refused() {
        let support = small_support();
        let mask = support.mask(&Pose::new(9.0, 9.0, 1.0, 0.0));
        let n = support.size().len();
        for bad in [f64::NAN, f64::INFINITY, -1.0] {
            let mut weights = vec![1.0; n];
            weights[3] = bad;
            assert!(Volume::from_weights(support.size(), &mask, &weights).is_err());
        }
        assert!(Volume::from_weights(support.size(), &mask, &vec![0.0; n]).is_err());
        assert!(Volume::from_weights(support.size(), &mask, &[1.0]).is_err());
        assert!(Volume::from_scores(support.size(), &mask, &vec![f64::NEG_INFINITY; n]).is_err());
    }

    #[test]
    fn marginals_sum_the_other_axes() {
        let support = small_support();
        let mask = support.mask(&Pose::new(9.0, 9.0, 1.0, 0.0));
        let weights: Vec<f64> = (0..support.size().len()).map(|n| n as f64).collect();
        let volume = Volume::from_weights(support.size(), &mask, &weights).unwrap();
        assert_eq!(volume.mode(), weights.len() - 1);
        assert!((volume.position_marginal().iter().sum::<f64>() - 1.0).abs() < 1e-6);
        assert!((volume.heading_marginal().iter().sum::<f64>() - 1.0).abs() < 1e-6);
        assert!(volume.heading_marginal().windows(2).all(|w| w[0] < w[1]));
    }

    proptest! {
        #[test]
        fn a_softmax_is_a_distribution(scale in 0.0f64..300.0, seed in 0u64..1000) {
            let support = support();
            let mask = support.mask(&Pose::new(0.5, 0.5, 1.0, 0.0));
            let scores: Vec<f64> =
                (0..support.size().len()).map(|n| scale * ((n as f64 + seed as f64) * 0.37).sin()).collect();
            let volume = Volume::from_scores(support.size(), &mask, &scores).unwrap();
            let sum: f64 = volume.mass().iter().map(|m| f64::from(*m)).sum();
            prop_assert!((sum - 1.0).abs() < 1e-6);
            prop_assert!(volume.mass().iter().all(|m| *m >= 0.0));
        }
    }
}
