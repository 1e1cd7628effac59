//! Far-field exports as full grids over theta (from +z) and phi (from +x), degrees.
//!
//! - HFSS `.ffd`: two lines with start, stop and number of thetas and of phis, `Frequencies N`, then for each frequency
//!   `Frequency F` and one line per direction, phi running fastest: real and imaginary part of E_theta and of E_phi.
//! - FEKO `.ffe`: comment lines, among them the quoted names of the columns, then one line per direction.
//! - CST text table: names of the columns with units in brackets, a line of dashes, then one line per direction.
//! - CST far-field source `.ffs`: comments with numbers under them, the last of which names the columns, then one line per
//!   direction.
//!
//! Tables give a gain or directivity as a column (the total one is taken), in dB or as a ratio, or fields. From fields
//! follows the directivity: the antenna is taken to lose nothing. Azimuth is phi and elevation 90 deg - theta, unless the highest gain
//! is within 30 deg of the file's z axis: then that axis is boresight, and its y axis up. Of several frequencies the first
//! counts.

mod table;

use nalgebra::Vector3;

use super::{AntennaPattern, PatternInfo, csv};
use crate::error::{Place, SceneError};
use crate::text;

/// A full grid of a quarter degree has a million directions.
const MAX_ROWS: usize = 2_000_000;
/// Most thetas or phis.
const MAX_ANGLES: usize = 2_000;
/// The lowest gain that is kept, dB under the peak: an exact null has none.
const FLOOR_DB: f64 = 120.0;
/// A highest gain this near to the z axis makes it boresight, degrees.
const NEAR_AXIS_DEG: f64 = 30.0;

/// Powers or gains over a grid.
struct FarField {
    theta_deg: Vec<f64>,
    phi_deg: Vec<f64>,
    /// dB, phi fastest.
    gain_db: Vec<f64>,
    frequency_hz: Option<f64>,
    is_directivity: bool,
}

/// Parses a far-field export.
pub(super) fn parse(text: &str, origin: &str) -> Result<AntennaPattern, SceneError> {
    let is_ffd = text.lines().any(|line| line.trim().to_ascii_lowercase().starts_with("frequencies"));
    let field = if is_ffd { ffd(text, origin)? } else { table::table(text, origin)? };
    pattern(field, origin)
}

fn numbers(line: &str) -> Option<Vec<f64>> {
    line.split(|c: char| c.is_whitespace() || c == ',').filter(|x| !x.is_empty()).map(|x| x.parse().ok()).collect()
}

fn ffd(text: &str, origin: &str) -> Result<FarField, SceneError> {
    let mut lines = text.lines().enumerate().map(|(n, line)| (n + 1, line.trim())).filter(|(_, l)| !l.is_empty());
    let at = |line: usize| Place::new(origin).at_line(line);
    let mut axis = |name: &str| {
        let (line, content) = lines.next().unwrap_or((1, ""));
        let values = numbers(content).filter(|v| v.len() == 3).unwrap_or_default();
        let count = values.get(2).copied().unwrap_or(0.0);
        let sound = count.fract() == 0.0 && (2.0..=MAX_ANGLES as f64).contains(&count) && values[1] > values[0];
        if !sound {
            let problem = format!("`{}`", text::excerpt(content));
            let expected = format!("start, stop and number (2 to {MAX_ANGLES}) of the {name} angles");
            return Err(SceneError::malformed(at(line), problem, expected));
        }
        let step = (values[1] - values[0]) / (count - 1.0);
        Ok((0..count as usize).map(|n| values[0] + step * n as f64).collect::<Vec<f64>>())
    };
    let (theta_deg, phi_deg) = (axis("theta")?, axis("phi")?);
    let directions = theta_deg.len() * phi_deg.len();
    if directions > MAX_ROWS {
        return Err(SceneError::malformed(at(1), format!("{directions} directions"), format!("at most {MAX_ROWS}")));
    }
    let mut frequency_hz = None;
    let mut power = Vec::with_capacity(directions);
    for (line, content) in lines {
        let lower = content.to_ascii_lowercase();
        if lower.starts_with("frequencies") {
            continue;
        }
        if let Some(value) = lower.strip_prefix("frequency") {
            if frequency_hz.is_some() {
                break;
            }
            frequency_hz = value.trim().parse::<f64>().ok().filter(|f| f.is_finite() && *f > 0.0);
            continue;
        }
        if power.len() == directions {
            break;
        }
        let fields = numbers(content).filter(|v| v.len() == 4 && v.iter().all(|x| x.abs() < 1e150));
        let Some(e) = fields else {
            let problem = format!("`{}`", text::excerpt(content));
            return Err(SceneError::malformed(at(line), problem, "real and imaginary part of E_theta and of E_phi"));
        };
        power.push(e.iter().map(|x| x * x).sum::<f64>());
    }
    if power.len() != directions {
        let problem = format!("{} of {directions} directions", power.len());
        return Err(SceneError::malformed(Place::new(origin), problem, "all of them: is the file cut off?"));
    }
    let gain_db = directivity(&theta_deg, &phi_deg, &power, origin)?;
    Ok(FarField { theta_deg, phi_deg, gain_db, frequency_hz, is_directivity: true })
}

/// Directivity in dB of powers over a grid, phi fastest: over their mean on the sphere.
fn directivity(theta_deg: &[f64], phi_deg: &[f64], power: &[f64], origin: &str) -> Result<Vec<f64>, SceneError> {
    let width = |angles: &[f64], n: usize| {
        let before = if n == 0 { angles[0] } else { angles[n - 1] };
        let after = if n + 1 == angles.len() { angles[n] } else { angles[n + 1] };
        (after - before) / 2.0
    };
    let (mut total, mut sphere) = (0.0, 0.0);
    for (t, theta) in theta_deg.iter().enumerate() {
        // The ring's exact area, half a step either side.
        let step = width(theta_deg, t).to_radians();
        let ring = libm::sin(theta.to_radians()).abs() * step;
        for p in 0..phi_deg.len() {
            let area = ring * width(phi_deg, p);
            total += power[t * phi_deg.len() + p] * area;
            sphere += area;
        }
    }
    let mean = total / sphere;
    if !(mean.is_finite() && mean > 0.0) {
        return Err(SceneError::malformed(Place::new(origin), "no power in any direction", "the field of an antenna"));
    }
    let floor = libm::exp10(-FLOOR_DB / 10.0);
    Ok(power.iter().map(|p| 10.0 * libm::log10((p / mean).max(floor))).collect())
}

/// A field whose thetas go from -180 to 180 deg, as one with thetas from 0 on: theta below 0 at phi is -theta at phi + 180 deg.
/// Where phi goes all the way round, too, that is a second copy and is left out.
fn without_negative_theta(field: FarField) -> FarField {
    let (theta, phi) = (&field.theta_deg, &field.phi_deg);
    let same = |a: f64, b: f64| (a - b).abs() < 1e-6;
    let mirrored = theta.iter().zip(theta.iter().rev()).all(|(a, b)| same(*a, -b));
    let Some(zero) = theta.iter().position(|theta| same(*theta, 0.0)).filter(|zero| *zero > 0 && mirrored) else {
        return field;
    };
    let span = phi[phi.len() - 1] - phi[0];
    let half = span < 180.0 + 1e-6;
    // Of half a turn the last phi may be the first one's back.
    let behind = if half { usize::from(same(span, 180.0))..phi.len() } else { 0..0 };
    let mut phi_deg = phi.clone();
    phi_deg.extend(behind.clone().map(|p| phi[p] + 180.0));
    let mut gain_db = Vec::with_capacity((theta.len() - zero) * phi_deg.len());
    for t in zero..theta.len() {
        let at = |t: usize, p: usize| field.gain_db[t * phi.len() + p];
        gain_db.extend((0..phi.len()).map(|p| at(t, p)));
        gain_db.extend(behind.clone().map(|p| at(2 * zero - t, p)));
    }
    let mut theta_deg = theta[zero..].to_vec();
    theta_deg[0] = 0.0;
    FarField { theta_deg, phi_deg, gain_db, ..field }
}

fn pattern(field: FarField, origin: &str) -> Result<AntennaPattern, SceneError> {
    let field = without_negative_theta(field);
    let (theta, phi) = (&field.theta_deg, &field.phi_deg);
    let whole = theta.first() == Some(&0.0) && theta.last().is_some_and(|last| (last - 180.0).abs() < 1e-6);
    if !whole {
        let problem = format!("theta from {} to {} deg", theta[0], theta[theta.len() - 1]);
        return Err(SceneError::malformed(
            Place::new(origin),
            problem,
            "theta from 0 to 180 deg, or from -180 to 180: export the full sphere",
        ));
    }
    let turn = super::grid::full_turn(phi, "phi", Place::new(origin))?;
    super::grid::check_steps(theta, "theta", Place::new(origin))?;
    let peak = field.gain_db.iter().copied().fold(f64::MIN, f64::max);
    let mut elevation: Vec<f64> = theta.iter().map(|theta| 90.0 - theta).collect();
    elevation.reverse();
    let (first, last) = (0, elevation.len() - 1);
    (elevation[first], elevation[last]) = (-90.0, 90.0);
    let mut gains = Vec::with_capacity(theta.len() * turn.order.len());
    for t in (0..theta.len()).rev() {
        gains.extend(turn.order.iter().map(|p| field.gain_db[t * phi.len() + p].max(peak - FLOOR_DB)));
    }
    let highest = field.gain_db.iter().position(|gain| *gain == peak).unwrap_or(0) / phi.len();
    let source =
        if field.is_directivity { "far-field export: directivity, losses unknown" } else { "far-field export" };
    let info = PatternInfo {
        name: csv::default_name(origin),
        source: source.to_owned(),
        frequency_hz: field.frequency_hz,
        ..PatternInfo::default()
    };
    let direct = AntennaPattern::from_grid(info.clone(), &turn.angles, &elevation, gains);
    if theta[highest] > NEAR_AXIS_DEG {
        return Ok(direct);
    }
    // The file's (x, y, z) are the device's (y, z, x).
    let info = PatternInfo { source: format!("{source}; boresight along its z axis"), ..info };
    Ok(AntennaPattern::from_fn(info, 1, |az, el| {
        let (sin_az, cos_az) = libm::sincos(az);
        let (sin_el, cos_el) = libm::sincos(el);
        let device = Vector3::new(cos_el * cos_az, cos_el * sin_az, sin_el);
        let in_file = Vector3::new(device.y, device.z, device.x);
        20.0 * libm::log10(direct.amplitude(&in_file).max(1e-30))
    }))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    /// A field of a lobe around a direction of the file: `(1 + cos)^2` of the angle to it.
    fn power(theta: f64, phi: f64, towards: Vector3<f64>) -> f64 {
        let (t, p) = (theta.to_radians(), phi.to_radians());
        let direction = Vector3::new(t.sin() * p.cos(), t.sin() * p.sin(), t.cos());
        (1.0 + direction.dot(&towards)).powi(4) / 16.0 + 1e-4
    }

    fn ffd_text(towards: Vector3<f64>) -> String {
        let mut text = "0 180 61\n-180 180 121\nFrequencies 1\nFrequency 1.0e10\n".to_owned();
        for theta in (0..=180).step_by(3) {
            for phi in (-180..=180).step_by(3) {
                let e = power(f64::from(theta), f64::from(phi), towards).sqrt();
                writeln!(text, "{} 0 0 {}", 3.0 * e * 0.8, 3.0 * e * 0.6).unwrap();
            }
        }
        text
    }

    /// Whatever axis the lobe is on, it becomes boresight, and the mean over the sphere is 1.
    #[test]
    fn fields_become_directivity_with_the_lobe_ahead() {
        for towards in [Vector3::x(), Vector3::z()] {
            let pattern = parse(&ffd_text(towards), "lobe.ffd").unwrap();
            assert!((pattern.gain_db(0.0, 0.0) - pattern.peak_gain_db()).abs() < 0.05);
            // The mean of (1 + cos)^4 / 16 over the sphere is 1/5.
            assert!((pattern.peak_gain_db() - 10.0 * 5f64.log10()).abs() < 0.05, "{}", pattern.peak_gain_db());
            assert_eq!(pattern.info().frequency_hz, Some(1e10));
            let back = pattern.gain_db(std::f64::consts::PI, 0.0);
            assert!(back < pattern.peak_gain_db() - 35.0, "{back}");
        }
    }

    /// Thetas from -180 to 180 deg, with phi half or all the way round.
    #[test]
    fn negative_thetas_are_the_other_side() {
        let towards = Vector3::new(0.6, 0.8, 0.0);
        let plain = parse(&ffd_text(towards), "a.ffd").unwrap();
        for (phis, header) in [(-180..=180, "-180 180 121"), (0..=180, "0 180 61"), (0..=177, "0 177 60")] {
            let mut text = format!("-180 180 121\n{header}\nFrequencies 1\nFrequency 1.0e10\n");
            for theta in (-180..=180).step_by(3) {
                for phi in phis.clone().step_by(3) {
                    let e = power(f64::from(theta), f64::from(phi), towards).sqrt();
                    writeln!(text, "{} 0 0 {}", 3.0 * e * 0.8, 3.0 * e * 0.6).unwrap();
                }
            }
            let pattern = parse(&text, "a.ffd").unwrap();
            for (az, el) in [(0.93, 0.0), (-2.0, 0.5), (3.0, -0.7), (0.5, 1.3)] {
                assert!((pattern.gain_db(az, el) - plain.gain_db(az, el)).abs() < 0.05, "{header} {az} {el}");
            }
        }
    }

    #[test]
    fn tables_of_feko_and_cst_are_read() {
        let mut feko = "##File Type: Far field\n#Frequency: 5.8E+09\n#Result Type: Gain\n".to_owned();
        feko += "#  \"Theta\" \"Phi\" \"Re(Etheta)\" \"Im(Etheta)\" \"Re(Ephi)\" \"Im(Ephi)\" \"Gain(Theta)\" \"Gain(Phi)\" \"Gain(Total)\"\n";
        let mut cst =
            "Theta [deg.]  Phi   [deg.]  Abs(Gain)[dBi   ]   Abs(Theta)[dBi   ]  Phase(Theta)[deg.]\n".to_owned();
        cst += "-----------------------------------\n";
        for phi in (0..360).step_by(10) {
            for theta in (0..=180).step_by(10) {
                let gain = 10.0 * power(f64::from(theta), f64::from(phi), Vector3::x()).log10() + 7.0;
                writeln!(feko, "{theta} {phi} 0 0 0 0 -10 -20 {gain}").unwrap();
                writeln!(cst, " {theta}.000  {phi}.000  {gain:.4e}  -1.0  3.0").unwrap();
            }
        }
        for (name, text) in [("a.ffe", feko), ("a.txt", cst)] {
            let pattern = parse(&text, name).unwrap();
            assert!((pattern.peak_gain_db() - 7.0).abs() < 0.01, "{name}: {}", pattern.peak_gain_db());
            assert!((pattern.gain_db(0.0, 0.0) - 7.0).abs() < 0.01, "{name}");
            let half = 10.0 * power(90.0, 40.0, Vector3::x()).log10() + 7.0;
            assert!((pattern.gain_db(40f64.to_radians(), 0.0) - half).abs() < 0.01, "{name}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let whole = ffd_text(Vector3::x());
        let cut_off: String = whole.lines().take(100).fold(String::new(), |text, line| text + line + "\n");
        for (text, expected) in [
            ("0 180\n0 360 10\nFrequencies 1\n", "a.ffd:1"),
            ("0 180 1e9\n0 360 10\nFrequencies 1\n", "a.ffd:1"),
            (&cut_off, "is the file cut off"),
            (&whole.replacen("Frequency 1.0e10", "Frequency 1.0e10\n1 2 3", 1), "a.ffd:5"),
            (&whole.replacen("0 180 61", "0 90 61", 1), "full sphere"),
            ("Theta [deg.] Phi [deg.] Abs(Gain)[dBi]\n0 0 1\n10 5 1\n", "a.ffd:3"),
            ("Theta [deg.] Phi [deg.] Abs(Gain)[dBi]\n0 0 nan\n", "a.ffd:2"),
            ("1 2 3\nTheta Phi", "a.ffd:1"),
            ("theta phi", "no names of columns"),
        ] {
            let error = parse(text, "a.ffd").unwrap_err().to_string();
            assert!(error.contains(expected), "{expected}: {error}");
        }
    }
}
