//! The uniform-referenced loss of the paper, for training elsewhere and for checking it.

use crate::volume::check;
use crate::{Mask, PosteriorError, SupportSize, Target};

/// `L_U = CE - log N_V` of scores (logits) against a target: zero for the uniform posterior, negative when better.
///
/// # Errors
/// When the shapes differ or no valid score is finite.
pub fn uniform_referenced_loss(
    size: SupportSize,
    mask: &Mask,
    scores: &[f64],
    target: &Target,
) -> Result<f64, PosteriorError> {
    check("scores", size.len(), scores.len())?;
    let plane = size.rows * size.columns;
    let valid = || scores.iter().enumerate().filter(|(n, _)| mask.is_valid(n % plane)).map(|(_, s)| *s);
    let top = valid().fold(f64::NEG_INFINITY, f64::max);
    if !top.is_finite() {
        return Err(PosteriorError::NoMass);
    }
    let mean = valid().map(|s| libm::exp(s - top)).sum::<f64>() / mask.count() as f64;
    let expected: f64 = target.voxels.iter().filter_map(|&(n, w)| scores.get(n).map(|s| w * s)).sum();
    Ok(top + libm::log(mean) - expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::small_open_support;
    use magnetar_scene::Pose;

    #[test]
    fn uniform_scores_lose_nothing_and_one_hot_scores_gain_log_n() {
        let (s, mask) = small_open_support();
        let truth = Pose::new(s.xs()[1], s.ys()[1], 1.0, s.heading(2));
        let target = Target::training(&s, &mask, &truth).unwrap();
        let n = s.size().len();
        assert!(uniform_referenced_loss(s.size(), &mask, &vec![7.0; n], &target).unwrap().abs() < 1e-12);
        let mut scores = vec![-1e3; n];
        scores[s.index(2, 1, 1)] = 0.0;
        let loss = uniform_referenced_loss(s.size(), &mask, &scores, &target).unwrap();
        assert!((loss + (n as f64).ln()).abs() < 1e-9, "{loss}");
    }
}
