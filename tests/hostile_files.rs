//! Files that are damaged, endless or no files at all: each is a clear error, at once and in bounded memory.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::cli;

#[test]
fn a_number_beyond_any_count_in_a_manifest_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    cli::succeed(&["generate", "--split", "test", "--limit", "5", "--csi", "none", "--out", out]);
    let path = folder.path().join("manifest.json");
    let mut manifest: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    manifest["recipe"]["splits"]["test"]["no_board"] = u64::MAX.into();
    fs::write(&path, manifest.to_string()).unwrap();
    for command in ["verify", "stats"] {
        let error = cli::fail(&[command, out]);
        assert!(error.contains("manifest.json") && error.contains("out of range"), "{error}");
    }
}

/// A gzip file of a megabyte that unpacks to a JSON text of a gigabyte, one string in it.
fn endless_export(path: &Path) {
    let mut member = GzEncoder::new(Vec::new(), Compression::best());
    member.write_all(&vec![b'a'; 16 << 20]).unwrap();
    let member = member.finish().unwrap();
    let mut start = GzEncoder::new(Vec::new(), Compression::best());
    start.write_all(b"{\"schema\": \"sionna-box-v1\", \"note\": \"").unwrap();
    let mut file = fs::File::create(path).unwrap();
    file.write_all(&start.finish().unwrap()).unwrap();
    (0..64).for_each(|_| file.write_all(&member).unwrap());
}

#[cfg(target_os = "linux")]
#[test]
fn a_small_gzip_file_that_unpacks_to_a_gigabyte_is_refused_within_half_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cases.json.gz");
    endless_export(&path);
    assert!(fs::metadata(&path).unwrap().len() < 2 << 20);
    let script = "ulimit -v 524288; exec \"$0\" validate \"$1\"";
    let output = Command::new("bash").args(["-c", script, env!("CARGO_BIN_EXE_magnetar")]).arg(&path).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("cases.json.gz") && error.contains("bytes"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_pipe_that_nobody_writes_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("data");
    cli::succeed(&["generate", "--split", "test", "--limit", "2", "--out", out.to_str().unwrap()]);
    let pipe = |name: &str| {
        let path = folder.path().join(name);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        path.to_str().unwrap().to_owned()
    };
    let (plain, parquet, array, poses) = (pipe("scene.toml"), pipe("csi.parquet"), pipe("csi.npy"), pipe("poses.csv"));
    let (export, map) = (pipe("paths.npz"), pipe("map.yaml"));
    let estimates = folder.path().join("estimates.json");
    let observed = folder.path().join("observed.npy");
    let observed = observed.to_str().unwrap();
    cli::succeed(&["observe", "lab", "--tx", "0,0", "--rx", "1,-2", "--out", observed]);
    for args in [
        vec!["scene", "check", &plain],
        vec!["validate", &plain],
        vec!["recipe", "check", &plain],
        vec!["sweep", &plain, "--out", folder.path().to_str().unwrap()],
        vec!["validate", &export],
        vec!["scene", "from-map", &map, "--out", folder.path().join("room.toml").to_str().unwrap()],
        vec!["estimate", &parquet, "--out", estimates.to_str().unwrap()],
        vec!["estimate", &array, "--out", estimates.to_str().unwrap()],
        vec!["estimate", observed, "--calibration", &array, "--out", estimates.to_str().unwrap()],
        vec!["locate", "lab", &array, "--rx", "1,-2"],
        vec!["locate", "lab", observed, "--poses", &poses],
        vec!["evaluate", out.to_str().unwrap(), "--split", "test", "--parameters", &plain],
        vec!["evaluate", out.to_str().unwrap(), "--split", "test", "--scorer", &parquet],
    ] {
        let error = cli::fail(&args);
        assert!(error.contains("expected a regular file") || error.contains("not a regular file"), "{args:?}: {error}");
    }
}
