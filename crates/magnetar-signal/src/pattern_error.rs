//! What real antennas do that their stated patterns do not: errors that vary smoothly with direction.

use nalgebra::Vector3;
use num_complex::Complex64;
use rand::{Rng, RngExt};
use std::f64::consts::TAU;

use crate::ElementPath;
use crate::normals::Normals;

/// Waves that make up a field.
const WAVES: usize = 16;

/// A random function of direction, smooth over the whole sphere: `sqrt(2 / n) sum_i cos(k_i . u + phase_i)`, with
/// wave vectors of independent normal components of standard deviation 1 / width. Over draws it is close to a Gaussian
/// process of unit variance whose correlation is `exp(-|u - v|^2 / (2 width^2))`.
#[derive(Debug, Clone, PartialEq)]
pub struct SmoothField {
    waves: [(Vector3<f64>, f64); WAVES],
}

impl SmoothField {
    /// Draws a field that decorrelates over about `width_rad` radians.
    pub fn draw<R: Rng + ?Sized>(width_rad: f64, rng: &mut R) -> Self {
        let mut waves = [(Vector3::zeros(), 0.0); WAVES];
        for (k, phase) in &mut waves {
            let mut normals = Normals::new(rng);
            *k = Vector3::new(normals.draw(), normals.draw(), normals.draw()) / width_rad;
            *phase = TAU * rng.random::<f64>();
        }
        Self { waves }
    }

    /// Its value in a direction (a unit vector).
    #[must_use]
    pub fn at(&self, direction: &Vector3<f64>) -> f64 {
        let sum: f64 = self.waves.iter().map(|(k, phase)| libm::cos(k.dot(direction) + phase)).sum();
        sum * (2.0 / WAVES as f64).sqrt()
    }
}

/// The pattern errors of one outing: a field each for the TX's amplitude, the RX's amplitude and the RX's inter-element
/// phase, and how large they are.
#[derive(Debug, Clone, PartialEq)]
pub struct PatternError {
    /// Amplitude error of the TX and of the RX, dB rms.
    pub amplitude_db_rms: f64,
    /// Error of the inter-element phase (element 1 minus element 0), radians rms.
    pub phase_rad_rms: f64,
    tx: SmoothField,
    rx: SmoothField,
    phase: SmoothField,
}

impl PatternError {
    /// Draws the errors of both devices.
    pub fn draw<R: Rng + ?Sized>(amplitude_db_rms: f64, phase_rad_rms: f64, width_rad: f64, rng: &mut R) -> Self {
        let mut field = || SmoothField::draw(width_rad, rng);
        Self { amplitude_db_rms, phase_rad_rms, tx: field(), rx: field(), phase: field() }
    }

    /// Applies the errors to a path that leaves the TX and arrives at the RX in these directions (device frames).
    pub fn apply(&self, departure: &Vector3<f64>, arrival: &Vector3<f64>, path: &mut ElementPath) {
        let db = self.amplitude_db_rms * (self.tx.at(departure) + self.rx.at(arrival));
        let factor = libm::exp10(db / 20.0);
        path.gain = path.gain.map(|gain| gain * factor);
        self.turn(arrival, path);
    }

    /// Applies the inter-element phase error alone: half of it on each element.
    pub fn turn(&self, arrival: &Vector3<f64>, path: &mut ElementPath) {
        let (sin, cos) = libm::sincos(self.phase_rad_rms * self.phase.at(arrival) / 2.0);
        let half = Complex64::new(cos, sin);
        path.gain = [path.gain[0] * half.conj(), path.gain[1] * half];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::ChaCha8Rng;

    fn direction(azimuth: f64) -> Vector3<f64> {
        Vector3::new(azimuth.cos(), azimuth.sin(), 0.0)
    }

    #[test]
    fn a_field_has_unit_variance_and_its_width_over_draws() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let (width, n) = (0.5, 4000);
        let (mut square, mut near, mut far) = (0.0, 0.0, 0.0);
        for _ in 0..n {
            let field = SmoothField::draw(width, &mut rng);
            let at = |azimuth: f64| field.at(&direction(azimuth));
            square += at(0.3) * at(0.3) / f64::from(n);
            near += at(0.3) * at(0.4) / f64::from(n);
            far += at(0.3) * at(2.3) / f64::from(n);
        }
        // The chord of 0.1 rad is 0.1, that of 2 rad is 1.68.
        assert!((square - 1.0).abs() < 0.07, "{square}");
        assert!((near - (-0.02f64).exp()).abs() < 0.07, "{near}");
        assert!(far.abs() < 0.07, "{far}");
    }

    #[test]
    fn nothing_changes_at_size_zero_and_amplitude_leaves_the_phase() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let path = ElementPath { delay: [1e-8, 1.01e-8], gain: [Complex64::new(0.2, 0.1), Complex64::new(-0.1, 0.4)] };
        let (u, v) = (direction(0.4), direction(2.0));
        let mut same = path;
        PatternError::draw(0.0, 0.0, 0.5, &mut rng).apply(&u, &v, &mut same);
        assert_eq!(same, path);
        let mut louder = path;
        PatternError::draw(3.0, 0.0, 0.5, &mut rng).apply(&u, &v, &mut louder);
        let turn = |p: &ElementPath| (p.gain[1] / p.gain[0]).arg();
        assert!((turn(&louder) - turn(&path)).abs() < 1e-12);
        assert!((louder.gain[0].norm() / path.gain[0].norm() - 1.0).abs() > 1e-3);
        let mut turned = path;
        PatternError::draw(0.0, 0.3, 0.5, &mut rng).apply(&u, &v, &mut turned);
        assert!((turned.gain[0].norm() - path.gain[0].norm()).abs() < 1e-15);
        assert!((turn(&turned) - turn(&path)).abs() > 1e-3);
    }
}
