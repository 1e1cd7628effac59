//! What the paths of one candidate position have to do with the arrivals, before heading and materials: which merge, and which
//! explain whose phase.

use std::f32::consts::LOG2_E;

use super::geometry::{DIRECT, MAX_PATHS, Paths};
use super::lanes::{exp, exp2, inverse_sqrt, nearest_integer};
use super::likelihood::{INV_SQRT_TAU, LEVEL_SLOPE};
use super::widths::{Observed, USED, Widths};

/// Two paths the estimator may not separate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Merge {
    /// Their places among the candidate's paths.
    pub(super) a: usize,
    pub(super) b: usize,
    /// How surely they merge, 0 to 1.
    pub(super) weight: f32,
    /// One minus the cosine of their difference in inter-element phase.
    pub(super) turn: f32,
}

const MAX_MERGES: usize = MAX_PATHS * (MAX_PATHS - 1) / 2;

/// What one candidate position offers to explain the arrivals, before heading and materials.
#[derive(Debug, Clone)]
pub(crate) struct Matches {
    pub(super) merges: [Merge; MAX_MERGES],
    pub(super) merge_count: usize,
    /// Squared wrapped phase mismatch of path and arrival.
    pub(super) mismatch2: [[f32; MAX_PATHS]; USED],
    /// Phase variance of path and arrival without fading.
    pub(super) variance: [[f32; MAX_PATHS]; USED],
    /// Paths whose phase can explain the arrival.
    pub(super) near: [[u8; MAX_PATHS]; USED],
    pub(super) near_count: [usize; USED],
    /// Whether a path is among those of any arrival.
    pub(super) is_near: [bool; MAX_PATHS],
    pub(super) alone: Alone,
    /// By the path of the first arrival and that of the second, for paths that merge with none.
    pub(super) pairs: [[PairLevels; MAX_PATHS]; MAX_PATHS],
}

/// The SNRs of two paths that merge with none, under one level offset: what holds for all headings and materials.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PairLevels {
    /// Of the difference of the excesses: what its square is multiplied by, octaves per dB^2, and the density where it is zero.
    pub(super) steepness: f32,
    pub(super) peak: f32,
    /// Weights of both excesses in the level, and half the prior's range, in the unit that `level_density` takes.
    pub(super) first: f32,
    pub(super) second: f32,
    pub(super) half: f32,
    pub(super) window: f32,
}

impl PairLevels {
    #[inline(always)]
    fn new(first: f32, second: f32, offset_max: f32) -> Self {
        let root = inverse_sqrt(first + second);
        let inverse = root * root;
        let scale = LEVEL_SLOPE * inverse_sqrt(first * second * inverse);
        let half = offset_max * scale;
        Self {
            steepness: -0.5 * LOG2_E * inverse,
            peak: root * INV_SQRT_TAU,
            first: second * inverse * scale,
            second: first * inverse * scale,
            half,
            window: exp2(-2.0 * half),
        }
    }
}

/// Paths as they are without merging. For those that merge with none it holds for all headings and materials.
#[derive(Debug, Clone, Default)]
pub(super) struct Alone {
    /// Whether the path merges with none.
    pub(super) holds: [bool; MAX_PATHS],
    /// Variance of its SNR, dB^2.
    pub(super) variance: [f32; MAX_PATHS],
    /// One over the spread of its excess over the cut, per dB: where the level is known, and where it is not.
    pub(super) spread: [f32; MAX_PATHS],
    pub(super) blind_spread: [f32; MAX_PATHS],
    /// One over the spread of its SNR, in the unit that `level_density` takes.
    pub(super) scale: [f32; MAX_PATHS],
    /// Two to the power of minus the level prior's range in that unit.
    pub(super) window: [f32; MAX_PATHS],
    /// Density of its phase mismatch with each arrival, per radian.
    pub(super) phase_density: [[f32; MAX_PATHS]; USED],
}

impl Matches {
    pub(crate) fn new() -> Self {
        Self {
            merges: [Merge { a: 0, b: 0, weight: 0.0, turn: 0.0 }; MAX_MERGES],
            merge_count: 0,
            mismatch2: [[0.0; MAX_PATHS]; USED],
            variance: [[1.0; MAX_PATHS]; USED],
            near: [[0; MAX_PATHS]; USED],
            near_count: [0; USED],
            is_near: [false; MAX_PATHS],
            alone: Alone::default(),
            pairs: [[PairLevels::default(); MAX_PATHS]; MAX_PATHS],
        }
    }

    /// Compares phases and finds merging pairs. `kappa` is the phase per unit of direction, `patch2` the mean squared
    /// distance of the points this position stands for from it, m^2.
    #[inline(always)]
    pub(crate) fn compare(&mut self, paths: &Paths, seen: &Observed, widths: &Widths, kappa: f32, patch2: f32) {
        self.merge_count = 0;
        self.alone.holds = [true; MAX_PATHS];
        let reach = widths.merge_m + 3.0 * widths.merge_softness_m;
        let mut fades = [0.0f32; MAX_PATHS];
        for a in 0..paths.count {
            for b in 0..a {
                let gap = (paths.length[a] - paths.length[b]).abs();
                if gap < reach {
                    let weight = 1.0 / (1.0 + exp((gap - widths.merge_m) / widths.merge_softness_m));
                    let turn = 1.0 - libm::cosf(kappa * (paths.across[a] - paths.across[b]));
                    self.merges[self.merge_count] = Merge { a, b, weight, turn };
                    self.merge_count += 1;
                    self.alone.holds[a] = false;
                    self.alone.holds[b] = false;
                    fades[a] += weight * turn;
                    fades[b] += weight * turn;
                }
            }
        }
        // How far each path's direction of arrival may be off, squared (rad^2): by the patch, by the reported position,
        // and by the image that a misplaced surface moves twice as far, seen from the side.
        let mut swing = [0.0f32; MAX_PATHS];
        for (i, swing) in swing.iter_mut().enumerate() {
            let inverse2 = 1.0 / (paths.length[i] * paths.length[i]);
            let sine2 = 1.0 - paths.cos_incidence[i] * paths.cos_incidence[i];
            let image2 = if paths.surface[i] == DIRECT { 0.0 } else { 4.0 * widths.map_variance * sine2 };
            let turned = widths.heading_variance + widths.position_variance * inverse2;
            *swing = turned + (patch2 + image2) * inverse2;
            let reflected = paths.surface[i] != DIRECT;
            let class = if reflected { widths.reflection_variance } else { widths.los_variance };
            self.alone.variance[i] = class + paths.slope2[i] * turned;
        }
        self.alone.spread(widths);
        self.is_near = [false; MAX_PATHS];
        for k in 0..seen.count {
            for (i, across) in paths.across.iter().enumerate() {
                let turns = (kappa * across - seen.phase[k]) * (1.0 / std::f32::consts::TAU);
                let mismatch = (turns - nearest_integer(turns)) * std::f32::consts::TAU;
                let variance = seen.phase_variance[k] + kappa * kappa * (1.0 - across * across) * swing[i];
                self.mismatch2[k][i] = mismatch * mismatch;
                self.variance[k][i] = variance;
                self.alone.phase_density[k][i] = phase_density_of(variance, mismatch * mismatch);
            }
            self.near_count[k] = 0;
            for (i, fade) in fades.iter().enumerate().take(paths.count) {
                // Beyond three and a half standard deviations a path explains less than a stray does. What fading
                // can add is bounded by a turn of the weaker path.
                if self.mismatch2[k][i] < 12.25 * self.variance[k][i] + 4.0 * widths.fading * fade {
                    self.near[k][self.near_count[k]] = i as u8;
                    self.near_count[k] += 1;
                    self.is_near[i] = true;
                }
            }
        }
        if seen.count > 1 {
            self.pair(widths);
        }
    }

    /// What paths that merge with none make of both arrivals together.
    #[inline(always)]
    fn pair(&mut self, widths: &Widths) {
        let [first, second] = [0, 1].map(|k| self.near[k].iter().take(self.near_count[k]).map(|i| usize::from(*i)));
        for i in first.filter(|i| self.alone.holds[*i]) {
            for j in second.clone().filter(|j| self.alone.holds[*j] && i != *j) {
                let [a, b] = [i, j].map(|path| self.alone.variance[path]);
                self.pairs[i][j] = PairLevels::new(a, b, widths.offset_max);
            }
        }
    }

    /// Whether different paths can explain all arrivals: only then do the materials make a difference worth its time.
    pub(crate) fn complete(&self, seen: &Observed) -> bool {
        match seen.count {
            0 => true,
            1 => self.near_count[0] > 0,
            _ => {
                let (first, second) = (&self.near[0][..self.near_count[0]], &self.near[1][..self.near_count[1]]);
                first.iter().any(|i| second.iter().any(|j| i != j))
            }
        }
    }
}

impl Alone {
    /// What follows from the variances.
    #[inline(always)]
    fn spread(&mut self, widths: &Widths) {
        let blind = widths.blind_variance();
        for (i, variance) in self.variance.iter().enumerate() {
            self.spread[i] = inverse_sqrt(variance + widths.rank_variance);
            self.blind_spread[i] = inverse_sqrt(variance + blind);
            self.scale[i] = inverse_sqrt(*variance) * LEVEL_SLOPE;
            self.window[i] = exp2(self.scale[i] * (-2.0 * widths.offset_max));
        }
    }
}

/// Density of a wrapped phase mismatch, per radian: `phase_density` of one path.
#[inline(always)]
fn phase_density_of(variance: f32, mismatch2: f32) -> f32 {
    let root = inverse_sqrt(variance);
    exp2(root * root * (-0.5 * LOG2_E * mismatch2)) * root * INV_SQRT_TAU
}
