//! MSI Planet patterns (`.msi`, `.pln`): a few keys, then a horizontal and a vertical cut of attenuations.
//!
//! Attenuation is positive, dB below `GAIN`, which is in dBd unless `dBi` follows it (dBi = dBd + 2.15). Horizontal
//! angles run clockwise seen from above, as on a compass, with 0 at boresight; vertical angles run from 0 at the
//! horizon downwards, so that 90 is below and 270 above. As files come, a comma may stand for the decimal point, angles
//! may be signed, the unit of the gain may stand in brackets, and a cut may leave out how many values it has.

use super::cuts::{self, Cut};
use super::grid::Row;
use super::{AntennaPattern, PatternInfo, csv};
use crate::error::{Place, SceneError};
use crate::text;

/// Gain of a half-wave dipole, dBi.
const DIPOLE_GAIN_DBI: f64 = 2.15;

/// A cut of a hundredth of a degree; any more is no pattern.
const MAX_POINTS: usize = 36_000;

/// Parses an MSI Planet text.
pub(super) fn parse(msi: &str, origin: &str) -> Result<AntennaPattern, SceneError> {
    let mut info = PatternInfo { name: csv::default_name(origin), ..PatternInfo::default() };
    let mut gain = None;
    let mut cuts: [Option<Vec<Row>>; 2] = [None, None];
    let lines = msi.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty()).peekable();
    let mut is_first = true;
    while let Some((line, content)) = lines.next() {
        let place = || Place::new(origin).at_line(line);
        let (key, value) = content.split_once(char::is_whitespace).unwrap_or((content, ""));
        let value = value.trim();
        match key.to_ascii_uppercase().as_str() {
            "NAME" => info.name = value.to_owned(),
            "MAKE" => info.source = value.to_owned(),
            "FREQUENCY" => info.frequency_hz = frequency_hz(value),
            "GAIN" => gain = Some(gain_dbi(value, place)?),
            word @ ("HORIZONTAL" | "VERTICAL") => {
                let which = usize::from(word == "VERTICAL");
                let announced = if value.is_empty() { None } else { Some(count(value, place)?) };
                if cuts[which].is_some() {
                    return Err(SceneError::malformed(place(), format!("{word} given twice"), "one cut of each kind"));
                }
                let mut rows = Vec::new();
                if let Some(count) = announced {
                    for _ in 0..count {
                        let Some((line, content)) = lines.next() else {
                            let problem = format!("{word} ends after {} of {count} values", rows.len());
                            return Err(SceneError::malformed(place(), problem, "all of them: is the file cut off?"));
                        };
                        rows.push(point(line, content, origin)?);
                    }
                } else {
                    // As far as lines of numbers go.
                    let starts =
                        |content: &str| content.starts_with(|c: char| c.is_ascii_digit() || "+-.,".contains(c));
                    while let Some((line, content)) = lines.next_if(|(_, content)| starts(content)) {
                        rows.push(point(line, content, origin)?);
                        if rows.len() > MAX_POINTS {
                            let problem = format!("{word} has more than {MAX_POINTS} values");
                            return Err(SceneError::malformed(place(), problem, "the cut of an antenna"));
                        }
                    }
                    if rows.len() < 2 {
                        let problem = format!("{word} has {} values", rows.len());
                        return Err(SceneError::malformed(place(), problem, "a cut, usually of 360 values"));
                    }
                }
                cuts[which] = Some(rows);
            }
            // Some vendors leave the word NAME out.
            _ if is_first => info.name = content.to_owned(),
            // A line of numbers outside a cut means that its count is wrong.
            word if number(word).is_some() => {
                let problem = format!("`{}` stands outside a cut", text::excerpt(content));
                return Err(SceneError::malformed(
                    place(),
                    problem,
                    "as many values as HORIZONTAL or VERTICAL announces",
                ));
            }
            // TILT, POLARIZATION, COMMENT and vendors' own keys say nothing we use.
            _ => {}
        }
        is_first = false;
    }
    let missing =
        |what: &str| SceneError::malformed(Place::new(origin), format!("no {what}"), "GAIN, HORIZONTAL and VERTICAL");
    let gain = gain.ok_or_else(|| missing("GAIN"))?;
    let [Some(horizontal), Some(vertical)] = cuts else {
        return Err(missing("HORIZONTAL or no VERTICAL cut"));
    };
    let azimuth = cut(horizontal, gain, "HORIZONTAL", origin)?;
    let elevation = cut(vertical, gain, "VERTICAL", origin)?;
    Ok(cuts::combine_under(info, &azimuth, &elevation, gain))
}

/// Turns attenuations at clockwise (or downward) angles into gains at counter-clockwise (or upward) ones.
fn cut(rows: Vec<Row>, gain: f64, name: &str, origin: &str) -> Result<Cut, SceneError> {
    for pair in rows.windows(2) {
        let place = Place::new(origin).at_line(pair[1].line);
        super::grid::check_ascending(pair[0].angles[0], pair[1].angles[0], name, place)?;
    }
    let turned = rows.iter().rev().map(|row| Row { angles: row.angles.map(|a| -a), gain: gain - row.gain, ..*row });
    Cut::full(&turned.collect::<Vec<_>>(), name, origin)
}

/// One line of a cut: angle and attenuation.
fn point(line: usize, content: &str, origin: &str) -> Result<Row, SceneError> {
    let bad = || {
        let problem = format!("`{}`", text::excerpt(content));
        let expected = "an angle from -360 to 360 deg and an attenuation, zero or positive, in dB";
        SceneError::malformed(Place::new(origin).at_line(line), problem, expected)
    };
    let mut fields = content.split(|c: char| c.is_whitespace() || c == ';').filter(|f| !f.is_empty()).map(number);
    let (Some(Some(angle)), Some(Some(attenuation)), None) = (fields.next(), fields.next(), fields.next()) else {
        return Err(bad());
    };
    if !(-360.0..=360.0).contains(&angle) || !(0.0..=200.0).contains(&attenuation) {
        return Err(bad());
    }
    Ok(Row { line, angles: [angle; 2], gain: attenuation })
}

fn count(value: &str, place: impl Fn() -> Place) -> Result<usize, SceneError> {
    value.parse().ok().filter(|count| (2..=MAX_POINTS).contains(count)).ok_or_else(|| {
        let problem = format!("`{}` values in the cut", text::excerpt(value));
        SceneError::malformed(place(), problem, format!("a count from 2 to {MAX_POINTS}, usually 360"))
    })
}

/// A number whose decimal point may be a comma.
fn number(text: &str) -> Option<f64> {
    let commas = text.matches(',').count();
    if commas == 1 && !text.contains('.') { text.replace(',', ".").parse().ok() } else { text.parse().ok() }
}

/// `15.5`, `15.5 dBd`, `15,5 (dBd)` or `17.65 dBi`, as dBi.
fn gain_dbi(value: &str, place: impl Fn() -> Place) -> Result<f64, SceneError> {
    let lower = value.to_ascii_lowercase();
    let bare: String = lower.chars().map(|c| if "()[]".contains(c) { ' ' } else { c }).collect();
    let bare = bare.trim();
    let strip = |unit: &str| bare.strip_suffix(unit).or_else(|| bare.strip_prefix(unit));
    let (text, offset) = match (strip("dbi"), strip("dbd")) {
        (Some(text), _) => (text, 0.0),
        (_, Some(text)) => (text, DIPOLE_GAIN_DBI),
        _ => (bare, DIPOLE_GAIN_DBI),
    };
    let gain = number(text.trim()).filter(|gain| gain.abs() <= 100.0).map(|gain| gain + offset);
    gain.ok_or_else(|| {
        let problem = format!("GAIN `{}`", text::excerpt(value));
        SceneError::malformed(place(), problem, "a number of dB within -100 to 100, then dBd (the default) or dBi")
    })
}

/// In MHz unless GHz follows. Free text in some files, so what cannot be read is left out.
fn frequency_hz(value: &str) -> Option<f64> {
    let lower = value.to_ascii_lowercase();
    let (number, unit) = match (lower.strip_suffix("ghz"), lower.strip_suffix("mhz")) {
        (Some(number), _) => (number, 1e9),
        (_, Some(number)) => (number, 1e6),
        _ => (lower.as_str(), 1e6),
    };
    self::number(number.trim()).filter(|f| f.is_finite() && *f > 0.0).map(|f| f * unit)
}
