//! Arrivals that no traced path explains: diffuse scattering, furniture, people.

use std::f64::consts::{PI, TAU};

use magnetar_signal::{ElementPath, Normals, PatternError, RxArray};
use nalgebra::Vector3;
use num_complex::Complex64;
use rand::RngExt;
use rand::rngs::ChaCha8Rng;

use crate::recipe::ModelError;
use crate::stream::uniform;
use crate::wave::{DeviceDirection, ReceivedWave};

/// The most a row can have; the Poisson number is held there.
const MOST: usize = 32;

/// Draws the unmodelled arrivals of a row beside its traced paths and adds them to those.
pub(crate) fn add_unmodelled(
    error: &ModelError,
    array: &RxArray,
    pattern: Option<&PatternError>,
    mut rng: ChaCha8Rng,
    paths: &mut Vec<ElementPath>,
) -> Vec<ReceivedWave> {
    let power = |path: &ElementPath| path.gain.iter().map(Complex64::norm_sqr).sum::<f64>() / 2.0;
    let strongest = paths.iter().map(power).fold(0.0, f64::max);
    let first = paths.iter().map(|path| path.delay[0].midpoint(path.delay[1])).fold(f64::INFINITY, f64::min);
    let count = poisson(error.arrivals_mean, rng.random());
    let mut added = Vec::new();
    for _ in 0..count {
        // The same numbers whatever the sizes, so that one key does not shift another's draws.
        let level = error.arrivals_level_db + error.arrivals_level_spread_db * Normals::new(&mut rng).draw();
        let excess = -libm::log(1.0 - rng.random::<f64>()) * error.arrivals_delay_spread_ns * 1e-9;
        let azimuth = TAU * rng.random::<f64>() - PI;
        let max = error.arrivals_elevation_max_deg.to_radians();
        let elevation = uniform(&mut rng, -max, max);
        let (sin, cos) = libm::sincos(TAU * rng.random::<f64>());
        if !(strongest > 0.0 && first.is_finite()) {
            continue;
        }
        let (rise, flat) = libm::sincos(elevation);
        let direction = Vector3::new(flat * libm::cos(azimuth), flat * libm::sin(azimuth), rise);
        let gain = Complex64::new(cos, sin) * (strongest.sqrt() * libm::exp10(level / 20.0));
        let delay_s = first + excess;
        let delay = array.delay_offsets(&direction).map(|offset| delay_s + offset);
        let mut path = ElementPath { delay, gain: [gain, gain] };
        if let Some(pattern) = pattern {
            pattern.turn(&direction, &mut path);
        }
        paths.push(path);
        added.push(ReceivedWave { delay_s, coefficients: path.gain, aoa: DeviceDirection { azimuth, elevation } });
    }
    added
}

/// The Poisson number of this mean whose distribution function first exceeds `u`.
fn poisson(mean: f64, u: f64) -> usize {
    let mut chance = libm::exp(-mean);
    let mut below = chance;
    let mut count = 0;
    while u >= below && count < MOST {
        count += 1;
        chance *= mean / count as f64;
        below += chance;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poisson_numbers_have_their_mean_and_are_none_at_zero() {
        let n = 10_000;
        for mean in [0.0, 0.5, 2.0, 7.5] {
            let sum: usize = (0..n).map(|i| poisson(mean, (f64::from(i) + 0.5) / f64::from(n))).sum();
            assert!((sum as f64 / f64::from(n) - mean).abs() < 0.01, "{mean} {sum}");
        }
        assert_eq!(poisson(0.0, 0.999_999), 0);
    }
}
