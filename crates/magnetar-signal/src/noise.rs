//! Receiver noise.

use std::f32::consts::FRAC_1_SQRT_2;

use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

use crate::Observation;

/// Whether noise is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NoiseConfig {
    /// Adds circular complex Gaussian noise of unit variance, independent over bins and channels.
    pub enabled: bool,
}

impl Default for NoiseConfig {
    fn default() -> Self {
        Self { enabled: true }
    }
}

/// Adds circular complex Gaussian noise of unit variance to every bin of both channels. Draws channel 0 first, then
/// channel 1; in each, real and imaginary part by bin.
pub fn add_noise<R: Rng + ?Sized>(block: &mut Observation, rng: &mut R) {
    let bins = block.bins();
    for (re, im) in block.re.iter_mut().zip(&mut block.im) {
        for (re, im) in re[..bins].iter_mut().zip(&mut im[..bins]) {
            *re += FRAC_1_SQRT_2 * rng.sample::<f32, _>(StandardNormal);
            *im += FRAC_1_SQRT_2 * rng.sample::<f32, _>(StandardNormal);
        }
    }
}
