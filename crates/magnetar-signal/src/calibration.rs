//! What a measured observation goes through before it is looked at.

use num_complex::{Complex32, Complex64};

/// What a receiver's chains do to each bin and channel (a cable or chamber measurement): observations are divided by it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceiverCalibration {
    channels: usize,
    /// One factor per bin and channel, channel last, or one per channel for all bins.
    factors: Vec<Complex64>,
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
    /// Factors of another number of channels.
    #[error("the calibration has {found} channels, the observation {expected}")]
    Channels {
        /// Channels of the observation.
        expected: usize,
        /// Channels of the calibration.
        found: usize,
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
    /// From factors per bin and channel, channel last, or of a single bin for all bins.
    ///
    /// # Errors
    /// Names the factor that is zero or not finite.
    pub fn new(factors: Vec<Complex64>, channels: usize) -> Result<Self, CalibrationError> {
        if channels == 0 || factors.is_empty() || !factors.len().is_multiple_of(channels) {
            return Err(CalibrationError::Channels { expected: channels, found: factors.len() });
        }
        for (n, &value) in factors.iter().enumerate() {
            let inverse = value.inv();
            if !(value.is_finite() && inverse.is_finite()) {
                return Err(CalibrationError::Factor { bin: n / channels, channel: n % channels, value });
            }
        }
        Ok(Self { channels, factors })
    }

    /// The factors of the channels that are taken, in their order, if these are the factors of all channels of a recording, and
    /// as they are if there is one for each channel taken. Any other number is refused where it is used.
    #[must_use]
    pub fn of_channels(self, taken: &[usize]) -> Self {
        if self.channels <= taken.len() || taken.iter().any(|channel| *channel >= self.channels) {
            return self;
        }
        let bins = self.factors.chunks_exact(self.channels);
        let factors = bins.flat_map(|bin| taken.iter().map(|channel| bin[*channel])).collect();
        Self { channels: taken.len(), factors }
    }

    /// One that divides each channel by a number, such as the noise's standard deviation.
    ///
    /// # Errors
    /// Names the number that is zero or not finite.
    pub fn of_scales(scales: &[f64]) -> Result<Self, CalibrationError> {
        Self::new(scales.iter().map(|scale| Complex64::new(*scale, 0.0)).collect(), scales.len())
    }

    /// Channels of the observations it is for.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Bins of the observations it is for; 1 where it serves any number.
    #[must_use]
    pub fn bins(&self) -> usize {
        self.factors.len() / self.channels
    }

    /// The factors, channel last: of all bins, or of one for all.
    pub(crate) fn factors(&self) -> &[Complex64] {
        &self.factors
    }

    /// Divides an observation, all channels of bin 0 first.
    ///
    /// # Errors
    /// If it has another number of bins.
    pub fn apply(&self, block: &mut [Complex32]) -> Result<(), CalibrationError> {
        if self.factors.len() != self.channels && self.factors.len() != block.len() {
            return Err(CalibrationError::Bins { expected: block.len() / self.channels, found: self.bins() });
        }
        for (z, factor) in block.iter_mut().zip(self.factors.iter().cycle()) {
            let divided = Complex64::new(f64::from(z.re), f64::from(z.im)) / factor;
            *z = Complex32::new(divided.re as f32, divided.im as f32);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_chain_did_is_undone() {
        for channels in [2, 3] {
            let factors: Vec<Complex64> =
                (0..5 * channels).map(|n| Complex64::new([0.2, -1.7][n % 2], 0.3 * n as f64 + 0.1)).collect();
            let truth: Vec<Complex64> = (0..5 * channels).map(|n| Complex64::new(n as f64, 1.0)).collect();
            let single = |z: &Complex64| Complex32::new(z.re as f32, z.im as f32);
            let mut block: Vec<_> = truth.iter().zip(&factors).map(|(x, f)| single(&(x * f))).collect();
            ReceiverCalibration::new(factors, channels).unwrap().apply(&mut block).unwrap();
            for (x, y) in block.iter().zip(&truth) {
                assert!((x - single(y)).norm() < 1e-5);
            }
        }
        let mut three = vec![Complex32::new(8.0, 4.0); 6];
        let five = ReceiverCalibration::new(vec![Complex64::new(2.0, 0.0); 10], 2).unwrap();
        assert_eq!(five.apply(&mut three), Err(CalibrationError::Bins { expected: 3, found: 5 }));
        ReceiverCalibration::of_scales(&[2.0, 4.0]).unwrap().apply(&mut three).unwrap();
        assert_eq!(three[2..4], [Complex32::new(4.0, 2.0), Complex32::new(2.0, 1.0)]);
    }

    #[test]
    fn factors_of_all_channels_serve_those_that_are_taken() {
        let factors: Vec<Complex64> = (1..=6).map(|n| Complex64::new(f64::from(n), 0.0)).collect();
        let all = ReceiverCalibration::new(factors, 3).unwrap();
        let reals =
            |taken: &[usize]| -> Vec<f64> { all.clone().of_channels(taken).factors.iter().map(|z| z.re).collect() };
        assert_eq!(reals(&[2, 0]), [3.0, 1.0, 6.0, 4.0]);
        assert_eq!(all.clone().of_channels(&[2, 0]).channels(), 2);
        // One for each channel taken, and too few, which is refused where they are used.
        assert_eq!(all.clone().of_channels(&[4, 1, 0]), all);
        assert_eq!(all.clone().of_channels(&[0, 3]), all);
    }

    #[test]
    fn factors_that_nothing_can_be_divided_by_are_named() {
        for bad in [0.0, f64::NAN, f64::INFINITY, 1e-320] {
            let mut factors = vec![Complex64::new(1.0, 0.0); 8];
            factors[5] = Complex64::new(bad, 0.0);
            let error = ReceiverCalibration::new(factors, 2).unwrap_err();
            assert!(error.to_string().starts_with("bin 2, channel 1:"), "{error}");
        }
    }
}
