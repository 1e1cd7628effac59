//! An RF chain reduced to a band: what a CPU or GPU needs to know of it to work in f32.

use std::f64::consts::{LN_10, TAU};

use crate::Band;
use crate::array::ELEMENTS;
use crate::reduced_path::reduce;
use crate::rf_chain::{MAX_RIPPLE_TERMS, RfChainDraw};

/// Nepers in a decibel of amplitude.
const NEPERS_PER_DB: f64 = LN_10 / 20.0;

/// One RF chain over a band, before the common real factor that keeps the energy: bin `k` of channel `m` is multiplied
/// by `amplitude exp(j 2 pi (start_turns + k step_turns))` and by the ripple
/// `exp(sum_n (ripple_nepers + j ripple_rad) cos(pi n (k + 1/2) / bins))`, n = 1 to `terms`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReducedRfChain {
    /// Amplitude of each channel.
    pub amplitude: [f64; ELEMENTS],
    /// Phase of each channel at bin 0, turns in [-1/2, 1/2].
    pub start_turns: [f64; ELEMENTS],
    /// Phase from one bin to the next, turns in [-1/2, 1/2].
    pub step_turns: f64,
    /// Ripple terms in use.
    pub terms: usize,
    /// Cosine coefficients of each channel's log amplitude.
    pub ripple_nepers: [[f64; MAX_RIPPLE_TERMS]; ELEMENTS],
    /// Cosine coefficients of each channel's phase, radians.
    pub ripple_rad: [[f64; MAX_RIPPLE_TERMS]; ELEMENTS],
}

impl ReducedRfChain {
    /// Reduces a draw.
    #[must_use]
    pub fn new(draw: &RfChainDraw, band: &Band) -> Self {
        let first = -band.offset_hz(0) * draw.timing_offset_s + draw.common_phase_rad / TAU;
        let half_error = draw.phase_error_rad / TAU / 2.0;
        let amplitude = libm::exp(draw.gain_imbalance_db / 2.0 * NEPERS_PER_DB);
        Self {
            amplitude: [amplitude.recip(), amplitude],
            start_turns: [reduce(first - half_error), reduce(first + half_error)],
            step_turns: reduce(-band.spacing_hz() * draw.timing_offset_s),
            terms: used_terms(draw),
            ripple_nepers: draw.gain_ripple_db.map(|channel| channel.map(|c| c * NEPERS_PER_DB)),
            ripple_rad: draw.phase_ripple_rad,
        }
    }
}

/// One more than the last ripple term in use on either channel.
fn used_terms(draw: &RfChainDraw) -> usize {
    let ripples = [&draw.gain_ripple_db, &draw.phase_ripple_rad];
    let used = |n: &usize| ripples.iter().any(|ripple| ripple.iter().any(|channel| channel[*n] != 0.0));
    (0..MAX_RIPPLE_TERMS).rev().find(used).map_or(0, |n| n + 1)
}
