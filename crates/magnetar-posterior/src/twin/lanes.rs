//! Sixteen headings at a time: plain arrays that the compiler turns into vector instructions. That is two registers of AVX2,
//! so that one is worked on while the other is waited for.
//!
//! Every operation is the same on every machine (no library transcendental functions), so results do not depend on the
//! vector unit.

use std::ops::{Add, AddAssign, Mul, MulAssign, Sub};

/// Headings worked on together.
pub(crate) const LANES: usize = 16;

/// Where [`Lanes::soft_sign`] ends, in standard deviations.
pub(crate) const STEP_END: f32 = 2.6;

/// Sixteen f32 values.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Lanes(pub(crate) [f32; LANES]);

impl Lanes {
    #[inline(always)]
    pub(crate) fn splat(value: f32) -> Self {
        Self([value; LANES])
    }

    #[inline(always)]
    fn zip(self, other: Self, op: impl Fn(f32, f32) -> f32) -> Self {
        let mut out = self;
        for (a, b) in out.0.iter_mut().zip(&other.0) {
            *a = op(*a, *b);
        }
        out
    }

    #[inline(always)]
    fn map(self, op: impl Fn(f32) -> f32) -> Self {
        // Not `array::map`, whose body is not always inlined into code for a wider vector unit.
        let mut out = self;
        for a in &mut out.0 {
            *a = op(*a);
        }
        out
    }

    #[inline(always)]
    pub(crate) fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    pub(crate) fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    pub(crate) fn recip(self) -> Self {
        self.map(|a| 1.0 / a)
    }

    /// `1 / sqrt(x)`.
    #[inline(always)]
    pub(crate) fn inverse_sqrt(self) -> Self {
        self.map(inverse_sqrt)
    }

    /// `2^x`.
    #[inline(always)]
    pub(crate) fn exp2(self) -> Self {
        self.map(exp2)
    }

    /// Whether any of the values is above `limit`.
    #[inline(always)]
    pub(crate) fn any_above(self, limit: f32) -> bool {
        // Not `any`, which stops at the first and so takes one value at a time.
        self.0.iter().fold(false, |found, a| found | (*a > limit))
    }

    /// `1 / (1 + exp(-x))`.
    #[inline(always)]
    pub(crate) fn logistic(self) -> Self {
        self.map(|x| 1.0 / (1.0 + exp2(x * -std::f32::consts::LOG2_E)))
    }

    /// Standard normal distribution function less one half by a polynomial (error below 0.005), constant beyond
    /// [`STEP_END`]: cheap, for probabilities whose tails do not matter.
    #[inline(always)]
    pub(crate) fn soft_sign(self) -> Self {
        self.map(|x| {
            let x = if x < -STEP_END { -STEP_END } else { x };
            let x = if x > STEP_END { STEP_END } else { x };
            let x2 = x * x;
            x * (0.395_69 + x2 * (-0.059_769 + x2 * (0.006_102_4 - x2 * 0.000_253_17)))
        })
    }

    /// Standard normal distribution function, by its logistic approximation (error below 0.01).
    #[inline(always)]
    pub(crate) fn normal_cdf(self) -> Self {
        self.map(|x| 1.0 / (1.0 + exp(-1.702 * x)))
    }
}

impl Add for Lanes {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl Sub for Lanes {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

impl Mul for Lanes {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
}

impl Mul<f32> for Lanes {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: f32) -> Self {
        self.map(|a| a * other)
    }
}

impl AddAssign for Lanes {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl MulAssign for Lanes {
    #[inline(always)]
    fn mul_assign(&mut self, other: Self) {
        *self = *self * other;
    }
}

/// The integer nearest to a number below 2^22: adding 1.5 x 2^23 leaves no room for a fraction.
#[inline(always)]
pub(crate) fn nearest_integer(x: f32) -> f32 {
    let magic = 12_582_912.0f32;
    (x + magic) - magic
}

/// `2^x` to 3e-6 relative, for -126 to 126 (held there): a power of two by its bits times a polynomial.
#[inline(always)]
pub(crate) fn exp2(x: f32) -> f32 {
    let x = if x < -126.0 { -126.0 } else { x };
    let x = if x > 126.0 { 126.0 } else { x };
    // Adding 1.5 x 2^23 rounds to the nearest integer, which then sits in the low bits.
    let magic = 12_582_912.0f32;
    let shifted = x + magic;
    let f = x - (shifted - magic);
    // The least largest relative error of degree 4 within half an octave either way.
    let p = 0.999_999_3 + f * (0.693_121_8 + f * (0.240_247_45 + f * (0.055_917_86 + f * 0.009_570_102)));
    f32::from_bits(p.to_bits().wrapping_add(shifted.to_bits().wrapping_shl(23)))
}

/// `1 / sqrt(x)` to 1e-6 relative for positive normal numbers: a first guess by the bits, two steps of Newton's method,
/// the first with constants that spread the guess's error evenly.
#[inline(always)]
pub(crate) fn inverse_sqrt(x: f32) -> f32 {
    let guess = f32::from_bits(0x5f1f_fff9_u32.wrapping_sub(x.to_bits() >> 1));
    let closer = guess * (0.703_952_25 * (2.389_244_6 - x * (guess * guess)));
    closer * (1.5 - (0.5 * x) * (closer * closer))
}

/// `exp(x)` to 3e-6 relative, for -87 to 87 (held there): a power of two by its bits times a polynomial.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    let x = if x < -87.0 { -87.0 } else { x };
    let x = if x > 87.0 { 87.0 } else { x };
    let t = x * std::f32::consts::LOG2_E;
    // Adding 1.5 x 2^23 rounds to the nearest integer, which then sits in the low bits.
    let magic = 12_582_912.0f32;
    let rounded = (t + magic) - magic;
    let f = (t - rounded) * std::f32::consts::LN_2;
    let whole = ((t + magic).to_bits() as i32).wrapping_sub(magic.to_bits() as i32);
    let p = 1.0 + f * (1.0 + f * (0.5 + f * (0.166_666_7 + f * (0.041_666_6 + f * 0.008_333_3))));
    f32::from_bits((p.to_bits() as i32).wrapping_add(whole.wrapping_shl(23)) as u32)
}

/// `log2(x)` to 1e-5 for positive normal numbers.
#[inline(always)]
pub(crate) fn log2(x: f32) -> f32 {
    let bits = x.to_bits();
    let exponent = ((bits >> 23) as i32 - 127) as f32;
    let m = f32::from_bits((bits & 0x007f_ffff) | 0x3f80_0000);
    // log2 of the mantissa in [1, 2) by atanh: ln m = 2 atanh((m - 1) / (m + 1)), about its middle sqrt 2.
    let s = (m - std::f32::consts::SQRT_2) / (m + std::f32::consts::SQRT_2);
    let s2 = s * s;
    let ln = 2.0 * s * (1.0 + s2 * (0.333_333_3 + s2 * (0.2 + s2 * 0.142_857)));
    exponent + 0.5 + ln * std::f32::consts::LOG2_E
}

/// Angle of (x, y), radians in [-pi, pi], to 3e-5.
#[inline(always)]
pub(crate) fn atan2(y: f32, x: f32) -> f32 {
    let (ax, ay) = (x.abs(), y.abs());
    let (low, high) = if ax < ay { (ax, ay) } else { (ay, ax) };
    let t = low / (high + 1e-30);
    let t2 = t * t;
    let p = t
        * (0.999_977_3
            + t2 * (-0.332_623_5 + t2 * (0.193_543_5 + t2 * (-0.116_432_9 + t2 * (0.052_653_3 - t2 * 0.011_721_2)))));
    let p = if ax < ay { std::f32::consts::FRAC_PI_2 - p } else { p };
    let p = if x < 0.0 { std::f32::consts::PI - p } else { p };
    if y < 0.0 { -p } else { p }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn exp_log_and_angle_are_close(x in -80.0f32..80.0, a in -3.1f32..3.1, r in 1e-3f32..1e3) {
            prop_assert!((exp(x) / f64::from(x).exp() as f32 - 1.0).abs() < 1e-5);
            prop_assert!((log2(r) - r.log2()).abs() < 3e-5);
            prop_assert!((exp2(x) / f64::from(x).exp2() as f32 - 1.0).abs() < 4e-6);
            prop_assert!((f64::from(inverse_sqrt(r)) * f64::from(r).sqrt() - 1.0).abs() < 1.5e-6);
            prop_assert!((atan2(r * a.sin(), r * a.cos()) - a).abs() < 5e-5);
        }
    }

    #[test]
    fn extremes_stay_finite() {
        assert!(exp(-1e30) > 0.0 && exp(-1e30) < 1e-37);
        assert!(exp(1e30).is_finite());
        assert!(exp2(-1e30) > 0.0 && exp2(-1e30) < 1e-37 && exp2(1e30).is_finite());
        assert!(atan2(0.0, 0.0).is_finite());
        assert!((Lanes::splat(3.0).normal_cdf().0[0] - 0.998_65).abs() < 0.01);
    }
}
