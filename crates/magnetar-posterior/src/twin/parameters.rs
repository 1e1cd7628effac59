//! The few widths and rates of the twin's likelihood, fitted once and shipped.

use std::path::Path;

use magnetar_trace::TraceOptions;
use serde::{Deserialize, Serialize};

use crate::PosteriorError;

/// The largest parameter file that is read, bytes.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// Everything that is fitted. Each number has its meaning in `docs/posterior.md`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TwinParameters {
    /// Inter-element phase error of the RF chain, degrees (standard deviation).
    pub phase_sigma_deg: f64,
    /// Phase error of thermal noise, in multiples of its Cramer-Rao bound.
    pub phase_noise_scale: f64,
    /// Error of the predicted SNR of the direct path, dB (standard deviation).
    pub los_sigma_db: f64,
    /// Error of the predicted SNR of a reflection, dB (standard deviation): mostly unknown materials.
    pub reflection_sigma_db: f64,
    /// Delay difference at which two paths merge half of the time, resolution cells.
    pub merge_cells: f64,
    /// How softly merging ends, resolution cells.
    pub merge_softness_cells: f64,
    /// How much of the full interference of merged paths is seen, 0 to 1 or a little more.
    pub fading: f64,
    /// Softness of the ordering and detection of paths that were not retained, dB.
    pub rank_sigma_db: f64,
    /// Probability that the strongest arrival is no traced path.
    pub outlier_first: f64,
    /// Probability that the second arrival is no traced path.
    pub outlier_second: f64,
    /// Exponent of the likelihood: below 1 it is trusted less.
    pub temperature: f64,
    /// Share of the posterior that is spread evenly over all candidates.
    pub uniform_share: f64,
    /// The twin's own prior for the level: uniform within plus or minus this about the recipe's, dB.
    #[serde(default = "known_level")]
    pub level_max_db: f64,
    /// Error of the RX heading it is given, degrees (standard deviation).
    #[serde(default = "least_heading")]
    pub heading_sigma_deg: f64,
    /// Error of the RX position it is given, metres (standard deviation per axis).
    #[serde(default = "least_position")]
    pub position_sigma_m: f64,
    /// Error of the surfaces it is given along their normals, metres (standard deviation).
    #[serde(default = "least_position")]
    pub map_sigma_m: f64,
}

/// The level prior of files that do not say: the paper's TX-power offset alone.
fn known_level() -> f64 {
    3.0
}

/// No heading error to speak of: the lower end of its range.
fn least_heading() -> f64 {
    0.01
}

/// No position error to speak of: the lower end of its range.
fn least_position() -> f64 {
    0.001
}

impl Default for TwinParameters {
    fn default() -> Self {
        Self {
            phase_sigma_deg: 6.0,
            phase_noise_scale: 1.2,
            los_sigma_db: 0.7,
            reflection_sigma_db: 3.0,
            merge_cells: 0.6,
            merge_softness_cells: 0.1,
            fading: 1.0,
            rank_sigma_db: 1.0,
            outlier_first: 0.02,
            outlier_second: 0.1,
            temperature: 1.0,
            uniform_share: 0.01,
            level_max_db: known_level(),
            heading_sigma_deg: least_heading(),
            position_sigma_m: least_position(),
            map_sigma_m: least_position(),
        }
    }
}

/// Name, lower and upper bound of each parameter, in the order of [`TwinParameters::to_array`].
pub const PARAMETER_RANGES: [(&str, f64, f64); 16] = [
    ("phase_sigma_deg", 0.5, 60.0),
    ("phase_noise_scale", 0.1, 10.0),
    ("los_sigma_db", 0.1, 10.0),
    ("reflection_sigma_db", 0.1, 20.0),
    ("merge_cells", 0.05, 3.0),
    ("merge_softness_cells", 0.01, 1.0),
    ("fading", 0.05, 2.0),
    ("rank_sigma_db", 0.1, 10.0),
    ("outlier_first", 1e-4, 0.5),
    ("outlier_second", 1e-4, 0.9),
    ("temperature", 0.1, 2.0),
    ("uniform_share", 1e-5, 0.5),
    ("level_max_db", 0.1, 40.0),
    ("heading_sigma_deg", 0.01, 45.0),
    ("position_sigma_m", 0.001, 2.0),
    ("map_sigma_m", 0.001, 2.0),
];

impl TwinParameters {
    /// The numbers in the order of [`PARAMETER_RANGES`].
    #[must_use]
    pub fn to_array(&self) -> [f64; PARAMETER_RANGES.len()] {
        [
            self.phase_sigma_deg,
            self.phase_noise_scale,
            self.los_sigma_db,
            self.reflection_sigma_db,
            self.merge_cells,
            self.merge_softness_cells,
            self.fading,
            self.rank_sigma_db,
            self.outlier_first,
            self.outlier_second,
            self.temperature,
            self.uniform_share,
            self.level_max_db,
            self.heading_sigma_deg,
            self.position_sigma_m,
            self.map_sigma_m,
        ]
    }

    /// The parameters from numbers in the order of [`PARAMETER_RANGES`], each held in its range.
    #[must_use]
    pub fn from_array(values: [f64; PARAMETER_RANGES.len()]) -> Self {
        let mut v = values;
        for (value, (_, low, high)) in v.iter_mut().zip(PARAMETER_RANGES) {
            *value = if value.is_nan() { low } else { value.clamp(low, high) };
        }
        Self {
            phase_sigma_deg: v[0],
            phase_noise_scale: v[1],
            los_sigma_db: v[2],
            reflection_sigma_db: v[3],
            merge_cells: v[4],
            merge_softness_cells: v[5],
            fading: v[6],
            rank_sigma_db: v[7],
            outlier_first: v[8],
            outlier_second: v[9],
            temperature: v[10],
            uniform_share: v[11],
            level_max_db: v[12],
            heading_sigma_deg: v[13],
            position_sigma_m: v[14],
            map_sigma_m: v[15],
        }
    }

    /// Checks every number against its range; `place` names the file in errors.
    ///
    /// # Errors
    /// Names the first key out of range.
    pub fn check(&self, place: &str) -> Result<(), PosteriorError> {
        for (value, (name, low, high)) in self.to_array().iter().zip(PARAMETER_RANGES) {
            if !(low..=high).contains(value) {
                return Err(PosteriorError::Parameters {
                    place: format!("{place}: parameters.{name}"),
                    reason: format!("{value} is out of range: expected {low} to {high}"),
                });
            }
        }
        Ok(())
    }
}

/// A parameter file: what was fitted, to what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TwinFile {
    /// Name of the recipe the parameters were fitted to.
    pub recipe: String,
    /// Its hash: with another recipe the parameters may not fit.
    pub recipe_hash: String,
    /// Rows of the training split used.
    pub fitted_rows: u64,
    /// NLL reached on them with each row's own materials withheld, nat.
    pub fitted_nll: f64,
    /// Which paths the twin reckons with: the default is first order in an opaque world, and is not written.
    #[serde(default, skip_serializing_if = "TraceOptions::is_default")]
    pub propagation: TraceOptions,
    /// The parameters.
    pub parameters: TwinParameters,
}

/// The shipped parameter files by the name of the shipped recipe that each was fitted to.
const SHIPPED: [(&str, &str); 2] =
    [("paper", include_str!("../../paper.twin.toml")), ("field", include_str!("../../field.twin.toml"))];

impl TwinFile {
    /// The shipped parameters, fitted to the paper recipe.
    ///
    /// # Errors
    /// Never for a released build: a test reads them.
    pub fn shipped() -> Result<Self, PosteriorError> {
        let (name, text) = SHIPPED[0];
        Self::from_toml_str(text, name)
    }

    /// The shipped parameters of this name (`paper`, `field`), if there are any.
    #[must_use]
    pub fn shipped_named(name: &str) -> Option<Self> {
        let (name, text) = SHIPPED.iter().find(|(known, _)| *known == name)?;
        Self::from_toml_str(text, name).ok()
    }

    /// The shipped parameters that were fitted to the recipe of this hash, if there are any.
    #[must_use]
    pub fn shipped_for(recipe_hash: &str) -> Option<Self> {
        let files = SHIPPED.iter().filter_map(|(name, text)| Self::from_toml_str(text, name).ok());
        files.into_iter().find(|file| file.recipe_hash == recipe_hash)
    }

    /// Reads a file's text; `place` names it in errors.
    ///
    /// # Errors
    /// On a syntax error, an unknown or missing key, or a number out of range.
    pub fn from_toml_str(text: &str, place: &str) -> Result<Self, PosteriorError> {
        let file: Self = toml::from_str(text)
            .map_err(|e| PosteriorError::Parameters { place: place.to_owned(), reason: e.to_string() })?;
        file.parameters.check(place)?;
        file.propagation.check().map_err(|e| PosteriorError::Parameters {
            place: format!("{place}: propagation.max_order"),
            reason: e.to_string(),
        })?;
        Ok(file)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, is larger than 64 KiB, or as [`TwinFile::from_toml_str`].
    pub fn from_file(path: &Path) -> Result<Self, PosteriorError> {
        let place = path.display().to_string();
        let fault = |reason: String| PosteriorError::Parameters { place: place.clone(), reason };
        let text = magnetar_files::read_text(path, MAX_FILE_BYTES)
            .map_err(|e| fault(format!("not a parameter file that can be read: {e}")))?;
        Self::from_toml_str(&text, &place)
    }

    /// The file's text.
    ///
    /// # Errors
    /// Never for finite numbers.
    pub fn to_toml(&self) -> Result<String, PosteriorError> {
        toml::to_string(self)
            .map_err(|e| PosteriorError::Parameters { place: "parameters".into(), reason: e.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_files_read_and_are_written_the_same() {
        for (name, _) in SHIPPED {
            let file = TwinFile::shipped_named(name).unwrap();
            assert_eq!(file.recipe, name);
            assert_eq!(TwinFile::shipped_for(&file.recipe_hash), Some(file.clone()));
            assert_eq!(TwinFile::from_toml_str(&file.to_toml().unwrap(), "again").unwrap(), file);
        }
        assert_eq!(TwinFile::shipped_named("paper"), TwinFile::shipped().ok());
        assert_eq!(TwinFile::shipped_named("nowhere"), None);
    }

    #[test]
    fn a_bad_file_is_told_with_its_key() {
        let good = TwinFile::shipped().unwrap().to_toml().unwrap();
        let wild = good.replace("fading = ", "fading = 1e9 #");
        let error = TwinFile::from_toml_str(&wild, "my.toml").unwrap_err().to_string();
        assert!(error.contains("my.toml") && error.contains("fading"), "{error}");
        let unknown = good.replace("fading = ", "fadding = ");
        assert!(TwinFile::from_toml_str(&unknown, "my.toml").unwrap_err().to_string().contains("fadding"));
    }

    #[test]
    fn a_file_from_before_the_uncertainties_has_none() {
        let file = TwinFile::shipped().unwrap().to_toml().unwrap();
        let new = ["level_max_db", "heading_sigma_deg", "position_sigma_m", "map_sigma_m"];
        let older: String = file
            .lines()
            .filter(|line| !new.iter().any(|key| line.starts_with(key)))
            .map(|line| format!("{line}\n"))
            .collect();
        let parameters = TwinFile::from_toml_str(&older, "older").unwrap().parameters;
        let default = TwinParameters::default();
        assert_eq!((parameters.level_max_db, parameters.map_sigma_m), (default.level_max_db, default.map_sigma_m));
    }

    #[test]
    fn arrays_read_back_within_ranges() {
        let p = TwinParameters::default();
        assert_eq!(TwinParameters::from_array(p.to_array()), p);
        assert!(TwinParameters::from_array([f64::NAN; PARAMETER_RANGES.len()]).check("x").is_ok());
    }
}
