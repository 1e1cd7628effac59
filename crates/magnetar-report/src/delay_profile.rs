//! Energy against delay: what an observation looks like in time.

use magnetar_signal::{Band, ELEMENTS, Observation};
use num_complex::Complex64;
use rustfft::FftPlanner;

/// Delay samples a resolution cell of the band.
const OVERSAMPLING: usize = 4;

/// Matched-filter energy of an observation over delay, both channels summed.
#[derive(Debug, Clone, PartialEq)]
pub struct DelayProfile {
    /// Distance of the samples, seconds.
    pub step_s: f64,
    /// Energy at delay `n * step_s - clock_offset_s`, dB over unit-variance noise in one bin: noise alone lies around 3 dB (two
    /// channels), a path of per-bin SNR s at `10 log10(2 s bins)`.
    pub energy_db: Vec<f64>,
    /// What has been taken off every delay, seconds.
    pub clock_offset_s: f64,
}

impl DelayProfile {
    /// Transforms an observation. The delays cover the band's unambiguous range, 1 / bin spacing.
    #[must_use]
    pub fn new(observation: &Observation, band: &Band) -> Self {
        let bins = observation.bins();
        let len = bins * OVERSAMPLING;
        let fft = FftPlanner::new().plan_fft_inverse(len.max(1));
        let mut energy = vec![0.0; len];
        for channel in 0..ELEMENTS {
            let mut buffer = vec![Complex64::default(); len];
            for (k, slot) in buffer.iter_mut().take(bins).enumerate() {
                let z = observation.get(k, channel);
                *slot = Complex64::new(f64::from(z.re), f64::from(z.im));
            }
            fft.process(&mut buffer);
            for (sum, z) in energy.iter_mut().zip(&buffer) {
                *sum += z.norm_sqr() / bins as f64;
            }
        }
        let energy_db = energy.into_iter().map(|e| 10.0 * e.max(1e-12).log10()).collect();
        Self { step_s: 1.0 / (band.spacing_hz() * len as f64), energy_db, clock_offset_s: 0.0 }
    }

    /// The same with the offset of the receiver's clock (seconds) taken off all delays.
    #[must_use]
    pub fn shifted(self, clock_offset_s: f64) -> Self {
        Self { clock_offset_s: self.clock_offset_s + clock_offset_s, ..self }
    }

    /// Delay of the strongest sample, seconds.
    #[must_use]
    pub fn strongest_s(&self) -> f64 {
        let strongest = self.energy_db.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        strongest.map_or(0.0, |(n, _)| n as f64 * self.step_s) - self.clock_offset_s
    }

    /// The unambiguous range, seconds.
    #[must_use]
    pub fn range_s(&self) -> f64 {
        self.step_s * self.energy_db.len() as f64
    }

    /// Energy at a delay (seconds, any whole number of ranges away), dB, from the nearest sample.
    #[must_use]
    pub fn at(&self, delay_s: f64) -> f64 {
        let n = ((delay_s + self.clock_offset_s).rem_euclid(self.range_s()) / self.step_s).round() as usize;
        self.energy_db.get(n % self.energy_db.len().max(1)).copied().unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex32;
    use std::f64::consts::TAU;

    #[test]
    fn a_single_path_peaks_at_its_delay_with_its_processing_gain() {
        let band = Band::default();
        let delay = 123.4e-9;
        let elements: Vec<Complex32> = (0..band.bins)
            .flat_map(|k| {
                let z = Complex64::from_polar(2.0, -TAU * band.offset_hz(k) * delay);
                [Complex32::new(z.re as f32, z.im as f32); 2]
            })
            .collect();
        let profile = DelayProfile::new(&Observation::from_interleaved(&elements), &band);
        let best = (0..profile.energy_db.len()).max_by(|a, b| profile.energy_db[*a].total_cmp(&profile.energy_db[*b]));
        let peak = best.unwrap() as f64 * profile.step_s;
        assert!((peak - delay).abs() <= profile.step_s, "{peak}");
        let expected = 10.0 * (2.0 * 4.0 * 512.0f64).log10();
        assert!((profile.at(delay) - expected).abs() < 0.3, "{} {expected}", profile.at(delay));
        assert!((profile.range_s() - 1.0 / 0.96e6).abs() < 1e-15);
    }
}
