//! Reflections off many slabs at once: what [`SlabResponse::reflection`] or [`SlabResponse::reflection_at_once`] gives, bit
//! for bit, with the slabs side by side in the processor's vectors.
//!
//! Sine, cosine and exponential are those of the `libm` crate, operation by operation, for the arguments that slabs give as
//! a rule; what lies elsewhere is marked and evaluated one by one.

#![allow(clippy::needless_range_loop, reason = "lanes read best by their indices")]

use std::f64::consts::{FRAC_2_PI, LOG2_E};

use num_complex::Complex64;

use crate::slab_response::{OPAQUE_EXPONENT, assemble, first_face, with_echo};
use crate::{SlabCoefficients, SlabResponse};

/// At most `BATCH` reflections to be evaluated, a multiple of the numbers in a vector, and their coefficients: those of
/// [`SlabResponse::reflection_at_once`] if `AT_ONCE`, else of [`SlabResponse::reflection`].
pub(crate) struct SlabBatch<const BATCH: usize, const AT_ONCE: bool> {
    count: usize,
    eta_re: [f64; BATCH],
    eta_im: [f64; BATCH],
    round_trip: [f64; BATCH],
    gain: [f64; BATCH],
    cos_incidence: [f64; BATCH],
    /// Real and imaginary parts of TE, then of TM.
    parts: [[f64; BATCH]; 4],
    /// 1 where the functions below give what they should, else 0.
    sound: [u64; BATCH],
}

impl<const BATCH: usize, const AT_ONCE: bool> SlabBatch<BATCH, AT_ONCE> {
    pub(crate) fn new() -> Self {
        let zeros = [0.0; BATCH];
        Self {
            count: 0,
            eta_re: [1.0; BATCH],
            eta_im: zeros,
            round_trip: zeros,
            gain: [1.0; BATCH],
            cos_incidence: [1.0; BATCH],
            parts: [zeros; 4],
            sound: [1; BATCH],
        }
    }

    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds a reflection at the cosine of its angle of incidence, for which there must be room; returns its number.
    #[inline]
    pub(crate) fn add(&mut self, slab: &SlabResponse, cos_incidence: f64) -> u8 {
        let at = self.count;
        (self.eta_re[at], self.eta_im[at]) = (slab.eta.re, slab.eta.im);
        (self.round_trip[at], self.gain[at], self.cos_incidence[at]) = (slab.round_trip, slab.gain, cos_incidence);
        self.count += 1;
        at as u8
    }

    /// The coefficients of a reflection, once evaluated.
    #[inline]
    pub(crate) fn coefficients(&self, at: usize) -> SlabCoefficients {
        let part = |n: usize| Complex64::new(self.parts[n][at], self.parts[n + 1][at]);
        SlabCoefficients { te: part(0), tm: part(2) }
    }

    /// Evaluates all that were added.
    pub(crate) fn evaluate(&mut self) {
        crate::with_avx2!(self.evaluate_avx2(), self.evaluate_in_order());
        for at in (0..self.count).filter(|&at| self.sound[at] == 0) {
            let eta = Complex64::new(self.eta_re[at], self.eta_im[at]);
            let slab = SlabResponse { eta, round_trip: self.round_trip[at], gain: self.gain[at] };
            let c = self.cos_incidence[at];
            let SlabCoefficients { te, tm } = if AT_ONCE { slab.reflection_at_once(c) } else { slab.reflection(c) };
            for (part, value) in self.parts.iter_mut().zip([te.re, te.im, tm.re, tm.im]) {
                part[at] = value;
            }
        }
    }

    crate::avx2_copy!(evaluate_avx2 of evaluate_in_order(&mut self));

    #[inline(always)]
    fn evaluate_in_order(&mut self) {
        // Whole vectors: what follows the last reflection is evaluated, too, and means nothing.
        let count = self.count.next_multiple_of(8).min(BATCH);
        let [te_re, te_im, tm_re, tm_im] = &mut self.parts;
        for at in 0..count {
            let eta = Complex64::new(self.eta_re[at], self.eta_im[at]);
            let (c, round_trip) = (self.cos_incidence[at], self.round_trip[at]);
            let z = Complex64::new(eta.re - (1.0 - c) * (1.0 + c), eta.im);
            // As `root` where the real part is positive.
            let modulus = (z.re * z.re + z.im * z.im).sqrt();
            let re = ((modulus + z.re) / 2.0).sqrt();
            let s = Complex64::new(re, z.im / (2.0 * re));
            let (exponent, phase) = (round_trip * s.im, round_trip * s.re);
            let (size, sound_exponent) = exp(exponent);
            let ((sin, cos), sound_phase) = sincos(phase);
            let echo = size * Complex64::new(cos, -sin);
            let opaque = exponent < OPAQUE_EXPONENT;
            let both = if AT_ONCE {
                assemble(eta, c, s, choose(opaque, Complex64::ZERO, echo))
            } else {
                let first = first_face(eta, c, s);
                let both = with_echo(first, echo);
                SlabCoefficients { te: choose(opaque, first.te, both.te), tm: choose(opaque, first.tm, both.tm) }
            };
            let SlabCoefficients { te, tm } = both.scaled(self.gain[at]);
            (te_re[at], te_im[at], tm_re[at], tm_im[at]) = (te.re, te.im, tm.re, tm.im);
            let sound = (z.re >= 0.0) & (re > 0.0) & (opaque | (sound_exponent & sound_phase));
            self.sound[at] = u64::from(sound);
        }
    }
}

/// One of two, without a branch.
#[inline(always)]
fn choose(first: bool, a: Complex64, b: Complex64) -> Complex64 {
    Complex64::new(if first { a.re } else { b.re }, if first { a.im } else { b.im })
}

/// A double of these high and no low bits.
const fn high(word: u64) -> f64 {
    f64::from_bits(word << 32)
}

/// Rounds a double to the nearest integer when added and taken away again.
const TO_INTEGER: f64 = 1.5 / f64::EPSILON;

/// `libm::exp` of a number from -700 to 0, and whether the number lies there: else the result means nothing.
#[inline(always)]
#[allow(clippy::excessive_precision, reason = "the constants as their source writes them")]
fn exp(x: f64) -> (f64, bool) {
    const LN2_HIGH: f64 = 6.931_471_803_691_238_164_90e-01;
    const LN2_LOW: f64 = 1.908_214_929_270_587_700_02e-10;
    const P: [f64; 5] = [
        1.666_666_666_666_660_190_37e-01,
        -2.777_777_777_701_559_338_42e-03,
        6.613_756_321_437_934_361_17e-05,
        -1.653_390_220_546_525_153_90e-06,
        4.138_136_797_057_238_460_39e-08,
    ];
    let distance = x.abs();
    // Towards zero, as a conversion to an integer cuts: upwards, as the number is negative.
    let cut = LOG2_E * x - 0.5;
    let nearest = (cut + TO_INTEGER) - TO_INTEGER;
    let k = if nearest < cut { nearest + 1.0 } else { nearest };
    let k = if distance < high(0x3ff0_a2b2) { -1.0 } else { k };
    let k = if distance < high(0x3fd6_2e43) { 0.0 } else { k };
    let (upper, lower) = (x - k * LN2_HIGH, k * LN2_LOW);
    let r = upper - lower;
    let rr = r * r;
    let c = r - rr * (P[0] + rr * (P[1] + rr * (P[2] + rr * (P[3] + rr * P[4]))));
    let y = 1.0 + (r * c / (2.0 - c) - lower + upper);
    // Two to the power k, from the integer in the low bits of a number that large.
    let power = f64::from_bits((k + (TO_INTEGER + 1023.0)).to_bits() << 52);
    let scaled = if distance < high(0x3e30_0001) { 1.0 + x } else { y * power };
    (scaled, (-700.0..=0.0).contains(&x))
}

/// `libm::sincos` of a number between nine quarters of pi and a million, and whether the number lies there and not so near
/// to a multiple of pi / 2 that its rest needs more digits: else the result means nothing.
#[inline(always)]
#[allow(clippy::excessive_precision, reason = "the constants as their source writes them")]
fn sincos(x: f64) -> ((f64, f64), bool) {
    const HALF_PI: f64 = 1.570_796_326_734_125_614_17;
    const HALF_PI_REST: f64 = 6.077_100_506_506_192_249_32e-11;
    const S: [f64; 6] = [
        -1.666_666_666_666_663_243_48e-01,
        8.333_333_333_322_489_461_24e-03,
        -1.984_126_982_985_794_931_34e-04,
        2.755_731_370_707_006_767_89e-06,
        -2.505_076_025_340_686_341_95e-08,
        1.589_690_995_211_550_102_21e-10,
    ];
    const C: [f64; 6] = [
        4.166_666_666_666_660_190_37e-02,
        -1.388_888_888_887_410_957_49e-03,
        2.480_158_728_947_672_941_78e-05,
        -2.755_731_435_139_066_330_35e-07,
        2.087_572_321_298_174_827_90e-09,
        -1.135_964_755_778_819_482_65e-11,
    ];
    let shifted = x * FRAC_2_PI + TO_INTEGER;
    let turns = shifted - TO_INTEGER;
    let rest = x - turns * HALF_PI;
    let w = turns * HALF_PI_REST;
    let y0 = rest - w;
    let y1 = (rest - y0) - w;
    // The power of two below x, by 2^16 smaller.
    let least = f64::from_bits(x.to_bits() & (0x7ff << 52)) * (1.0 / 65_536.0);
    let sound = (x >= high(0x401c_463c)) & (x < high(0x4139_21fb)) & (y0.abs() >= least);
    let z = y0 * y0;
    let zz = z * z;
    let r = S[1] + z * (S[2] + z * S[3]) + z * zz * (S[4] + z * S[5]);
    let v = z * y0;
    let sin = y0 - ((z * (0.5 * y1 - v * r) - y1) - v * S[0]);
    let r = z * (C[0] + z * (C[1] + z * C[2])) + zz * zz * (C[3] + z * (C[4] + z * C[5]));
    let half = 0.5 * z;
    let w = 1.0 - half;
    let cos = w + (((1.0 - w) - half) + (z * r - y0 * y1));
    // Quarters of a turn, in the low bits.
    let quarter = shifted.to_bits();
    let swapped = quarter & 1 != 0;
    let (a, b) = (if swapped { cos } else { sin }, if swapped { sin } else { cos });
    let negated = |value: f64, bit: u64| f64::from_bits(value.to_bits() ^ ((bit & 2) << 62));
    ((negated(a, quarter), negated(b, quarter.wrapping_add(1))), sound)
}

#[cfg(test)]
mod tests {
    use magnetar_scene::Slab;
    use proptest::prelude::*;

    use super::*;

    /// The same bits, but for the kind of what is not a number.
    fn same(a: Complex64, b: Complex64) -> bool {
        let part = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
        part(a.re, b.re) && part(a.im, b.im)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn elementary_functions_have_the_bits_of_libm(x in -60.0f64..0.0, tiny in -40i32..0, phase in 0.0f64..2000.0) {
            for x in [x, x * 2f64.powi(tiny), 0.0, -0.0] {
                let (value, sound) = exp(x);
                prop_assert!(sound && value.to_bits() == libm::exp(x).to_bits(), "{x}: {value}");
            }
            let ((sin, cos), sound) = sincos(phase);
            let expected = libm::sincos(phase);
            prop_assert!(!sound || (sin.to_bits(), cos.to_bits()) == (expected.0.to_bits(), expected.1.to_bits()), "{phase}");
            // Nearly all of them are.
            let quarter = (phase / std::f64::consts::FRAC_PI_2).fract();
            prop_assert!(sound || phase < 7.1 || !(0.01..0.99).contains(&quarter), "{phase}");
        }
    }

    const BATCH: usize = 64;

    /// Permittivity, conductivity, thickness and cosine of the angle of incidence: ordinary and odd ones.
    fn reflections() -> impl Strategy<Value = Vec<(f64, f64, f64, f64)>> {
        let eps_r = prop_oneof![1.0f64..30.0, Just(1.0), -3.0f64..1.0];
        let sigma = prop_oneof![Just(0.0), (-8.0f64..6.0).prop_map(|x| 10f64.powf(x))];
        let thickness = prop_oneof![1e-4f64..0.3, 0.3f64..5000.0];
        let cos_incidence = prop_oneof![1e-6f64..1.0, Just(1.0), Just(0.0)];
        prop::collection::vec((eps_r, sigma, thickness, cos_incidence), 0..=BATCH)
    }

    /// A batch evaluates each to what `alone` gives.
    fn check<const AT_ONCE: bool>(
        cases: &[(f64, f64, f64, f64)],
        earlier: usize,
        alone: impl Fn(&SlabResponse, f64) -> SlabCoefficients,
    ) -> Result<(), TestCaseError> {
        let slab = |eps_r, sigma, thickness| {
            SlabResponse::new(&Slab::new(eps_r, sigma, thickness).reflecting_more_by(eps_r), 10e9)
        };
        let mut batch = SlabBatch::<BATCH, AT_ONCE>::new();
        // What an earlier batch left does not matter.
        let other = slab(2.0, 1.0, 0.1);
        for _ in 0..earlier {
            batch.add(&other, 0.5);
        }
        batch.evaluate();
        batch.clear();
        for &(eps_r, sigma, thickness, cos) in cases {
            batch.add(&slab(eps_r, sigma, thickness), cos);
        }
        batch.evaluate();
        for (at, case) in cases.iter().enumerate() {
            let (found, expected) = (batch.coefficients(at), alone(&slab(case.0, case.1, case.2), case.3));
            let equal = same(found.te, expected.te) && same(found.tm, expected.tm);
            prop_assert!(equal, "{case:?}: {found:?} {expected:?}");
        }
        Ok(())
    }

    proptest! {
        /// Any batch of any slabs has the bits of each alone.
        #[test]
        fn a_batch_has_the_bits_of_each_reflection(cases in reflections(), earlier in 0..=BATCH) {
            check::<true>(&cases, earlier, SlabResponse::reflection_at_once)?;
            check::<false>(&cases, earlier, SlabResponse::reflection)?;
        }
    }
}
