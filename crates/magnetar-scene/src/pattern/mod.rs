//! Antenna patterns: gain over direction, without phase.
//!
//! Directions are in the device's own frame: x along its heading (boresight), z up; azimuth counter-clockwise from x,
//! elevation up from the horizontal plane. Vertical polarisation throughout.

mod atan2;
mod axis;
mod csv;
mod cuts;
mod far_field;
mod grid;
mod kind;
mod measure;
mod msi;
mod vivaldi;

#[cfg(test)]
mod cut_tests;
#[cfg(test)]
mod tests;

use std::path::Path;

use nalgebra::Vector3;

use crate::error::{Place, SceneError};
use crate::shipped::{self, Named};
use crate::{text, wrap};
use axis::Axis;
use kind::Kind;
pub use measure::Cut;
pub use vivaldi::{synthetic_vivaldi, synthetic_vivaldi_gain_db};

/// Room for a full grid of a quarter degree.
const MAX_PATTERN_FILE_BYTES: u64 = 64 << 20;

/// What is known of a pattern besides its gains.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PatternInfo {
    /// Its name.
    pub name: String,
    /// Where it comes from; may be empty.
    pub source: String,
    /// Whether it was made up rather than measured or computed from a real antenna.
    pub synthetic: bool,
    /// The frequency it was taken at, Hz, if known.
    pub frequency_hz: Option<f64>,
}

/// An antenna's gain over direction.
///
/// The field amplitude is interpolated bilinearly in azimuth and elevation between the points of a grid. It is
/// continuous everywhere: azimuth wraps, and at a pole all azimuths have one value.
#[derive(Debug, Clone, PartialEq)]
pub struct AntennaPattern {
    info: PatternInfo,
    peak_gain_db: f64,
    pole_spread_db: f64,
    /// Knots over a full turn, the last one turn after the first.
    azimuth: Axis,
    /// Knots from pole to pole.
    elevation: Axis,
    /// Field amplitudes; azimuth runs fastest. The last column repeats the first.
    amplitudes: Vec<f64>,
}

impl AntennaPattern {
    /// The shipped pattern of this name, or the pattern in the file at this path. A shipped name comes first.
    ///
    /// # Errors
    /// If there is no such pattern or file, or the file is malformed.
    pub fn load(name_or_path: &str) -> Result<Self, SceneError> {
        match shipped::find(shipped::PATTERNS, "antenna pattern", name_or_path)? {
            Named::Shipped(name, csv) => Self::from_csv_str(csv, name),
            Named::File(path) => Self::from_file(path),
        }
    }

    /// The pattern in a file of any kind that is known, by its content: CSV, MSI Planet, HFSS far field (`.ffd`), FEKO
    /// (`.ffe`) or CST far-field table.
    ///
    /// # Errors
    /// If the file cannot be read, is of no known kind or malformed.
    pub fn from_file(path: &Path) -> Result<Self, SceneError> {
        let origin = path.display().to_string();
        // Names and comments of old files may be in any 8-bit code; numbers and keys are ASCII.
        let bytes = text::read_bytes(path, "antenna pattern", MAX_PATTERN_FILE_BYTES)?;
        let lossy = String::from_utf8_lossy(&bytes);
        match Kind::of(&lossy) {
            Some(Kind::Csv) => {
                Self::from_csv_str(&text::read(path, "antenna pattern", MAX_PATTERN_FILE_BYTES)?, &origin)
            }
            Some(Kind::Msi) => Self::from_msi_str(&lossy, &origin),
            Some(Kind::FarField) => Self::from_far_field_str(&lossy, &origin),
            None => Err(SceneError::malformed(
                Place::new(&origin),
                "no known kind of antenna pattern",
                "a CSV with the header azimuth_deg,elevation_deg,gain_db or cut,angle_deg,gain_db; an MSI Planet file with \
                 HORIZONTAL and VERTICAL cuts; or a far-field export of HFSS (.ffd), FEKO (.ffe) or CST (text table)",
            )),
        }
    }

    /// The pattern in a far-field export of HFSS, FEKO or CST; `origin` names it in errors.
    ///
    /// # Errors
    /// If the text is malformed; the error names the line.
    pub fn from_far_field_str(far_field: &str, origin: &str) -> Result<Self, SceneError> {
        far_field::parse(far_field, origin)
    }

    /// The pattern in a CSV text, a full grid or two principal cuts; `origin` names it in errors.
    ///
    /// # Errors
    /// If the text is malformed; the error names the line.
    pub fn from_csv_str(csv: &str, origin: &str) -> Result<Self, SceneError> {
        csv::parse(csv, origin)
    }

    /// The pattern in an MSI Planet text; `origin` names it in errors.
    ///
    /// # Errors
    /// If the text is malformed; the error names the line.
    pub fn from_msi_str(msi: &str, origin: &str) -> Result<Self, SceneError> {
        msi::parse(msi, origin)
    }

    /// The same gain in dBi in every direction.
    #[must_use]
    pub fn uniform(name: &str, gain_db: f64) -> Self {
        let info = PatternInfo { name: name.to_owned(), synthetic: true, ..PatternInfo::default() };
        Self::from_fn(info, 90, |_, _| gain_db)
    }

    /// A pattern from a gain in dBi over azimuth and elevation (radians), sampled on a regular grid. The step is in
    /// degrees and is lowered to the next divisor of 90.
    #[must_use]
    pub fn from_fn(info: PatternInfo, step_deg: u32, gain_db: impl Fn(f64, f64) -> f64) -> Self {
        let step = (1..=step_deg.clamp(1, 90)).rev().find(|step| 90 % step == 0).unwrap_or(1);
        let degrees = |from: i32, to: i32| (from..=to).step_by(step as usize).map(f64::from).collect::<Vec<_>>();
        let (azimuth, elevation) = (degrees(-180, 180), degrees(-90, 90));
        let row = |el: f64| azimuth.iter().map(move |az| (az.to_radians(), el.to_radians()));
        let gains = elevation.iter().flat_map(|&el| row(el)).map(|(az, el)| gain_db(az, el)).collect();
        Self::from_grid(info, &azimuth, &elevation, gains)
    }

    /// A pattern from a grid: ascending azimuths over one full turn, both ends included, ascending elevations from
    /// pole to pole, degrees; gains in dBi, azimuth fastest. A pole takes the mean power of its row.
    fn from_grid(info: PatternInfo, azimuth_deg: &[f64], elevation_deg: &[f64], mut gains_db: Vec<f64>) -> Self {
        let columns = azimuth_deg.len();
        let mut pole_spread_db = 0.0f64;
        for pole in [0, elevation_deg.len() - 1] {
            let row = &mut gains_db[pole * columns..(pole + 1) * columns];
            let (low, high) = row.iter().fold((f64::MAX, f64::MIN), |(l, h), &gain| (l.min(gain), h.max(gain)));
            if high > low {
                pole_spread_db = pole_spread_db.max(high - low);
                // The last column repeats the first: it counts once.
                let power: f64 = row[1..].iter().map(|gain| libm::exp10(gain / 10.0)).sum();
                row.fill(10.0 * libm::log10(power / (columns - 1) as f64));
            }
        }
        let peak_gain_db = gains_db.iter().copied().fold(f64::MIN, f64::max);
        let amplitudes = gains_db.into_iter().map(|gain| libm::exp10(gain / 20.0)).collect();
        let azimuth = Axis::new(azimuth_deg, grid::MIN_STEP_DEG);
        let elevation = Axis::new(elevation_deg, grid::MIN_STEP_DEG);
        Self { info, peak_gain_db, pole_spread_db, azimuth, elevation, amplitudes }
    }

    /// The names of the shipped patterns.
    pub fn shipped_names() -> impl Iterator<Item = &'static str> {
        shipped::PATTERNS.iter().map(|(name, _)| *name)
    }

    /// Name, source, whether it is synthetic, frequency.
    #[must_use]
    pub fn info(&self) -> &PatternInfo {
        &self.info
    }

    /// The largest gain, dBi.
    #[must_use]
    pub fn peak_gain_db(&self) -> f64 {
        self.peak_gain_db
    }

    /// The largest disagreement of the file's gains at one pole, dB, before their mean was taken.
    #[must_use]
    pub fn pole_spread_db(&self) -> f64 {
        self.pole_spread_db
    }

    /// How many azimuths and elevations the grid has.
    #[must_use]
    pub fn grid_size(&self) -> (usize, usize) {
        (self.azimuth.knots().len() - 1, self.elevation.knots().len())
    }

    /// The grid: azimuth and elevation in radians, gain in dBi; azimuth runs fastest.
    pub fn grid(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        let (azimuths, elevations) = (self.azimuth.knots(), self.elevation.knots());
        let rows = elevations.iter().zip(self.amplitudes.chunks_exact(azimuths.len()));
        rows.flat_map(move |(&elevation, row)| {
            let once = azimuths[..azimuths.len() - 1].iter().zip(row);
            once.map(move |(&azimuth, amplitude)| (azimuth, elevation, 20.0 * libm::log10(*amplitude)))
        })
    }

    /// The pattern's grid as the text of a CSV file, gains to a ten-thousandth of a dB.
    #[must_use]
    pub fn to_csv(&self) -> String {
        csv::write(self)
    }

    /// Gain in dBi at an azimuth and elevation in radians. Azimuth may be any angle; elevation is held in
    /// [-pi/2, pi/2].
    #[must_use]
    pub fn gain_db(&self, azimuth: f64, elevation: f64) -> f64 {
        20.0 * libm::log10(self.at(wrap(azimuth), elevation))
    }

    /// Field amplitude `10^(gain_db / 20)` in a direction of the device's own frame, of any length.
    ///
    /// For bulk use: no allocation, no libm. Its angles are right to 1e-12 rad, so it agrees with
    /// [`Self::gain_db`] to the slope of the pattern times that.
    #[must_use]
    #[inline]
    pub fn amplitude(&self, direction: &Vector3<f64>) -> f64 {
        let horizontal = (direction.x * direction.x + direction.y * direction.y).sqrt();
        self.at(atan2::atan2(direction.y, direction.x), atan2::atan2(direction.z, horizontal))
    }

    /// Field amplitude at an azimuth in [-pi, pi] and an elevation, radians.
    #[inline]
    fn at(&self, azimuth: f64, elevation: f64) -> f64 {
        let first = self.azimuth.knots()[0];
        let azimuth = if azimuth < first { azimuth + std::f64::consts::TAU } else { azimuth };
        let (column, u) = self.azimuth.locate(azimuth);
        let (row, v) = self.elevation.locate(elevation);
        let columns = self.azimuth.knots().len();
        let corner = row * columns + column;
        let low = &self.amplitudes[corner..corner + 2];
        let high = &self.amplitudes[corner + columns..corner + columns + 2];
        let (low, high) = (low[0] + u * (low[1] - low[0]), high[0] + u * (high[1] - high[0]));
        low + v * (high - low)
    }
}
