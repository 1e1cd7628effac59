//! What the path-summation kernel reads, as it reads it.

use bytemuck::{Pod, Zeroable};
use magnetar_signal::{ELEMENTS, MAX_RIPPLE_TERMS, ReducedPath, ReducedRfChain};

/// `PathTerm` of `kernels/sum_paths.cu`: one path at the two elements, phases in fixed-point turns (2^32 to a turn).
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct PathTerm {
    amplitude: [f32; ELEMENTS],
    start: [u32; ELEMENTS],
    step: [u32; ELEMENTS],
}

/// `RfChain` of `kernels/sum_paths.cu`: the RF chain of one row.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct RfChainTerm {
    amplitude: [f32; ELEMENTS],
    start: [u32; ELEMENTS],
    step: u32,
    terms: u32,
    nepers: [[f32; MAX_RIPPLE_TERMS]; ELEMENTS],
    half_turns: [[f32; MAX_RIPPLE_TERMS]; ELEMENTS],
}

impl From<&ReducedPath> for PathTerm {
    fn from(path: &ReducedPath) -> Self {
        let gain = [0, 1].map(|m| (f64::from(path.gain_re[m]), f64::from(path.gain_im[m])));
        Self {
            amplitude: gain.map(|(re, im)| libm::hypot(re, im) as f32),
            start: [0, 1]
                .map(|m| fixed_point(path.start_turns[m] + libm::atan2(gain[m].1, gain[m].0) / std::f64::consts::TAU)),
            step: path.step_turns.map(fixed_point),
        }
    }
}

impl From<&ReducedRfChain> for RfChainTerm {
    fn from(chain: &ReducedRfChain) -> Self {
        Self {
            amplitude: chain.amplitude.map(|a| a as f32),
            start: chain.start_turns.map(fixed_point),
            step: fixed_point(chain.step_turns),
            terms: chain.terms as u32,
            nepers: chain.ripple_nepers.map(|element| element.map(|c| c as f32)),
            half_turns: chain.ripple_rad.map(|element| element.map(|c| (c / std::f64::consts::PI) as f32)),
        }
    }
}

/// Turns as a 32-bit fraction of one, rounded; whole turns vanish.
fn fixed_point(turns: f64) -> u32 {
    let fraction = turns - turns.floor();
    // At most 2^32, which wraps to zero as a whole turn should.
    (fraction * 4_294_967_296.0).round() as u64 as u32
}

#[cfg(test)]
mod tests {
    use super::fixed_point;

    #[test]
    fn whole_turns_vanish() {
        for whole in [-3.0, 0.0, 7.0] {
            assert_eq!(fixed_point(whole), 0);
            assert_eq!(fixed_point(whole + 0.25), 1 << 30);
            assert_eq!(fixed_point(whole - 0.25), 3 << 30);
        }
        assert_eq!(fixed_point(1.0 - 1e-12), 0);
    }
}
