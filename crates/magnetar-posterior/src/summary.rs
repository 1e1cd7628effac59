//! Balanced averages over many samples, with standard errors.
//!
//! The paper's Sim scores weigh no-board and board samples equally, and room groups equally within each. A room group
//! here is a material assignment: in Sim every sample is its own realisation of the room, and the assignment is the one
//! thing that realisations share. Its Real scores (here: replays) also weigh board placements equally, protocols equally
//! within each, and RX sites equally within each of those.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::{CONE_OPENINGS_DEG, LEVELS, Score};

/// Where a replay's board placement and protocol stand in [`Stratum::groups`].
pub const REPLAY_LEVELS: [(&str, usize); 2] = [("placement", 1), ("protocol", 2)];

/// Which balanced group a sample belongs to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stratum {
    /// Whether the layout holds a board.
    pub board: bool,
    /// The groups within, outermost first: those of one parent weigh equally. In Sim the room group (a material
    /// assignment); in replays also board placement, protocol and RX site.
    pub groups: Vec<String>,
}

/// A balanced mean and its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Standard error of the stratified mean.
    pub stderr: f64,
}

/// Scalars of a score that are averaged plainly; HPD curves follow them in the same flat list.
const SCALARS: usize = 6;
const CONES: usize = CONE_OPENINGS_DEG.len();
const WIDTH: usize = SCALARS + 2 * CONES + 2 * LEVELS;

#[derive(Debug, Clone)]
struct Sums {
    count: u64,
    sum: Vec<f64>,
    square: Vec<f64>,
}

/// Accumulates scores; the order of `add` fixes the rounding, so add in sample order.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    strata: BTreeMap<Stratum, Sums>,
}

impl Tally {
    /// Adds one sample.
    pub fn add(&mut self, stratum: Stratum, score: &Score) {
        let new = || Sums { count: 0, sum: vec![0.0; WIDTH], square: vec![0.0; WIDTH] };
        let sums = self.strata.entry(stratum).or_insert_with(new);
        sums.count += 1;
        let scalars = [score.nll, score.map_xy_m, score.map_yaw_deg, score.joint_hit, score.p1m, score.p_joint];
        let values = scalars
            .iter()
            .chain(&score.cone_mass)
            .chain(&score.cone_hit)
            .chain(&score.hpd.coverage)
            .chain(&score.hpd.support);
        for ((value, sum), square) in values.zip(&mut sums.sum).zip(&mut sums.square) {
            *sum += value;
            *square += value * value;
        }
    }

    /// The balanced averages of everything added; `None` when nothing was.
    #[must_use]
    pub fn summary(&self) -> Option<Summary> {
        self.summary_of(|_| true)
    }

    /// The averages over the samples with (or without) a board; `None` when there is none.
    #[must_use]
    pub fn summary_by_board(&self, board: bool) -> Option<Summary> {
        self.summary_of(|stratum| stratum.board == board)
    }

    /// The averages over the samples of one group at a level of [`Stratum::groups`]; `None` when there is none.
    #[must_use]
    pub fn summary_by_group(&self, level: usize, group: &str) -> Option<Summary> {
        self.summary_of(|stratum| stratum.groups.get(level).is_some_and(|found| found == group))
    }

    /// The groups at a level of [`Stratum::groups`], in alphabetical order.
    #[must_use]
    pub fn groups(&self, level: usize) -> Vec<&str> {
        let found: BTreeSet<&str> =
            self.strata.keys().filter_map(|s| s.groups.get(level)).map(String::as_str).collect();
        found.into_iter().collect()
    }

    fn summary_of(&self, keep: impl Fn(&Stratum) -> bool) -> Option<Summary> {
        let kept: Vec<_> = self.strata.iter().filter(|(s, _)| keep(s)).collect();
        let mut mean = vec![0.0; WIDTH];
        let mut variance = vec![0.0; WIDTH];
        let mut samples = 0;
        for (stratum, sums) in &kept {
            let weight = weight(stratum, kept.iter().map(|(other, _)| *other));
            let n = sums.count as f64;
            samples += sums.count;
            for c in 0..WIDTH {
                let average = sums.sum[c] / n;
                mean[c] += weight * average;
                // One sample alone says nothing of its spread: there is no standard error then.
                let spread = if sums.count > 1 {
                    (sums.square[c] / n - average * average).max(0.0) / (n - 1.0)
                } else {
                    f64::NAN
                };
                variance[c] += weight * weight * spread;
            }
        }
        (samples > 0).then(|| Summary::new(samples, &mean, &variance))
    }
}

/// The share of a stratum among all: halved between conditions, then shared out level by level among the groups of one
/// parent.
fn weight<'a>(stratum: &Stratum, all: impl Iterator<Item = &'a Stratum> + Clone) -> f64 {
    let conditions: BTreeSet<bool> = all.clone().map(|other| other.board).collect();
    let mut weight = 1.0 / conditions.len().max(1) as f64;
    for level in 0..stratum.groups.len() {
        let siblings: BTreeSet<&String> = all
            .clone()
            .filter(|other| other.board == stratum.board && other.groups.get(..level) == stratum.groups.get(..level))
            .filter_map(|other| other.groups.get(level))
            .collect();
        weight /= siblings.len().max(1) as f64;
    }
    weight
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

/// Balanced metrics of one scorer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
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
    /// Normalised area under the cone-mass curve over 20-180 degrees, %.
    pub cone_mass_auc_percent: f64,
    /// Normalised area under the cone-hit curve over 20-180 degrees, %.
    pub cone_hit_auc_percent: f64,
    /// Cone openings, degrees.
    pub cone_opening_deg: Vec<f64>,
    /// Cone mass by opening, %.
    pub cone_mass_percent: Vec<f64>,
    /// Cone hits by opening, %.
    pub cone_hit_percent: Vec<f64>,
    /// HPD reliability at 0.1 ... 0.9.
    pub reliability: Vec<Reliability>,
}

impl Summary {
    fn new(samples: u64, mean: &[f64], variance: &[f64]) -> Self {
        let at = |c: usize| Estimate { mean: mean[c], stderr: variance[c].sqrt() };
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
            cone_mass_auc_percent: normalised_area(&cone_mass),
            cone_hit_auc_percent: normalised_area(&cone_hit),
            cone_opening_deg: CONE_OPENINGS_DEG.to_vec(),
            cone_mass_percent: cone_mass,
            cone_hit_percent: cone_hit,
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
    use crate::HpdCurve;

    fn score(nll: f64) -> Score {
        let level = |n: usize| n as f64 / 100.0;
        Score {
            nll,
            hpd: HpdCurve {
                // Covers the square root of what it says; needs a fifth of the candidates.
                coverage: (0..LEVELS).map(|n| level(n).sqrt()).collect(),
                support: (0..LEVELS).map(|n| level(n) / 5.0).collect(),
            },
            map_xy_m: 1.0,
            map_yaw_deg: 10.0,
            joint_hit: 1.0,
            p1m: 0.5,
            p_joint: 0.25,
            cone_mass: std::array::from_fn(|n| n as f64 / 8.0),
            cone_hit: [1.0; 9],
        }
    }

    fn stratum(board: bool, group: &str) -> Stratum {
        Stratum { board, groups: vec![group.into()] }
    }

    #[test]
    fn conditions_and_groups_weigh_equally_whatever_their_size() {
        let mut tally = Tally::default();
        for _ in 0..9 {
            tally.add(stratum(true, "wood"), &score(8.0));
        }
        tally.add(stratum(true, "glass"), &score(4.0));
        tally.add(stratum(false, "wood"), &score(1.0));
        tally.add(stratum(false, "wood"), &score(3.0));
        let all = tally.summary().unwrap();
        // ((8 + 4) / 2 + 2) / 2
        assert!((all.nll - 4.0).abs() < 1e-12);
        assert_eq!(all.samples, 12);
        assert!((tally.summary_by_board(true).unwrap().nll - 6.0).abs() < 1e-12);
        let open = tally.summary_by_board(false).unwrap();
        // Sample variance of 1 and 3 is 2, so the mean's standard error is 1.
        assert!((open.nll - 2.0).abs() < 1e-12 && (open.nll_stderr - 1.0).abs() < 1e-12);
        assert!(Tally::default().summary().is_none());
    }

    #[test]
    fn placements_protocols_and_sites_weigh_equally_within_their_parents() {
        let mut tally = Tally::default();
        let mut add = |placement: &str, protocol: &str, site: &str, nll: f64| {
            let groups = [placement, protocol, site].map(str::to_owned).to_vec();
            tally.add(Stratum { board: placement != "none", groups }, &score(nll));
        };
        add("none", "track", "0", 2.0);
        for _ in 0..5 {
            add("left", "track", "0", 4.0);
        }
        add("left", "track", "1", 8.0);
        add("left", "full-rotation", "0", 10.0);
        add("right", "track", "0", 16.0);
        // Left: tracks (4 + 8) / 2, protocols (6 + 10) / 2 = 8; boards (8 + 16) / 2 = 12; conditions (2 + 12) / 2.
        assert!((tally.summary().unwrap().nll - 7.0).abs() < 1e-12);
        assert!((tally.summary_by_board(true).unwrap().nll - 12.0).abs() < 1e-12);
        assert_eq!((tally.groups(0), tally.groups(3)), (vec!["left", "none", "right"], vec![]));
        assert!((tally.summary_by_group(0, "left").unwrap().nll - 8.0).abs() < 1e-12);
        // Tracks alone: none 2; boards ((4 + 8) / 2 + 16) / 2 = 11.
        assert!((tally.summary_by_group(1, "track").unwrap().nll - 6.5).abs() < 1e-12);
        assert!(tally.summary_by_group(1, "spiral").is_none());
        assert!(tally.summary().unwrap().nll_stderr.is_nan());
    }

    #[test]
    fn gap_v40_and_areas_by_hand() {
        let mut tally = Tally::default();
        tally.add(stratum(false, "g"), &score(1.0));
        tally.add(stratum(true, "g"), &score(1.0));
        let s = tally.summary().unwrap();
        let gap = (1..10).map(|t| (f64::from(t) / 10.0).sqrt() - f64::from(t) / 10.0).sum::<f64>() / 9.0;
        assert!((s.hpd_gap_pp - 100.0 * gap).abs() < 1e-9);
        // Coverage 0.4 is reached at nominal 0.16, where the support is 0.032.
        assert!((s.v40_percent - 3.2).abs() < 1e-9);
        assert!((s.cone_mass_auc_percent - 50.0).abs() < 1e-9);
        assert!((s.cone_hit_auc_percent - 100.0).abs() < 1e-9);
        assert!((s.p1m_percent - 50.0).abs() < 1e-12);
    }
}
