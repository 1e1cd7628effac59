//! Balanced means over many samples, with standard errors.
//!
//! The paper's Sim scores weigh no-board and board samples equally, and room groups equally within each. A room group
//! here is a material assignment: in Sim every sample is its own realisation of the room, and the assignment is the one
//! thing that realisations share. Its Real scores (here: replays) also weigh board placements equally, protocols equally
//! within each, and RX sites equally within each of those.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

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
pub struct BalancedMean {
    /// The mean.
    pub mean: f64,
    /// Standard error of the stratified mean; not a number (null in JSON) if a group has one sample only.
    pub stderr: f64,
}

#[derive(Debug, Clone)]
struct Sums {
    count: u64,
    sum: Vec<f64>,
    square: Vec<f64>,
}

/// Sums of several numbers per sample, by stratum. The order of `add` fixes the rounding, so add in sample order.
#[derive(Debug, Clone, Default)]
pub(crate) struct BalancedSums {
    strata: BTreeMap<Stratum, Sums>,
}

impl BalancedSums {
    /// Adds the numbers of one sample: the same numbers in the same order for every sample.
    pub(crate) fn add(&mut self, stratum: Stratum, values: &[f64]) {
        let new = || Sums { count: 0, sum: vec![0.0; values.len()], square: vec![0.0; values.len()] };
        let sums = self.strata.entry(stratum).or_insert_with(new);
        sums.count += 1;
        for ((value, sum), square) in values.iter().zip(&mut sums.sum).zip(&mut sums.square) {
            *sum += value;
            *square += value * value;
        }
    }

    /// The groups at a level of [`Stratum::groups`], in alphabetical order.
    pub(crate) fn groups(&self, level: usize) -> Vec<&str> {
        let found: BTreeSet<&str> =
            self.strata.keys().filter_map(|s| s.groups.get(level)).map(String::as_str).collect();
        found.into_iter().collect()
    }

    /// How many samples there are in the strata that are kept, and the balanced mean of each number; `None` without samples.
    pub(crate) fn means(&self, keep: impl Fn(&Stratum) -> bool) -> Option<(u64, Vec<BalancedMean>)> {
        let kept: Vec<_> = self.strata.iter().filter(|(s, _)| keep(s)).collect();
        let width = kept.first()?.1.sum.len();
        let mut means = vec![(0.0, 0.0); width];
        let mut samples = 0;
        for (stratum, sums) in &kept {
            let weight = weight(stratum, kept.iter().map(|(other, _)| *other));
            let n = sums.count as f64;
            samples += sums.count;
            for (c, (mean, variance)) in means.iter_mut().enumerate() {
                let average = sums.sum[c] / n;
                *mean += weight * average;
                // One sample alone says nothing of its spread: there is no standard error then.
                let spread = if sums.count > 1 {
                    (sums.square[c] / n - average * average).max(0.0) / (n - 1.0)
                } else {
                    f64::NAN
                };
                *variance += weight * weight * spread;
            }
        }
        let means = means.into_iter().map(|(mean, variance)| BalancedMean { mean, stderr: variance.sqrt() });
        Some((samples, means.collect()))
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
