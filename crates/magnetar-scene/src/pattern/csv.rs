//! CSV patterns: a full grid `azimuth_deg,elevation_deg,gain_db`, or two principal cuts `cut,angle_deg,gain_db`.
//!
//! Lines that start with `#` are comments; `# name: ...`, `# source: ...`, `# synthetic: true` and
//! `# frequency_ghz: ...` among them describe the pattern.

use std::path::Path;

use super::grid::{self, Row};
use super::{AntennaPattern, PatternInfo, cuts};
use crate::error::{Place, SceneError};
use crate::text;

const GRID_HEADER: [&str; 3] = ["azimuth_deg", "elevation_deg", "gain_db"];
const CUTS_HEADER: [&str; 3] = ["cut", "angle_deg", "gain_db"];

/// A full grid of a quarter degree has a million directions.
const MAX_ROWS: usize = 2_000_000;

/// Parses a CSV text.
pub(super) fn parse(csv: &str, origin: &str) -> Result<AntennaPattern, SceneError> {
    let mut info = PatternInfo { name: default_name(origin), ..PatternInfo::default() };
    let mut header = None;
    let mut rows: Vec<Row> = Vec::new();
    let mut cut_rows: [Vec<Row>; 2] = [Vec::new(), Vec::new()];
    for (i, line) in csv.trim_start_matches('\u{feff}').lines().enumerate() {
        let place = || Place::new(origin).at_line(i + 1);
        let line = line.trim();
        if let Some(comment) = line.strip_prefix('#') {
            describe(&mut info, comment, place)?;
            continue;
        }
        if line.is_empty() {
            continue;
        }
        let fields = fields(line, place)?;
        let Some(is_grid) = header else {
            header = Some(read_header(fields, place)?);
            continue;
        };
        if rows.len() + cut_rows[0].len() + cut_rows[1].len() >= MAX_ROWS {
            return Err(SceneError::malformed(place(), "too many rows", format!("at most {MAX_ROWS}")));
        }
        let gain = gain(fields[2], place)?;
        if is_grid {
            let angles = [angle(fields[0], GRID_HEADER[0], place)?, angle(fields[1], GRID_HEADER[1], place)?];
            rows.push(Row { line: i + 1, angles, gain });
        } else {
            let row = Row { line: i + 1, angles: [angle(fields[1], CUTS_HEADER[1], place)?; 2], gain };
            match fields[0] {
                "azimuth" => cut_rows[0].push(row),
                "elevation" => cut_rows[1].push(row),
                other => {
                    let problem = format!("cut `{}`", text::excerpt(other));
                    return Err(SceneError::malformed(place(), problem, "`azimuth` or `elevation`"));
                }
            }
        }
    }
    match header {
        Some(true) => grid::pattern(info, &rows, origin),
        Some(false) => {
            let [azimuth, elevation] = cut_rows;
            cuts::pattern(info, &azimuth, &elevation, origin)
        }
        None => Err(SceneError::malformed(Place::new(origin), "no header", headers())),
    }
}

/// Writes a pattern's grid as CSV, gains to a ten-thousandth of a dB.
pub(super) fn write(pattern: &AntennaPattern) -> String {
    let info = pattern.info();
    let mut csv = format!("# name: {}\n# source: {}\n# synthetic: {}\n", info.name, info.source, info.synthetic);
    if let Some(frequency_hz) = info.frequency_hz {
        csv += &format!("# frequency_ghz: {}\n", frequency_hz / 1e9);
    }
    csv += &GRID_HEADER.join(",");
    csv.push('\n');
    for (azimuth, elevation, gain) in pattern.grid() {
        csv += &format!("{},{},{:.4}\n", degrees(azimuth), degrees(elevation), gain);
    }
    csv
}

/// Degrees without the rounding of radians.
fn degrees(radians: f64) -> f64 {
    (radians.to_degrees() * 1e9).round() / 1e9
}

/// The file's own name, without folder and extension.
pub(super) fn default_name(origin: &str) -> String {
    Path::new(origin).file_stem().map_or_else(|| origin.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

fn headers() -> String {
    format!("the header `{}` or `{}`", GRID_HEADER.join(","), CUTS_HEADER.join(","))
}

/// Whether the header is that of a grid.
fn read_header(fields: [&str; 3], place: impl Fn() -> Place) -> Result<bool, SceneError> {
    if fields == GRID_HEADER || fields == CUTS_HEADER {
        return Ok(fields == GRID_HEADER);
    }
    Err(SceneError::malformed(place(), format!("header `{}`", text::excerpt(&fields.join(","))), headers()))
}

fn fields(line: &str, place: impl Fn() -> Place) -> Result<[&str; 3], SceneError> {
    let mut split = line.split(',').map(str::trim);
    match (split.next(), split.next(), split.next(), split.next()) {
        (Some(a), Some(b), Some(c), None) => Ok([a, b, c]),
        _ => {
            let problem = format!("`{}` has not three values", text::excerpt(line));
            Err(SceneError::malformed(place(), problem, "three values between commas"))
        }
    }
}

fn number(field: &str, column: &str, place: impl Fn() -> Place) -> Result<f64, SceneError> {
    let problem = match field.parse::<f64>() {
        Ok(value) if value.is_finite() => return Ok(value),
        _ if field.is_empty() => format!("no value for {column}"),
        _ => format!("{column} `{}`", text::excerpt(field)),
    };
    Err(SceneError::malformed(place(), problem, "a finite number"))
}

fn angle(field: &str, column: &str, place: impl Fn() -> Place) -> Result<f64, SceneError> {
    let value = number(field, column, &place)?;
    if value.abs() > 360.0 {
        return Err(SceneError::malformed(place(), format!("{column} {value}"), "degrees within -360 to 360"));
    }
    // Minus zero and zero are one angle, and are compared as such below.
    Ok(value + 0.0)
}

/// A gain that an amplitude can hold.
pub(super) fn gain(field: &str, place: impl Fn() -> Place) -> Result<f64, SceneError> {
    let value = number(field, "gain_db", &place)?;
    if value.abs() > 300.0 {
        return Err(SceneError::malformed(place(), format!("gain {value} dB"), "a gain within -300 to 300 dB"));
    }
    Ok(value)
}

/// Takes `key: value` of a comment; any other comment is left alone.
fn describe(info: &mut PatternInfo, comment: &str, place: impl Fn() -> Place) -> Result<(), SceneError> {
    let Some((key, value)) = comment.split_once(':') else { return Ok(()) };
    let value = value.trim();
    match key.trim() {
        "name" => info.name = value.to_owned(),
        "source" => info.source = value.to_owned(),
        "synthetic" => {
            info.synthetic = value.parse().map_err(|_| {
                SceneError::malformed(place(), format!("synthetic `{}`", text::excerpt(value)), "`true` or `false`")
            })?;
        }
        "frequency_ghz" => {
            let ghz = number(value, "frequency_ghz", &place)?;
            if ghz <= 0.0 {
                return Err(SceneError::malformed(place(), format!("frequency {ghz} GHz"), "a positive number"));
            }
            info.frequency_hz = Some(ghz * 1e9);
        }
        _ => {}
    }
    Ok(())
}
