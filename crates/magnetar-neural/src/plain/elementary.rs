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
    let rounded = x * LOG2_E + ROUND;
    let n = rounded - ROUND;
    // ln 2 in two parts, the first with few digits, so that its multiples are exact.
    const HIGH: f32 = 0.693_359_4;
    let r = x - n * HIGH - n * (LN_2 - HIGH);
    // Taylor's series; the next term is below 2^-24.
    let series = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0 + r / 720.0)))));
    // The last bits of the rounded number count its units: n, to which the exponent's bias is added.
    let whole = rounded.to_bits().wrapping_sub(ROUND.to_bits());
    f32::from_bits(whole.wrapping_add(127) << 23) * series
}

/// `1 / (1 + exp(-x))`.
#[inline(always)]
fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// Hyperbolic tangent, within 2e-6 of 1.
#[inline(always)]
pub(super) fn tanh(x: f32) -> f32 {
    2.0 * logistic(2.0 * x) - 1.0
}

/// `x / (1 + exp(-x))` of every value.
pub(crate) fn silu(x: &[f32]) -> Vec<f32> {
    let mut y = vec![0f32; x.len()];
    magnetar_signal::with_avx2!(silu_avx2(x, &mut y), silu_in_order(x, &mut y));
    y
}

magnetar_signal::avx2_copy!(silu_avx2 of silu_in_order(x: &[f32], y: &mut [f32]));

#[inline(always)]
fn silu_in_order(x: &[f32], y: &mut [f32]) {
    x.iter().zip(y).for_each(|(x, y)| *y = x * logistic(*x));
}

/// Gradients times the slopes of `x / (1 + exp(-x))`.
pub(crate) fn silu_slopes(x: &[f32], g: &[f32]) -> Vec<f32> {
    let mut y = g.to_vec();
    magnetar_signal::with_avx2!(silu_slopes_avx2(x, &mut y), silu_slopes_in_order(x, &mut y));
    y
}

magnetar_signal::avx2_copy!(silu_slopes_avx2 of silu_slopes_in_order(x: &[f32], g: &mut [f32]));

#[inline(always)]
fn silu_slopes_in_order(x: &[f32], g: &mut [f32]) {
    for (x, g) in x.iter().zip(g) {
        let s = logistic(*x);
        *g *= s + x * s * (1.0 - s);
    }
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

    #[test]
    fn vectors_give_the_same_bits_as_one_after_the_other() {
        let x: Vec<f32> = (-400..=400).map(|n| n as f32 * 0.31).collect();
        let g: Vec<f32> = x.iter().map(|v| 0.5 - v * 0.01).collect();
        let (mut y, mut slopes) = (vec![0f32; x.len()], g.clone());
        silu_in_order(&x, &mut y);
        silu_slopes_in_order(&x, &mut slopes);
        assert_eq!(silu(&x), y);
        assert_eq!(silu_slopes(&x, &g), slopes);
    }
}
