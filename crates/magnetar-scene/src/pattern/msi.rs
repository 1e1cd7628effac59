//! MSI Planet patterns (`.msi`, `.pln`): a few keys, then a horizontal and a vertical cut of attenuations.
//!
//! Attenuation is positive, dB below `GAIN`, which is in dBd unless `dBi` follows it (dBi = dBd + 2.15). Horizontal
//! angles run clockwise seen from above, as on a compass, with 0 at boresight; vertical angles run from 0 at the
//! horizon downwards, so that 90 is below and 270 above.

use super::cuts::{self, Cut};
use super::grid::Row;
use super::{AntennaPattern, PatternInfo, csv};
use crate::error::{Error, Place};
use crate::text;

/// Gain of a half-wave dipole, dBi.
const DIPOLE_GAIN_DBI: f64 = 2.15;

/// A cut of a hundredth of a degree; any more is no pattern.
const MAX_POINTS: usize = 36_000;

/// Parses an MSI Planet text.
pub(super) fn parse(msi: &str, origin: &str) -> Result<AntennaPattern, Error> {
    let mut info = PatternInfo { name: csv::default_name(origin), ..PatternInfo::default() };
    let mut gain = None;
    let mut cuts: [Option<Vec<Row>>; 2] = [None, None];
    let mut lines = msi.lines().enumerate().map(|(i, line)| (i + 1, line.trim())).filter(|(_, line)| !line.is_empty());
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
                let count = count(value, place)?;
                if cuts[which].is_some() {
                    return Err(Error::malformed(place(), format!("{word} given twice"), "one cut of each kind"));
                }
                let mut rows = Vec::new();
                for _ in 0..count {
                    let Some((line, content)) = lines.next() else {
                        let problem = format!("{word} ends after {} of {count} values", rows.len());
                        return Err(Error::malformed(place(), problem, "all of them: is the file cut off?"));
                    };
                    rows.push(point(line, content, origin)?);
                }
                cuts[which] = Some(rows);
            }
            // Some vendors leave the word NAME out.
            _ if is_first => info.name = content.to_owned(),
            // A line of numbers outside a cut means that its count is wrong.
            word if word.parse::<f64>().is_ok() => {
                let problem = format!("`{}` stands outside a cut", text::excerpt(content));
                return Err(Error::malformed(place(), problem, "as many values as HORIZONTAL or VERTICAL announces"));
            }
            // TILT, POLARIZATION, COMMENT and vendors' own keys say nothing we use.
            _ => {}
        }
        is_first = false;
    }
    let missing =
        |what: &str| Error::malformed(Place::new(origin), format!("no {what}"), "GAIN, HORIZONTAL and VERTICAL");
    let gain = gain.ok_or_else(|| missing("GAIN"))?;
    let [Some(horizontal), Some(vertical)] = cuts else {
        return Err(missing("HORIZONTAL or no VERTICAL cut"));
    };
    let azimuth = cut(horizontal, gain, "HORIZONTAL", origin)?;
    let elevation = cut(vertical, gain, "VERTICAL", origin)?;
    Ok(cuts::combine(info, &azimuth, &elevation))
}

/// Turns attenuations at clockwise (or downward) angles into gains at counter-clockwise (or upward) ones.
fn cut(rows: Vec<Row>, gain: f64, name: &str, origin: &str) -> Result<Cut, Error> {
    for pair in rows.windows(2) {
        let place = Place::new(origin).at_line(pair[1].line);
        super::grid::check_ascending(pair[0].angles[0], pair[1].angles[0], name, place)?;
    }
    let turned = rows.iter().rev().map(|row| Row { angles: row.angles.map(|a| -a), gain: gain - row.gain, ..*row });
    Cut::full(&turned.collect::<Vec<_>>(), name, origin)
}

/// One line of a cut: angle and attenuation.
fn point(line: usize, content: &str, origin: &str) -> Result<Row, Error> {
    let bad = || {
        let problem = format!("`{}`", text::excerpt(content));
        let expected = "an angle from 0 to 360 deg and an attenuation, zero or positive, in dB";
        Error::malformed(Place::new(origin).at_line(line), problem, expected)
    };
    let mut fields = content.split_whitespace().map(str::parse::<f64>);
    let (Some(Ok(angle)), Some(Ok(attenuation)), None) = (fields.next(), fields.next(), fields.next()) else {
        return Err(bad());
    };
    if !(0.0..=360.0).contains(&angle) || !(0.0..=200.0).contains(&attenuation) {
        return Err(bad());
    }
    Ok(Row { line, angles: [angle; 2], gain: attenuation })
}

fn count(value: &str, place: impl Fn() -> Place) -> Result<usize, Error> {
    value.parse().ok().filter(|count| (2..=MAX_POINTS).contains(count)).ok_or_else(|| {
        let problem = format!("`{}` values in the cut", text::excerpt(value));
        Error::malformed(place(), problem, format!("a count from 2 to {MAX_POINTS}, usually 360"))
    })
}

/// `15.5`, `15.5 dBd` or `17.65 dBi`, as dBi.
fn gain_dbi(value: &str, place: impl Fn() -> Place) -> Result<f64, Error> {
    let lower = value.to_ascii_lowercase();
    let (number, offset) = match (lower.strip_suffix("dbi"), lower.strip_suffix("dbd")) {
        (Some(number), _) => (number, 0.0),
        (_, Some(number)) => (number, DIPOLE_GAIN_DBI),
        _ => (lower.as_str(), DIPOLE_GAIN_DBI),
    };
    let gain = number.trim().parse::<f64>().ok().filter(|gain| gain.abs() <= 100.0).map(|gain| gain + offset);
    gain.ok_or_else(|| {
        let problem = format!("GAIN `{}`", text::excerpt(value));
        Error::malformed(place(), problem, "a number of dB within -100 to 100, then dBd (the default) or dBi")
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
    number.trim().parse::<f64>().ok().filter(|f| f.is_finite() && *f > 0.0).map(|f| f * unit)
}
