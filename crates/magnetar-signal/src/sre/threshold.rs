//! The detection threshold: a false-alarm rate that is right for a search over every delay.
//!
//! The statistic is the highest value, over the whole circle of delays, of the matched-filter energy summed over the
//! two channels, in units of the noise variance. Under noise alone that energy is a process `S(u)` with the
//! Gamma(2, 1) law at each delay. Given `S = t` its slope is Gaussian with variance `2 t B^2`, where `B^2` is the
//! mean squared bin number about its centre, so by Rice's formula level `t` is crossed upwards
//! `mu(t) = 2 sqrt(pi) B t^{3/2} exp(-t)` times on average in one turn of the circle. High crossings are rare and
//! independent: `P(max S > t) = 1 - exp(-mu(t))`. Independent grid points would give a threshold 1.4 lower, and with
//! it about five times the promised false alarms.

use std::f64::consts::PI;

/// Expected upward crossings of level `t` on the circle, for bins of rms width `rms_bins`.
fn crossings(t: f64, rms_bins: f64) -> f64 {
    2.0 * PI.sqrt() * rms_bins * t * t.sqrt() * libm::exp(-t)
}

/// Probability that noise alone exceeds `t` somewhere, the noise variance known.
fn exceedance(t: f64, crossings: &impl Fn(f64) -> f64) -> f64 {
    -libm::expm1(-crossings(t))
}

/// The same with the noise variance estimated from `samples` complex values: the estimate is Gamma distributed, and
/// the exceedance is averaged over it (Simpson's rule over eight standard deviations either side).
fn mean_exceedance(t: f64, crossings: &impl Fn(f64) -> f64, samples: f64) -> f64 {
    const STEPS: usize = 400;
    // The estimate's logarithm, v = ln(estimate / truth), has density proportional to exp(samples (v - e^v)).
    let width = 8.0 / samples.sqrt();
    let (mut total, mut weight) = (0.0, 0.0);
    for i in 0..=STEPS {
        let v = width * (2.0 * i as f64 / STEPS as f64 - 1.0);
        let simpson = if i == 0 || i == STEPS {
            1.0
        } else if i % 2 == 1 {
            4.0
        } else {
            2.0
        };
        let density = simpson * libm::exp(samples * (v - libm::expm1(v)));
        weight += density;
        // Below its mode the crossing rate no longer bounds anything: there the level is exceeded almost surely.
        total += density * exceedance((t * libm::exp(v)).max(1.5), crossings);
    }
    total / weight
}

/// The threshold on the peak energy, in units of the noise variance, that noise alone exceeds with probability `p_fa`.
/// `rms_bins` is the rms distance of the active bins from their centre; `noise_samples` the number of complex values
/// that the noise variance is estimated from, or `None` where it is known.
pub(super) fn threshold(p_fa: f64, rms_bins: f64, noise_samples: Option<usize>) -> f64 {
    threshold_of(p_fa, |t| crossings(t, rms_bins), noise_samples)
}

/// The same for any search, given its expected crossings of a level; they must fall above 1.5.
pub(super) fn threshold_of(p_fa: f64, crossings: impl Fn(f64) -> f64, noise_samples: Option<usize>) -> f64 {
    let probability = |t: f64| match noise_samples {
        None => exceedance(t, &crossings),
        Some(n) => mean_exceedance(t, &crossings, n as f64),
    };
    // The crossing rate falls monotonically above its mode at 1.5.
    let (mut low, mut high) = (1.5, 1e6);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if probability(middle) > p_fa {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}
