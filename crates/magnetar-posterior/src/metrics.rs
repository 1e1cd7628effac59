//! What one posterior scores against one truth.

use magnetar_scene::{Pose, wrap};

use crate::{HpdCurve, Mask, Support, Target, Volume};

/// Full openings of the pose cones, degrees.
pub const CONE_OPENINGS_DEG: [f64; 9] = [20.0, 40.0, 60.0, 80.0, 100.0, 120.0, 140.0, 160.0, 180.0];

/// XY tolerance of the hits, the cones and P_1m, metres.
const NEAR_M: f64 = 1.0;

/// Heading tolerance of the joint hit, radians (20 degrees).
const HIT_HEADING: f64 = 20.0 * std::f64::consts::PI / 180.0;

/// Slack for comparing an angle with a tolerance that it may equal: bins are multiples of 20 degrees.
const SLACK: f64 = 1e-9;

/// The metrics of one sample. Decisions (MAP errors, hits) of a posterior with several equal modes are averaged over
/// them, so that ties are shared in proportion here too.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// Target-weighted cross-entropy of the joint mass, nat.
    pub nll: f64,
    /// Coverage and support of the HPD regions.
    pub hpd: HpdCurve,
    /// XY error of the joint MAP voxel, metres.
    pub map_xy_m: f64,
    /// Heading error of the joint MAP voxel, degrees.
    pub map_yaw_deg: f64,
    /// Whether the joint MAP voxel is within 1 m and 20 degrees (0 to 1).
    pub joint_hit: f64,
    /// Mass within 1 m of the true XY over all headings.
    pub p1m: f64,
    /// Mass within 1 m of the true XY at the heading bin nearest the truth.
    pub p_joint: f64,
    /// Mass with XY within 1 m and bearing (from the RX) and heading within half of each cone opening.
    pub cone_mass: [f64; 9],
    /// Whether the joint MAP voxel lies in that region (0 to 1).
    pub cone_hit: [f64; 9],
}

/// How far a candidate is from the truth.
struct Errors {
    xy: f64,
    bearing: f64,
    heading: f64,
}

impl Score {
    /// Scores a posterior. `target` is the evaluation target of `truth` on `support`.
    #[must_use]
    pub fn new(volume: &Volume, support: &Support, mask: &Mask, target: &Target, rx: &Pose, truth: &Pose) -> Self {
        let nll = target.voxels.iter().map(|&(n, w)| -w * libm::log(f64::from(volume.mass()[n]))).sum();
        let bearing_to = |x: f64, y: f64| libm::atan2(y - rx.position.y, x - rx.position.x);
        let true_bearing = bearing_to(truth.position.x, truth.position.y);
        let size = support.size();
        let errors = |n: usize| {
            let (d, i, j) = support.place(n);
            let (x, y) = (support.xs()[j], support.ys()[i]);
            Errors {
                xy: libm::hypot(x - truth.position.x, y - truth.position.y),
                bearing: wrap(bearing_to(x, y) - true_bearing).abs(),
                heading: wrap(support.heading(d) - truth.heading).abs(),
            }
        };
        let in_cone = |e: &Errors, opening: f64| {
            let half = opening.to_radians() / 2.0 + SLACK;
            e.xy <= NEAR_M && e.bearing <= half && e.heading <= half
        };
        let mut score = Self {
            nll,
            hpd: HpdCurve::new(volume, mask, target),
            map_xy_m: 0.0,
            map_yaw_deg: 0.0,
            joint_hit: 0.0,
            p1m: 0.0,
            p_joint: 0.0,
            cone_mass: [0.0; 9],
            cone_hit: [0.0; 9],
        };
        score.add_modes(volume, support, mask, errors, in_cone);
        let nearest = (truth.heading.rem_euclid(std::f64::consts::TAU) / std::f64::consts::TAU * size.headings as f64)
            .round() as usize
            % size.headings;
        for i in 0..size.rows {
            for j in 0..size.columns {
                if errors(i * size.columns + j).xy > NEAR_M {
                    continue;
                }
                for d in 0..size.headings {
                    let n = support.index(d, i, j);
                    let mass = f64::from(volume.mass()[n]);
                    let e = errors(n);
                    score.p1m += mass;
                    score.p_joint += if d == nearest { mass } else { 0.0 };
                    for (sum, opening) in score.cone_mass.iter_mut().zip(CONE_OPENINGS_DEG) {
                        *sum += if in_cone(&e, opening) { mass } else { 0.0 };
                    }
                }
            }
        }
        score
    }

    fn add_modes(
        &mut self,
        volume: &Volume,
        support: &Support,
        mask: &Mask,
        errors: impl Fn(usize) -> Errors,
        in_cone: impl Fn(&Errors, f64) -> bool,
    ) {
        let plane = support.size().rows * support.size().columns;
        let top = volume.mass()[volume.mode()];
        let modes = || (0..volume.mass().len()).filter(|n| volume.mass()[*n] == top && mask.is_valid(n % plane));
        let share = 1.0 / modes().count().max(1) as f64;
        for e in modes().map(errors) {
            self.map_xy_m += share * e.xy;
            self.map_yaw_deg += share * e.heading.to_degrees();
            self.joint_hit += if e.xy <= NEAR_M && e.heading <= HIT_HEADING + SLACK { share } else { 0.0 };
            for (sum, opening) in self.cone_hit.iter_mut().zip(CONE_OPENINGS_DEG) {
                *sum += if in_cone(&e, opening) { share } else { 0.0 };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{small_support, support};

    fn score(weights: &[f64], support: &Support, rx: &Pose, truth: &Pose) -> Score {
        let mask = support.mask(rx);
        let volume = Volume::from_weights(support.size(), &mask, weights).unwrap();
        let target = Target::evaluation(support, &mask, truth).unwrap();
        Score::new(&volume, support, &mask, &target, rx, truth)
    }

    #[test]
    fn the_uniform_posterior_has_the_papers_nll() {
        let s = support();
        let rx = Pose::new(0.0, 0.0, 1.08, 0.0);
        let got = score(&vec![1.0; 19_602], &s, &rx, &Pose::new(1.0, 2.0, 1.08, 1.0));
        assert!((got.nll - 9.883).abs() < 5e-4, "{}", got.nll);
        assert!((got.nll - 19_602f64.ln()).abs() < 1e-5);
        // All candidates are modes: the mean heading error of a full circle is 90 degrees.
        assert!((got.map_yaw_deg - 90.0).abs() < 3.0);
    }

    #[test]
    fn one_hot_truth_is_perfect() {
        let s = small_support();
        let truth = Pose::new(1.5, 1.5, 1.0, s.heading(3));
        let mut weights = vec![0.0; 96];
        weights[s.index(3, 1, 1)] = 1.0;
        let got = score(&weights, &s, &Pose::new(3.7, 0.2, 1.0, 0.0), &truth);
        assert!(got.nll.abs() < 1e-9 && got.map_xy_m < 1e-9 && got.map_yaw_deg < 1e-9);
        assert_eq!((got.joint_hit, got.p1m, got.p_joint), (1.0, 1.0, 1.0));
        assert_eq!((got.cone_mass, got.cone_hit), ([1.0; 9], [1.0; 9]));
    }

    #[test]
    fn heading_errors_wrap_around_and_hits_need_both() {
        let s = support();
        // Truth heading 350 degrees; the mode at bin 0 is 10 degrees off, not 350.
        let truth = Pose::new(s.xs()[10], s.ys()[10], 1.0, -10f64.to_radians());
        let mut weights = vec![1e-9; 19_602];
        weights[s.index(0, 10, 10)] = 1.0;
        let near = score(&weights, &s, &Pose::new(3.0, 2.0, 1.0, 0.0), &truth);
        assert!((near.map_yaw_deg - 10.0).abs() < 1e-9);
        assert_eq!(near.joint_hit, 1.0);
        weights[s.index(0, 10, 10)] = 1e-9;
        weights[s.index(9, 10, 10)] = 1.0;
        let turned = score(&weights, &s, &Pose::new(3.0, 2.0, 1.0, 0.0), &truth);
        assert!((turned.map_yaw_deg - 170.0).abs() < 1e-9 && turned.map_xy_m < 1e-9);
        assert_eq!(turned.joint_hit, 0.0);
        assert!(turned.p1m > 0.99 && turned.p_joint < 1e-3);
    }

    #[test]
    fn a_cone_limits_bearing_and_heading() {
        // RX at the origin corner, truth at (1.5, 0.5) looking along +x; all mass at (1.5, 1.5), 45 degrees off.
        let s = small_support();
        let truth = Pose::new(1.5, 0.5, 1.0, 0.0);
        let rx = Pose::new(0.5, 0.5, 1.0, 0.0);
        let mut weights = vec![0.0; 96];
        weights[s.index(1, 1, 1)] = 1.0;
        let got = score(&weights, &s, &rx, &truth);
        // Bearing 45 degrees and heading 45 degrees off: inside for openings of 100 degrees and more.
        let expected = [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        assert_eq!((got.cone_mass, got.cone_hit), (expected, expected));
        assert!(got.nll.is_infinite());
    }
}
