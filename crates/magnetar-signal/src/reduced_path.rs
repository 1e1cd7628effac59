//! The boundary between double and single precision: what a sum over bins needs to know of a path.
//!
//! A path's phase at 10 GHz turns thousands of times over its delay, so phases are taken modulo one turn in f64 here;
//! what is left is small, and a CPU or GPU may sum it in f32.

use bytemuck::{Pod, Zeroable};

use crate::array::ELEMENTS;
use crate::{Band, ElementPath};

/// One path at the two elements, reduced to a band: bin `k` of element `m` is
/// `(gain_re + j gain_im) exp(j 2 pi (start_turns + k step_turns))`.
///
/// `step_turns` stays in f64: `k step_turns` must be taken modulo one in f64, at least at every few bins.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct ReducedPath {
    /// Phase at bin 0, turns in [-1/2, 1/2].
    pub start_turns: [f64; ELEMENTS],
    /// Phase from one bin to the next, turns in [-1/2, 1/2].
    pub step_turns: [f64; ELEMENTS],
    /// Real part of the gain, link scale included.
    pub gain_re: [f32; ELEMENTS],
    /// Imaginary part of the gain, link scale included.
    pub gain_im: [f32; ELEMENTS],
}

impl ReducedPath {
    /// Reduces a path whose gain is scaled by `scale` (see `LinkConfig::amplitude_scale`).
    #[must_use]
    pub fn new(path: &ElementPath, band: &Band, scale: f64) -> Self {
        let (first, spacing) = (band.frequency_hz(0), band.spacing_hz());
        let gain = path.gain.map(|gain| gain * scale);
        Self {
            start_turns: path.delay.map(|delay| reduce(-first * delay)),
            step_turns: path.delay.map(|delay| reduce(-spacing * delay)),
            gain_re: gain.map(|gain| gain.re as f32),
            gain_im: gain.map(|gain| gain.im as f32),
        }
    }
}

/// Turns modulo one, in [-1/2, 1/2].
pub(crate) fn reduce(turns: f64) -> f64 {
    turns - turns.round_ties_even()
}
