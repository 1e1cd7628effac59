//! Normal random numbers by the method of Box and Muller, with the same bits on every processor.
//!
//! A complex normal of unit variance has an exponential power and a uniform angle, independent of each other. In bulk,
//! both come from two 32-bit words: 40 bits `k` for the power `-ln((k + 1/2) / 2^40)`, which reaches an amplitude of 5.33
//! (7.5 standard deviations of a part), and 24 bits for the angle. Logarithm, sine and cosine are polynomials in f32 over
//! plain arrays, so that any vector width gives the same bits; a value is within 3e-7 of the exact one, relatively. See
//! `docs/observation.md`.

use std::f32::consts::{FRAC_PI_4, LN_2};
use std::f64::consts::TAU;

use rand::{Rng, RngExt};

use crate::observation::GROUP;

/// Words that a group takes from the stream.
const WORDS: usize = 2 * GROUP;
/// Groups made at a time.
const BATCH: usize = 8;

/// Adds a complex normal of unit variance to each number of two planes, real and imaginary parts, which hold whole
/// groups of 16. A group takes 32 words from the stream: one per number, and then a second one per number.
pub(crate) fn add_complex_normals<R: Rng + ?Sized>(re: &mut [f32], im: &mut [f32], rng: &mut R) {
    let mut words = [[0u32; WORDS]; BATCH];
    let (re, im) = (re.as_chunks_mut().0, im.as_chunks_mut().0);
    for (re, im) in re.chunks_mut(BATCH).zip(im.chunks_mut(BATCH)) {
        let words = &mut words[..re.len()];
        rng.fill_bytes(bytemuck::cast_slice_mut(words));
        add_groups(words, re, im);
    }
}

fn add_groups(words: &[[u32; WORDS]], re: &mut [[f32; GROUP]], im: &mut [[f32; GROUP]]) {
    crate::with_avx2!(add_groups_avx2(words, re, im), add_groups_in_order(words, re, im));
}

crate::avx2_copy!(add_groups_avx2 of add_groups_in_order(words: &[[u32; WORDS]], re: &mut [[f32; GROUP]], im: &mut [[f32; GROUP]]));

#[inline(always)]
fn add_groups_in_order(words: &[[u32; WORDS]], re: &mut [[f32; GROUP]], im: &mut [[f32; GROUP]]) {
    for ((words, re), im) in words.iter().zip(re).zip(im) {
        let (mut x, mut y) = ([0.0; GROUP], [0.0; GROUP]);
        for i in 0..GROUP {
            (x[i], y[i]) = complex_normal(u32::from_le(words[i]), u32::from_le(words[GROUP + i]));
        }
        for i in 0..GROUP {
            re[i] += x[i];
            im[i] += y[i];
        }
    }
}

/// A complex normal of unit variance from two uniform words: the first and the upper 8 bits of the second are the power's
/// 40 bits, the rest is the angle's.
#[inline(always)]
fn complex_normal(first: u32, second: u32) -> (f32, f32) {
    let (sin, cos) = sin_cos_of_turns(second << 8);
    let amplitude = exponential(first, second >> 24).sqrt();
    (amplitude * cos, amplitude * sin)
}

/// `-ln u` for `u = (256 high + low + 1/2) / 2^40`, `low` below 256. The upper half of the numbers is folded onto the
/// lower one, `v = 1 - u`, so that neither end loses digits: `-ln(1 - v)` there, and `-ln v` below.
#[inline(always)]
fn exponential(high: u32, low: u32) -> f32 {
    let upper = high >> 31 != 0;
    let flip = if upper { u32::MAX } else { 0 };
    // v 2^32, from 2^-9 to 2^31: the sum of two numbers that f32 holds or rounds once.
    let v = ((high ^ flip) as i32) as f32 + (((low ^ flip) & 0xff) as i32 as f32 + 0.5) * (1.0 / 256.0);
    // v = 2^-octaves (1 - t), 0 < t <= 1/2.
    let octaves = (126 + 32 - (v.to_bits() >> 23) as i32) as f32;
    let mantissa = f32::from_bits((v.to_bits() & 0x007f_ffff) | 0x3f00_0000);
    let (octaves, t) = if upper { (0.0, v * (1.0 / 4_294_967_296.0)) } else { (octaves, 1.0 - mantissa) };
    // -ln(1 - t) = 2 atanh s; the Chebyshev fit in s^2 <= 1/9 is right to 2e-8.
    let s = t / (2.0 - t);
    let s2 = s * s;
    let series = 2.0 + s2 * (0.666_666_4 + s2 * (0.400_076_72 + s2 * (0.282_339_45 + s2 * 0.268_676_1)));
    octaves * LN_2 + s * series
}

/// Sine and cosine of an angle given as turns in the upper 24 bits, in the middle of its step: quarter turns by the
/// upper two bits, and Chebyshev fits, right to 1e-8, for the eighth of a turn either side that is left.
#[inline(always)]
fn sin_cos_of_turns(turns: u32) -> (f32, f32) {
    const HALF: f32 = 2_097_152.0;
    let quarter = turns >> 30;
    let x = ((((turns << 2) >> 10) as i32) as f32 - (HALF - 0.5)) * (FRAC_PI_4 / HALF);
    let x2 = x * x;
    let sin = x + x * x2 * (-1.666_666_4e-1 + x2 * (8.332_749e-3 + x2 * -1.958_795e-4));
    let cos = 1.0 - x2 * 0.5 + x2 * x2 * (4.166_666_4e-2 + x2 * (-1.388_830_4e-3 + x2 * 2.454_799_1e-5));
    let (sin, cos) = if quarter & 1 != 0 { (cos, sin) } else { (sin, cos) };
    let negative_sin = (quarter >> 1) << 31;
    let negative_cos = (quarter ^ (quarter >> 1)) << 31;
    (f32::from_bits(sin.to_bits() ^ negative_sin), f32::from_bits(cos.to_bits() ^ negative_cos))
}

/// Standard normals one by one in f64; each two take two numbers of 53 bits from the stream.
pub struct Normals<'a, R: ?Sized> {
    rng: &'a mut R,
    second: Option<f64>,
}

impl<'a, R: Rng + ?Sized> Normals<'a, R> {
    /// From a stream.
    #[must_use]
    pub fn new(rng: &'a mut R) -> Self {
        Self { rng, second: None }
    }

    /// The next one.
    pub fn draw(&mut self) -> f64 {
        if let Some(second) = self.second.take() {
            return second;
        }
        // In (0, 1], so that the logarithm is finite.
        let power = -2.0 * libm::log(1.0 - self.rng.random::<f64>());
        let (sin, cos) = libm::sincos(TAU * self.rng.random::<f64>());
        let amplitude = power.sqrt();
        self.second = Some(amplitude * sin);
        amplitude * cos
    }
}

#[cfg(test)]
#[path = "normals_tests.rs"]
mod tests;
