//! The frequency grid of an observation.

use serde::{Deserialize, Serialize};

use crate::{BinGrid, ConfigError, KeyRange};

/// A band of `bins` equally spaced frequencies: `f_k = carrier + (k - bins / 2) * bandwidth / bins`, where half of an odd
/// number is rounded down, so that its middle bin is at the carrier.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Band {
    /// Carrier, Hz.
    pub carrier_hz: f64,
    /// Bandwidth, Hz: `bins` times the spacing.
    pub bandwidth_hz: f64,
    /// Number of bins.
    pub bins: usize,
}

impl Default for Band {
    /// 10 GHz, 491.52 MHz over 512 bins (0.96 MHz apart).
    fn default() -> Self {
        Self { carrier_hz: 10e9, bandwidth_hz: 491.52e6, bins: 512 }
    }
}

impl Band {
    /// Range of the carrier.
    pub const CARRIER_HZ: KeyRange<f64> = KeyRange::new("band.carrier_hz", 1e6, 1e12, "Hz");
    /// Range of the bandwidth; it must be below the carrier, too.
    pub const BANDWIDTH_HZ: KeyRange<f64> = KeyRange::new("band.bandwidth_hz", 1.0, 1e12, "Hz");
    /// Range of the number of bins. An estimate needs eight.
    pub const BINS: KeyRange<usize> = KeyRange::new("band.bins", 8, 65_536, "");

    /// Checks every number.
    ///
    /// # Errors
    /// Names the key (`band.*`) that is out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        Self::BINS.check(self.bins)?;
        Self::CARRIER_HZ.check(self.carrier_hz)?;
        Self::BANDWIDTH_HZ.check(self.bandwidth_hz)?;
        let below = self.bandwidth_hz < self.carrier_hz;
        ConfigError::require(below, Self::BANDWIDTH_HZ.key, self.bandwidth_hz, "a bandwidth below the carrier, in Hz")
    }

    /// This band with subcarriers in place of its bandwidth and, where a grid lists them, of its bins.
    #[must_use]
    pub fn with_subcarriers(&self, subcarrier_hz: f64, grid: Option<&BinGrid>) -> Self {
        match grid {
            Some(grid) => grid.band(self.carrier_hz, subcarrier_hz),
            None => Self { bandwidth_hz: subcarrier_hz * self.bins as f64, ..*self },
        }
    }

    /// Distance between bins, Hz.
    #[must_use]
    pub fn spacing_hz(&self) -> f64 {
        self.bandwidth_hz / self.bins as f64
    }

    /// Frequency of bin `k` relative to the carrier, Hz.
    #[must_use]
    pub fn offset_hz(&self, k: usize) -> f64 {
        (k as f64 - (self.bins / 2) as f64) * self.spacing_hz()
    }

    /// Absolute frequency of bin `k`, Hz.
    #[must_use]
    pub fn frequency_hz(&self, k: usize) -> f64 {
        self.carrier_hz + self.offset_hz(k)
    }

    /// Wavelength at the carrier, metres.
    #[must_use]
    pub fn wavelength(&self) -> f64 {
        magnetar_scene::SPEED_OF_LIGHT / self.carrier_hz
    }

    /// Delay resolution `1 / bandwidth`, seconds.
    #[must_use]
    pub fn resolution_s(&self) -> f64 {
        self.bandwidth_hz.recip()
    }

    /// Longest delay told apart from zero, `1 / spacing`, seconds.
    #[must_use]
    pub fn unambiguous_delay_s(&self) -> f64 {
        self.spacing_hz().recip()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_grid() {
        let band = Band::default();
        band.check().unwrap();
        assert_eq!(band.spacing_hz(), 0.96e6);
        assert_eq!(band.frequency_hz(256), 10e9);
        assert_eq!(band.frequency_hz(0), 10e9 - 245.76e6);
        assert_eq!(band.frequency_hz(511), 10e9 + 244.8e6);
    }

    #[test]
    fn a_bad_number_is_named() {
        let key = |band: Band| band.check().unwrap_err().key;
        for bins in [0, 6, 1 << 20] {
            assert_eq!(key(Band { bins, ..Band::default() }), "band.bins");
        }
        for carrier_hz in [f64::NAN, -1.0, f64::INFINITY] {
            assert_eq!(key(Band { carrier_hz, ..Band::default() }), "band.carrier_hz");
        }
        for bandwidth_hz in [f64::NAN, 0.0, 2e10] {
            assert_eq!(key(Band { bandwidth_hz, ..Band::default() }), "band.bandwidth_hz");
        }
    }
}
