//! Exponential, sine and cosine of eight f32 at once, for arguments of moderate size.
//!
//! The general functions of vector libraries spend most of their time on infinities and huge arguments, which a ripple
//! does not have. Built from products and sums alone, these give the same bits on every x86-64. Polynomials: Chebyshev
//! fits, within 3e-8 of the functions.

use std::f32::consts::{FRAC_1_PI, LOG2_E};

use wide::{f32x8, i32x8};

/// Adding and subtracting 1.5 * 2^23 rounds to the nearest integer, left in the low bits in between.
const ROUND: f32 = 12_582_912.0;

/// `x` rounded to an integer, and a vector whose low bits hold that integer.
fn nearest(x: f32x8) -> (f32x8, i32x8) {
    let shifted = x + f32x8::splat(ROUND);
    (shifted - f32x8::splat(ROUND), bytemuck::cast(shifted))
}

/// The polynomial with the given coefficients, lowest first.
fn polynomial<const N: usize>(x: f32x8, coefficients: [f32; N]) -> f32x8 {
    coefficients.iter().rev().fold(f32x8::ZERO, |sum, c| sum * x + f32x8::splat(*c))
}

/// `exp(x)` for |x| < 80.
pub(crate) fn exp(x: f32x8) -> f32x8 {
    // ln 2 in two parts: the first has few bits, so that its product with an integer is exact.
    const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
    let (n, bits) = nearest(x * f32x8::splat(LOG2_E));
    let r = x - n * f32x8::splat(LN_2[0]) - n * f32x8::splat(LN_2[1]);
    let tail = polynomial(r, [5e-1, 1.666_657_6e-1, 4.166_646_3e-2, 8.363_249e-3, 1.393_375_3e-3]);
    let value = r * r * tail + r + f32x8::ONE;
    // Multiplies by 2^n: adds n to the exponent.
    let exponent: i32x8 = bits << 23;
    bytemuck::cast(bytemuck::cast::<f32x8, i32x8>(value) + exponent)
}

/// `(sin x, cos x)` for |x| < 1e4.
pub(crate) fn sin_cos(x: f32x8) -> (f32x8, f32x8) {
    const PI: [f32; 2] = [3.140_625, 9.676_536e-4];
    let (n, bits) = nearest(x * f32x8::splat(FRAC_1_PI));
    let r = x - n * f32x8::splat(PI[0]) - n * f32x8::splat(PI[1]);
    let r2 = r * r;
    let sin = polynomial(r2, [-1.666_666_6e-1, 8.333_242_5e-3, -1.982_272_5e-4, 2.634_697_2e-6]);
    let cos = polynomial(r2, [4.166_666_8e-2, -1.388_881_2e-3, 2.478_606_8e-5, -2.654_55e-7]);
    let sin = r * r2 * sin + r;
    let cos = r2 * r2 * cos - r2 * f32x8::splat(0.5) + f32x8::ONE;
    // An odd number of half turns flips both signs.
    let sign: f32x8 = bytemuck::cast::<i32x8, f32x8>(bits << 31);
    (sin ^ sign, cos ^ sign)
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

    #[test]
    fn nothing_is_changed_by_zero() {
        let (sin, cos) = sin_cos(f32x8::ZERO);
        assert_eq!((sin.to_array(), cos.to_array(), exp(f32x8::ZERO).to_array()), ([0.0; 8], [1.0; 8], [1.0; 8]));
    }
}
