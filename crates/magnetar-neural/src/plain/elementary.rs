//! Exponential, logistic function and hyperbolic tangent in single precision: products and sums only, so that loops over
//! them are compiled to vectors and give the same bits everywhere.

use std::f32::consts::{LN_2, LOG2_E};

/// Arguments are held within this: beyond it single precision holds no exponential.
const LARGEST: f32 = 87.0;

/// `exp(x)` within 3e-7 relative for `|x| <= 87`, held at the ends beyond.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    let x = x.clamp(-LARGEST, LARGEST);
    // x = n ln 2 + r with |r| <= ln(2) / 2. Adding and taking away 1.5 * 2^23 rounds to whole numbers.
    const ROUND: f32 = 12_582_912.0;
    let n = x * LOG2_E + ROUND - ROUND;
    // ln 2 in two parts, the first with few digits, so that its multiples are exact.
    const HIGH: f32 = 0.693_359_4;
    let r = x - n * HIGH - n * (LN_2 - HIGH);
    // Taylor's series; the next term is below 2^-24.
    let series = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0 + r / 720.0)))));
    f32::from_bits(((n as i32 + 127) << 23) as u32) * series
}

/// `1 / (1 + exp(-x))`.
#[inline(always)]
pub(crate) fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// Hyperbolic tangent, within 2e-6 of 1.
#[inline(always)]
pub(super) fn tanh(x: f32) -> f32 {
    2.0 * logistic(2.0 * x) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_close_to_the_functions_of_the_library() {
        for n in -8000..=8000 {
            let x = n as f32 * 0.0107;
            let exact = libm::exp(f64::from(x));
            assert!((f64::from(exp(x)) / exact - 1.0).abs() < 5e-7, "{x}: {} {exact}", exp(x));
            assert!((tanh(x) - libm::tanhf(x)).abs() < 1e-6, "{x}");
        }
        assert!(exp(-1e30) < 1e-37 && exp(1e30).is_finite() && exp(-1e30) >= 0.0);
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(tanh(0.0), 0.0);
    }
}
