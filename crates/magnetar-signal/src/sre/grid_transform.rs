//! The transform of `bins` bins at `oversampling * bins` delays.
//!
//! Delay `q = oversampling i + r` is number `i` of a transform of the bins turned by `r` steps, so no zeros are ever
//! transformed: four values of `r` in two channels fill the eight lanes of one transform. A number of bins with a prime
//! factor above 5 takes Bluestein's way, a convolution with a chirp, by transforms of a power of two.

#![allow(clippy::needless_range_loop, reason = "matrices and lanes read best by their indices")]

use std::f64::consts::PI;

use num_complex::Complex;
use wide::f32x4;

use super::butterfly::ComplexLanes;
use super::fft::{Buffer, Fft};
use super::interpolate::REACH;
use crate::lanes::LANES;

/// Values of `r` side by side; `oversampling` is a multiple of it.
const PHASES: usize = LANES / 2;

/// A phasor for each value of `r`, the same in both channels.
#[derive(Debug, Clone, Copy)]
struct Phasors {
    re: [f32; PHASES],
    im: [f32; PHASES],
}

impl Phasors {
    /// `exp(j pi numerator / denominator)`, the numerator taken modulo two denominators while it is whole.
    fn new(denominator: u64, numerator: impl Fn(u64) -> u64) -> Self {
        let z: [_; PHASES] = std::array::from_fn(|phase| phasor(numerator(phase as u64), denominator));
        Self { re: z.map(|z| z.re as f32), im: z.map(|z| z.im as f32) }
    }
}

/// `exp(j pi numerator / denominator)`.
fn phasor(numerator: u64, denominator: u64) -> Complex<f64> {
    let (im, re) = libm::sincos(PI * (numerator % (2 * denominator)) as f64 / denominator as f64);
    Complex::new(re, im)
}

/// The plan of the transform `Z_q = sum_k x_k exp(j 2 pi n_k q / len)`, bins numbered `n` about their centre.
pub(super) struct GridTransform {
    oversampling: usize,
    fft: Fft,
    /// What turns each bin before the transforms, and each number after them; by every fourth `r`.
    turns: Vec<[Vec<Phasors>; 2]>,
    /// The chirp's transform, where there is one.
    chirp: Option<Vec<Complex<f32>>>,
}

/// A transform at every delay, real and imaginary parts, channel by channel.
#[derive(Debug, Clone)]
pub(super) struct Samples {
    /// Behind [`REACH`] points that are the caller's to fill.
    pub re: [Vec<f32>; 2],
    pub im: [Vec<f32>; 2],
    /// The same at every other point, without such points.
    pub coarse_re: [Vec<f32>; 2],
    pub coarse_im: [Vec<f32>; 2],
}

impl GridTransform {
    /// Plans the transform.
    pub fn new(bins: usize, oversampling: usize) -> Self {
        let (n, len) = (bins as u64, (bins * oversampling) as u64);
        let direct = Fft::new(bins);
        let length = if direct.is_some() { bins } else { (2 * bins - 1).next_power_of_two() };
        let fft = direct.clone().or_else(|| Fft::new(length)).expect("a power of two of at least 8 has a plan");
        let chirp = direct.is_none().then(|| chirp_spectrum(bins, length, &fft));
        // Half turns over len; the chirp's are over bins.
        let chirped = |k: u64| if chirp.is_some() { k * k % (2 * n) * oversampling as u64 } else { 0 };
        let turns = (0..oversampling / PHASES)
            .map(|batch| {
                let r = |phase: u64| (PHASES * batch) as u64 + phase;
                let before = |k: u64| Phasors::new(len, |phase| 2 * k * r(phase) + chirped(k));
                let after = |i: u64| {
                    Phasors::new(len, |phase| {
                        let centring = (n - 1) * (i * oversampling as u64 + r(phase)) % (2 * len);
                        2 * len - centring + chirped(i)
                    })
                };
                [(0..n).map(before).collect(), (0..n).map(after).collect()]
            })
            .collect();
        Self { oversampling, fft, turns, chirp }
    }

    /// Room for the transforms.
    pub fn buffers(&self) -> [Buffer; 2] {
        let length = self.chirp.as_ref().map_or(self.turns[0][0].len(), Vec::len);
        std::array::from_fn(|_| Buffer::new(length))
    }

    /// Transforms one block of bins.
    pub fn run(&self, block: &[[Complex<f32>; 2]], buffers: &mut [Buffer; 2], samples: &mut Samples) {
        crate::with_avx2!(self.run_avx2(block, buffers, samples), self.run_in_order(block, buffers, samples));
    }

    /// [`Self::run_in_order`] compiled for wider vectors; the same operations, so the same bits.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn run_avx2(&self, block: &[[Complex<f32>; 2]], buffers: &mut [Buffer; 2], samples: &mut Samples) {
        self.run_in_order(block, buffers, samples);
    }

    #[inline(always)]
    fn run_in_order(&self, block: &[[Complex<f32>; 2]], buffers: &mut [Buffer; 2], samples: &mut Samples) {
        for (batch, [before, after]) in self.turns.iter().enumerate() {
            load(block, before, &mut buffers[0]);
            if let Some(chirp) = &self.chirp {
                for i in block.len()..chirp.len() {
                    *buffers[0].at_mut(i) = ComplexLanes::ZERO;
                }
                self.fft.run(buffers);
                filter(chirp, &mut buffers[0]);
            }
            self.fft.run(buffers);
            if self.chirp.is_some() {
                exchange(&mut buffers[0], after.len());
            }
            let first = PHASES * batch;
            for m in 0..2 {
                match self.oversampling {
                    4 => store::<4, 2>(m, first, after, &buffers[0], samples),
                    8 => store::<8, 4>(m, first, after, &buffers[0], samples),
                    _ => store::<16, 8>(m, first, after, &buffers[0], samples),
                }
            }
        }
    }
}

/// Takes the numbers of a channel to their delays, turned; the first delay is `first`, and `STEP` the oversampling, twice `HALF`.
#[inline(always)]
fn store<const STEP: usize, const HALF: usize>(
    m: usize,
    first: usize,
    turns: &[Phasors],
    buffer: &Buffer,
    samples: &mut Samples,
) {
    let fine_re = samples.re[m][REACH..].as_chunks_mut::<STEP>().0;
    let fine_im = samples.im[m][REACH..].as_chunks_mut::<STEP>().0;
    let coarse_re = samples.coarse_re[m].as_chunks_mut::<HALF>().0;
    let coarse_im = samples.coarse_im[m].as_chunks_mut::<HALF>().0;
    let places = fine_re.iter_mut().zip(fine_im).zip(coarse_re.iter_mut().zip(coarse_im));
    for (i, (turn, ((re, im), (coarse_re, coarse_im)))) in turns.iter().zip(places).enumerate() {
        let x = buffer.at(i);
        let (x_re, x_im) = (phases(&x.re, m), phases(&x.im, m));
        let (turn_re, turn_im) = (f32x4::from(turn.re), f32x4::from(turn.im));
        let z_re = (x_re * turn_re - x_im * turn_im).to_array();
        let z_im = (x_re * turn_im + x_im * turn_re).to_array();
        re[first..][..PHASES].copy_from_slice(&z_re);
        im[first..][..PHASES].copy_from_slice(&z_im);
        coarse_re[first / 2..][..PHASES / 2].copy_from_slice(&[z_re[0], z_re[2]]);
        coarse_im[first / 2..][..PHASES / 2].copy_from_slice(&[z_im[0], z_im[2]]);
    }
}

/// The lanes of a channel.
#[inline(always)]
fn phases(lanes: &[f32; LANES], m: usize) -> f32x4 {
    let channels: &[[f32; PHASES]; 2] = bytemuck::cast_ref(lanes);
    f32x4::from(channels[m])
}

/// Loads the bins of both channels, turned.
#[inline(always)]
fn load(block: &[[Complex<f32>; 2]], turns: &[Phasors], buffer: &mut Buffer) {
    for (i, (x, turn)) in block.iter().zip(turns).enumerate() {
        let mut lanes = ComplexLanes::ZERO;
        for phase in 0..PHASES {
            lanes.re[phase] = x[0].re * turn.re[phase] - x[0].im * turn.im[phase];
            lanes.im[phase] = x[0].re * turn.im[phase] + x[0].im * turn.re[phase];
        }
        for phase in 0..PHASES {
            lanes.re[PHASES + phase] = x[1].re * turn.re[phase] - x[1].im * turn.im[phase];
            lanes.im[PHASES + phase] = x[1].re * turn.im[phase] + x[1].im * turn.re[phase];
        }
        *buffer.at_mut(i) = lanes;
    }
}

/// Multiplies by the chirp's transform and exchanges real and imaginary parts, which makes the next transform the
/// inverse one but for another exchange.
fn filter(chirp: &[Complex<f32>], buffer: &mut Buffer) {
    for (i, chirp) in chirp.iter().enumerate() {
        let x = buffer.at_mut(i);
        for lane in 0..LANES {
            let (re, im) = (x.re[lane], x.im[lane]);
            x.im[lane] = re * chirp.re - im * chirp.im;
            x.re[lane] = re * chirp.im + im * chirp.re;
        }
    }
}

/// Exchanges real and imaginary parts.
fn exchange(buffer: &mut Buffer, len: usize) {
    for i in 0..len {
        let x = buffer.at_mut(i);
        std::mem::swap(&mut x.re, &mut x.im);
    }
}

/// The transform of the chirp `exp(-j pi d^2 / bins)`, `|d| < bins`, over a circle of `length`, divided by that length.
fn chirp_spectrum(bins: usize, length: usize, fft: &Fft) -> Vec<Complex<f32>> {
    let mut buffers = std::array::from_fn(|_| Buffer::new(length));
    for d in 0..bins {
        let z = phasor((d * d) as u64, bins as u64).conj() / length as f64;
        let lanes = ComplexLanes { re: [z.re as f32; LANES], im: [z.im as f32; LANES] };
        *buffers[0].at_mut(d) = lanes;
        *buffers[0].at_mut((length - d) % length) = lanes;
    }
    fft.run(&mut buffers);
    (0..length).map(|i| buffers[0].at(i)).map(|x| Complex::new(x.re[0], x.im[0])).collect()
}

#[cfg(test)]
mod tests {
    use num_complex::Complex64;
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};
    use rustfft::FftPlannerScalar;

    use super::*;

    /// Every length of transform (short and long, of each radix, of a large prime) at each oversampling against a
    /// reference in double precision: within 1e-6 of the largest value that the block could give.
    #[test]
    fn it_is_the_transform_of_the_padded_bins() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        for bins in [8, 9, 10, 11, 12, 15, 45, 62, 100, 127, 480, 486, 509, 512, 600, 1024, 3 * 341] {
            for oversampling in [4, 8, 16] {
                let plan = GridTransform::new(bins, oversampling);
                let len = bins * oversampling;
                let mut number = || rng.random_range(-1.0f32..1.0);
                let block: Vec<_> = (0..bins).map(|_| [0, 1].map(|_| Complex::new(number(), number()))).collect();
                let points = |n: usize| std::array::from_fn(|_| vec![0.0; n]);
                let mut samples = Samples {
                    re: points(len + 2 * REACH),
                    im: points(len + 2 * REACH),
                    coarse_re: points(len / 2),
                    coarse_im: points(len / 2),
                };
                plan.run(&block, &mut plan.buffers(), &mut samples);
                let reference = FftPlannerScalar::new().plan_fft_inverse(len);
                for m in 0..2 {
                    let mut padded = vec![Complex64::default(); len];
                    for (to, x) in padded.iter_mut().zip(&block) {
                        *to = Complex::new(x[m].re.into(), x[m].im.into());
                    }
                    reference.process(&mut padded);
                    for (q, z) in padded.iter().enumerate() {
                        let centred = z * Complex64::from_polar(1.0, -PI * (bins - 1) as f64 * q as f64 / len as f64);
                        let got = [samples.re[m][REACH + q], samples.im[m][REACH + q]].map(f64::from);
                        let error = (Complex::new(got[0], got[1]) - centred).norm();
                        assert!(error < 1e-6 * bins as f64, "{bins} x {oversampling}, {q}: {error:e}");
                        if q.is_multiple_of(2) {
                            let coarse = [samples.coarse_re[m][q / 2], samples.coarse_im[m][q / 2]].map(f64::from);
                            assert_eq!(coarse, got);
                        }
                    }
                }
            }
        }
    }
}
