//! Datasets of older schemas stay readable; newer ones are refused by name.

use std::fs;
use std::path::Path;

use crate::cli;
use crate::folder::files;

fn schema_1(name: &str) -> String {
    format!("{}/../../tests/data/dataset_schema_1/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_reader_takes_a_dataset_of_schema_1() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("arrivals.csv");
    let features = folder.path().join("features");
    let (rows, observations) = (schema_1("rows"), schema_1("observations"));
    for args in [
        vec!["stats", &rows],
        vec!["stats", &observations],
        vec!["verify", &rows, "--sample", "16"],
        vec!["verify", &observations, "--sample", "3"],
        vec!["evaluate", &rows, "--split", "test", "--limit", "8"],
        vec!["posterior", &rows, "--split", "test", "--row", "3"],
        vec!["fuse", &rows, "--limit", "2"],
        vec!["features", &rows, "--split", "train", "--limit", "4", "--out", features.to_str().unwrap()],
        vec!["estimate", &format!("{observations}/val/part-00000.parquet"), "--out", table.to_str().unwrap()],
    ] {
        cli::succeed(&args);
    }
}

/// A dataset of three observations, to be changed.
fn copied_observations() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files(Path::new(&schema_1("observations"))) {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

/// Puts other keys in place of the manifest's schema version.
fn replace_version(folder: &Path, keys: &str) {
    let path = folder.join("manifest.json");
    let manifest = fs::read_to_string(&path).unwrap();
    assert!(manifest.contains("\"schema_version\": 1,"), "{manifest}");
    fs::write(path, manifest.replace("\"schema_version\": 1,", keys)).unwrap();
}

/// Rows of another generator version would be other rows: such a dataset is read, not finished.
#[test]
fn a_dataset_of_generator_version_1_is_checked_in_all_but_its_arithmetic() {
    let folder = copied_observations();
    let out = folder.path().to_str().unwrap();
    let note = cli::succeed(&["verify", out, "--sample", "5"]);
    assert!(note.contains("rows were not made again: generator version 1 made them"), "{note}");
    assert!(note.contains("valid; 3 rows") && note.contains(" 0 rows made again"), "{note}");
    let more = ["generate", "--limit", "5", "--csi", "f16", "--seed", "0", "--split", "val", "--out", out];
    let error = cli::fail(&more);
    assert!(error.contains("generator_version: 3, 1"), "{error}");
}

#[test]
fn a_dataset_of_schema_1_is_finished_with_its_own_columns() {
    let folder = copied_observations();
    // As if today's arithmetic had made its rows.
    let today = "\"schema_version\": 1, \"generator_version\": 3, \"processor_class\": \"ieee754\",";
    replace_version(folder.path(), today);
    let out = folder.path().to_str().unwrap();
    let rest = ["--csi", "f16", "--seed", "0", "--split", "val", "--out", out];
    cli::succeed(&[&["generate", "--limit", "5"], &rest[..]].concat());
    cli::succeed(&["verify", out, "--sample", "0"]);
    let manifest = fs::read_to_string(folder.path().join("manifest.json")).unwrap();
    assert!(manifest.contains("\"schema_version\": 1,"), "{manifest}");
}

#[test]
fn a_newer_major_schema_is_refused_with_what_to_do() {
    let folder = copied_observations();
    replace_version(folder.path(), "\"schema_version\": \"7.2\", \"unheard_of\": true,");
    for command in ["stats", "verify", "evaluate"] {
        let error = cli::fail(&[command, folder.path().to_str().unwrap()]);
        assert!(error.contains("schema version 7.2 cannot be read"), "{error}");
        assert!(error.contains("use the magnetar that made it"), "{error}");
    }
}
