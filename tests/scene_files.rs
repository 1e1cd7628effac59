//! `magnetar scene`, `magnetar material` and `magnetar pattern`.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;

use crate::cli;

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&cli::succeed(args)).unwrap()
}

/// A file in a folder of its own.
fn file(name: &str, content: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    (folder, path)
}

#[test]
fn scenes_are_listed_and_shown() {
    let text = cli::succeed(&["scene", "list"]);
    assert!(["lab", "lab_left", "lab_middle", "lab_right"].iter().all(|name| text.contains(name)), "{text}");
    assert_eq!(json(&["scene", "list", "--json"])[2]["name"], "lab_middle");
    let text = cli::succeed(&["scene", "show", "lab_middle"]);
    assert!(["[-1.403, 4.27]", "marble", "glass", "board", "0.033"].iter().all(|part| text.contains(part)), "{text}");
    let shown = json(&["scene", "show", "lab_middle", "--json"]);
    assert_eq!(shown["surfaces"]["floor"]["material"], "marble");
    assert_eq!(shown["surfaces"]["wall:+y"]["eps_r"], 5.24);
    assert_eq!(shown["boxes"][0]["center_m"], serde_json::json!([1.0225, 1.0, 1.0025]));
    assert_eq!(shown["device_height_m"], 1.08);
}

#[test]
fn a_scene_written_as_a_file_is_the_same_scene() {
    let (_folder, path) = file("mine.toml", &cli::succeed(&["scene", "show", "lab_left", "--toml"]));
    let path = path.to_str().unwrap();
    assert!(cli::succeed(&["scene", "check", path, "lab"]).contains("ok, 1 box"));
    assert_eq!(json(&["scene", "show", path, "--json"]), json(&["scene", "show", "lab_left", "--json"]));
}

#[test]
fn the_example_of_the_manual_is_a_scene() {
    let manual = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenes.md")).unwrap();
    let (_, example) = manual.split_once("```toml office.toml\n").unwrap();
    let (_folder, path) = file("office.toml", example.split_once("```").unwrap().0);
    let report = &json(&["scene", "check", path.to_str().unwrap(), "--json"])[0];
    assert_eq!((&report["ok"], report["warnings"].as_array().unwrap().len()), (&Value::Bool(true), 0), "{report}");
}

#[test]
fn bad_scenes_are_refused_with_file_line_and_key() {
    let good = cli::succeed(&["scene", "show", "lab_left", "--toml"]);
    let size = "size_m = [1.015, 0.033, 1.715]";
    for (from, to, parts) in [
        (size, "size_m = [1.015, -0.033, 1.715]", vec!["bad.toml:18", "box[0].size_m", "positive"]),
        (size, "sise_m = [1.015, 0.033, 1.715]", vec!["bad.toml:18", "unknown field `sise_m`", "size_m"]),
        (size, "size_m = [1, nan, 1]", vec!["bad.toml:18", "NaN"]),
        ("\"glass\"", "\"glas\"", vec!["box[0].material", "unknown material `glas`", "plasterboard"]),
        ("[room]", "[room", vec!["bad.toml:5"]),
    ] {
        assert!(good.contains(from), "{good}");
        let (_folder, path) = file("bad.toml", &good.replace(from, to));
        let path = path.to_str().unwrap();
        let message = cli::fail(&["scene", "check", path]);
        // An unknown material is known only after reading: the message has the scene's name instead of a line.
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        let output = cli::run(&["scene", "check", "lab", path, "--json"]);
        assert_eq!(output.status.code(), Some(1));
        let reports: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&reports[0]["ok"], &reports[1]["ok"]), (&Value::Bool(true), &Value::Bool(false)));
        cli::fail(&["scene", "show", path]);
    }
    assert!(cli::fail(&["scene", "show", "lap"]).contains("lab_middle"));
    assert!(cli::fail(&["scene", "check", "no/such.toml"]).contains("no/such.toml"));
    assert!(cli::fail(&["scene", "check", "lab", "--carrier-ghz", "70"]).contains("1-60 GHz"));
}

#[test]
fn materials_of_the_user_count() {
    let (_folder, path) = file("mine.toml", "[material.felt]\neps_r = 1.5\nsigma = 0.001\n");
    let path = path.to_str().unwrap();
    let scene = cli::succeed(&["scene", "show", "lab", "--toml"]).replace("\"marble\"", "\"felt\"");
    let (_other, scene) = file("felt.toml", &scene);
    let scene = scene.to_str().unwrap();
    assert!(cli::fail(&["scene", "check", scene]).contains("felt"));
    cli::succeed(&["scene", "check", scene, "--materials", path]);
    assert!(cli::succeed(&["material", "show", "felt", "--materials", path]).contains("1.5"));
    assert!(json(&["material", "show", "felt", "--materials", path, "--json"])["ranges"][0]["max_ghz"].is_null());
}

#[test]
fn materials_are_listed_and_shown() {
    let all = json(&["material", "list", "--json"]);
    assert_eq!(all.as_array().unwrap().len(), 19);
    assert!(cli::succeed(&["material", "list"]).contains("medium_dry_ground"));
    assert!(cli::succeed(&["material", "show", "glass"]).contains("0.078651"));
    assert!(cli::succeed(&["material", "show", "floorboard"]).contains("50-100 GHz"), "not defined at 10 GHz");
    assert!(cli::fail(&["material", "show", "cheese"]).contains("concrete"));
}

#[test]
fn patterns_are_listed_shown_and_converted() {
    let text = cli::succeed(&["pattern", "list"]);
    assert!(text.contains("isotropic") && text.contains("synthetic_vivaldi"), "{text}");
    assert!(cli::succeed(&["pattern", "show", "synthetic_vivaldi"]).contains("(synthetic)"));
    let shown = json(&["pattern", "show", "synthetic_vivaldi", "--json"]);
    assert_eq!(shown["synthetic"], true);
    assert!((shown["azimuth_half_power_width_deg"].as_f64().unwrap() - 95.0).abs() < 0.2);
    assert!((shown["boresight_gain_dbi"].as_f64().unwrap() - 8.0).abs() < 1e-9);
    let (_folder, path) = file("copy.csv", &cli::succeed(&["pattern", "show", "synthetic_vivaldi", "--csv"]));
    let path = path.to_str().unwrap();
    cli::succeed(&["pattern", "check", path]);
    assert_eq!(json(&["pattern", "show", path, "--json"]), shown);
}

#[test]
fn bad_patterns_are_refused_with_file_and_line() {
    let good = cli::succeed(&["pattern", "show", "isotropic", "--csv"]);
    let (_folder, path) = file("bad.csv", &good.replacen("0.0000", "", 1));
    let message = cli::fail(&["pattern", "check", "isotropic", path.to_str().unwrap()]);
    assert!(message.contains("bad.csv:5") && message.contains("gain_db"), "{message}");
    // What it holds decides, not its ending.
    let (_folder, path) = file("pattern.xyz", &good);
    cli::succeed(&["pattern", "check", path.to_str().unwrap()]);
    let (_folder, path) = file("pattern.xyz", "hello world\n");
    let message = cli::fail(&["pattern", "show", path.to_str().unwrap()]);
    assert!(message.contains("pattern.xyz") && message.contains("MSI"), "{message}");
    let output = cli::run(&["pattern", "check", path.to_str().unwrap(), "--json"]);
    let reports: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &reports[0]["ok"]), (Some(1), &Value::Bool(false)));
}
