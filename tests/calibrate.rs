//! `magnetar calibrate`: from rows with known ends to a recipe that knows its receiver.

use std::f64::consts::FRAC_PI_2;
use std::fs;

use magnetar_dataset::{Columns, Dataset, Recipe};
use magnetar_scene::wrap;
use magnetar_signal::RxArray;
use serde_json::Value;

use crate::cli;

/// One receiver that is off in pose, level and phase, for all rows.
const ONE_RECEIVER: [&str; 12] = [
    "--set",
    "outing.sets=1000000",
    "--set",
    "outing.rf_chain=true",
    "--set",
    "outing.pose=true",
    "--set",
    "model_error.rx_position_m_rms=0.1",
    "--set",
    "model_error.rx_heading_deg_rms=3",
    "--set",
    "model_error.level_max_db=5",
];

#[test]
fn a_receiver_is_found_and_its_recipe_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (data, recipe) = (file("data"), file("mine.toml"));
    let mut make =
        vec!["generate", "--split", "val", "--limit", "500", "--seed", "77", "--csi", "none", "--out", &data];
    make.extend(ONE_RECEIVER);
    cli::succeed(&make);
    let found: Value =
        serde_json::from_str(&cli::succeed(&["calibrate", &data, "--base", "paper", "-o", &recipe, "--json"])).unwrap();
    let value = |name: &str| found["estimates"][name]["value"].as_f64().unwrap();
    let dataset = Dataset::open(&data).unwrap();
    let row = dataset.read_row("val", 0, Columns::WithoutCsi).unwrap();
    let reported = row.reported().rx;
    let step = row.rx.position - reported.position;
    let turn = wrap(row.rx.heading - reported.heading).to_degrees();
    assert!((value("rx_x_m") - step.x).abs() < 0.02 && (value("rx_y_m") - step.y).abs() < 0.02, "{found:#}");
    assert!((value("rx_heading_deg") - turn).abs() < 0.5, "{turn} {found:#}");
    assert!((value("level_db") - row.outing.as_ref().unwrap().level_offset_db).abs() < 0.3, "{found:#}");
    assert!((value("phase_deg") - row.rf_chain.phase_error_rad.to_degrees()).abs() < 1.0, "{found:#}");
    let (before, after) = (&found["held_out_before"], &found["held_out_after"]);
    let explained = |of: &Value| of["log_likelihood_per_row"].as_f64().unwrap();
    assert!(explained(after) > explained(before) + 0.2, "{found:#}");
    // The recipe loads, and has what was found.
    let calibrated = Recipe::load(&recipe, &[]).unwrap();
    assert!((calibrated.mounting.rx_x_m - value("rx_x_m")).abs() < 1e-4);
    assert!((calibrated.sre.phase_offset_deg - value("phase_deg")).abs() < 1e-4);
    assert!((calibrated.link.reference_snr_db - 50.0 - value("level_db")).abs() < 1e-4);
    assert!((calibrated.reflection.walls_db - value("walls_db")).abs() < 1e-4);
    let per_unit = |array: RxArray| array.phase(FRAC_PI_2, calibrated.band.carrier_hz).to_degrees();
    let slope = per_unit(calibrated.array) - per_unit(RxArray::default());
    assert!((slope - value("phase_slope_deg")).abs() < 0.02, "{slope}");
}

/// A receiver's phase is one that simulated rows have and the estimator takes off: arrivals stay what they are.
#[test]
fn a_simulated_receiver_has_the_phase_that_is_taken_off() {
    let folder = tempfile::tempdir().unwrap();
    let arrivals = |name: &str, set: &[&str]| {
        let data = folder.path().join(name);
        let mut make = vec!["generate", "--split", "val", "--limit", "20", "--csi", "none"];
        make.extend(["--out", data.to_str().unwrap()]);
        make.extend(set);
        cli::succeed(&make);
        let dataset = Dataset::open(&data).unwrap();
        let records = dataset.records("val", Columns::WithoutCsi).unwrap();
        records.map(|record| record.unwrap().arrivals.found).collect::<Vec<_>>()
    };
    // Without noise: a receiver's phase turns one channel's noise, too.
    let (quiet, offset) = ("noise.enabled=false", "sre.phase_offset_deg=40");
    let (plain, turned) = (arrivals("a", &["--set", quiet]), arrivals("b", &["--set", quiet, "--set", offset]));
    assert_eq!(plain.len(), turned.len());
    for (a, b) in plain.iter().flatten().zip(turned.iter().flatten()) {
        assert!(wrap(a.phase_rad - b.phase_rad).abs() < 1e-3, "{a:?} {b:?}");
    }
}

/// A recipe's mounting moves and turns the pose that `locate` is given.
#[test]
fn locate_applies_the_mounting() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (block, recipe) = (file("block.npy"), file("mine.toml"));
    cli::succeed(&["observe", "lab_middle", "--tx", "0.98,2.28,,-90", "--rx", "1,-1,,90", "--seed", "3", "-o", &block]);
    let mounted = "extends = \"paper\"\n[mounting]\nrx_heading_deg = 20\nrx_x_m = 0.3\nrx_y_m = -0.4\n";
    fs::write(&recipe, mounted).unwrap();
    let mode = |rx: &str, recipe: &str| {
        let out = cli::succeed(&["locate", "lab_middle", &block, "--rx", rx, "--recipe", recipe, "--json"]);
        serde_json::from_str::<Value>(&out).unwrap()["mode"].clone()
    };
    let (plain, moved) = (mode("1,-1,,90", "paper"), mode("0.7,-0.6,,70", &recipe));
    for key in ["x", "y", "heading_deg"] {
        assert_eq!(plain[key], moved[key], "{plain} {moved}");
    }
}

#[test]
fn wrong_requests_are_refused_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").to_str().unwrap().to_owned();
    cli::succeed(&["generate", "--split", "val", "--limit", "12", "--csi", "none", "--out", &data]);
    for (args, words) in [
        (vec!["calibrate", &data], vec!["too few", "measure at least"]),
        (vec!["calibrate", &data, "--hold", "level"], vec!["level", "level_db", "rx_x_m"]),
        (vec!["calibrate", &data, "-o", "x.json"], vec!["x.json", ".toml"]),
        (vec!["calibrate", "no_such_folder"], vec!["no_such_folder", "manifest.json"]),
    ] {
        let error = cli::fail(&args);
        assert!(words.iter().all(|word| error.contains(word)), "{args:?}: {error}");
    }
}
