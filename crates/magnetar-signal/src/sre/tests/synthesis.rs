//! A plain synthesis for the tests: every bin of every path by its definition.

use std::f64::consts::TAU;

use num_complex::{Complex, Complex64};
use rand::rngs::ChaCha8Rng;
use rand::{Rng, RngExt, SeedableRng};
use rand_distr::StandardNormal;

pub const C: f64 = 299_792_458.0;
pub const CARRIER: f64 = 10e9;
pub const SPACING: f64 = 0.96e6;
pub const BINS: usize = 512;
pub const D: f64 = 0.026;
/// Seconds of one resolution cell.
pub const CELL: f64 = 1.0 / (SPACING * BINS as f64);

/// A path: delay at the array's centre (s), AoA (rad), complex amplitude at each element.
#[derive(Debug, Clone, Copy)]
pub struct TruePath {
    pub delay: f64,
    pub aoa: f64,
    pub amplitude: [Complex64; 2],
}

impl TruePath {
    /// Equal power on both elements.
    pub fn new(delay: f64, aoa: f64, snr_db: f64, phase: f64) -> Self {
        Self { delay, aoa, amplitude: [Complex64::from_polar(10f64.powf(snr_db / 20.0), phase); 2] }
    }
    /// Inter-element phase at the carrier, not wrapped.
    pub fn phase(&self) -> f64 {
        TAU * CARRIER * D * self.aoa.sin() / C
    }
}

/// The noise-free block: amplitude referred to the carrier at the array's centre.
pub fn clean(paths: &[TruePath]) -> Vec<[Complex64; 2]> {
    (0..BINS)
        .map(|k| {
            let offset = (k as f64 - 256.0) * SPACING;
            let mut x = [Complex64::new(0.0, 0.0); 2];
            for p in paths {
                for m in 0..2 {
                    let y = [-D / 2.0, D / 2.0][m];
                    let shift = -y * p.aoa.sin() / C;
                    // exp(-j 2 pi f (tau + shift)), the carrier's turn of the common delay left to the amplitude.
                    let phase = -TAU * (offset * (p.delay + shift) + CARRIER * shift);
                    x[m] += p.amplitude[m] * Complex64::from_polar(1.0, phase);
                }
            }
            x
        })
        .collect()
}

/// Adds circular noise of unit variance and rounds to single precision.
pub fn noisy(clean: &[[Complex64; 2]], rng: &mut impl Rng) -> Vec<[Complex<f32>; 2]> {
    let mut normal = || rng.sample::<f64, _>(StandardNormal) * 0.5f64.sqrt();
    clean.iter().map(|x| x.map(|z| single(z + Complex64::new(normal(), normal())))).collect()
}

/// Rounds to single precision.
pub fn rounded(clean: &[[Complex64; 2]]) -> Vec<[Complex<f32>; 2]> {
    clean.iter().map(|x| x.map(single)).collect()
}

fn single(z: Complex64) -> Complex<f32> {
    Complex::new(z.re as f32, z.im as f32)
}

pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// A delay anywhere on the circle.
pub fn any_delay(rng: &mut impl Rng) -> f64 {
    rng.random_range(0.0..1.0 / SPACING)
}

/// `a - b` on the circle of delays.
pub fn delay_error(a: f64, b: f64) -> f64 {
    let x = (a - b) * SPACING;
    (x - x.round()) / SPACING
}
