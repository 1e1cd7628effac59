//! One radio: everything between traced paths and estimated arrivals that stays the same from link to link.

use magnetar_scene::{AntennaPattern, Pose};
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::sre::{Sre, SreOptions};
use crate::{Band, ConfigError, ELEMENTS, Link, LinkConfig, NoiseConfig, RfChainConfig, RxArray};

/// The antennas of a radio: names of shipped amplitude patterns, or files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AntennaConfig {
    /// The TX's pattern.
    pub tx_pattern: String,
    /// One pattern per RX element.
    pub rx_patterns: [String; ELEMENTS],
}

impl AntennaConfig {
    /// The same pattern at both ends.
    #[must_use]
    pub fn all(pattern: &str) -> Self {
        let name = || pattern.to_owned();
        Self { tx_pattern: name(), rx_patterns: [name(), name()] }
    }
}

impl Default for AntennaConfig {
    /// The shipped synthetic Vivaldi at both ends.
    fn default() -> Self {
        Self::all("synthetic_vivaldi")
    }
}

/// The settings of a radio, one part per section of a recipe.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RadioConfig {
    /// The frequency band.
    pub band: Band,
    /// The RX array.
    pub array: RxArray,
    /// Antenna patterns by name or file.
    pub antennas: AntennaConfig,
    /// Link scale.
    pub link: LinkConfig,
    /// RF-chain perturbation.
    pub rf_chain: RfChainConfig,
    /// Receiver noise.
    pub noise: NoiseConfig,
    /// The estimator.
    pub sre: SreOptions,
}

impl RadioConfig {
    /// Checks every number.
    ///
    /// # Errors
    /// Names the key that is out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.band.check()?;
        self.array.check()?;
        self.link.check()?;
        self.rf_chain.check()?;
        self.sre.check(&self.band)
    }
}

/// Why a radio cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum RadioError {
    /// A setting is out of range.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An antenna pattern cannot be read.
    #[error(transparent)]
    Pattern(#[from] magnetar_scene::SceneError),
}

/// A checked radio with its patterns loaded and its estimator planned. Threads share one.
pub struct Radio {
    config: RadioConfig,
    tx_pattern: AntennaPattern,
    rx_patterns: [AntennaPattern; ELEMENTS],
    boresight_amplitude: f64,
    sre: Sre,
}

impl Radio {
    /// Checks the settings, loads the patterns and plans the estimator.
    ///
    /// # Errors
    /// If a setting is out of range or a pattern cannot be read.
    pub fn new(config: RadioConfig) -> Result<Self, RadioError> {
        config.check()?;
        let AntennaConfig { tx_pattern, rx_patterns: [first, second] } = &config.antennas;
        let tx_pattern = AntennaPattern::load(tx_pattern)?;
        let rx_patterns = [AntennaPattern::load(first)?, AntennaPattern::load(second)?];
        Self::with_patterns(config, tx_pattern, rx_patterns)
    }

    /// The radio of these settings with patterns that are at hand, whatever names the settings have for them.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn with_patterns(
        config: RadioConfig,
        tx_pattern: AntennaPattern,
        rx_patterns: [AntennaPattern; ELEMENTS],
    ) -> Result<Self, RadioError> {
        config.check()?;
        let sre = Sre::new(&config.band, &config.array, &config.sre)?;
        let mut radio = Self { tx_pattern, rx_patterns, boresight_amplitude: 0.0, sre, config };
        let anywhere = Pose::new(0.0, 0.0, 0.0, 0.0);
        let amplitude = radio.link(anywhere, anywhere).boresight_amplitude();
        radio.boresight_amplitude = amplitude;
        Ok(radio)
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &RadioConfig {
        &self.config
    }

    /// The frequency band.
    #[must_use]
    pub fn band(&self) -> &Band {
        &self.config.band
    }

    /// Amplitude pattern of the TX.
    #[must_use]
    pub fn tx_pattern(&self) -> &AntennaPattern {
        &self.tx_pattern
    }

    /// Amplitude pattern of each RX element.
    #[must_use]
    pub fn rx_patterns(&self) -> &[AntennaPattern; ELEMENTS] {
        &self.rx_patterns
    }

    /// The estimator.
    #[must_use]
    pub fn sre(&self) -> &Sre {
        &self.sre
    }

    /// The two ends of a link with this radio's antennas.
    #[must_use]
    pub fn link(
        &self,
        tx: Pose,
        rx: Pose,
    ) -> Link<impl Fn(&Vector3<f64>) -> f64 + '_, impl Fn(&Vector3<f64>) -> f64 + '_> {
        let [first, second] = &self.rx_patterns;
        Link {
            tx,
            rx,
            array: self.config.array,
            tx_pattern: amplitude(&self.tx_pattern),
            rx_patterns: [amplitude(first), amplitude(second)],
        }
    }

    /// Amplitude of the antennas facing each other, which the link scale is normalised by; zero for patterns without
    /// gain at boresight.
    #[must_use]
    pub fn boresight_amplitude(&self) -> f64 {
        self.boresight_amplitude
    }

    /// The factor that takes path gains to amplitudes against unit-variance noise, at a TX-power offset in dB.
    #[must_use]
    pub fn amplitude_scale(&self, tx_power_offset_db: f64) -> f64 {
        self.config.link.amplitude_scale(&self.config.band, self.boresight_amplitude, tx_power_offset_db)
    }

    /// SNR per bin at 1 m in free space, boresight to boresight, without a TX-power offset, dB.
    #[must_use]
    pub fn snr_at_one_metre_db(&self) -> f64 {
        self.config.link.reference_snr_db + self.config.link.input_power_adjustment_db
    }

    /// The estimator's detection threshold as a raw SNR, dB: a peak of energy E over both channels is a raw SNR of
    /// E / (2 bins).
    #[must_use]
    pub fn detection_threshold_db(&self) -> f64 {
        10.0 * libm::log10(self.sre.threshold() / (ELEMENTS * self.config.band.bins) as f64)
    }
}

impl std::fmt::Debug for Radio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Radio").field("config", &self.config).finish_non_exhaustive()
    }
}

fn amplitude(pattern: &AntennaPattern) -> impl Fn(&Vector3<f64>) -> f64 + '_ {
    |direction| pattern.amplitude(direction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_setting_and_a_missing_pattern_are_named() {
        let mut config = RadioConfig::default();
        config.sre.keep = 0;
        assert!(Radio::new(config).unwrap_err().to_string().contains("sre.keep"));
        let config = RadioConfig { antennas: AntennaConfig::all("horn"), ..RadioConfig::default() };
        assert!(Radio::new(config).unwrap_err().to_string().contains("horn"));
    }

    #[test]
    fn the_scale_gives_the_reference_snr_at_one_metre() {
        let radio = Radio::new(RadioConfig::default()).unwrap();
        let path_gain = radio.band().wavelength() / (4.0 * std::f64::consts::PI) * radio.boresight_amplitude();
        let snr = 20.0 * (path_gain * radio.amplitude_scale(1.5)).log10();
        assert!((snr - radio.snr_at_one_metre_db() - 1.5).abs() < 1e-9, "{snr}");
        assert!((-30.0..-10.0).contains(&radio.detection_threshold_db()));
    }
}
