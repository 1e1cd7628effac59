//! Balanced metrics of one scorer over many samples; [`crate::balanced`] says what weighs how much.

use serde::Serialize;

use crate::balanced::{BalancedMean, BalancedSums, Stratum};
use crate::{CONE_OPENINGS_DEG, LEVELS, Score};

/// Scalars of a score that are averaged plainly; HPD curves follow them in the same flat list.
const SCALARS: usize = 6;
const CONES: usize = CONE_OPENINGS_DEG.len();

/// Gathers the scores of one scorer; the order of `add` fixes the rounding, so add in sample order.
#[derive(Debug, Clone, Default)]
pub struct BalancedScores {
    sums: BalancedSums,
}

impl BalancedScores {
    /// Adds one sample.
    pub fn add(&mut self, stratum: Stratum, score: &Score) {
        let mut values = vec![score.nll, score.map_xy_m, score.map_yaw_deg, score.joint_hit, score.p1m, score.p_joint];
        values.extend(score.cone_mass.iter().chain(&score.cone_hit));
        values.extend(score.hpd.coverage.iter().chain(&score.hpd.support));
        self.sums.add(stratum, &values);
    }

    /// The balanced metrics of everything added; `None` when nothing was.
    #[must_use]
    pub fn metrics(&self) -> Option<BalancedMetrics> {
        self.metrics_of(|_| true)
    }

    /// The metrics over the samples with (or without) a board; `None` when there is none.
    #[must_use]
    pub fn metrics_by_board(&self, board: bool) -> Option<BalancedMetrics> {
        self.metrics_of(|stratum| stratum.board == board)
    }

    /// The metrics over the samples of one group at a level of [`Stratum::groups`]; `None` when there is none.
    #[must_use]
    pub fn metrics_by_group(&self, level: usize, group: &str) -> Option<BalancedMetrics> {
        self.metrics_of(|stratum| stratum.groups.get(level).is_some_and(|found| found == group))
    }

    /// The groups at a level of [`Stratum::groups`], in alphabetical order.
    #[must_use]
    pub fn groups(&self, level: usize) -> Vec<&str> {
        self.sums.groups(level)
    }

    fn metrics_of(&self, keep: impl Fn(&Stratum) -> bool) -> Option<BalancedMetrics> {
        let (samples, means) = self.sums.means(keep)?;
        Some(BalancedMetrics::new(samples, &means))
    }
}

/// One row of the reliability table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Reliability {
    /// Nominal mass of the HPD region.
    pub nominal: f64,
    /// Share of the truth found inside.
    pub empirical: f64,
    /// Share of the valid candidates inside.
    pub support: f64,
}

/// Balanced mass and hits in cones that open from 20 to 180 degrees.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConeMetrics {
    /// Normalised area under the mass curve, %.
    pub cone_mass_auc_percent: f64,
    /// Normalised area under the hit curve, %.
    pub cone_hit_auc_percent: f64,
    /// Openings, degrees.
    pub cone_opening_deg: Vec<f64>,
    /// Mass by opening, %.
    pub cone_mass_percent: Vec<f64>,
    /// Hits by opening, %.
    pub cone_hit_percent: Vec<f64>,
}

/// Balanced metrics of one scorer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BalancedMetrics {
    /// How many samples.
    pub samples: u64,
    /// Joint NLL, nat.
    pub nll: f64,
    /// Its standard error, nat; like the others not a number (null in JSON) if a group has one sample only.
    pub nll_stderr: f64,
    /// Mean absolute empirical-minus-nominal coverage at 0.1 ... 0.9, percentage points.
    pub hpd_gap_pp: f64,
    /// Mean HPD support at 40 % empirical coverage, % of the valid candidates.
    pub v40_percent: f64,
    /// Joint-MAP XY error, metres.
    pub map_xy_m: f64,
    /// Its standard error, metres.
    pub map_xy_m_stderr: f64,
    /// Joint-MAP heading error, degrees.
    pub map_yaw_deg: f64,
    /// Its standard error, degrees.
    pub map_yaw_deg_stderr: f64,
    /// Joint hits (1 m and 20 degrees), %.
    pub joint_hit_percent: f64,
    /// Its standard error, percentage points.
    pub joint_hit_percent_stderr: f64,
    /// Mass within 1 m, %.
    pub p1m_percent: f64,
    /// Its standard error, percentage points.
    pub p1m_percent_stderr: f64,
    /// Mass within 1 m at the heading bin nearest the truth, %.
    pub p_joint_percent: f64,
    /// Mass and hits in cones about the true TX.
    #[serde(flatten)]
    pub cones: ConeMetrics,
    /// HPD reliability at 0.1 ... 0.9.
    pub reliability: Vec<Reliability>,
}

impl BalancedMetrics {
    fn new(samples: u64, means: &[BalancedMean]) -> Self {
        let at = |c: usize| means[c];
        let mean: Vec<f64> = means.iter().map(|value| value.mean).collect();
        let percent = |values: &[f64]| values.iter().map(|v| 100.0 * v).collect::<Vec<_>>();
        let [nll, xy, yaw, hit, p1m, p_joint] = [0, 1, 2, 3, 4, 5].map(at);
        let cone_mass = percent(&mean[SCALARS..SCALARS + CONES]);
        let cone_hit = percent(&mean[SCALARS + CONES..SCALARS + 2 * CONES]);
        let coverage = &mean[SCALARS + 2 * CONES..SCALARS + 2 * CONES + LEVELS];
        let support = &mean[SCALARS + 2 * CONES + LEVELS..];
        let reliability: Vec<_> = (1..10)
            .map(|tenth| {
                let level = tenth * (LEVELS - 1) / 10;
                Reliability { nominal: tenth as f64 / 10.0, empirical: coverage[level], support: support[level] }
            })
            .collect();
        let gap = reliability.iter().map(|r| (r.empirical - r.nominal).abs()).sum::<f64>() / 9.0;
        Self {
            samples,
            nll: nll.mean,
            nll_stderr: nll.stderr,
            hpd_gap_pp: 100.0 * gap,
            v40_percent: 100.0 * support_at(coverage, support, 0.4),
            map_xy_m: xy.mean,
            map_xy_m_stderr: xy.stderr,
            map_yaw_deg: yaw.mean,
            map_yaw_deg_stderr: yaw.stderr,
            joint_hit_percent: 100.0 * hit.mean,
            joint_hit_percent_stderr: 100.0 * hit.stderr,
            p1m_percent: 100.0 * p1m.mean,
            p1m_percent_stderr: 100.0 * p1m.stderr,
            p_joint_percent: 100.0 * p_joint.mean,
            cones: ConeMetrics {
                cone_mass_auc_percent: normalised_area(&cone_mass),
                cone_hit_auc_percent: normalised_area(&cone_hit),
                cone_opening_deg: CONE_OPENINGS_DEG.to_vec(),
                cone_mass_percent: cone_mass,
                cone_hit_percent: cone_hit,
            },
            reliability,
        }
    }
}

/// Mean support where the mean coverage first reaches `wanted`, linear between levels.
fn support_at(coverage: &[f64], support: &[f64], wanted: f64) -> f64 {
    match coverage.iter().position(|c| *c >= wanted) {
        None => support.last().copied().unwrap_or(1.0),
        Some(0) => support[0],
        Some(n) => {
            let t = (wanted - coverage[n - 1]) / (coverage[n] - coverage[n - 1]);
            support[n - 1] + t * (support[n] - support[n - 1])
        }
    }
}

/// Trapezoidal area over the cone openings divided by their span.
fn normalised_area(values: &[f64]) -> f64 {
    let span = CONE_OPENINGS_DEG[CONES - 1] - CONE_OPENINGS_DEG[0];
    let strips = values.windows(2).zip(CONE_OPENINGS_DEG.windows(2));
    strips.map(|(v, a)| 0.5 * (v[0] + v[1]) * (a[1] - a[0])).sum::<f64>() / span
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::score;

    fn stratum(board: bool, group: &str) -> Stratum {
        Stratum { board, groups: vec![group.into()] }
    }

    #[test]
    fn conditions_and_groups_weigh_equally_whatever_their_size() {
        let mut scores = BalancedScores::default();
        for _ in 0..9 {
            scores.add(stratum(true, "wood"), &score(8.0));
        }
        scores.add(stratum(true, "glass"), &score(4.0));
        scores.add(stratum(false, "wood"), &score(1.0));
        scores.add(stratum(false, "wood"), &score(3.0));
        let all = scores.metrics().unwrap();
        // ((8 + 4) / 2 + 2) / 2
        assert!((all.nll - 4.0).abs() < 1e-12);
        assert_eq!(all.samples, 12);
        assert!((scores.metrics_by_board(true).unwrap().nll - 6.0).abs() < 1e-12);
        let open = scores.metrics_by_board(false).unwrap();
        // Sample variance of 1 and 3 is 2, so the mean's standard error is 1.
        assert!((open.nll - 2.0).abs() < 1e-12 && (open.nll_stderr - 1.0).abs() < 1e-12);
        assert!(BalancedScores::default().metrics().is_none());
    }

    #[test]
    fn placements_protocols_and_sites_weigh_equally_within_their_parents() {
        let mut scores = BalancedScores::default();
        let mut add = |placement: &str, protocol: &str, site: &str, nll: f64| {
            let groups = [placement, protocol, site].map(str::to_owned).to_vec();
            scores.add(Stratum { board: placement != "none", groups }, &score(nll));
        };
        add("none", "track", "0", 2.0);
        for _ in 0..5 {
            add("left", "track", "0", 4.0);
        }
        add("left", "track", "1", 8.0);
        add("left", "full-rotation", "0", 10.0);
        add("right", "track", "0", 16.0);
        // Left: tracks (4 + 8) / 2, protocols (6 + 10) / 2 = 8; boards (8 + 16) / 2 = 12; conditions (2 + 12) / 2.
        assert!((scores.metrics().unwrap().nll - 7.0).abs() < 1e-12);
        assert!((scores.metrics_by_board(true).unwrap().nll - 12.0).abs() < 1e-12);
        assert_eq!((scores.groups(0), scores.groups(3)), (vec!["left", "none", "right"], vec![]));
        assert!((scores.metrics_by_group(0, "left").unwrap().nll - 8.0).abs() < 1e-12);
        // Tracks alone: none 2; boards ((4 + 8) / 2 + 16) / 2 = 11.
        assert!((scores.metrics_by_group(1, "track").unwrap().nll - 6.5).abs() < 1e-12);
        assert!(scores.metrics_by_group(1, "spiral").is_none());
        assert!(scores.metrics().unwrap().nll_stderr.is_nan());
    }

    #[test]
    fn gap_v40_and_areas_by_hand() {
        let mut scores = BalancedScores::default();
        scores.add(stratum(false, "g"), &score(1.0));
        scores.add(stratum(true, "g"), &score(1.0));
        let s = scores.metrics().unwrap();
        let gap = (1..10).map(|t| (f64::from(t) / 10.0).sqrt() - f64::from(t) / 10.0).sum::<f64>() / 9.0;
        assert!((s.hpd_gap_pp - 100.0 * gap).abs() < 1e-9);
        // Coverage 0.4 is reached at nominal 0.16, where the support is 0.032.
        assert!((s.v40_percent - 3.2).abs() < 1e-9);
        assert!((s.cones.cone_mass_auc_percent - 50.0).abs() < 1e-9);
        assert!((s.cones.cone_hit_auc_percent - 100.0).abs() < 1e-9);
        assert!((s.p1m_percent - 50.0).abs() < 1e-12);
    }
}
