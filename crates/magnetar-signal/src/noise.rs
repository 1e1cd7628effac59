//! Receiver noise.

use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::Observation;
use crate::normals::add_complex_normals;

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
/// channel 1; each takes two 32-bit words per bin from the stream, the bins rounded up to a multiple of 16.
pub fn add_noise<R: Rng + ?Sized>(block: &mut Observation, rng: &mut R) {
    for (re, im) in block.re.iter_mut().zip(&mut block.im) {
        add_complex_normals(re, im, rng);
    }
    block.clear_padding();
}
