//! What a user may set about the estimator.

use serde::{Deserialize, Serialize};

use crate::{Band, ConfigError};

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
    /// Checks every number against its range and against the band.
    ///
    /// # Errors
    /// Names the key (`sre.*`) that is out of range.
    pub fn check(&self, band: &Band) -> Result<(), ConfigError> {
        fn require(
            valid: bool,
            key: &'static str,
            value: impl std::fmt::Display,
            expected: &'static str,
        ) -> Result<(), ConfigError> {
            ConfigError::require(valid, key, value, expected)
        }
        require(self.p_fa >= 1e-12 && self.p_fa <= 0.5, "sre.p_fa", self.p_fa, "a probability from 1e-12 to 0.5")?;
        require(
            (1..=MAX_PATHS).contains(&self.max_paths),
            "sre.max_paths",
            self.max_paths,
            "a number of components from 1 to 16",
        )?;
        require(
            (1..=MAX_PATHS).contains(&self.keep),
            "sre.keep",
            self.keep,
            "a number of retained components from 1 to 16",
        )?;
        require(
            [4, 8, 16].contains(&self.oversampling),
            "sre.oversampling",
            self.oversampling,
            "4, 8 or 16 grid points a cell",
        )?;
        require(
            (1e-30..=1e30).contains(&self.noise_variance),
            "sre.noise_variance",
            self.noise_variance,
            "a variance from 1e-30 to 1e30",
        )?;
        require(
            self.alias_confidence >= 0.5 && self.alias_confidence < 1.0,
            "sre.alias_confidence",
            self.alias_confidence,
            "a probability from 0.5 to below 1",
        )?;
        require(
            (0.0..=1e-6).contains(&self.delay_difference_error_s),
            "sre.delay_difference_error_s",
            self.delay_difference_error_s,
            "a time from 0 to 1e-6 s",
        )?;
        require(
            self.phase_offset_deg.abs() <= 360.0,
            "sre.phase_offset_deg",
            self.phase_offset_deg,
            "an angle from -360 to 360 degrees",
        )?;
        require(
            self.processing_gain_db.abs() <= 200.0,
            "sre.processing_gain_db",
            self.processing_gain_db,
            "a gain from -200 to 200 dB",
        )?;
        require(
            (0.05..=1.0).contains(&self.min_separation_cells),
            "sre.min_separation_cells",
            self.min_separation_cells,
            "a number of resolution cells from 0.05 to 1",
        )?;
        if let Some(&bin) = self.inactive_bins.iter().find(|&&bin| bin >= band.bins) {
            require(false, "sre.inactive_bins", bin, "bins below the number of bins of the band")?;
        }
        Ok(())
    }
}
