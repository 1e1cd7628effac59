//! Adam, and the learning rate of every step.

/// Decay of the mean of gradients, of the mean of their squares, and what keeps the division finite: the paper's Adam.
const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// Share of all steps in which the rate rises to its peak.
const WARM_UP: f64 = 0.02;

/// First and second moments of the gradients of one parameter array.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Moments {
    pub(crate) first: Vec<f32>,
    pub(crate) second: Vec<f32>,
}

impl Moments {
    pub(crate) fn zero(count: usize) -> Self {
        Self { first: vec![0.0; count], second: vec![0.0; count] }
    }

    /// Moves values against a gradient; `step` counts from 1.
    pub(crate) fn step(&mut self, values: &mut [f32], gradient: &[f32], rate: f64, step: u64) {
        let unbiased = |beta: f32| 1.0 - libm::pow(f64::from(beta), step as f64);
        let (c1, c2) = (unbiased(BETA1), unbiased(BETA2));
        let rate = (rate / c1) as f32;
        let root = (1.0 / c2) as f32;
        for (n, g) in gradient.iter().enumerate() {
            let (m, v) = (&mut self.first[n], &mut self.second[n]);
            *m = BETA1 * *m + (1.0 - BETA1) * g;
            *v = BETA2 * *v + (1.0 - BETA2) * g * g;
            values[n] -= rate * *m / ((*v * root).sqrt() + EPSILON);
        }
    }
}

/// The rate of a step (from 0 on): a straight rise over the first fiftieth, then half a cosine to zero.
pub(crate) fn rate(step: u64, steps: u64, peak: f64) -> f64 {
    let warm = (WARM_UP * steps as f64).ceil().max(1.0);
    let at = step as f64 + 1.0;
    if at <= warm {
        return peak * at / warm;
    }
    let share = (at - warm) / (steps as f64 - warm).max(1.0);
    peak * 0.5 * (1.0 + libm::cos(std::f64::consts::PI * share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_rises_to_its_peak_and_falls_to_zero() {
        let rates: Vec<f64> = (0..1000).map(|step| rate(step, 1000, 5e-4)).collect();
        assert!((rates[19] - 5e-4).abs() < 1e-12 && rates[0] == 5e-4 / 20.0);
        assert!(rates[..20].windows(2).all(|w| w[0] < w[1]) && rates[20..].windows(2).all(|w| w[0] > w[1]));
        assert!(rates[999].abs() < 1e-12);
    }

    #[test]
    fn it_finds_the_least_of_a_bowl_and_its_first_step_is_the_rate() {
        let mut values = [3.0f32, -2.0];
        let mut moments = Moments::zero(2);
        moments.step(&mut values, &[6.0, -4.0], 0.1, 1);
        assert!((values[0] - 2.9).abs() < 1e-6 && (values[1] + 1.9).abs() < 1e-6);
        for step in 2..2000 {
            let gradient = [2.0 * values[0], 2.0 * values[1]];
            moments.step(&mut values, &gradient, 0.05, step);
        }
        assert!(values.iter().all(|v| v.abs() < 1e-2), "{values:?}");
    }
}
