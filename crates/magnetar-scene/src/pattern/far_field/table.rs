//! Far fields as tables: a line of names, then a line per direction.

use super::{FarField, MAX_ROWS, directivity, numbers};
use crate::error::{Place, SceneError};
use crate::text;

/// What a table says of each direction.
#[derive(Debug, Clone, PartialEq)]
enum Quantity {
    /// A gain or directivity in one column: dB plus so much, or a ratio.
    Db {
        column: usize,
        plus: f64,
    },
    Ratio {
        column: usize,
    },
    /// The strength of the field in one column, V/m or dB of it.
    Field {
        column: usize,
        in_db: bool,
    },
    /// Real and imaginary parts of the field's two components.
    Parts([usize; 4]),
}

/// Which columns of a table are what.
struct Columns {
    theta: usize,
    phi: usize,
    quantity: Quantity,
    is_directivity: bool,
}

/// Names of columns with their units: in quotes (FEKO), with units in brackets (CST), or with commas between them after
/// `//` (CST's sources); in lower case.
fn column_names(line: &str) -> Vec<(String, Option<String>)> {
    let line = line.trim_start_matches(['#', '*', '/', '>', ' ']).to_ascii_lowercase();
    let plain = |name: &str| (name.trim_matches([' ', ':']).to_owned(), None);
    if line.contains('"') {
        return line.split('"').skip(1).step_by(2).map(plain).collect();
    }
    if !line.contains('[') {
        return line.split(',').map(plain).collect();
    }
    // `Theta [deg.]  Phi [deg.]  Abs(Dir.)[dBi ]`: a name ends with its unit.
    let names = line.split(']').map(|part| {
        let (name, unit) = part.split_once('[').unwrap_or((part, ""));
        (name.trim().to_owned(), Some(unit.trim().to_owned()))
    });
    names.filter(|(name, _)| !name.is_empty()).collect()
}

/// A column of dB or, where the unit says so, of ratios; `None` for units of neither.
fn ratio(column: usize, unit: Option<&str>) -> Option<Quantity> {
    match unit {
        None | Some("db" | "dbi") => Some(Quantity::Db { column, plus: 0.0 }),
        // Over a half-wave dipole.
        Some("dbd") => Some(Quantity::Db { column, plus: 2.15 }),
        Some("") => Some(Quantity::Ratio { column }),
        Some(_) => None,
    }
}

fn columns(line: &str) -> Option<Columns> {
    let names = column_names(line);
    let find = |wanted: &dyn Fn(&str) -> bool| names.iter().position(|(name, _)| wanted(name));
    let theta = find(&|name| name == "theta")?;
    let phi = find(&|name| name == "phi")?;
    let total = |kind: &str| find(&|name| name.starts_with(kind) && name.contains("total"));
    let of_cst = |word: &str| find(&|name| name.starts_with("abs(") && name.contains(word));
    let gain = total("gain").or_else(|| total("realised gain")).or_else(|| total("realisedgain"));
    let gain = gain.or_else(|| of_cst("gain")).or_else(|| of_cst("grlz"));
    let of = |column: usize| ratio(column, names[column].1.as_deref());
    if let Some(quantity) = gain.and_then(of) {
        return Some(Columns { theta, phi, quantity, is_directivity: false });
    }
    let directivity = total("directivity").or_else(|| of_cst("dir")).and_then(of);
    let field = || {
        let column = find(&|name| name.starts_with("abs(e") && name[5..].trim() == ")")?;
        match names[column].1.as_deref() {
            Some("v/m" | "v" | "") => Some(Quantity::Field { column, in_db: false }),
            Some(unit) if unit.starts_with("db") => Some(Quantity::Field { column, in_db: true }),
            _ => None,
        }
    };
    let part = |wanted: &str| find(&|name| name.replace('_', "") == wanted);
    let parts =
        || Some(Quantity::Parts([part("re(etheta)")?, part("im(etheta)")?, part("re(ephi)")?, part("im(ephi)")?]));
    let quantity = directivity.or_else(field).or_else(parts)?;
    Some(Columns { theta, phi, quantity, is_directivity: true })
}

impl Columns {
    /// Theta, phi and what the direction's value is: dB, or the power of a field. `None` where a number lacks.
    fn row(&self, values: &[f64]) -> Option<[f64; 3]> {
        let at = |i: usize| values.get(i).copied().filter(|x| x.abs() < 1e150);
        let value = match self.quantity {
            Quantity::Db { column, plus } => at(column)? + plus,
            Quantity::Ratio { column } => 10.0 * libm::log10(at(column)?.max(1e-30)),
            Quantity::Field { column, in_db: false } => at(column)?.powi(2),
            Quantity::Field { column, in_db: true } => libm::exp10(at(column)?.clamp(-1000.0, 1000.0) / 10.0),
            Quantity::Parts(parts) => {
                let mut power = 0.0;
                for column in parts {
                    power += at(column)?.powi(2);
                }
                power
            }
        };
        Some([at(self.theta)?, at(self.phi)?, value])
    }

    fn is_field(&self) -> bool {
        matches!(self.quantity, Quantity::Field { .. } | Quantity::Parts(_))
    }
}

/// Reads a table of FEKO or CST, or a far-field source of CST.
pub(super) fn table(text: &str, origin: &str) -> Result<FarField, SceneError> {
    const NAMES: &str =
        "a line that names Theta, Phi and a total Gain or Directivity (dB, dBi, dBd or a ratio), or the field";
    let at = |line: usize| Place::new(origin).at_line(line);
    // A source's header has numbers, each under a comment that says what they are.
    let is_source = text.to_ascii_lowercase().contains("farfield source");
    let mut under = String::new();
    let mut of_header: Vec<f64> = Vec::new();
    let mut found: Option<Columns> = None;
    let mut frequency_hz = None;
    let mut rows: Vec<(usize, [f64; 3])> = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let (line, number) = (line.trim(), n + 1);
        if line.is_empty() || line.chars().all(|c| c == '-') {
            continue;
        }
        let values = numbers(line);
        match (&values, &found) {
            (Some(values), Some(columns)) => {
                let Some(row) = columns.row(values) else {
                    let problem = format!("`{}`", text::excerpt(line));
                    return Err(SceneError::malformed(at(number), problem, "a number in every column"));
                };
                if !columns.is_field() && row[2].abs() > 400.0 {
                    let problem = format!("a gain of {} dB", row[2]);
                    return Err(SceneError::malformed(at(number), problem, "dB within +-400"));
                }
                if rows.len() == MAX_ROWS {
                    return Err(SceneError::malformed(at(number), "too many rows", format!("at most {MAX_ROWS}")));
                }
                rows.push((number, row));
            }
            (Some(values), None) if is_source => {
                // Radiated, accepted and stimulated power, then the frequency, of the first frequency.
                if under.contains("stimulated") && of_header.len() < 4 {
                    of_header.extend(values);
                    frequency_hz = of_header.get(3).copied().filter(|f| f.is_finite() && *f > 0.0);
                }
            }
            (Some(_), None) => {
                return Err(SceneError::malformed(at(number), "numbers before the names of the columns", NAMES));
            }
            // A second block is that of another frequency.
            (None, Some(_)) if !rows.is_empty() => break,
            (None, _) => {
                under = line.to_ascii_lowercase();
                if let Some(value) = under.trim_start_matches('#').trim().strip_prefix("frequency:") {
                    frequency_hz = value.trim().parse::<f64>().ok().filter(|f| f.is_finite() && *f > 0.0);
                }
                found = columns(line).or(found);
            }
        }
    }
    let Some(columns) = found else {
        return Err(SceneError::malformed(Place::new(origin), "no names of columns", NAMES));
    };
    let [theta_deg, phi_deg, values] = gridded(rows, origin)?;
    let gain_db = if columns.is_field() { directivity(&theta_deg, &phi_deg, &values, origin)? } else { values };
    Ok(FarField { theta_deg, phi_deg, gain_db, frequency_hz, is_directivity: columns.is_directivity })
}

/// Rows in any order as a grid: thetas, phis, gains with phi fastest.
fn gridded(mut rows: Vec<(usize, [f64; 3])>, origin: &str) -> Result<[Vec<f64>; 3], SceneError> {
    rows.sort_by(|(_, a), (_, b)| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let mut theta: Vec<f64> = rows.iter().map(|(_, row)| row[0]).collect();
    theta.dedup();
    let phi: Vec<f64> = rows.iter().take_while(|(_, row)| row[0] == theta[0]).map(|(_, row)| row[1]).collect();
    for (n, (line, row)) in rows.iter().enumerate() {
        let expected = (theta.get(n / phi.len()), phi.get(n % phi.len()));
        if expected != (Some(&row[0]), Some(&row[1])) {
            let problem = format!("theta {}, phi {}: direction missing or given twice", row[0], row[1]);
            return Err(SceneError::malformed(
                Place::new(origin).at_line(*line),
                problem,
                "every phi at every theta, once",
            ));
        }
    }
    if rows.is_empty() || rows.len() != theta.len() * phi.len() {
        let problem = format!("{} directions", rows.len());
        return Err(SceneError::malformed(Place::new(origin), problem, "a full grid of thetas and phis"));
    }
    Ok([theta, phi, rows.into_iter().map(|(_, row)| row[2]).collect()])
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::super::parse;

    /// A lobe along +x with a back lobe: power over theta and phi, degrees.
    fn power(theta: f64, phi: f64) -> f64 {
        let along = theta.to_radians().sin() * phi.to_radians().cos();
        (1.0 + along).powi(4) / 16.0 + 1e-4
    }

    fn written(header: &str, phi_first: bool, values: impl Fn(f64) -> String) -> String {
        let mut text = format!("{header}\n");
        for phi in (0..=360).step_by(5) {
            for theta in (0..=180).step_by(5) {
                let (a, b) = if phi_first { (phi, theta) } else { (theta, phi) };
                writeln!(text, "{a} {b} {}", values(power(f64::from(theta), f64::from(phi)))).unwrap();
            }
        }
        text
    }

    /// One field in whatever quantity it is written is one pattern: in dB or as a ratio, as strength or in its parts.
    #[test]
    fn every_quantity_gives_one_pattern() {
        // Directivity of the lobe: the mean of (1 + cos)^4 / 16 over the sphere is 1/5.
        let mean = 0.2 + 1e-4;
        let cst = |name: &str| format!("Theta [deg.]  Phi   [deg.]  {name}   Phase(Theta)[deg.]\n--------");
        let source = "// CST Farfield Source File\n\n// Version:\n3.0\n\n// #Frequencies\n1\n\n// Position\n0 0 0\n\n\
            // Radiated/Accepted/Stimulated Power , Frequency\n0.4\n0.45\n0.5\n5.8e9\n\n\
            // >> Total #phi samples, total #theta samples\n73 37\n\n\
            // >> Phi, Theta, Re(E_Theta), Im(E_Theta), Re(E_Phi), Im(E_Phi):";
        let feko = "#Frequency: 5.8E+09\n# \"Theta\" \"Phi\" \"Re(Etheta)\" \"Im(Etheta)\" \"Re(Ephi)\" \"Im(Ephi)\"";
        let parts = |p: f64| format!("{} {} 0 {}", 0.48 * p.sqrt(), 0.64 * p.sqrt(), 0.6 * p.sqrt());
        let files = [
            written(&cst("Abs(Dir.)[dBi   ]"), false, |p| format!("{} 0", 10.0 * (p / mean).log10())),
            written(&cst("Abs(Dir.)[      ]"), false, |p| format!("{} 0", p / mean)),
            written(&cst("Abs(Grlz)[]"), false, |p| format!("{} 0", p / mean)),
            written(&cst("Abs(Gain)[dBd   ]"), false, |p| format!("{} 0", 10.0 * (p / mean).log10() - 2.15)),
            written(&cst("Abs(E   )[V/m   ]"), false, |p| format!("{} 0", 3.0 * p.sqrt())),
            written(&cst("Abs(E   )[dBV/m ]"), false, |p| format!("{} 0", 10.0 * p.log10() - 12.0)),
            written(feko, false, parts),
            written(source, true, parts),
        ];
        for (n, text) in files.iter().enumerate() {
            let pattern = parse(text, "lobe.txt").unwrap();
            for (azimuth, theta, phi) in
                [(0.0, 90.0, 0.0), (0.7, 90.0, 0.7f64.to_degrees()), (3.0, 90.0, 3f64.to_degrees())]
            {
                let expected = 10.0 * (power(theta, phi) / mean).log10();
                let found = pattern.gain_db(azimuth, 0.0);
                assert!((found - expected).abs() < 0.15, "file {n}, azimuth {azimuth}: {found} for {expected}");
            }
            assert_eq!(pattern.info().frequency_hz, (n > 5).then_some(5.8e9), "file {n}");
        }
    }

    #[test]
    fn units_that_are_no_gain_are_refused() {
        let text = written("Theta [deg.]  Phi   [deg.]  Abs(Gain)[furlong]", false, |p| p.to_string());
        let error = parse(&text, "a.txt").unwrap_err().to_string();
        assert!(error.contains("a.txt:2") && error.contains("dBd or a ratio"), "{error}");
        let lacking =
            "// CST Farfield Source File\n// >> Phi, Theta, Re(E_Theta), Im(E_Theta), Re(E_Phi), Im(E_Phi):\n0 0 1 2\n";
        let error = parse(lacking, "a.ffs").unwrap_err().to_string();
        assert!(error.contains("a.ffs:3"), "{error}");
    }
}
