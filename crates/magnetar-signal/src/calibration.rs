//! What a measured observation goes through before it is looked at.

use num_complex::{Complex32, Complex64};

/// What a receiver's chains do to each bin and channel (a cable or chamber measurement): observations are divided by it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceiverCalibration {
    /// One factor per bin and channel, or one per channel for all bins.
    factors: Vec<[Complex64; 2]>,
}

/// Why factors cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CalibrationError {
    /// A factor that nothing can be divided by.
    #[error("bin {bin}, channel {channel}: the factor is {value}; expected a finite number other than zero")]
    Factor {
        /// The bin (0 where one factor serves all bins).
        bin: usize,
        /// The channel.
        channel: usize,
        /// The factor.
        value: Complex64,
    },
    /// Factors of another number of bins.
    #[error("the calibration has {found} bins, the observation {expected}")]
    Bins {
        /// Bins of the observation.
        expected: usize,
        /// Bins of the calibration.
        found: usize,
    },
}

impl ReceiverCalibration {
    /// From factors per bin and channel, or a single pair for all bins.
    ///
    /// # Errors
    /// Names the factor that is zero or not finite.
    pub fn new(factors: Vec<[Complex64; 2]>) -> Result<Self, CalibrationError> {
        for (bin, pair) in factors.iter().enumerate() {
            for (channel, &value) in pair.iter().enumerate() {
                let inverse = value.inv();
                if !(value.is_finite() && inverse.is_finite()) {
                    return Err(CalibrationError::Factor { bin, channel, value });
                }
            }
        }
        Ok(Self { factors })
    }

    /// The same calibration with each channel's factors times a number, such as the noise's standard deviation, by which
    /// observations are then divided as well.
    #[must_use]
    pub fn scaled(mut self, by: [f64; 2]) -> Self {
        for pair in &mut self.factors {
            pair[0] *= by[0];
            pair[1] *= by[1];
        }
        self
    }

    /// Divides an observation, `block[bin][channel]`.
    ///
    /// # Errors
    /// If it has another number of bins.
    pub fn apply(&self, block: &mut [[Complex32; 2]]) -> Result<(), CalibrationError> {
        if self.factors.len() != 1 && self.factors.len() != block.len() {
            return Err(CalibrationError::Bins { expected: block.len(), found: self.factors.len() });
        }
        for (x, factors) in block.iter_mut().zip(self.factors.iter().cycle()) {
            for (z, factor) in x.iter_mut().zip(factors) {
                let divided = Complex64::new(f64::from(z.re), f64::from(z.im)) / factor;
                *z = Complex32::new(divided.re as f32, divided.im as f32);
            }
        }
        Ok(())
    }
}

impl Default for ReceiverCalibration {
    /// Changes nothing.
    fn default() -> Self {
        Self { factors: vec![[Complex64::new(1.0, 0.0); 2]] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_chain_did_is_undone() {
        let factors: Vec<_> =
            (0..5).map(|k| [0.2, -1.7].map(|x| Complex64::new(x, 0.3 * f64::from(k) + 0.1))).collect();
        let truth: Vec<[Complex32; 2]> =
            (0..5).map(|k| [Complex32::new(k as f32, 1.0), Complex32::new(2.0, -3.0)]).collect();
        let heard = |x: &[Complex32; 2], f: &[Complex64; 2]| {
            [0, 1].map(|m| {
                let z = Complex64::new(f64::from(x[m].re), f64::from(x[m].im)) * f[m];
                Complex32::new(z.re as f32, z.im as f32)
            })
        };
        let mut block: Vec<_> = truth.iter().zip(&factors).map(|(x, f)| heard(x, f)).collect();
        ReceiverCalibration::new(factors).unwrap().apply(&mut block).unwrap();
        for (x, y) in block.iter().flatten().zip(truth.iter().flatten()) {
            assert!((x - y).norm() < 1e-5);
        }
        let mut three = block[..3].to_vec();
        let five = ReceiverCalibration::new(vec![[Complex64::new(2.0, 0.0); 2]; 5]).unwrap();
        assert_eq!(five.apply(&mut three), Err(CalibrationError::Bins { expected: 3, found: 5 }));
        let one = ReceiverCalibration::default().scaled([2.0, 4.0]);
        one.apply(&mut three).unwrap();
        assert!((three[1][1] * 4.0 - block[1][1]).norm() < 1e-6);
    }

    #[test]
    fn factors_that_nothing_can_be_divided_by_are_named() {
        for bad in [0.0, f64::NAN, f64::INFINITY, 1e-320] {
            let mut factors = vec![[Complex64::new(1.0, 0.0); 2]; 4];
            factors[2][1] = Complex64::new(bad, 0.0);
            let error = ReceiverCalibration::new(factors).unwrap_err();
            assert!(error.to_string().starts_with("bin 2, channel 1:"), "{error}");
        }
    }
}
