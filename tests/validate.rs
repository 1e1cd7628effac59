//! `magnetar validate`.

use std::io::Read;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::cli::{self, text};

const PUBLIC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/sionna_public_cases.json.gz");

fn public_json() -> Value {
    let mut text = String::new();
    let file = std::fs::File::open(PUBLIC).unwrap();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn write(folder: &tempfile::TempDir, name: &str, document: &Value) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, document.to_string()).unwrap();
    path
}

/// Runs `validate` and expects exit code 1; returns standard output and standard error.
fn refused(args: &[&str]) -> (String, String) {
    let output = cli::run(&[&["validate"], args].concat());
    let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert_eq!(output.status.code(), Some(1), "{stdout} {stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    (stdout, stderr)
}

#[test]
fn the_public_cases_pass() {
    let out = cli::succeed(&["validate", PUBLIC]);
    assert!(out.contains("60 cases, 376 paths, 0 missing, 0 extra: ok"), "{out}");
    for word in ["coefficient", "delay", "angle", "vertex", "median", "case pub"] {
        assert!(out.contains(word), "no {word} in {out}");
    }

    let report: Value = serde_json::from_str(&cli::succeed(&["validate", "--json", PUBLIC])).unwrap();
    assert_eq!(report["cases"], 60);
    assert_eq!(report["paths"], 376);
    assert_eq!(report["missing_paths"], 0);
    assert_eq!(report["extra_paths"], 0);
    assert_eq!(report["ok"], true);
    for (key, most) in [("coefficient", 1e-4), ("delay", 1e-6), ("angle", 1e-4), ("vertex", 2e-4)] {
        let max = report[format!("max_{key}_error")].as_f64().unwrap();
        let median = report[format!("median_{key}_error")].as_f64().unwrap();
        assert!(0.0 < median && median < max && max <= most, "{key}: {median} {max}");
    }
}

/// Orders two and three and waves through boards, with what is left out and why.
#[test]
fn the_public_cases_of_higher_orders_pass() {
    let public = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/sionna_public_cases_v2.json.gz");
    let report: Value = serde_json::from_str(&cli::succeed(&["validate", "--json", public])).unwrap();
    assert_eq!((&report["cases"], &report["paths"], &report["ok"]), (&json!(60), &json!(2022), &json!(true)));
    assert_eq!((&report["missing_paths"], &report["extra_paths"]), (&json!(0), &json!(0)));
    assert!(report["p99_coefficient_error"].as_f64().unwrap() <= 1e-4, "{}", report["p99_coefficient_error"]);
    assert!(report["max_coefficient_error"].as_f64().unwrap() <= 2e-3, "{}", report["max_coefficient_error"]);
    let listed = |key: &str| report[key].as_array().unwrap().len() as u64;
    assert_eq!(report["ambiguous_paths"].as_u64().unwrap(), listed("ambiguous"));
    assert_eq!(report["left_out_paths"].as_u64().unwrap(), listed("left_out"));
    assert!(listed("ambiguous") > 0 && listed("left_out") > 0);
    assert!(report["left_out"].as_array().unwrap().iter().all(|path| path["reason"].is_string()));
    let by_reason = report["left_out_reasons"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum::<u64>();
    assert_eq!(by_reason, listed("left_out"));
}

#[test]
fn a_changed_coefficient_fails_and_names_the_case() {
    let folder = tempfile::tempdir().unwrap();
    let mut document = public_json();
    let part = document["cases"][7]["paths"][0]["a"][1].as_f64().unwrap();
    document["cases"][7]["paths"][0]["a"][1] = json!(part + 1e-6);
    let id = document["cases"][7]["id"].as_str().unwrap().to_owned();
    let file = write(&folder, "changed.json", &document);

    let (out, _) = refused(&[text(&file)]);
    assert!(out.contains("NOT OK") && out.contains(&format!("outside tolerance: case {id}")), "{out}");
    let (out, _) = refused(&["--json", text(&file)]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["ok"], false);
    assert_eq!(report["outside_tolerance"][0]["case"], id);
    assert_eq!(report["worst"]["coefficient"]["case"], id);
}

#[test]
fn plain_arrays_of_paths_are_validated_too() {
    let data = |name: &str| format!("{}/../../tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let (opaque, through) = (data("sionna_paths_opaque.npz"), data("sionna_paths_through.npz"));
    let report: Value = serde_json::from_str(&cli::succeed(&["validate", "--json", &opaque, &through])).unwrap();
    assert_eq!((&report["cases"], &report["paths"], &report["ok"]), (&json!(2), &json!(42), &json!(true)));
    assert_eq!((&report["missing_paths"], &report["files"][0]["paths"]), (&json!(0), &json!(24)));
    let folder = tempfile::tempdir().unwrap();
    let cut = folder.path().join("cut.npz");
    std::fs::write(&cut, &std::fs::read(&opaque).unwrap()[..3000]).unwrap();
    let (_, error) = refused(&[text(&cut)]);
    assert!(error.contains("cut.npz: the zip archive is damaged"), "{error}");
}

/// About one in a hundred of Sionna RT's own coefficients is beyond 1e-4: of a few dozen, one or two are no failure.
#[test]
fn a_few_paths_are_judged_as_a_few() {
    let folder = tempfile::tempdir().unwrap();
    let public = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/sionna_public_cases_v2.json.gz");
    let mut document: Value =
        serde_json::from_reader(flate2::read::GzDecoder::new(std::fs::File::open(public).unwrap())).unwrap();
    document["cases"] = document["cases"].as_array().unwrap()[..2].to_vec().into();
    let free_space = |path: &Value| 0.03 / (4.0 * std::f64::consts::PI * 3e8 * path["tau"].as_f64().unwrap());
    // Paths of two cases, some moved by 2e-4 of free space.
    let validated = |moved: usize| {
        let mut document = document.clone();
        let paths = document["cases"][0]["paths"].as_array_mut().unwrap();
        for path in &mut paths[..moved] {
            path["a"][0] = json!(path["a"][0].as_f64().unwrap() + 2e-4 * free_space(path));
        }
        let file = write(&folder, "few.json", &document);
        let output = cli::run(&["validate", "--json", text(&file)]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(report["coefficients_beyond_1e-4"].as_u64().unwrap() >= moved as u64);
        (report["ok"].as_bool().unwrap(), report["most_coefficients_beyond_1e-4"].as_u64().unwrap())
    };
    let (ok, most) = validated(0);
    assert!(ok && (1..=4).contains(&most), "{most}");
    assert!(validated(1).0);
    assert!(!validated(6).0);
}

#[test]
fn path_sets_must_be_identical() {
    let folder = tempfile::tempdir().unwrap();
    let mut fewer = public_json();
    let removed = fewer["cases"][3]["paths"].as_array_mut().unwrap().pop().unwrap();
    let id = fewer["cases"][3]["id"].as_str().unwrap().to_owned();
    let (out, _) = refused(&[text(&write(&folder, "fewer.json", &fewer))]);
    assert!(out.contains("0 missing, 1 extra"), "{out}");
    assert!(out.contains(&format!("case {id} {}", removed["object"].as_str().unwrap())), "{out}");

    // Without its board, a case has none of the board's reflections.
    let mut more = public_json();
    let cases = more["cases"].as_array_mut().unwrap();
    cases.retain(|case| case["paths"].as_array().unwrap().iter().any(|path| path["object"] == "board:-y"));
    cases.truncate(1);
    let board = cases[0]["board"].take();
    let glass = cases[0]["materials"]["board"].clone();
    let mut moved = json!({ "size": board["size"], "yaw_deg": 0, "material": glass });
    let [x, y] = [0, 2].map(|i| cases[0]["room"][i].as_f64().unwrap());
    moved["center"] = json!([x - 5.0, y - 5.0, 1.0]);
    cases[0]["boxes"] = json!([moved]);
    for path in cases[0]["paths"].as_array_mut().unwrap() {
        path["object"] = json!(path["object"].as_str().unwrap().replace("board:", "box0:"));
    }
    let (out, _) = refused(&["--json", text(&write(&folder, "more.json", &more))]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert!(report["missing"].as_array().unwrap().iter().any(|path| path["object"] == "box0:-y"), "{report}");
    assert_eq!(report["missing_paths"], report["missing"].as_array().unwrap().len());
}

#[test]
fn several_files_are_summed_and_one_bad_file_does_not_hide_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let report = cli::succeed(&["validate", "--json", PUBLIC, PUBLIC]);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["cases"], 120);
    assert_eq!(report["files"].as_array().unwrap().len(), 2);
    assert_eq!(report["files"][1]["paths"], 376);

    let bad = folder.path().join("bad.json.gz");
    let packed = std::fs::read(PUBLIC).unwrap();
    std::fs::write(&bad, &packed[..packed.len() / 2]).unwrap();
    let (out, err) = refused(&["--json", text(&bad), PUBLIC]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&report["ok"], &report["cases"]), (&json!(false), &json!(60)));
    assert_eq!((&report["files"][0]["ok"], &report["files"][1]["ok"]), (&json!(false), &json!(true)));
    assert!(err.contains("bad.json.gz") && err.contains("cut off"), "{err}");
}

#[test]
fn unreadable_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let absent = folder.path().join("absent.json");
    for (file, reason) in [(text(&absent), "cannot be read"), (text(folder.path()), "cannot be read")] {
        let (_, err) = refused(&[file]);
        assert!(err.contains(file) && err.contains(reason), "{err}");
    }
    let mut document = public_json();
    document["cases"][2]["paths"][1]["tau"] = json!("soon");
    let id = document["cases"][2]["id"].as_str().unwrap().to_owned();
    let (_, err) = refused(&[text(&write(&folder, "typed.json", &document))]);
    for part in ["typed.json", &id, "cases[2].paths[1].tau", "line 1 column"] {
        assert!(err.contains(part), "no {part} in {err}");
    }
    assert!(cli::fail(&["validate"]).contains("FILE"));
}

#[test]
fn unknown_keys_at_the_top_only_warn() {
    let folder = tempfile::tempdir().unwrap();
    let mut document = public_json();
    document["generator"] = json!("ours");
    let file = write(&folder, "noted.json", &document);
    let output = cli::run(&["validate", text(&file)]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("warning: "));
}
