//! The truth as a distribution over candidates.

use std::f64::consts::TAU;

use magnetar_scene::Pose;

use crate::{Mask, PosteriorError, Support};

/// At most eight voxels with weights that sum to one.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// (flat index, weight), weights positive.
    pub voxels: Vec<(usize, f64)>,
}

impl Target {
    /// The evaluation target: bilinear in XY between the cell representatives, circular-linear in heading. A truth
    /// beyond the outermost representatives belongs to them alone. Masked voxels are left out and the rest rescaled.
    ///
    /// # Errors
    /// When the truth is outside the room or all its voxels are masked.
    pub fn evaluation(support: &Support, mask: &Mask, truth: &Pose) -> Result<Self, PosteriorError> {
        let (x, y) = (truth.position.x, truth.position.y);
        support.cell([x, y]).ok_or(PosteriorError::OutsideRoom { x, y })?;
        let columns = linear(support.xs(), x);
        let rows = linear(support.ys(), y);
        Self::product(support, mask, &rows, &columns, truth.heading)
    }

    /// The training target: the truth's own cell, heading split linearly over its two circular neighbours.
    ///
    /// # Errors
    /// As [`Target::evaluation`].
    pub fn training(support: &Support, mask: &Mask, truth: &Pose) -> Result<Self, PosteriorError> {
        let (x, y) = (truth.position.x, truth.position.y);
        let (i, j) = support.cell([x, y]).ok_or(PosteriorError::OutsideRoom { x, y })?;
        Self::product(support, mask, &[(i, 1.0)], &[(j, 1.0)], truth.heading)
    }

    fn product(
        support: &Support,
        mask: &Mask,
        rows: &[(usize, f64)],
        columns: &[(usize, f64)],
        heading: f64,
    ) -> Result<Self, PosteriorError> {
        let mut voxels = Vec::with_capacity(8);
        for (d, wd) in circular(support.size().headings, heading - support.first_heading()) {
            for &(i, wi) in rows {
                for &(j, wj) in columns {
                    let weight = wd * wi * wj;
                    if weight > 0.0 && mask.is_valid(i * support.size().columns + j) {
                        voxels.push((support.index(d, i, j), weight));
                    }
                }
            }
        }
        let total: f64 = voxels.iter().map(|v| v.1).sum();
        if voxels.is_empty() {
            return Err(PosteriorError::MaskedTruth);
        }
        for voxel in &mut voxels {
            voxel.1 /= total;
        }
        Ok(Self { voxels })
    }

    /// The weight of one candidate.
    #[must_use]
    pub fn weight(&self, index: usize) -> f64 {
        self.voxels.iter().filter(|v| v.0 == index).map(|v| v.1).sum()
    }
}

/// The two neighbours of `value` among ascending `points` and their linear weights.
pub(crate) fn linear(points: &[f64], value: f64) -> Vec<(usize, f64)> {
    let after = points.partition_point(|p| *p <= value);
    if after == 0 {
        return vec![(0, 1.0)];
    }
    if after == points.len() {
        return vec![(after - 1, 1.0)];
    }
    let t = (value - points[after - 1]) / (points[after] - points[after - 1]);
    vec![(after - 1, 1.0 - t), (after, t)]
}

/// The two circular neighbours of a heading among `count` bins and their linear weights.
fn circular(count: usize, heading: f64) -> [(usize, f64); 2] {
    let position = heading.rem_euclid(TAU) / TAU * count as f64;
    let t = position - position.floor();
    let d = position as usize % count;
    [(d, 1.0 - t), ((d + 1) % count, t)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{small_support, support};
    use proptest::prelude::*;

    fn open(support: &Support) -> Mask {
        support.mask(&Pose::new(1e3, 1e3, 0.0, 0.0))
    }

    #[test]
    fn a_truth_on_a_candidate_is_one_voxel() {
        let s = small_support();
        let truth = Pose::new(s.xs()[1], s.ys()[2], 1.0, s.heading(3));
        let target = Target::evaluation(&s, &open(&s), &truth).unwrap();
        assert!((target.weight(s.index(3, 2, 1)) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_truth_amid_eight_is_shared_by_eight_across_the_heading_seam() {
        let s = small_support();
        let half = TAU / s.size().headings as f64 / 2.0;
        let truth = Pose::new((s.xs()[0] + s.xs()[1]) / 2.0, (s.ys()[0] + s.ys()[1]) / 2.0, 1.0, -half);
        let target = Target::evaluation(&s, &open(&s), &truth).unwrap();
        assert_eq!(target.voxels.len(), 8);
        let last = s.size().headings - 1;
        for d in [0, last] {
            assert!((target.weight(s.index(d, 1, 0)) - 0.125).abs() < 1e-9);
        }
    }

    #[test]
    fn masked_voxels_are_left_out_and_a_masked_truth_is_an_error() {
        let s = small_support();
        let mask = s.mask(&Pose::new(s.xs()[0], s.ys()[0], 1.0, 0.0));
        let truth = Pose::new((3.0 * s.xs()[0] + s.xs()[1]) / 4.0, s.ys()[0], 1.0, 0.0);
        let target = Target::evaluation(&s, &mask, &truth).unwrap();
        assert!((target.weight(s.index(0, 0, 1)) - 1.0).abs() < 1e-9);
        let on = Pose::new(s.xs()[0], s.ys()[0], 1.0, 0.0);
        assert!(matches!(Target::evaluation(&s, &mask, &on), Err(PosteriorError::MaskedTruth)));
    }

    #[test]
    fn a_training_target_is_its_cell_with_two_headings() {
        let s = small_support();
        let step = TAU / s.size().headings as f64;
        let truth = Pose::new(s.xs()[2] + 0.01, s.ys()[1], 1.0, 0.25 * step);
        let target = Target::training(&s, &open(&s), &truth).unwrap();
        assert_eq!(target.voxels.len(), 2);
        assert!((target.weight(s.index(0, 1, 2)) - 0.75).abs() < 1e-9);
        assert!((target.weight(s.index(1, 1, 2)) - 0.25).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn the_evaluation_target_has_the_truth_as_its_mean(u in 0.02f64..0.98, v in 0.02f64..0.98, h in -3.1f64..3.1) {
            let s = support();
            let [x0, x1, y0, y1] = s.bounds();
            let truth = Pose::new(x0 + u * (x1 - x0), y0 + v * (y1 - y0), 1.0, h);
            let target = Target::evaluation(&s, &open(&s), &truth).unwrap();
            prop_assert!(target.voxels.len() <= 8);
            let sum: f64 = target.voxels.iter().map(|v| v.1).sum();
            prop_assert!((sum - 1.0).abs() < 1e-9);
            let mean_x: f64 = target.voxels.iter().map(|&(n, w)| w * s.xs()[s.place(n).2]).sum();
            prop_assert!((mean_x - truth.position.x.clamp(s.xs()[0], s.xs()[32])).abs() < 1e-9);
        }
    }
}
