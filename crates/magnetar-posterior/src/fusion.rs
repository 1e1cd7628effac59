//! Fusing posteriors of one TX seen from several RX poses, on one common grid.

use crate::volume::check;
use crate::{PosteriorError, Volume};

/// Fused TX-position distributions, H x W each.
#[derive(Debug, Clone, PartialEq)]
pub struct Fused {
    /// Product of the XY marginals, normalised: heading is forgotten before fusion.
    pub early: Vec<f64>,
    /// Sum over headings of the product of the joints, normalised: one heading must explain every view.
    pub late: Vec<f64>,
    /// Common-heading compatibility: sum over headings of the product of the conditionals p_n(d | i, j), in [0, 1].
    pub kappa: Vec<f64>,
    /// The fused joint (product of the joints), normalised, D x H x W.
    pub joint: Vec<f64>,
}

/// Fuses conditionally independent observations under a uniform prior, in log space.
///
/// # Errors
/// With no posterior, with grids that differ, or when the posteriors exclude one another.
pub fn fuse(posteriors: &[Volume]) -> Result<Fused, PosteriorError> {
    let first = posteriors.first().ok_or(PosteriorError::NothingToFuse)?;
    let size = first.size();
    for p in posteriors {
        if p.size() != size {
            check("a posterior on another grid", size.len(), p.size().len())?;
            return Err(PosteriorError::Shape { what: "rows of a posterior", expected: size.rows, got: p.size().rows });
        }
    }
    let plane = size.rows * size.columns;
    let mut log_early = vec![0.0; plane];
    let mut log_joint = vec![0.0; size.len()];
    for p in posteriors {
        for (sum, m) in log_early.iter_mut().zip(p.position_marginal()) {
            *sum += libm::log(m);
        }
        for (sum, m) in log_joint.iter_mut().zip(p.mass()) {
            *sum += libm::log(f64::from(*m));
        }
    }
    let mut log_late = vec![f64::NEG_INFINITY; plane];
    for (cell, late) in log_late.iter_mut().enumerate() {
        *late = log_sum_exp((0..size.headings).map(|d| log_joint[d * plane + cell]));
    }
    let kappa = log_late
        .iter()
        .zip(&log_early)
        .map(|(late, early)| if early.is_finite() { libm::exp(late - early).clamp(0.0, 1.0) } else { 0.0 })
        .collect();
    let joint = normalise(&log_joint).ok_or(PosteriorError::Conflict { order: "late" })?;
    let early = normalise(&log_early).ok_or(PosteriorError::Conflict { order: "early" })?;
    let late = normalise(&log_late).ok_or(PosteriorError::Conflict { order: "late" })?;
    Ok(Fused { early, late, kappa, joint })
}

impl Fused {
    /// Common-heading compatibility where late fusion puts its mass, in [0, 1].
    #[must_use]
    pub fn mean_kappa(&self) -> f64 {
        self.late.iter().zip(&self.kappa).map(|(q, k)| q * k).sum()
    }
}

fn log_sum_exp(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let top = values.clone().fold(f64::NEG_INFINITY, f64::max);
    if top.is_finite() { top + libm::log(values.map(|v| libm::exp(v - top)).sum::<f64>()) } else { f64::NEG_INFINITY }
}

fn normalise(logs: &[f64]) -> Option<Vec<f64>> {
    let total = log_sum_exp(logs.iter().copied());
    total.is_finite().then(|| logs.iter().map(|l| libm::exp(l - total)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::small_support;
    use magnetar_scene::Pose;

    fn volume(weight: impl Fn(usize, usize) -> f64) -> Volume {
        let s = small_support();
        let mask = s.mask(&Pose::new(50.0, 0.0, 0.0, 0.0));
        let weights: Vec<f64> = (0..96).map(|n| weight(n / 12, n % 12)).collect();
        Volume::from_weights(s.size(), &mask, &weights).unwrap()
    }

    #[test]
    fn one_view_fuses_to_its_marginal_both_ways() {
        let v = volume(|d, c| (1 + d * c) as f64);
        let fused = fuse(std::slice::from_ref(&v)).unwrap();
        for ((early, late), m) in fused.early.iter().zip(&fused.late).zip(v.position_marginal()) {
            assert!((early - m).abs() < 1e-6 && (late - m).abs() < 1e-6);
        }
        assert!(fused.kappa.iter().all(|k| (k - 1.0).abs() < 1e-6));
    }

    #[test]
    fn late_forbids_what_needs_two_headings() {
        // Cell 0 is seen with heading 0 by one view and heading 4 by the other; cell 1 with heading 2 by both.
        let a = volume(|d, c| f64::from(u8::from((d, c) == (0, 0) || (d, c) == (2, 1))));
        let b = volume(|d, c| f64::from(u8::from((d, c) == (4, 0) || (d, c) == (2, 1))));
        let fused = fuse(&[a, b]).unwrap();
        assert!((fused.early[0] - 0.5).abs() < 1e-9 && (fused.early[1] - 0.5).abs() < 1e-9);
        assert_eq!(fused.late[0], 0.0);
        assert!((fused.late[1] - 1.0).abs() < 1e-9);
        assert_eq!((fused.kappa[0], fused.kappa[1]), (0.0, 1.0));
        assert!((fused.joint.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn independent_heading_makes_both_orders_equal() {
        let a = volume(|_, c| 1.0 + c as f64);
        let b = volume(|_, c| 20.0 - c as f64);
        let fused = fuse(&[a, b]).unwrap();
        for ((e, l), k) in fused.early.iter().zip(&fused.late).zip(&fused.kappa) {
            assert!((e - l).abs() < 1e-7 && (k - 0.125).abs() < 1e-6);
        }
    }

    #[test]
    fn conflict_and_nothing_are_errors_not_nan() {
        let a = volume(|_, c| f64::from(u8::from(c == 0)));
        let b = volume(|_, c| f64::from(u8::from(c == 1)));
        assert!(matches!(fuse(&[a, b]), Err(PosteriorError::Conflict { .. })));
        assert!(matches!(fuse(&[]), Err(PosteriorError::NothingToFuse)));
    }
}
