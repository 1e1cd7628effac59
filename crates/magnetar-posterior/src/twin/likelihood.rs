//! The likelihood of the retained arrivals given one candidate position, for a block of headings at a time.
//!
//! `docs/posterior.md` derives each term. Everything here is flat arrays of f32 and small tables, no allocation.

use std::f32::consts::LOG2_E;

use super::geometry::MAX_PATHS;
use super::lanes::{Lanes, STEP_END};
use super::matches::{Matches, PairLevels};
use super::widths::{Observed, USED, Widths, stray_likelihood};

/// Half the square of 20 / ln 10, dB^2: the variance of `20 log10 |1 + r e^{j psi}|` over a uniform psi is this times
/// Li2(r^2).
pub const FADING_DB2: f32 = 37.722;

/// The dilogarithm Li2 of a power ratio x, to one part in a hundred, is `x (1 + x (a + x b))`: a and b.
pub const DILOGARITHM_TERMS: [f32; 2] = [0.25, 0.395];

/// `log2(10) / 10`: octaves of power in a decibel.
const OCTAVES_PER_DB: f32 = 0.332_192_8;

/// Slope of the logistic function that is closest to the normal distribution function, for powers of two.
pub(super) const LEVEL_SLOPE: f32 = 1.702 * LOG2_E;

pub(super) const INV_SQRT_TAU: f32 = 0.398_942_3;

/// One block of headings being scored.
#[derive(Debug, Clone)]
pub(crate) struct HeadingBlock {
    /// Raw SNR of each path, dB: what the caller sets.
    pub(crate) snr: [Lanes; MAX_PATHS],
    variance: [Lanes; MAX_PATHS],
    /// What fading adds to the phase variance.
    blur: [Lanes; MAX_PATHS],
    /// Probability that the path is a component of its own.
    own: [Lanes; MAX_PATHS],
    /// What [`level_density`] takes of the path: one over the spread of its SNR, and what the prior's range makes of it.
    scale: [Lanes; MAX_PATHS],
    window: [Lanes; MAX_PATHS],
    /// How well each near path explains the second arrival's phase.
    second: [Lanes; MAX_PATHS],
    /// Probability that the path stayed below the cut.
    hidden: [Lanes; MAX_PATHS],
    rivals: [Rival; MAX_PATHS],
}

/// A path that may have been above the cut.
#[derive(Debug, Clone, Copy)]
struct Rival {
    path: usize,
    /// Excess over the cut at zero level offset, and per dB of it, in units of its spread.
    excess: Lanes,
    spread: Lanes,
    own: Lanes,
    /// One minus half of `own`.
    rest: Lanes,
}

impl Rival {
    /// Probability that the path stayed below the cut at an excess in units of its spread; never quite zero.
    #[inline(always)]
    fn hidden(&self, excess: Lanes) -> Lanes {
        (self.rest - self.own * excess.soft_sign()).max(Lanes::splat(0.02))
    }
}

impl HeadingBlock {
    pub(crate) fn new() -> Self {
        let zero = Lanes::splat(0.0);
        let rival = Rival { path: 0, excess: zero, spread: zero, own: zero, rest: zero };
        let each = [zero; MAX_PATHS];
        Self {
            snr: each,
            variance: each,
            blur: each,
            own: each,
            scale: each,
            window: each,
            second: each,
            hidden: each,
            rivals: [rival; MAX_PATHS],
        }
    }
}

/// Likelihood of what was seen for one block of headings, whose SNRs are set, at a position of so many paths.
#[inline(always)]
pub(crate) fn likelihood(
    block: &mut HeadingBlock,
    count: usize,
    matches: &Matches,
    seen: &Observed,
    widths: &Widths,
) -> Lanes {
    let n = count.min(MAX_PATHS);
    block.merge(n, matches, widths);
    if seen.count == 0 {
        return silence(&block.snr[..n], &block.variance[..n], &block.own[..n], seen, widths);
    }
    let (rivals, unseen) = block.find_rivals(n, matches, seen, widths);
    let near: [&[u8]; USED] = std::array::from_fn(|k| &matches.near[k][..matches.near_count[k]]);
    let second_near = if seen.count > 1 { near[1] } else { &[] };
    for &j in second_near {
        let j = usize::from(j);
        block.second[j] = block.explains(matches, 1, j);
    }
    let limit = Lanes::splat(widths.offset_max);
    // Densities of the level are all over the prior's range: it is divided by once.
    let inverse_range = 1.0 / (2.0 * widths.offset_max).max(1e-3);
    let mut total = Lanes::splat(0.0);
    for &i in near[0] {
        let i = usize::from(i);
        let first = block.explains(matches, 0, i);
        let d1 = Lanes::splat(seen.snr_db[0]) - block.snr[i];
        let others = block.others_hidden(rivals, i, d1.min(limit).max(limit * -1.0));
        let alone = block.level(i, d1, limit);
        if seen.count == 1 {
            total += first * others * alone;
            continue;
        }
        let mut explained = alone * (widths.outlier_second * widths.stray);
        for &j in second_near {
            let j = usize::from(j);
            if j == i {
                continue;
            }
            let d2 = Lanes::splat(seen.snr_db[1]) - block.snr[j];
            // Path j was seen: it is not among those that stayed hidden.
            let powers = if !widths.shared_offset {
                alone * block.level(j, d2, limit) * (block.hidden[j].recip() * inverse_range)
            } else if matches.alone.holds[i] && matches.alone.holds[j] {
                matches.pairs[i][j].density(d1, d2, block.hidden[j])
            } else {
                block.both_levels(i, j, d1, d2, limit)
            };
            explained += block.second[j] * powers * (1.0 - widths.outlier_second);
        }
        total += first * others * explained;
    }
    total = total * (1.0 - widths.outlier_first);
    for &j in second_near {
        let j = usize::from(j);
        let d2 = Lanes::splat(seen.snr_db[1]) - block.snr[j];
        let others = block.others_hidden(rivals, j, d2.min(limit).max(limit * -1.0));
        let alone = block.level(j, d2, limit);
        let share = widths.outlier_first * (1.0 - widths.outlier_second) * widths.stray;
        total += block.second[j] * others * alone * share;
    }
    total * inverse_range + unseen * stray_likelihood(seen, widths)
}

impl HeadingBlock {
    /// What merging does to the variances and to which paths are components of their own.
    #[inline(always)]
    fn merge(&mut self, n: usize, matches: &Matches, widths: &Widths) {
        let one = Lanes::splat(1.0);
        for i in 0..n {
            self.variance[i] = Lanes::splat(matches.alone.variance[i]);
            self.own[i] = one;
            self.blur[i] = Lanes::splat(0.0);
        }
        for merge in &matches.merges[..matches.merge_count] {
            let (a, b) = (merge.a, merge.b);
            let difference = self.snr[a] - self.snr[b];
            let stronger = difference.logistic();
            // Power ratio of the weaker to the stronger, at most 1.
            let ratio = (difference.max(difference * -1.0) * -OCTAVES_PER_DB).exp2();
            let [second, third] = DILOGARITHM_TERMS;
            let dilogarithm = ratio * (one + ratio * (Lanes::splat(second) + ratio * third));
            let fade = dilogarithm * (merge.weight * widths.fading);
            self.variance[a] += fade * FADING_DB2;
            self.variance[b] += fade * FADING_DB2;
            self.blur[a] += fade * merge.turn;
            self.blur[b] += fade * merge.turn;
            self.own[a] *= one - (one - stronger) * merge.weight;
            self.own[b] *= one - stronger * merge.weight;
        }
    }

    /// Finds the paths that may have been above the cut, and how likely it is that none was where all arrivals are strays.
    #[inline(always)]
    fn find_rivals(&mut self, n: usize, matches: &Matches, seen: &Observed, widths: &Widths) -> (usize, Lanes) {
        let one = Lanes::splat(1.0);
        let blind_variance = Lanes::splat(widths.blind_variance());
        let (mut rivals, mut unseen) = (0, one);
        for l in 0..n {
            let alone = &matches.alone;
            let (spread, blind_spread) = if alone.holds[l] {
                self.scale[l] = Lanes::splat(alone.scale[l]);
                self.window[l] = Lanes::splat(alone.window[l]);
                (Lanes::splat(alone.spread[l]), Lanes::splat(alone.blind_spread[l]))
            } else {
                let variance = self.variance[l];
                if matches.is_near[l] {
                    self.scale[l] = variance.inverse_sqrt() * LEVEL_SLOPE;
                    self.window[l] = (self.scale[l] * (-2.0 * widths.offset_max)).exp2();
                }
                let spread = (variance + Lanes::splat(widths.rank_variance)).inverse_sqrt();
                (spread, (variance + blind_variance).inverse_sqrt())
            };
            self.hidden[l] = one;
            let above = self.snr[l] - Lanes::splat(seen.cut_db);
            let (excess, blind) = (above * spread, above * blind_spread);
            // One that stays far below the cut at any level is hidden for certain.
            if widths.ranking && (excess + spread * widths.offset_max).max(blind).any_above(-STEP_END) {
                let own = self.own[l];
                let rival = Rival { path: l, excess, spread, own, rest: one - own * 0.5 };
                unseen *= rival.hidden(blind);
                self.rivals[rivals] = rival;
                rivals += 1;
            }
        }
        (rivals, unseen)
    }

    /// How likely all rivals but path `i` stayed below the cut at a level offset; sets `hidden` of each.
    #[inline(always)]
    fn others_hidden(&mut self, rivals: usize, i: usize, offset: Lanes) -> Lanes {
        let mut others = Lanes::splat(1.0);
        for rival in &self.rivals[..rivals] {
            if rival.path != i {
                let hidden = rival.hidden(rival.excess + offset * rival.spread);
                self.hidden[rival.path] = hidden;
                others *= hidden;
            }
        }
        others
    }

    /// How well path `i`, as a component of its own, explains the phase of arrival `k`.
    #[inline(always)]
    fn explains(&self, matches: &Matches, k: usize, i: usize) -> Lanes {
        if matches.alone.holds[i] {
            return Lanes::splat(matches.alone.phase_density[k][i]);
        }
        let variance = Lanes::splat(matches.variance[k][i]) + self.blur[i];
        self.own[i] * phase_density(variance, matches.mismatch2[k][i])
    }

    /// [`level_density`] of path `i` alone.
    #[inline(always)]
    fn level(&self, i: usize, d: Lanes, limit: Lanes) -> Lanes {
        level_density((d - limit) * self.scale[i], self.window[i], Lanes::splat(1.0))
    }

    /// Density of both SNR excesses, those of paths `i` and `j`, under one level offset, per dB and over the prior's range, given
    /// that `j` is not hidden: [`PairLevels::density`] where the variances depend on heading and materials.
    #[inline(always)]
    fn both_levels(&self, i: usize, j: usize, d1: Lanes, d2: Lanes, limit: Lanes) -> Lanes {
        let (first, second) = (self.variance[i], self.variance[j]);
        let sum = first + second;
        let root = sum.inverse_sqrt();
        let inverse = root * root;
        let gap = d1 - d2;
        let density = (gap * gap * inverse * (-0.5 * LOG2_E)).exp2() * root * INV_SQRT_TAU;
        let common = (d1 * second + d2 * first) * inverse;
        // One over the root of first * second / sum, by the roots that are at hand.
        let scale = self.scale[i] * self.scale[j] * (sum * root) * (1.0 / LEVEL_SLOPE);
        let window = (limit * scale * -2.0).exp2();
        density * level_density((common - limit) * scale, window, self.hidden[j])
    }
}

impl PairLevels {
    /// The density of [`HeadingBlock::both_levels`].
    #[inline(always)]
    fn density(&self, d1: Lanes, d2: Lanes, share: Lanes) -> Lanes {
        let gap = d1 - d2;
        let density = (gap * gap * self.steepness).exp2() * self.peak;
        let level = d1 * self.first + d2 * self.second - Lanes::splat(self.half);
        density * level_density(level, Lanes::splat(self.window), share)
    }
}

/// Density of a wrapped phase mismatch, per radian (the width stays far below a turn).
#[inline(always)]
fn phase_density(variance: Lanes, mismatch2: f32) -> Lanes {
    let root = variance.inverse_sqrt();
    (root * root * (-0.5 * LOG2_E * mismatch2)).exp2() * root * INV_SQRT_TAU
}

/// Probability that a level within the limit and an error together are an SNR excess `d`: the normal distribution function
/// from end to end, by its logistic approximation (error below 0.01). `upper` is the excess less the limit, times
/// [`LEVEL_SLOPE`] over the error's spread; `window` is two to the power of minus the prior's range in that unit.
/// Divided by the prior's range it is the excess's density, per dB. It is divided by `share`, which costs no division of its own.
#[inline(always)]
fn level_density(upper: Lanes, window: Lanes, share: Lanes) -> Lanes {
    let one = Lanes::splat(1.0);
    let upper = upper.exp2();
    // 1 / (1 + upper) - 1 / (1 + upper / window); a product beyond single precision is one over nothing.
    (one - window) * upper * ((one + upper) * (window + upper) * share).recip()
}

/// Probability that nothing is detected, averaged over the power offset.
#[inline(always)]
fn silence(snr: &[Lanes], variance: &[Lanes], own: &[Lanes], seen: &Observed, widths: &Widths) -> Lanes {
    let one = Lanes::splat(1.0);
    let mut total = Lanes::splat(stray_likelihood(seen, widths));
    for step in [-0.8f32, -0.4, 0.0, 0.4, 0.8] {
        let mut hidden = one;
        for ((snr, variance), own) in snr.iter().zip(variance).zip(own) {
            let spread = (*variance + Lanes::splat(widths.rank_variance)).inverse_sqrt();
            let level = Lanes::splat(step * widths.offset_max - seen.cut_db);
            hidden *= one - *own * ((*snr + level) * spread).normal_cdf();
        }
        total += hidden * 0.2;
    }
    total
}
