//! How strong the link is against unit-variance noise.

use std::f64::consts::PI;

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use crate::{Band, ConfigError};

/// Decibels a setting may reach either way: far beyond any radio, and all together far from overflow in f32 squares.
const MAX_DB: f64 = 100.0;

/// The link budget in decibels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkConfig {
    /// SNR of every bin at 1 m, free space, both antennas boresight to boresight, before the adjustments below, dB.
    pub reference_snr_db: f64,
    /// Input-power adjustment, dB.
    pub input_power_adjustment_db: f64,
    /// The TX-power offset of an observation is drawn uniformly from plus or minus this, dB; zero switches it off.
    pub tx_power_offset_max_db: f64,
}

impl Default for LinkConfig {
    fn default() -> Self {
        Self { reference_snr_db: 50.0, input_power_adjustment_db: -19.14, tx_power_offset_max_db: 3.0 }
    }
}

impl LinkConfig {
    /// Checks every number.
    ///
    /// # Errors
    /// Names the key (`link.*`) that is out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        let range = -MAX_DB..=MAX_DB;
        let expected = "a number of decibels from -100 to 100";
        ConfigError::require(
            range.contains(&self.reference_snr_db),
            "link.reference_snr_db",
            self.reference_snr_db,
            expected,
        )?;
        ConfigError::require(
            range.contains(&self.input_power_adjustment_db),
            "link.input_power_adjustment_db",
            self.input_power_adjustment_db,
            expected,
        )?;
        ConfigError::require(
            (0.0..=MAX_DB).contains(&self.tx_power_offset_max_db),
            "link.tx_power_offset_max_db",
            self.tx_power_offset_max_db,
            "a number of decibels from 0 to 100",
        )
    }

    /// The TX-power offset of one observation, dB.
    pub fn draw_tx_power_offset_db<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        self.tx_power_offset_max_db * (2.0 * rng.random::<f64>() - 1.0)
    }

    /// The factor that takes path gains to amplitudes against unit-variance noise. `boresight_amplitude` is that of
    /// both antennas together; zero if it is not a positive number (nothing can then be normalised by it).
    #[must_use]
    pub fn amplitude_scale(&self, band: &Band, boresight_amplitude: f64, tx_power_offset_db: f64) -> f64 {
        let at_one_metre = band.wavelength() / (4.0 * PI) * boresight_amplitude;
        if !(at_one_metre > 0.0 && at_one_metre.is_finite()) {
            return 0.0;
        }
        let db = self.reference_snr_db + self.input_power_adjustment_db + tx_power_offset_db;
        10f64.powf(db / 20.0) / at_one_metre
    }
}
