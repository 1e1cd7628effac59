//! What a user may set about the estimator.

use serde::{Deserialize, Serialize};

use crate::{Band, ConfigError, KeyRange};

/// Most components one estimate can hold; the workspace has room for this many.
pub const MAX_PATHS: usize = 16;

/// How components are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The sparse-refinement estimator: delays move freely and are refined jointly after each detection.
    #[default]
    Refined,
    /// Plain matching pursuit on the oversampled delay grid with joint least squares of the gains, for comparison.
    Greedy,
}

/// How the angle of arrival is chosen among the aliases of one inter-element phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AoaMode {
    /// The principal branch, as the inter-element phase alone tells it.
    #[default]
    Narrowband,
    /// The alias that the delay difference of the elements points to where it does so with
    /// [`SreOptions::alias_confidence`], and the principal branch elsewhere.
    Wideband,
}

/// Options of the estimator; the defaults are the paper's where it has them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SreOptions {
    /// How components are found.
    pub method: Method,
    /// Probability that an observation of noise alone gives any component, in (0, 0.5].
    pub p_fa: f64,
    /// Most components looked for.
    pub max_paths: usize,
    /// Components retained as arrivals, strongest first (the paper's K).
    pub keep: usize,
    /// Delay grid points per resolution cell of the search: 4, 8 or 16.
    pub oversampling: usize,
    /// Noise variance per bin and channel, used when `inactive_bins` is empty.
    pub noise_variance: f64,
    /// Bins that carry no signal. They are left out of the model, and the noise variance is their mean power.
    pub inactive_bins: Vec<usize>,
    /// Bins that are not looked at at all, whatever they hold (DC, pilots, guards).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excluded_bins: Vec<usize>,
    /// How the angle of arrival is chosen among its aliases.
    pub aoa_mode: AoaMode,
    /// Probability an alias must have before `aoa_mode = "wideband"` leaves the principal branch.
    pub alias_confidence: f64,
    /// Calibration error of the delay difference between the channels, seconds (standard deviation). It bounds the
    /// trust in an alias when the SNR alone would allow certainty.
    pub delay_difference_error_s: f64,
    /// Inter-channel phase (channel 1 minus channel 0) of the receiver itself, degrees; subtracted from the phase.
    pub phase_offset_deg: f64,
    /// Processing gain added to the raw SNR, dB.
    pub processing_gain_db: f64,
    /// Two components are never closer than this many resolution cells; it bounds the gains of unresolved paths.
    pub min_separation_cells: f64,
}

impl Default for SreOptions {
    fn default() -> Self {
        Self {
            method: Method::Refined,
            p_fa: 0.01,
            max_paths: 6,
            keep: 2,
            oversampling: 4,
            noise_variance: 1.0,
            inactive_bins: Vec::new(),
            excluded_bins: Vec::new(),
            aoa_mode: AoaMode::Narrowband,
            alias_confidence: 0.99,
            delay_difference_error_s: 10e-12,
            phase_offset_deg: 0.0,
            processing_gain_db: 18.89,
            min_separation_cells: 0.5,
        }
    }
}

impl SreOptions {
    /// Range of the false-alarm probability.
    pub const P_FA: KeyRange<f64> = KeyRange::new("sre.p_fa", 1e-12, 0.5, "");
    /// Range of the most components looked for.
    pub const MAX_PATHS: KeyRange<usize> = KeyRange::new("sre.max_paths", 1, MAX_PATHS, "");
    /// Range of the components retained.
    pub const KEEP: KeyRange<usize> = KeyRange::new("sre.keep", 1, MAX_PATHS, "");
    /// Key of the oversampling.
    pub const OVERSAMPLING_KEY: &str = "sre.oversampling";
    /// The oversamplings there are.
    pub const OVERSAMPLINGS: [usize; 3] = [4, 8, 16];
    /// Range of the known noise variance.
    pub const NOISE_VARIANCE: KeyRange<f64> = KeyRange::new("sre.noise_variance", 1e-30, 1e30, "");
    /// Range of the inactive bins; they must be bins of the band, too.
    pub const INACTIVE_BINS: KeyRange<usize> = KeyRange::new("sre.inactive_bins", 0, Band::BINS.max - 1, "");
    /// Range of the excluded bins; they must be bins of the band, too.
    pub const EXCLUDED_BINS: KeyRange<usize> = KeyRange::new("sre.excluded_bins", 0, Band::BINS.max - 1, "");
    /// Range of the probability an alias must have.
    pub const ALIAS_CONFIDENCE: KeyRange<f64> = KeyRange::new("sre.alias_confidence", 0.5, 0.999_999, "");
    /// Range of the calibration error of the delay difference.
    pub const DELAY_DIFFERENCE_ERROR_S: KeyRange<f64> = KeyRange::new("sre.delay_difference_error_s", 0.0, 1e-6, "s");
    /// Range of the receiver's inter-channel phase.
    pub const PHASE_OFFSET_DEG: KeyRange<f64> = KeyRange::new("sre.phase_offset_deg", -360.0, 360.0, "deg");
    /// Range of the processing gain.
    pub const PROCESSING_GAIN_DB: KeyRange<f64> = KeyRange::new("sre.processing_gain_db", -200.0, 200.0, "dB");
    /// Range of the least distance of two components.
    pub const MIN_SEPARATION_CELLS: KeyRange<f64> = KeyRange::new("sre.min_separation_cells", 0.05, 1.0, "cells");

    /// Checks every number against its range and against the band.
    ///
    /// # Errors
    /// Names the key (`sre.*`) that is out of range.
    pub fn check(&self, band: &Band) -> Result<(), ConfigError> {
        Self::P_FA.check(self.p_fa)?;
        Self::MAX_PATHS.check(self.max_paths)?;
        Self::KEEP.check(self.keep)?;
        let (key, known) = (Self::OVERSAMPLING_KEY, &Self::OVERSAMPLINGS);
        ConfigError::require(known.contains(&self.oversampling), key, self.oversampling, "4, 8 or 16 points per cell")?;
        Self::NOISE_VARIANCE.check(self.noise_variance)?;
        Self::ALIAS_CONFIDENCE.check(self.alias_confidence)?;
        Self::DELAY_DIFFERENCE_ERROR_S.check(self.delay_difference_error_s)?;
        Self::PHASE_OFFSET_DEG.check(self.phase_offset_deg)?;
        Self::PROCESSING_GAIN_DB.check(self.processing_gain_db)?;
        Self::MIN_SEPARATION_CELLS.check(self.min_separation_cells)?;
        let lists = [(Self::INACTIVE_BINS, &self.inactive_bins), (Self::EXCLUDED_BINS, &self.excluded_bins)];
        for (range, list) in lists {
            if let Some(&bin) = list.iter().find(|&&bin| bin >= band.bins) {
                let (key, value) = (range.key, bin.to_string());
                return Err(ConfigError { key, value, expected: "bins of the band".to_owned() });
            }
        }
        if let Some(bin) = self.excluded_bins.iter().find(|bin| self.inactive_bins.contains(bin)) {
            let expected = "bins that are not in sre.inactive_bins, which the noise is estimated from".to_owned();
            return Err(ConfigError { key: Self::EXCLUDED_BINS.key, value: bin.to_string(), expected });
        }
        Ok(())
    }
}
