//! Laws of cuts and MSI Planet files.

use std::f64::consts::{FRAC_PI_2, PI};
use std::fmt::Write as _;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;

fn h(az: f64) -> f64 {
    8.0 - 9.0 * (1.0 - az.to_radians().cos()) - 1.5 * az.to_radians().sin().abs()
}

fn v(angle: f64) -> f64 {
    8.0 - 9.0 * (1.0 - angle.to_radians().cos()) - 4.0 * angle.to_radians().sin().powi(2)
        + (angle * 3.0).to_radians().sin()
}

fn cuts_csv(elevations: impl Iterator<Item = i32>) -> String {
    let mut csv = String::from("# name: two cuts\ncut,angle_deg,gain_db\n");
    for az in (-180..180).step_by(5) {
        writeln!(csv, "azimuth,{az},{}", h(az.into())).unwrap();
    }
    for angle in elevations {
        writeln!(csv, "elevation,{angle},{}", v(angle.into())).unwrap();
    }
    csv
}

fn msi(gain: &str) -> String {
    let mut msi =
        format!("NAME test antenna\nMAKE us\nFREQUENCY 10000\nGAIN {gain}\nTILT ELECTRICAL\nHORIZONTAL 360\n");
    let loss = |angle: i32, more_at: i32| {
        10.0 - 10.0 * f64::from(angle).to_radians().cos() + f64::from(u8::from(angle == more_at))
    };
    // More on the left (counter-clockwise) than on the right.
    (0..360).for_each(|angle| writeln!(msi, "{angle}.0\t{:.3}", loss(angle, 90)).unwrap());
    msi += "VERTICAL 360\n";
    (0..360).for_each(|angle| writeln!(msi, "{angle} {:.3}", loss(angle, 45)).unwrap());
    msi
}

fn check_poles_and_seam(pattern: &AntennaPattern) {
    for i in 0..360 {
        let az = f64::from(i).to_radians();
        for pole in [-FRAC_PI_2, FRAC_PI_2] {
            assert!((pattern.gain_db(az, pole) - pattern.gain_db(0.0, pole)).abs() < 1e-9);
        }
    }
    assert!(pattern.pole_spread_db() < 1e-9);
}

#[test]
fn cuts_are_reproduced() {
    let around = AntennaPattern::from_csv_str(&cuts_csv((-180..180).step_by(5)), "cuts.csv").unwrap();
    let front = AntennaPattern::from_csv_str(&cuts_csv((-90..=90).step_by(5)), "cuts.csv").unwrap();
    assert_eq!(around.info().name, "two cuts");
    for angle in (-180..180).step_by(5) {
        let angle = f64::from(angle);
        let radians = angle.to_radians();
        assert!((around.cut_gain_db(Cut::Azimuth, radians) - h(angle)).abs() < 1e-9, "{angle}");
        assert!((front.cut_gain_db(Cut::Azimuth, radians) - h(angle)).abs() < 1e-9, "{angle}");
        assert!((around.cut_gain_db(Cut::Elevation, radians) - v(angle)).abs() < 1e-9, "{angle}");
        if angle.abs() <= 90.0 {
            assert!((front.cut_gain_db(Cut::Elevation, radians) - v(angle)).abs() < 1e-9, "{angle}");
        }
    }
    check_poles_and_seam(&around);
    check_poles_and_seam(&front);
}

#[test]
fn bad_cuts_are_refused() {
    let good = cuts_csv((-90..=90).step_by(5));
    for (csv, parts) in [
        (cuts_csv((-60..=60).step_by(5)), vec!["file.csv:99", "elevation", "gap"]),
        (cuts_csv(0..0), vec!["no elevation cut"]),
        (good.replace("elevation,0,", "elevation,-5,"), vec!["file.csv:93", "elevation -5 given twice"]),
        (good.replace("elevation,0,", "elevation,-6,"), vec!["file.csv:93", "not sorted"]),
        (good.replace("elevation,0,", "azimut,0,"), vec!["file.csv:93", "cut `azimut`"]),
        (good.replace("elevation,0,8", "elevation,0,5"), vec!["boresight", "5 dB", "8 dB"]),
        (good.replace("azimuth,-175,", "azimuth,-175,a"), vec!["file.csv:4", "gain_db"]),
    ] {
        let message = AntennaPattern::from_csv_str(&csv, "file.csv").unwrap_err().to_string();
        assert!(parts.iter().all(|part| message.contains(part)), "{parts:?}: {message}");
    }
}

#[test]
fn msi_angles_run_clockwise_and_down_and_gain_is_dbd() {
    let pattern = AntennaPattern::from_msi_str(&msi("6 dBi"), "test.msi").unwrap();
    assert_eq!(pattern.info().name, "test antenna");
    assert_eq!(pattern.info().frequency_hz, Some(10e9));
    assert!((pattern.gain_db(0.0, 0.0) - 6.0).abs() < 1e-9);
    assert!((pattern.front_to_back_db() - 20.0).abs() < 1e-9);
    // Horizontal 90 is to the right, azimuth -90; vertical 45 is below.
    let (right, left) = (pattern.gain_db(-FRAC_PI_2, 0.0), pattern.gain_db(FRAC_PI_2, 0.0));
    assert!((left - right - 1.0).abs() < 1e-9);
    assert!((pattern.gain_db(0.0, PI / 4.0) - pattern.gain_db(0.0, -PI / 4.0) - 1.0).abs() < 1e-9);
    check_poles_and_seam(&pattern);
    for (gain, dbi) in [("6", 8.15), ("6 dBd", 8.15), ("6dBd", 8.15), ("6DBI", 6.0), ("6 dBi", 6.0)] {
        let pattern = AntennaPattern::from_msi_str(&msi(gain), "test.msi").unwrap();
        assert!((pattern.gain_db(0.0, 0.0) - dbi).abs() < 1e-9, "{gain}");
    }
    let unnamed = msi("6").replace("NAME test antenna", "ACME-7 (old)").to_lowercase();
    assert_eq!(AntennaPattern::from_msi_str(&unnamed, "test.msi").unwrap().info().name, "acme-7 (old)");
}

#[test]
fn bad_msi_files_are_refused() {
    let good = msi("6 dBi");
    for (text, parts) in [
        (good.replace("GAIN 6 dBi", "GAIN much"), vec!["t.msi:4", "GAIN `much`"]),
        (good.replace("GAIN 6 dBi", "GAIN nan"), vec!["t.msi:4", "GAIN `nan`"]),
        (good.replace("GAIN 6 dBi\n", ""), vec!["t.msi", "no GAIN"]),
        (good.replace("HORIZONTAL 360", "HORIZONTAL 1e9"), vec!["t.msi:6", "36000"]),
        (good.replace("HORIZONTAL 360", "HORIZONTAL 99999999"), vec!["t.msi:6", "36000"]),
        (good.replace("HORIZONTAL 360", "HORIZONTAL 361"), vec!["t.msi:367", "VERTICAL"]),
        (good.replace("HORIZONTAL 360", "HORIZONTAL 359"), vec!["t.msi:366", "outside a cut"]),
        (good.replace("90.0\t11.000", "90.0\t-1"), vec!["t.msi:97", "zero or positive"]),
        (good.replace("90.0\t11.000", "90.0"), vec!["t.msi:97"]),
        (good.replace("90.0\t11.000", "90.0 nan"), vec!["t.msi:97"]),
        (good.replace("90.0\t11.000", "89.0 3"), vec!["t.msi:97", "given twice"]),
        (good.replace("90.0\t11.000", "80.0 3"), vec!["t.msi:97", "not sorted"]),
        (good.replace("VERTICAL 360", "HORIZONTAL 360"), vec!["t.msi:367", "given twice"]),
        (good.lines().take(500).collect::<Vec<_>>().join("\n"), vec!["t.msi:367", "133 of 360"]),
        (good.lines().take(366).collect::<Vec<_>>().join("\n"), vec!["t.msi", "no VERTICAL"]),
        (String::new(), vec!["t.msi", "no GAIN"]),
    ] {
        let message = AntennaPattern::from_msi_str(&text, "t.msi").unwrap_err().to_string();
        assert!(parts.iter().all(|part| message.contains(part)), "{parts:?}: {message}");
    }
}

proptest! {
    #[test]
    fn cuts_make_a_continuous_pattern(az in -4.0..4.0f64, el in -1.57..1.57f64, daz in -1.0..1.0f64, del in -1.0..1.0f64) {
        static PATTERN: LazyLock<AntennaPattern> =
            LazyLock::new(|| AntennaPattern::from_msi_str(&msi("6 dBi"), "test.msi").unwrap());
        let pattern = &*PATTERN;
        let near = pattern.gain_db(az + 1e-7 * daz, el + 1e-7 * del);
        prop_assert!((pattern.gain_db(az, el) - near).abs() < 1e-3);
        prop_assert!((pattern.gain_db(PI - 1e-9, el) - pattern.gain_db(1e-9 - PI, el)).abs() < 1e-5);
    }
}

/// Attenuation of a lobe towards an angle, dB.
fn lobe(angle: f64, peak: f64) -> f64 {
    12.0 * (1.0 - (angle - peak).to_radians().cos())
}

/// An MSI file with its horizontal peak at a clockwise angle and its vertical peak at a downward one, written oddly.
fn odd_msi(across: f64, down: f64, signed: bool, counts: bool) -> String {
    let angles = |_: ()| if signed { -180..180 } else { 0..360 };
    let mut msi = "an antenna\nFREQUENCY 5800,5\nGAIN 12,5 (dBd)\n".to_owned();
    for (word, peak) in [("HORIZONTAL", across), ("VERTICAL", down)] {
        let count = if counts { " 360" } else { "" };
        writeln!(msi, "{word}{count}").unwrap();
        for angle in angles(()) {
            writeln!(msi, "{angle},0\t{}", format!("{:.2}", lobe(f64::from(angle), peak)).replace('.', ",")).unwrap();
        }
    }
    msi
}

#[test]
fn msi_files_as_they_come_are_read() {
    for (signed, counts) in [(false, true), (true, true), (false, false), (true, false)] {
        let pattern = AntennaPattern::from_msi_str(&odd_msi(0.0, 0.0, signed, counts), "odd.msi").unwrap();
        assert!((pattern.peak_gain_db() - 14.65).abs() < 1e-9, "{}", pattern.peak_gain_db());
        assert_eq!(pattern.info().frequency_hz, Some(5.8005e9));
        let side = pattern.gain_db(FRAC_PI_2, 0.0);
        assert!((side - (14.65 - 12.0)).abs() < 0.02, "{side}");
    }
    for (gain, dbi) in [("17 dBi", 17.0), ("(dBi) 17", 17.0), ("15", 17.15), ("15dBd", 17.15), ("[dBd] 15", 17.15)] {
        let msi = odd_msi(0.0, 0.0, false, true).replacen("12,5 (dBd)", gain, 1);
        let pattern = AntennaPattern::from_msi_str(&msi, "odd.msi").unwrap();
        assert!((pattern.peak_gain_db() - dbi).abs() < 1e-9, "{gain}");
    }
    for (from, to) in [("12,5 (dBd)", "12,5,1"), ("HORIZONTAL\n", "HORIZONTAL\nVERTICAL\n"), ("0,0\t", "0,0\t-5")] {
        let msi = odd_msi(0.0, 0.0, false, false).replacen(from, to, 1);
        assert!(AntennaPattern::from_msi_str(&msi, "odd.msi").unwrap_err().to_string().contains("odd.msi:"), "{from}");
    }
}

/// Cuts through a peak off boresight: the declared gain is met there and nowhere exceeded.
#[test]
fn cuts_through_the_peak_are_combined_there() {
    for (across, down) in [(0.0, 8.0), (30.0, 6.0), (120.0, 10.0), (60.0, 0.0)] {
        let pattern = AntennaPattern::from_msi_str(&odd_msi(across, down, false, true), "tilted.msi").unwrap();
        assert!(pattern.peak_gain_db() <= 14.65 + 1e-9, "{across} {down}: {}", pattern.peak_gain_db());
        let at_peak = pattern.gain_db(-across.to_radians(), -down.to_radians());
        assert!((at_peak - 14.65).abs() < 0.3, "{across} {down}: {at_peak}");
        let level = pattern.gain_db(-across.to_radians(), 0.0);
        assert!((level - (14.65 - lobe(0.0, down))).abs() < 0.3, "{across} {down}: {level}");
    }
}

#[test]
fn the_kind_of_a_file_follows_from_its_content() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("antenna.txt");
    std::fs::write(&path, odd_msi(0.0, 0.0, true, true)).unwrap();
    assert!((AntennaPattern::from_file(&path).unwrap().peak_gain_db() - 14.65).abs() < 1e-9);
    std::fs::write(&path, cuts_csv((-90..=90).step_by(5))).unwrap();
    assert_eq!(AntennaPattern::from_file(&path).unwrap().info().name, "two cuts");
    std::fs::write(&path, "what is this").unwrap();
    assert!(AntennaPattern::from_file(&path).unwrap_err().to_string().contains("no known kind"));
}
