//! How strong the link is against unit-variance noise.

use std::f64::consts::PI;

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use crate::Band;

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

// Far beyond any radio, and all together far from overflow in f32 squares.
crate::key_ranges! {
    "link", LinkConfig {
        f64: -100.0, 100.0, "dB" =>
            REFERENCE_SNR_DB = reference_snr_db, INPUT_POWER_ADJUSTMENT_DB = input_power_adjustment_db;
        f64: 0.0, 60.0, "dB" => TX_POWER_OFFSET_MAX_DB = tx_power_offset_max_db;
    }
}

impl LinkConfig {
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
        libm::exp10(db / 20.0) / at_one_metre
    }
}
