//! Laws of patterns and their files.

use std::f64::consts::{FRAC_PI_2, PI};
use std::fmt::Write as _;
use std::sync::LazyLock;

use nalgebra::Vector3;
use proptest::prelude::*;

use super::*;

fn vivaldi() -> &'static AntennaPattern {
    static VIVALDI: LazyLock<AntennaPattern> = LazyLock::new(|| AntennaPattern::load("synthetic_vivaldi").unwrap());
    &VIVALDI
}

fn direction(azimuth: f64, elevation: f64) -> Vector3<f64> {
    Vector3::new(elevation.cos() * azimuth.cos(), elevation.cos() * azimuth.sin(), elevation.sin())
}

fn refusal(csv: &str) -> String {
    AntennaPattern::from_csv_str(csv, "file.csv").expect_err("must be refused").to_string()
}

/// A grid whose steps differ, starting anywhere, from a rough gain function.
fn uneven() -> &'static AntennaPattern {
    static UNEVEN: LazyLock<AntennaPattern> = LazyLock::new(make_uneven);
    &UNEVEN
}

fn make_uneven() -> AntennaPattern {
    let mut csv = String::from("azimuth_deg,elevation_deg,gain_db\n");
    for el in [-90.0, -70.0, -33.0, 0.0, 1.0, 40.0, 90.0] {
        for az in [10.0, 11.5, 60.0, 140.0, 200.0, 205.0, 290.0, 340.0] {
            let gain = 5.0 * f64::sin(az * 0.37) * f64::cos(el * PI / 180.0) - el / 30.0;
            writeln!(csv, "{az},{el},{gain}").unwrap();
        }
    }
    AntennaPattern::from_csv_str(&csv, "uneven.csv").unwrap()
}

#[test]
fn the_shipped_patterns_are_the_folder() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/antenna_patterns");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "csv"));
    files.sort();
    let names: Vec<_> = files.iter().map(|path| path.file_stem().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, AntennaPattern::shipped_names().collect::<Vec<_>>());
    for (path, name) in files.iter().zip(names) {
        let pattern = AntennaPattern::load(name).unwrap();
        assert_eq!(AntennaPattern::from_file(path).unwrap(), pattern);
        assert_eq!(pattern.info().name, name);
        assert!(pattern.info().synthetic && !pattern.info().source.is_empty());
    }
}

#[test]
fn the_shipped_vivaldi_is_its_formula() {
    let shipped = vivaldi();
    let made = AntennaPattern::from_csv_str(&synthetic_vivaldi().to_csv(), "made").unwrap();
    assert_eq!(shipped.info(), made.info());
    assert_eq!(shipped.grid_size(), made.grid_size());
    for ((az, el, gain), (.., again)) in shipped.grid().zip(made.grid()) {
        // Rounding to 1e-4 dB may fall either way with another libm.
        assert!((gain - again).abs() < 1.01e-4, "{az} {el}: {gain} {again}; regenerate the file with the example");
    }
}

#[test]
fn the_vivaldi_has_its_numbers() {
    let pattern = vivaldi();
    assert!((pattern.peak_gain_db() - 8.0).abs() < 1e-9);
    assert!((pattern.gain_db(0.0, 0.0) - 8.0).abs() < 1e-9);
    assert!((pattern.front_to_back_db() - 14.0).abs() < 1e-9);
    assert!((pattern.half_power_width(Cut::Azimuth).unwrap().to_degrees() - 95.0).abs() < 0.2);
    assert!((pattern.half_power_width(Cut::Elevation).unwrap().to_degrees() - 65.0).abs() < 0.2);
    // No antenna radiates more than it is fed.
    let mean = pattern.mean_gain_db();
    assert!((-0.3..0.0).contains(&mean), "{mean}");
    // The formula itself is exact.
    let half = 10.0 * 2f64.log10();
    for (az, el, gain) in [(0.0, 0.0, 8.0), (PI, 0.0, -6.0), (47.5f64.to_radians(), 0.0, 8.0 - half)] {
        assert!((synthetic_vivaldi_gain_db(az, el) - gain).abs() < 1e-12);
    }
    assert!((synthetic_vivaldi_gain_db(0.0, 32.5f64.to_radians()) - (8.0 - half)).abs() < 1e-12);
}

#[test]
fn isotropic_is_one_everywhere() {
    let pattern = AntennaPattern::load("isotropic").unwrap();
    for i in 0..1000 {
        let (az, el) = (f64::from(i) * 0.7, f64::from(i % 180).to_radians() - FRAC_PI_2);
        assert_eq!(pattern.amplitude(&direction(az, el)), 1.0);
        assert_eq!(pattern.gain_db(az, el), 0.0);
    }
    assert!(pattern.half_power_width(Cut::Azimuth).is_none());
    assert!(pattern.mean_gain_db().abs() < 1e-9);
    assert!((AntennaPattern::uniform("six", 6.0).gain_db(1.0, 0.3) - 6.0).abs() < 1e-12);
}

proptest! {
    #[test]
    fn the_grid_is_near_the_formula(az in -PI..PI, el in -FRAC_PI_2..FRAC_PI_2) {
        let error = vivaldi().gain_db(az, el) - synthetic_vivaldi_gain_db(az, el);
        prop_assert!(error.abs() < 0.1, "{error}");
    }

    #[test]
    fn the_fast_lookup_agrees_with_the_gain(az in -PI..PI, el in -FRAC_PI_2..FRAC_PI_2, length in 0.1..10.0f64) {
        for pattern in [vivaldi(), uneven()] {
            let fast = pattern.amplitude(&(direction(az, el) * length));
            let exact = 10f64.powf(pattern.gain_db(az, el) / 20.0);
            prop_assert!((fast - exact).abs() < 1e-9, "{fast} {exact}");
        }
    }

    #[test]
    fn the_gain_is_continuous(az in -4.0..4.0f64, el in -FRAC_PI_2..FRAC_PI_2, daz in -1.0..1.0f64, del in -1.0..1.0f64) {
        for pattern in [vivaldi(), uneven()] {
            let step = 1e-7;
            let near = pattern.gain_db(az + step * daz, (el + step * del).clamp(-FRAC_PI_2, FRAC_PI_2));
            prop_assert!((pattern.gain_db(az, el) - near).abs() < 1e-3);
            let near = pattern.amplitude(&(direction(az, el) + Vector3::new(daz, del, -daz) * step));
            // Over a pole the azimuth jumps; the amplitude must not.
            prop_assert!((pattern.amplitude(&direction(az, el)) - near).abs() < 1e-3);
        }
    }

    #[test]
    fn the_gain_is_continuous_over_the_seam_and_the_poles(el in -FRAC_PI_2..FRAC_PI_2, az in -PI..PI, east in -1.0..1.0f64) {
        for pattern in [vivaldi(), uneven()] {
            prop_assert!((pattern.gain_db(PI - 1e-9, el) - pattern.gain_db(-PI + 1e-9, el)).abs() < 1e-5);
            prop_assert!((pattern.gain_db(PI, el) - pattern.gain_db(-PI, el)).abs() < 1e-9);
            for pole in [-1.0, 1.0] {
                let at_pole = pattern.gain_db(0.0, pole * FRAC_PI_2);
                prop_assert!((pattern.gain_db(az, pole * FRAC_PI_2) - at_pole).abs() < 1e-9);
                let near = pattern.amplitude(&Vector3::new(1e-9 * east, 1e-9, pole));
                prop_assert!((20.0 * near.log10() - at_pole).abs() < 1e-5);
                prop_assert!((20.0 * pattern.amplitude(&Vector3::new(0.0, 0.0, pole)).log10() - at_pole).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn grid_points_keep_their_gain(i in 0..72i32, j in 1..36i32) {
        let (az, el) = (f64::from(i * 5 - 180).to_radians(), f64::from(j * 5 - 90).to_radians());
        let error = vivaldi().gain_db(az, el) - synthetic_vivaldi_gain_db(az, el);
        prop_assert!(error.abs() < 1e-4);
    }
}

#[test]
fn no_direction_at_all_gives_no_panic() {
    let pattern = vivaldi();
    assert!(pattern.amplitude(&Vector3::zeros()).is_finite());
    assert!(pattern.amplitude(&Vector3::new(f64::NAN, 0.0, 0.0)).is_nan());
    assert!(pattern.amplitude(&Vector3::new(0.0, f64::INFINITY, f64::INFINITY)).is_nan());
    assert!(pattern.gain_db(f64::NAN, f64::NAN).is_nan());
    assert!(uneven().gain_db(f64::NAN, f64::NAN).is_nan());
}

#[test]
fn a_grid_may_be_sorted_either_way_and_start_anywhere() {
    let gain = |az: f64, el: f64| (az.to_radians().cos() + 0.3 * az.to_radians().sin()) * el.to_radians().cos() * 4.0;
    let steps = |from: i32, to: i32| (from..=to).step_by(30).map(f64::from);
    let mut texts = vec![String::from("azimuth_deg,elevation_deg,gain_db\n"); 4];
    for el in steps(-90, 90) {
        for az in steps(-180, 150) {
            writeln!(texts[0], "{az},{el},{}", gain(az, el)).unwrap();
        }
        for az in steps(0, 330) {
            writeln!(texts[2], "{az}, {el} ,{}\r", gain(az, el)).unwrap();
        }
    }
    for az in steps(-180, 180) {
        for el in steps(-90, 90) {
            writeln!(texts[1], "{az},{el},{}", gain(az, el)).unwrap();
            writeln!(texts[3], "{},{el},{}", az + 180.0, gain(az + 180.0, el)).unwrap();
        }
    }
    let patterns: Vec<_> = texts.iter().map(|csv| AntennaPattern::from_csv_str(csv, "same").unwrap()).collect();
    for pattern in &patterns {
        assert_eq!(pattern.grid_size(), (12, 7));
        for i in 0..500 {
            let (az, el) = (f64::from(i) * 0.37, f64::from(i % 170 - 85).to_radians());
            assert!((pattern.gain_db(az, el) - patterns[0].gain_db(az, el)).abs() < 1e-9);
        }
    }
}

#[test]
fn a_pole_takes_the_mean_power_of_its_row() {
    let csv = AntennaPattern::load("isotropic").unwrap().to_csv().replace("\n0,90,0.0000", "\n0,90,10");
    let pattern = AntennaPattern::from_csv_str(&csv, "poles.csv").unwrap();
    let mean = 10.0 * ((10.0 + 3.0) / 4.0f64).log10();
    assert!((pattern.gain_db(0.3, FRAC_PI_2) - mean).abs() < 1e-9);
    assert_eq!(pattern.pole_spread_db(), 10.0);
}

#[test]
fn refusals_name_the_line() {
    let good = AntennaPattern::load("isotropic").unwrap().to_csv();
    AntennaPattern::from_csv_str(&good, "file.csv").unwrap();
    let lines: Vec<&str> = good.lines().collect();
    assert_eq!((lines[3], lines[9]), ("azimuth_deg,elevation_deg,gain_db", "-90,0,0.0000"));
    let with = |line: usize, text: &str| {
        let mut lines = lines.clone();
        lines[line - 1] = text;
        lines.join("\n")
    };
    for (csv, parts) in [
        (with(10, "-90,0,"), vec!["file.csv:10", "no value for gain_db"]),
        (with(10, "-90,,0"), vec!["file.csv:10", "no value for elevation_deg"]),
        (with(10, "-90,0,nan"), vec!["file.csv:10", "gain_db `nan`", "finite"]),
        (with(10, "-90,0,inf"), vec!["file.csv:10", "finite"]),
        (with(10, "-90,0,1e9"), vec!["file.csv:10", "within"]),
        (with(10, "-90,0"), vec!["file.csv:10", "three values"]),
        (with(10, "-90,0,0,0"), vec!["file.csv:10", "three values"]),
        (with(10, "-90,zero,0"), vec!["file.csv:10", "elevation_deg `zero`"]),
        (with(10, "-1000,0,0"), vec!["file.csv:10", "within -360 to 360"]),
        (with(10, "-180,0,0"), vec!["file.csv:10", "given twice"]),
        (with(10, "90,0,0"), vec!["file.csv:10", "azimuth -90, elevation 0 here"]),
        (with(10, ""), vec!["file.csv:11", "missing"]),
        (with(5, "-180,-80,0"), vec!["file.csv"]),
        (with(6, "-180,-90,0"), vec!["file.csv:6", "twice"]),
        (with(7, "-100,-90,0"), vec!["file.csv:7", "not sorted"]),
        (with(16, ""), vec!["file.csv:15", "ends after 3 of 4"]),
        (with(4, "azimuth,elevation,gain"), vec!["file.csv:4", "header", "azimuth_deg,elevation_deg,gain_db"]),
        (with(3, "# synthetic: maybe"), vec!["file.csv:3", "`true` or `false`"]),
        (with(3, "# frequency_ghz: -1"), vec!["file.csv:3", "positive"]),
        (String::new(), vec!["file.csv", "no header"]),
        (lines[..4].join("\n"), vec!["file.csv", "0 directions"]),
        (lines[..12].join("\n"), vec!["file.csv:12", "elevations from -90 to 0"]),
        (good.replace("90,", "80,"), vec!["file.csv"]),
        (good.lines().filter(|line| !line.starts_with("90,")).collect::<Vec<_>>().join("\n"), vec!["gap of 180 deg"]),
    ] {
        let message = refusal(&csv);
        assert!(parts.iter().all(|part| message.contains(part)), "{parts:?}: {message}\n{csv}");
    }
    let twice = good.replace("90,0,0.0000\n", "90,0,0.0000\n180,0,0.0000\n");
    assert!(refusal(&twice).contains("file.csv:"), "{}", refusal(&twice));
}

#[test]
fn a_direction_given_two_gains_is_refused() {
    let mut csv = String::from("azimuth_deg,elevation_deg,gain_db\n");
    for az in [-180, -90, 0, 90, 180] {
        for el in [-90, 0, 90] {
            writeln!(csv, "{az},{el},{}", if (az, el) == (180, 0) { 1.0 } else { 0.0 }).unwrap();
        }
    }
    let message = refusal(&csv);
    assert!(message.contains("file.csv:15") && message.contains("line 3"), "{message}");
}
