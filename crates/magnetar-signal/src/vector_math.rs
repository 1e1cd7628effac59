//! Exponential, sine and cosine of several numbers at once, for arguments of moderate size.
//!
//! The general functions of vector libraries spend most of their time on infinities and huge arguments, which a ripple
//! does not have. Built from products and sums alone, these give the same bits on every processor. Polynomials
//! in f32 are Chebyshev fits within 3e-8 of the functions, those in f64 are Taylor's.

use std::f32::consts::{FRAC_1_PI, LOG2_E};

use wide::{f32x8, f64x2, i32x8};

use crate::lanes::Lanes;

/// Adding and subtracting 1.5 * 2^23 rounds to the nearest integer, left in the low bits in between.
const ROUND: f32 = 12_582_912.0;

/// `x` rounded to an integer, and a vector whose low bits hold that integer.
fn nearest(x: f32x8) -> (f32x8, i32x8) {
    let shifted = x + f32x8::splat(ROUND);
    (shifted - f32x8::splat(ROUND), bytemuck::cast(shifted))
}

/// The polynomial with the given coefficients, lowest first.
#[inline(always)]
fn polynomial<V: Lanes, const N: usize>(x: V, coefficients: [f32; N]) -> V {
    let mut sum = V::splat(coefficients[N - 1]);
    for n in (0..N - 1).rev() {
        sum = sum.mul(x).add(V::splat(coefficients[n]));
    }
    sum
}

/// `exp(x)` for |x| < `SMALL_EXP`, with the same bits as `exp`.
#[inline(always)]
pub(crate) fn exp_of_small<V: Lanes>(x: V) -> V {
    let tail = polynomial(x, [5e-1, 1.666_657_6e-1, 4.166_646_3e-2, 8.363_249e-3, 1.393_375_3e-3]);
    x.mul(x).mul(tail).add(x).add(V::splat(1.0))
}

/// Below this, `exp` has no power of two to take out (ln 2 / 2, and a margin).
pub(crate) const SMALL_EXP: f64 = 0.346;

/// `exp(x)` for |x| < 80.
pub(crate) fn exp(x: f32x8) -> f32x8 {
    // ln 2 in two parts: the first has few bits, so that its product with an integer is exact.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    let (n, bits) = nearest(x * f32x8::splat(LOG2_E));
    let value = exp_of_small(x - n * f32x8::splat(LN_2[0]) - n * f32x8::splat(LN_2[1]));
    // Multiplies by 2^n: adds n to the exponent.
    let exponent: i32x8 = bits << 23;
    bytemuck::cast(bytemuck::cast::<f32x8, i32x8>(value) + exponent)
}

/// `(sin x, cos x)` for |x| < `SMALL_ANGLE`, with the same bits as `sin_cos`.
#[inline(always)]
pub(crate) fn sin_cos_of_small<V: Lanes>(x: V) -> (V, V) {
    let x2 = x.mul(x);
    let sin = polynomial(x2, [-1.666_666_6e-1, 8.333_242_5e-3, -1.982_272_5e-4, 2.634_697_2e-6]);
    let cos = polynomial(x2, [4.166_666_8e-2, -1.388_881_2e-3, 2.478_606_8e-5, -2.654_55e-7]);
    (x.mul(x2).mul(sin).add(x), x2.mul(x2).mul(cos).sub(x2.mul(V::splat(0.5))).add(V::splat(1.0)))
}

/// Below this, `sin_cos` has no half turn to take out (pi / 2, and a margin).
pub(crate) const SMALL_ANGLE: f64 = 1.57;

/// `(sin x, cos x)` for |x| < 1e4.
pub(crate) fn sin_cos(x: f32x8) -> (f32x8, f32x8) {
    const PI: [f32; 2] = [3.140_625, 9.676_536e-4];
    let (n, bits) = nearest(x * f32x8::splat(FRAC_1_PI));
    let (sin, cos) = sin_cos_of_small(x - n * f32x8::splat(PI[0]) - n * f32x8::splat(PI[1]));
    // An odd number of half turns flips both signs.
    let sign: f32x8 = bytemuck::cast::<i32x8, f32x8>(bits << 31);
    (sin ^ sign, cos ^ sign)
}

/// `(sin x, cos x)` of two f64 for `|x| <= pi / 4` and a little beyond, to 1e-15.
#[inline(always)]
pub(crate) fn sin_cos_of_eighth(x: f64x2) -> (f64x2, f64x2) {
    let y = x * x;
    let mut s = f64x2::splat(-1.0 / 1_307_674_368_000.0);
    for c in [1.0 / 6_227_020_800.0, -1.0 / 39_916_800.0, 1.0 / 362_880.0, -1.0 / 5_040.0, 1.0 / 120.0, -1.0 / 6.0, 1.0]
    {
        s = s * y + f64x2::splat(c);
    }
    let mut k = f64x2::splat(1.0 / 20_922_789_888_000.0);
    for c in
        [-1.0 / 87_178_291_200.0, 1.0 / 479_001_600.0, -1.0 / 3_628_800.0, 1.0 / 40_320.0, -1.0 / 720.0, 1.0 / 24.0]
    {
        k = k * y + f64x2::splat(c);
    }
    (s * x, (k * y - f64x2::splat(0.5)) * y + f64x2::splat(1.0))
}

/// `(sin, cos)` of two angles in turns, each from -1/2 to 1/2.
pub(crate) fn sin_cos_of_turns(turns: [f64; 2]) -> (f64x2, f64x2) {
    // Adding and subtracting 1.5 * 2^52 rounds to the nearest quarter turn, whose number is left in the low bits.
    const ROUND: f64x2 = f64x2::new([6_755_399_441_055_744.0; 2]);
    let turns = f64x2::from(turns);
    let shifted = turns * 4.0 + ROUND;
    let rest = turns - (shifted - ROUND) * 0.25;
    let (sin, cos) = sin_cos_of_eighth(rest * std::f64::consts::TAU);
    let bits = |x: f64x2| x.to_array().map(f64::to_bits);
    let (shifted, sin, cos) = (bits(shifted), bits(sin), bits(cos));
    let (mut out_sin, mut out_cos) = ([0.0; 2], [0.0; 2]);
    for lane in 0..2 {
        // Odd quarter turns exchange the two; bits instead of branches, which no processor could foresee.
        let quarter = shifted[lane] & 3;
        let exchanged = (sin[lane] ^ cos[lane]) & 0u64.wrapping_sub(quarter & 1);
        out_sin[lane] = f64::from_bits(sin[lane] ^ exchanged ^ ((quarter >> 1) << 63));
        out_cos[lane] = f64::from_bits(cos[lane] ^ exchanged ^ (((quarter >> 1) ^ (quarter & 1)) << 63));
    }
    (f64x2::from(out_sin), f64x2::from(out_cos))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn close_to_the_exact_functions(x in -60.0f32..60.0) {
            let v = f32x8::splat(x);
            let ((sin, cos), exp) = (sin_cos(v), exp(v));
            let x = f64::from(x);
            prop_assert!((f64::from(sin.to_array()[3]) - x.sin()).abs() < 2e-7);
            prop_assert!((f64::from(cos.to_array()[3]) - x.cos()).abs() < 2e-7);
            prop_assert!((f64::from(exp.to_array()[3]) / x.exp() - 1.0).abs() < 3e-7);
        }
    }

    proptest! {
        #[test]
        fn small_arguments_have_the_same_bits(x in -1.0f64..1.0) {
            let v = f32x8::splat((x * SMALL_EXP) as f32);
            prop_assert_eq!(exp_of_small(v).to_array(), exp(v).to_array());
            let v = f32x8::splat((x * SMALL_ANGLE) as f32);
            prop_assert_eq!(sin_cos_of_small(v).0.to_array(), sin_cos(v).0.to_array());
            prop_assert_eq!(sin_cos_of_small(v).1.to_array(), sin_cos(v).1.to_array());
        }
    }

    #[test]
    fn nothing_is_changed_by_zero() {
        let (sin, cos) = sin_cos(f32x8::ZERO);
        assert_eq!((sin.to_array(), cos.to_array(), exp(f32x8::ZERO).to_array()), ([0.0; 8], [1.0; 8], [1.0; 8]));
    }

    proptest! {
        #[test]
        fn turns_are_followed(a in -0.5f64..0.5, b in -0.5f64..0.5) {
            let (sin, cos) = sin_cos_of_turns([a, b]);
            for (lane, turns) in [a, b].into_iter().enumerate() {
                let angle = std::f64::consts::TAU * turns;
                prop_assert!((sin.to_array()[lane] - angle.sin()).abs() < 1e-15);
                prop_assert!((cos.to_array()[lane] - angle.cos()).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn quarter_turns_are_exact() {
        let (sin, cos) = sin_cos_of_turns([0.25, -0.5]);
        assert_eq!((sin.to_array(), cos.to_array()), ([1.0, 0.0], [0.0, -1.0]));
    }
}
