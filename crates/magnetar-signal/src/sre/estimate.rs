//! What the estimator reports.

use std::f64::consts::TAU;

use num_complex::Complex;

use super::options::{AoaMode, SreOptions};
use crate::{Arrival, Arrivals, Band, RxArray};

/// One fitted component: an arrival, and how the two elements hear it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Component {
    /// The arrival. Its delay is in `[0, 1 / spacing)`, as delays are known modulo the band's period; the calibration
    /// offset has been taken off its phase.
    pub arrival: Arrival,
    /// Delay at element 1 minus delay at element 0, seconds.
    pub delay_difference_s: f64,
    /// Complex gain of each element at the carrier.
    pub gain: [Complex<f64>; 2],
    /// Probability that the arrival's AoA is the right one among the aliases of its phase, by the delay difference.
    pub alias_confidence: f64,
}

/// All components of one observation, the strongest (by raw SNR) first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Estimate {
    pub(super) components: Vec<Component>,
    pub(super) noise_variance: f64,
    pub(super) keep: usize,
}

impl Estimate {
    /// Every detected component, strongest first.
    #[must_use]
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// The components kept as arrivals: the `keep` strongest, or all where fewer were found.
    #[must_use]
    pub fn kept(&self) -> &[Component] {
        &self.components[..self.components.len().min(self.keep)]
    }

    /// Writes the kept arrivals, using the memory of `arrivals` again.
    pub fn write_arrivals(&self, arrivals: &mut Arrivals) {
        arrivals.keep = self.keep;
        arrivals.found.clear();
        arrivals.found.extend(self.kept().iter().map(|component| component.arrival));
    }

    /// Sorts components, the strongest first.
    pub(super) fn rank(components: &mut [Component]) {
        components.sort_unstable_by(|a, b| {
            let (a, b) = (&a.arrival, &b.arrival);
            b.raw_snr_db.total_cmp(&a.raw_snr_db).then_with(|| a.delay_s.total_cmp(&b.delay_s))
        });
    }

    /// Noise variance per bin and channel: the known one, or the one estimated from the inactive bins.
    #[must_use]
    pub fn noise_variance(&self) -> f64 {
        self.noise_variance
    }
}

/// Turns a fitted atom into a component.
#[derive(Debug, Clone)]
pub(super) struct Reporter {
    /// Seconds per grid step.
    pub step_s: f64,
    /// Grid steps in a turn.
    pub len: f64,
    /// Number of the carrier's bin about the centre of the active bins.
    pub carrier_bin: f64,
    /// Element spacing in wavelengths at the carrier.
    wavelengths: f64,
    carrier_hz: f64,
    phase_offset_rad: f64,
    processing_gain_db: f64,
    aoa_mode: AoaMode,
    alias_confidence: f64,
    difference_error_s: f64,
}

impl Reporter {
    /// For one band, array and set of options; the grid's step, length and carrier bin follow.
    pub fn new(band: &Band, array: &RxArray, options: &SreOptions, len: usize, carrier_bin: f64) -> Self {
        Self {
            step_s: band.unambiguous_delay_s() / len as f64,
            len: len as f64,
            carrier_bin,
            wavelengths: band.carrier_hz * array.max_delay_difference_s(),
            carrier_hz: band.carrier_hz,
            phase_offset_rad: options.phase_offset_deg.to_radians(),
            processing_gain_db: options.processing_gain_db,
            aoa_mode: options.aoa_mode,
            alias_confidence: options.alias_confidence,
            difference_error_s: options.delay_difference_error_s,
        }
    }

    /// The component of an atom with delays in grid steps, gains in units of the noise's standard deviation `sigma`,
    /// and delay variances (grid steps squared).
    pub fn component(&self, atom: &super::spectrum::Atom, variance: [f64; 2], sigma: f64) -> Component {
        let difference = wrap_steps(atom.delay[1] - atom.delay[0], self.len);
        let mean = (atom.delay[0] + 0.5 * difference).rem_euclid(self.len);
        // Rounding can bring a delay just below zero up to the whole period.
        let mean = if mean < self.len { mean } else { 0.0 };
        let gain: [Complex<f64>; 2] = std::array::from_fn(|m| {
            let (im, re) = libm::sincos(-self.carrier_bin * (TAU * atom.delay[m] / self.len));
            atom.gain[m] * Complex::new(re, im)
        });
        let power = 0.5 * (gain[0].norm_sqr() + gain[1].norm_sqr());
        let raw_snr_db = 10.0 * libm::log10(power.max(f64::MIN_POSITIVE));
        let turn = gain[1] * gain[0].conj();
        let phase_rad = magnetar_scene::wrap(libm::atan2(turn.im, turn.re) - self.phase_offset_rad);
        let difference_s = difference * self.step_s;
        let sigma_s = (variance[0] + variance[1]).sqrt() * self.step_s;
        let (aoa_rad, alias_confidence) = self.aoa(phase_rad, difference_s, sigma_s);
        Component {
            arrival: Arrival {
                delay_s: mean * self.step_s,
                phase_rad,
                aoa_rad,
                raw_snr_db,
                snr_db: raw_snr_db + self.processing_gain_db,
            },
            delay_difference_s: difference_s,
            gain: gain.map(|g| g * sigma),
            alias_confidence,
        }
    }

    /// Angle of arrival and its probability among the aliases, given the delay difference and its standard deviation.
    pub(super) fn aoa(&self, phase_rad: f64, difference_s: f64, sigma_s: f64) -> (f64, f64) {
        let sine = |turns: f64| (phase_rad / TAU + turns) / self.wavelengths;
        let principal = libm::asin(sine(0.0).clamp(-1.0, 1.0));
        let spread = libm::hypot(sigma_s, self.difference_error_s).max(1e-18);
        // Delay difference of an alias: -(phase + 2 pi turns) / (2 pi carrier).
        let log_likelihood = |turns: f64| {
            let expected = -(phase_rad / TAU + turns) / self.carrier_hz;
            -0.5 * ((difference_s - expected) / spread).powi(2)
        };
        let most = (self.wavelengths + 0.5).floor().min(64.0) as i32;
        let visible = (-most..=most).map(f64::from).filter(|&turns| turns == 0.0 || sine(turns).abs() <= 1.0);
        let (mut best, mut top) = (0.0, f64::NEG_INFINITY);
        for turns in visible.clone() {
            let l = log_likelihood(turns);
            if l > top {
                (best, top) = (turns, l);
            }
        }
        let total: f64 = visible.map(|turns| libm::exp(log_likelihood(turns) - top)).sum();
        let probability = |turns: f64| libm::exp(log_likelihood(turns) - top) / total;
        let turns = match self.aoa_mode {
            AoaMode::Wideband if probability(best) >= self.alias_confidence => best,
            _ => 0.0,
        };
        let aoa = if turns == 0.0 { principal } else { libm::asin(sine(turns).clamp(-1.0, 1.0)) };
        let confidence = probability(turns);
        (aoa, if confidence.is_finite() { confidence } else { 0.0 })
    }
}

/// `x` grid steps in `[-len / 2, len / 2)`, for the difference of two delays on the grid: at most one turn away, so that
/// no rounding function is called.
#[inline(always)]
pub(super) fn wrap_steps(x: f64, len: f64) -> f64 {
    let half = 0.5 * len;
    if x >= half {
        x - len
    } else if x < -half {
        x + len
    } else {
        x
    }
}
