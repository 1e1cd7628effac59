//! The likelihood of the retained arrivals given one candidate position, for eight headings at a time.
//!
//! `docs/posterior.md` derives each term. Everything here is flat arrays of f32 and small tables, no allocation.

use super::geometry::{MAX_PATHS, Paths};
use super::lanes::Lanes;
use super::tables::HeadingTable;

/// Half the square of 20 / ln 10, dB^2: the variance of `20 log10 |1 + r e^{j psi}|` over a uniform psi is this times
/// Li2(r^2).
const FADING_DB2: f32 = 37.722;

/// `ln 10 / 10`: nepers of power in a decibel.
const NEPERS_PER_DB: f32 = 0.230_258_5;

const INV_SQRT_TAU: f32 = 0.398_942_3;

/// Arrivals that the likelihood uses.
pub(crate) const USED: usize = super::MAX_ARRIVALS;

/// Numbers the inner loop needs, made from the parameters once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Widths {
    /// Variance of the RF chain's phase error, rad^2.
    pub(crate) phase_variance: f32,
    /// Multiplies the Cramer-Rao variance of a phase.
    pub(crate) noise_scale2: f32,
    /// SNR variance by class (direct, reflected), dB^2.
    pub(crate) los_variance: f32,
    pub(crate) reflection_variance: f32,
    /// Merging: half point and softness, metres of path difference.
    pub(crate) merge_m: f32,
    pub(crate) merge_softness_m: f32,
    pub(crate) fading: f32,
    pub(crate) rank_variance: f32,
    pub(crate) outlier_first: f32,
    pub(crate) outlier_second: f32,
    /// Half-range of the level prior, dB.
    pub(crate) offset_max: f32,
    /// Variance of the RX heading that was reported, rad^2.
    pub(crate) heading_variance: f32,
    /// Variance of the reported RX position per axis, m^2.
    pub(crate) position_variance: f32,
    /// Variance of a reported surface along its normal, m^2.
    pub(crate) map_variance: f32,
    /// Density of an arrival that no path explains, per radian and dB.
    pub(crate) stray: f32,
    /// Whether paths above the cut that were not retained count against a candidate.
    pub(crate) ranking: bool,
    /// Whether both arrivals have one power offset.
    pub(crate) shared_offset: bool,
}

/// The observation as the inner loop wants it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Observed {
    /// How many arrivals are used, 0 to 2.
    pub(crate) count: usize,
    pub(crate) phase: [f32; USED],
    pub(crate) snr_db: [f32; USED],
    /// Phase variance of each arrival: RF chain and thermal noise, rad^2.
    pub(crate) phase_variance: [f32; USED],
    /// A path that was not retained must be below this, dB.
    pub(crate) cut_db: f32,
}

/// Two paths the estimator may not separate.
#[derive(Debug, Clone, Copy)]
struct Merge {
    a: usize,
    b: usize,
    weight: f32,
    /// One minus the cosine of their difference in inter-element phase.
    turn: f32,
}

const MAX_MERGES: usize = MAX_PATHS * (MAX_PATHS - 1) / 2;

/// What one candidate position offers to explain the arrivals, before heading and materials.
#[derive(Debug, Clone)]
pub(crate) struct Matches {
    merges: [Merge; MAX_MERGES],
    merge_count: usize,
    /// Squared wrapped phase mismatch of path and arrival.
    mismatch2: [[f32; MAX_PATHS]; USED],
    /// Phase variance of path and arrival without fading.
    variance: [[f32; MAX_PATHS]; USED],
    /// What the reported pose's error adds to the variance of a path's SNR, dB^2.
    level_variance: [f32; MAX_PATHS],
    /// Paths whose phase can explain the arrival.
    near: [[u8; MAX_PATHS]; USED],
    near_count: [usize; USED],
}

impl Matches {
    pub(crate) fn new() -> Self {
        Self {
            merges: [Merge { a: 0, b: 0, weight: 0.0, turn: 0.0 }; MAX_MERGES],
            merge_count: 0,
            mismatch2: [[0.0; MAX_PATHS]; USED],
            variance: [[1.0; MAX_PATHS]; USED],
            level_variance: [0.0; MAX_PATHS],
            near: [[0; MAX_PATHS]; USED],
            near_count: [0; USED],
        }
    }

    /// Compares phases and finds merging pairs. `kappa` is the phase per unit of direction, `patch2` the mean squared
    /// distance of the points this position stands for from it, m^2.
    #[inline(always)]
    pub(crate) fn compare(&mut self, paths: &Paths, seen: &Observed, widths: &Widths, kappa: f32, patch2: f32) {
        self.merge_count = 0;
        let reach = widths.merge_m + 3.0 * widths.merge_softness_m;
        let mut fades = [0.0f32; MAX_PATHS];
        for a in 0..paths.count {
            for b in 0..a {
                let gap = (paths.length[a] - paths.length[b]).abs();
                if gap < reach {
                    let weight = 1.0 / (1.0 + super::lanes::exp((gap - widths.merge_m) / widths.merge_softness_m));
                    let turn = 1.0 - libm::cosf(kappa * (paths.across[a] - paths.across[b]));
                    self.merges[self.merge_count] = Merge { a, b, weight, turn };
                    self.merge_count += 1;
                    fades[a] += weight * turn;
                    fades[b] += weight * turn;
                }
            }
        }
        // How far each path's direction of arrival may be off, squared (rad^2): by the patch, by the reported position,
        // and by the image that a misplaced surface moves twice as far, seen from the side.
        let mut swing = [0.0f32; MAX_PATHS];
        for (i, swing) in swing.iter_mut().enumerate().take(paths.count) {
            let inverse2 = 1.0 / (paths.length[i] * paths.length[i]);
            let sine2 = 1.0 - paths.cos_incidence[i] * paths.cos_incidence[i];
            let image2 =
                if paths.surface[i] == super::geometry::DIRECT { 0.0 } else { 4.0 * widths.map_variance * sine2 };
            let turned = widths.heading_variance + widths.position_variance * inverse2;
            *swing = turned + (patch2 + image2) * inverse2;
            self.level_variance[i] = paths.slope2[i] * turned;
        }
        for k in 0..seen.count {
            self.near_count[k] = 0;
            for (i, fade) in fades.iter().enumerate().take(paths.count) {
                let across = paths.across[i];
                let turns = (kappa * across - seen.phase[k]) * (1.0 / std::f32::consts::TAU);
                let mismatch = (turns - turns.round()) * std::f32::consts::TAU;
                let variance = seen.phase_variance[k] + kappa * kappa * (1.0 - across * across) * swing[i];
                self.mismatch2[k][i] = mismatch * mismatch;
                self.variance[k][i] = variance;
                // Beyond three and a half standard deviations a path explains less than a stray does. What fading
                // can add is bounded by a turn of the weaker path.
                if mismatch * mismatch < 12.25 * variance + 4.0 * widths.fading * fade {
                    self.near[k][self.near_count[k]] = i as u8;
                    self.near_count[k] += 1;
                }
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

/// How likely it is that every arrival is a stray, whatever else is there.
pub(crate) fn stray_likelihood(seen: &Observed, widths: &Widths) -> f32 {
    match seen.count {
        0 => 1e-3,
        1 => widths.outlier_first * widths.stray,
        _ => widths.outlier_first * widths.outlier_second * widths.stray * widths.stray,
    }
}

/// Likelihood of what was seen for one block of headings. `base_db` are raw SNRs without the TX pattern.
#[inline(always)]
pub(crate) fn likelihood(
    paths: &Paths,
    base_db: &[f32; MAX_PATHS],
    matches: &Matches,
    gains: &HeadingTable,
    block: usize,
    seen: &Observed,
    widths: &Widths,
) -> Lanes {
    let n = paths.count;
    let one = Lanes::splat(1.0);
    let mut snr = [one; MAX_PATHS];
    let mut variance = [one; MAX_PATHS];
    let mut blur = [Lanes::splat(0.0); MAX_PATHS];
    let mut own = [one; MAX_PATHS];
    for i in 0..n {
        snr[i] = Lanes::load(gains.block(paths.row[i] as usize, block)) + Lanes::splat(base_db[i]);
        let reflected = paths.surface[i] != super::geometry::DIRECT;
        let class = if reflected { widths.reflection_variance } else { widths.los_variance };
        variance[i] = Lanes::splat(class + matches.level_variance[i]);
    }
    for merge in &matches.merges[..matches.merge_count] {
        let (a, b) = (merge.a, merge.b);
        let difference = snr[a] - snr[b];
        let stronger = (difference * 1.0).logistic();
        // Power ratio of the weaker to the stronger, at most 1.
        let ratio = (difference.max(difference * -1.0) * -NEPERS_PER_DB).exp();
        let dilogarithm = ratio * (one + ratio * (Lanes::splat(0.25) + ratio * 0.395));
        let fade = dilogarithm * (merge.weight * widths.fading);
        variance[a] += fade * FADING_DB2;
        variance[b] += fade * FADING_DB2;
        blur[a] += fade * merge.turn;
        blur[b] += fade * merge.turn;
        own[a] *= one - (one - stronger) * merge.weight;
        own[b] *= one - stronger * merge.weight;
    }
    if seen.count == 0 {
        return silence(&snr[..n], &variance[..n], &own[..n], seen, widths);
    }
    // How well each near path explains the second arrival's phase.
    let mut second = [one; MAX_PATHS];
    for &j in &matches.near[1][..if seen.count > 1 { matches.near_count[1] } else { 0 }] {
        let j = usize::from(j);
        second[j] = own[j] * phase_density(matches, 1, j, blur[j]);
    }
    let limit = Lanes::splat(widths.offset_max);
    let mut total = Lanes::splat(0.0);
    // Excess of each path over the cut in units of its spread, less the power offset. Where all arrivals are strays,
    // nothing tells the offset: its variance adds to the spread.
    let (mut spread, mut excess) = ([one; MAX_PATHS], [one; MAX_PATHS]);
    let mut unseen = one;
    let unknown_level = Lanes::splat(widths.rank_variance + widths.offset_max * widths.offset_max / 3.0);
    for l in 0..n {
        let above = snr[l] - Lanes::splat(seen.cut_db);
        spread[l] = (variance[l] + Lanes::splat(widths.rank_variance)).sqrt().recip();
        excess[l] = above * spread[l];
        if widths.ranking {
            let above = (above * (variance[l] + unknown_level).sqrt().recip()).soft_step();
            unseen *= (one - own[l] * above).max(Lanes::splat(0.02));
        }
    }
    for &i in &matches.near[0][..matches.near_count[0]] {
        let i = usize::from(i);
        let first = own[i] * phase_density(matches, 0, i, blur[i]);
        let d1 = Lanes::splat(seen.snr_db[0]) - snr[i];
        let offset = d1.min(limit).max(limit * -1.0);
        // Everything else must have stayed below the cut.
        let mut others = one;
        let mut hidden = [one; MAX_PATHS];
        for l in 0..n {
            if l == i || !widths.ranking {
                continue;
            }
            let above = (excess[l] + offset * spread[l]).soft_step();
            hidden[l] = (one - own[l] * above).max(Lanes::splat(0.02));
            others *= hidden[l];
        }
        let alone = offset_density(d1, variance[i], limit);
        if seen.count == 1 {
            total += first * others * alone;
            continue;
        }
        let mut explained = alone * (widths.outlier_second * widths.stray);
        for &j in &matches.near[1][..matches.near_count[1]] {
            let j = usize::from(j);
            if j == i {
                continue;
            }
            let d2 = Lanes::splat(seen.snr_db[1]) - snr[j];
            let sum = variance[i] + variance[j];
            let inverse = sum.recip();
            let gap = d1 - d2;
            let density = (gap * gap * inverse * -0.5).exp() * inverse.sqrt() * INV_SQRT_TAU;
            let common = (d1 * variance[j] + d2 * variance[i]) * inverse;
            let within = offset_density(common, variance[i] * variance[j] * inverse, limit);
            let powers =
                if widths.shared_offset { density * within } else { alone * offset_density(d2, variance[j], limit) };
            explained += second[j] * powers * hidden[j].recip() * (1.0 - widths.outlier_second);
        }
        total += first * others * explained;
    }
    total = total * (1.0 - widths.outlier_first);
    if seen.count > 1 {
        for &j in &matches.near[1][..matches.near_count[1]] {
            let j = usize::from(j);
            let d2 = Lanes::splat(seen.snr_db[1]) - snr[j];
            let offset = d2.min(limit).max(limit * -1.0);
            let mut others = one;
            for l in 0..if widths.ranking { n } else { 0 } {
                if l != j {
                    let above = (excess[l] + offset * spread[l]).soft_step();
                    others *= (one - own[l] * above).max(Lanes::splat(0.02));
                }
            }
            let alone = offset_density(d2, variance[j], limit);
            let share = widths.outlier_first * (1.0 - widths.outlier_second) * widths.stray;
            total += second[j] * others * alone * share;
        }
    }
    total + unseen * stray_likelihood(seen, widths)
}

/// Density of a wrapped phase mismatch, per radian (the width stays far below a turn).
#[inline(always)]
fn phase_density(matches: &Matches, k: usize, i: usize, blur: Lanes) -> Lanes {
    let inverse = (Lanes::splat(matches.variance[k][i]) + blur).recip();
    (inverse * (-0.5 * matches.mismatch2[k][i])).exp() * inverse.sqrt() * INV_SQRT_TAU
}

/// Density, per dB, of an SNR excess `d` of this variance plus a power offset uniform within the limit.
#[inline(always)]
fn offset_density(d: Lanes, variance: Lanes, limit: Lanes) -> Lanes {
    let scale = variance.sqrt().recip();
    let upper = ((limit - d) * scale).normal_cdf();
    let lower = ((limit * -1.0 - d) * scale).normal_cdf();
    (upper - lower).max(Lanes::splat(0.0)) * (limit + limit).max(Lanes::splat(1e-3)).recip()
}

/// Probability that nothing is detected, averaged over the power offset.
#[inline(always)]
fn silence(snr: &[Lanes], variance: &[Lanes], own: &[Lanes], seen: &Observed, widths: &Widths) -> Lanes {
    let one = Lanes::splat(1.0);
    let mut total = Lanes::splat(stray_likelihood(seen, widths));
    for step in [-0.8f32, -0.4, 0.0, 0.4, 0.8] {
        let mut hidden = one;
        for ((snr, variance), own) in snr.iter().zip(variance).zip(own) {
            let spread = (*variance + Lanes::splat(widths.rank_variance)).sqrt().recip();
            let level = Lanes::splat(step * widths.offset_max - seen.cut_db);
            hidden *= one - *own * ((*snr + level) * spread).normal_cdf();
        }
        total += hidden * 0.2;
    }
    total
}
