//! Where the points of a sweep lie: positions in the unit cube, one coordinate per axis.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::sobol::{MAX_DIMENSIONS, Sobol};

/// The most points of a sweep.
pub const MAX_POINTS: u64 = 10_000;

/// How points are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PointDesign {
    /// Every combination of every axis's values.
    #[default]
    Grid,
    /// One point in each of n slices of every axis, slices paired at random.
    LatinHypercube,
    /// Sobol' points, shifted at random.
    Sobol,
    /// The base recipe, then every value of every axis with the other keys as in the base.
    OneAtATime,
}

impl PointDesign {
    /// Its word in a sweep file.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Grid => "grid",
            Self::LatinHypercube => "latin-hypercube",
            Self::Sobol => "sobol",
            Self::OneAtATime => "one-at-a-time",
        }
    }

    /// Whether the number of points is asked for rather than given by the axes.
    #[must_use]
    pub fn takes_points(self) -> bool {
        matches!(self, Self::LatinHypercube | Self::Sobol)
    }
}

/// A generator of its own for each axis: an axis added at the end leaves the others' positions as they were.
fn stream(seed: u64, purpose: &str, axis: usize) -> ChaCha8Rng {
    let mut hash = Sha256::new();
    hash.update(b"magnetar sweep v1\0");
    hash.update(seed.to_le_bytes());
    hash.update(purpose.as_bytes());
    let mut rng = ChaCha8Rng::from_seed(hash.finalize().into());
    rng.set_stream(axis as u64);
    rng
}

/// Latin hypercube: `points` positions, `[point][axis]`, each coordinate in [0, 1).
#[allow(clippy::cast_precision_loss, reason = "at most MAX_POINTS points")]
pub(super) fn latin_hypercube(points: usize, axes: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut positions = vec![vec![0.0; axes]; points];
    for axis in 0..axes {
        let mut rng = stream(seed, "latin-hypercube", axis);
        let mut slices: Vec<usize> = (0..points).collect();
        for last in (1..points).rev() {
            slices.swap(last, rng.random_range(0..=last));
        }
        for (position, slice) in positions.iter_mut().zip(slices) {
            let inside: f64 = rng.random();
            position[axis] = ((slice as f64 + inside) / points as f64).min(1.0 - f64::EPSILON);
        }
    }
    positions
}

/// Sobol' points under one random digital shift per axis, which keeps them a digital net and moves them off the origin.
/// `None` for too many axes.
pub(super) fn sobol(points: usize, axes: usize, seed: u64) -> Option<Vec<Vec<f64>>> {
    let mut sequence = Sobol::new(axes)?;
    let shifts: Vec<u32> = (0..axes).map(|axis| stream(seed, "sobol", axis).random()).collect();
    let unit = |(x, shift): (u32, &u32)| (f64::from(x ^ shift) + 0.5) / 4_294_967_296.0;
    Some((0..points).map(|_| sequence.next().into_iter().zip(&shifts).map(unit).collect()).collect())
}

/// What to say when Sobol' has no numbers for so many axes.
pub(super) fn too_many_axes(axes: usize) -> String {
    format!("design = \"sobol\" takes at most {MAX_DIMENSIONS} axes, not {axes}; use \"latin-hypercube\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slice_of_every_axis_holds_one_point() {
        for positions in [latin_hypercube(64, 5, 3), sobol(64, 5, 3).unwrap()] {
            for axis in 0..5 {
                let mut slices: Vec<usize> = positions.iter().map(|p| (p[axis] * 64.0) as usize).collect();
                slices.sort_unstable();
                assert!(slices.into_iter().eq(0..64));
            }
        }
        assert_ne!(latin_hypercube(8, 2, 1), latin_hypercube(8, 2, 2));
        assert_ne!(sobol(8, 2, 1), sobol(8, 2, 2));
    }
}
