//! The RF chain as one complex factor per bin and channel, and its application.

#![allow(clippy::needless_range_loop, reason = "lanes read best by their indices")]

use std::f64::consts::PI;

use wide::{f32x8, f64x2};

use crate::lanes::{LANES, Lanes};
use crate::observation::GROUP;
use crate::phasor::{self, Fine, Pair};
use crate::rf_chain::{MAX_RIPPLE_TERMS, RfChainDraw};
use crate::{Band, Observation, ReducedRfChain, vector_math};

/// Ripples of up to this many terms (the default has four) are summed by a loop of that length.
const FEW_TERMS: usize = 4;

/// The complex factors of one RF-chain draw over a band, before the common real factor that keeps the energy.
///
/// Holds the band's cosine tables, so that computing another draw's factors does not allocate.
#[derive(Debug, Clone)]
pub struct RfFactors {
    band: Band,
    /// `cos(pi n (k + 1/2) / bins)` for n = 1, 2, ...: by group of bins and then n.
    cosines: Vec<[[f32; GROUP]; MAX_RIPPLE_TERMS]>,
    /// Coarse phasors by group: both channels.
    coarse: Vec<[[f32; 2]; 2]>,
    factors: Observation,
}

impl RfFactors {
    /// Factors of one everywhere, for a band.
    #[must_use]
    pub fn new(band: Band) -> Self {
        let groups = band.bins.div_ceil(GROUP);
        let cosine = |n: usize, k: usize| libm::cos(PI * (n + 1) as f64 * (k as f64 + 0.5) / band.bins as f64) as f32;
        let cosines = (0..groups)
            .map(|group| std::array::from_fn(|n| std::array::from_fn(|j| cosine(n, group * GROUP + j))))
            .collect();
        let coarse = vec![[[0.0; 2]; 2]; groups];
        let mut this = Self { band, cosines, coarse, factors: Observation::zeros(band.bins) };
        this.compute(&RfChainDraw::default());
        this
    }

    /// The factors, one per bin and channel.
    #[must_use]
    pub fn factors(&self) -> &Observation {
        &self.factors
    }

    /// Computes the factors of a draw.
    pub fn compute(&mut self, draw: &RfChainDraw) {
        let chain = ReducedRfChain::new(draw, &self.band);
        let mut fine = [Fine { re: [0.0; GROUP], im: [0.0; GROUP] }; 2];
        self.linear_part(&chain, &mut fine);
        for (channel, fine) in fine.iter().enumerate() {
            let bound = |coefficients: &[f64]| coefficients.iter().map(|c| c.abs()).sum::<f64>();
            // A ripple is small but for extreme settings, and then needs no reduction of its range.
            let small = bound(&chain.ripple_nepers[channel]) < vector_math::SMALL_EXP
                && bound(&chain.ripple_rad[channel]) < vector_math::SMALL_ANGLE;
            match (small, chain.terms <= FEW_TERMS) {
                (true, true) => self.fill_small::<FEW_TERMS>(&chain, channel, fine),
                (true, false) => self.fill_small::<MAX_RIPPLE_TERMS>(&chain, channel, fine),
                (false, _) => self.fill::<f32x8, AnyRipple, MAX_RIPPLE_TERMS>(&chain, channel, fine),
            }
        }
        self.factors.clear_padding();
    }

    fn fill_small<const TERMS: usize>(&mut self, chain: &ReducedRfChain, channel: usize, fine: &Fine) {
        crate::with_avx2!(
            self.fill_small_avx2::<TERMS>(chain, channel, fine),
            self.fill::<f32x8, SmallRipple, TERMS>(chain, channel, fine)
        );
    }

    /// [`Self::fill`] compiled for wider vectors; the same operations, so the same bits.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn fill_small_avx2<const TERMS: usize>(&mut self, chain: &ReducedRfChain, channel: usize, fine: &Fine) {
        self.fill::<crate::lanes::Avx, SmallRipple, TERMS>(chain, channel, fine);
    }

    /// Fills one channel from the first `TERMS` terms of its ripple; coefficients not in use are zero.
    #[inline(always)]
    fn fill<V: Lanes, R: Ripple<V>, const TERMS: usize>(
        &mut self,
        chain: &ReducedRfChain,
        channel: usize,
        fine: &Fine,
    ) {
        // In loops: a closure that is not inlined would be compiled for narrow vectors.
        let (mut gain, mut phase) = ([V::splat(0.0); TERMS], [V::splat(0.0); TERMS]);
        for n in 0..TERMS {
            gain[n] = V::splat(chain.ripple_nepers[channel][n] as f32);
            phase[n] = V::splat(chain.ripple_rad[channel][n] as f32);
        }
        let re = self.factors.re[channel].as_chunks_mut::<GROUP>().0;
        let im = self.factors.im[channel].as_chunks_mut::<GROUP>().0;
        for ((re, im), (cosines, coarse)) in re.iter_mut().zip(im).zip(self.cosines.iter().zip(&self.coarse)) {
            let (a, b) = (V::splat(coarse[channel][0]), V::splat(coarse[channel][1]));
            for half in 0..GROUP / LANES {
                let (mut nepers, mut radians) = (V::splat(0.0), V::splat(0.0));
                for n in 0..TERMS {
                    let cosine = V::load(&cosines[n].as_chunks().0[half]);
                    nepers = nepers.add(gain[n].mul(cosine));
                    radians = radians.add(phase[n].mul(cosine));
                }
                let ((sin, cos), amplitude) = R::at(radians, nepers);
                let (x, y) = (V::load(&fine.re.as_chunks().0[half]), V::load(&fine.im.as_chunks().0[half]));
                let u = a.mul(x).sub(b.mul(y)).mul(amplitude);
                let v = a.mul(y).add(b.mul(x)).mul(amplitude);
                u.mul(cos).sub(v.mul(sin)).store(&mut re.as_chunks_mut().0[half]);
                u.mul(sin).add(v.mul(cos)).store(&mut im.as_chunks_mut().0[half]);
            }
        }
    }

    /// What is constant or linear in phase over the band: common phase, timing, imbalance, phase error.
    fn linear_part(&mut self, chain: &ReducedRfChain, fine: &mut [Fine; 2]) {
        let turned = Pair::from_turns(chain.start_turns);
        let amplitude = Pair { re: f64x2::from(chain.amplitude), im: f64x2::ZERO };
        let step = [chain.step_turns; 2];
        let coarse = &mut self.coarse;
        phasor::fill(turned.times(amplitude), step, coarse.len(), fine, |group, z| coarse[group] = z);
    }

    /// Applies the factors to a noise-free block and scales it so that its energy stays what it was. A block of zeros
    /// stays one.
    pub fn apply(&self, block: &mut Observation) {
        crate::with_avx2!(self.apply_avx2(block), self.apply_in_order(block));
    }

    /// [`Self::apply_in_order`] compiled for wider vectors; the same operations, so the same bits.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn apply_avx2(&self, block: &mut Observation) {
        self.apply_in_order(block);
    }

    #[inline(always)]
    fn apply_in_order(&self, block: &mut Observation) {
        let (mut before, mut after) = (0.0f64, 0.0f64);
        for channel in 0..2 {
            let re = block.re[channel].as_chunks_mut::<GROUP>().0;
            let im = block.im[channel].as_chunks_mut::<GROUP>().0;
            let factor_re = self.factors.re[channel].as_chunks::<GROUP>().0;
            let factor_im = self.factors.im[channel].as_chunks::<GROUP>().0;
            for ((re, im), (a, b)) in re.iter_mut().zip(im).zip(factor_re.iter().zip(factor_im)) {
                let (mut kept, mut changed) = ([0.0; GROUP], [0.0; GROUP]);
                for j in 0..GROUP {
                    let (x, y) = (re[j], im[j]);
                    let (u, v) = (a[j] * x - b[j] * y, a[j] * y + b[j] * x);
                    kept[j] = x * x + y * y;
                    changed[j] = u * u + v * v;
                    (re[j], im[j]) = (u, v);
                }
                // Few terms in f32, many in f64: the energy must be kept to 1e-6.
                before += f64::from(in_order(&kept));
                after += f64::from(in_order(&changed));
            }
        }
        let scale = (before / after).sqrt();
        if scale.is_finite() {
            let scale = scale as f32;
            for part in block.re.iter_mut().chain(&mut block.im) {
                part.iter_mut().for_each(|x| *x *= scale);
            }
        }
    }
}

/// What makes sine and cosine of a ripple's radians, and the amplitude of its nepers.
trait Ripple<V> {
    fn at(radians: V, nepers: V) -> ((V, V), V);
}

/// A ripple that needs no reduction of its range.
struct SmallRipple;
struct AnyRipple;

impl<V: Lanes> Ripple<V> for SmallRipple {
    #[inline(always)]
    fn at(radians: V, nepers: V) -> ((V, V), V) {
        (vector_math::sin_cos_of_small(radians), vector_math::exp_of_small(nepers))
    }
}

impl Ripple<f32x8> for AnyRipple {
    fn at(radians: f32x8, nepers: f32x8) -> ((f32x8, f32x8), f32x8) {
        (vector_math::sin_cos(radians), vector_math::exp(nepers))
    }
}

/// Sum of a group in one fixed order, so that every vector unit gives the same bits.
#[inline(always)]
fn in_order(group: &[f32; GROUP]) -> f32 {
    const HALF: usize = GROUP / 2;
    let mut halves = [0.0; HALF];
    for j in 0..HALF {
        halves[j] = group[j] + group[HALF + j];
    }
    let [a, b, c, d, e, f, g, h] = halves;
    ((a + e) + (b + f)) + ((c + g) + (d + h))
}
