//! What every subcommand does alike: standard output that cannot be written, JSON, files that are no files.

use std::fs::OpenOptions;

use crate::cli;

#[test]
#[cfg(target_os = "linux")]
fn a_full_standard_output_is_an_error_and_no_panic() {
    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    for args in [vec!["version"], vec!["recipe", "show"], vec!["trace", "lab", "--tx", "0,0,1", "--rx", "1,1,1"]] {
        let output = cli::magnetar(&args).stdout(full()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.starts_with("error: standard output: No space left"), "{stderr}");
    }
    // Nothing can be reported, but the exit code says it.
    let status =
        cli::magnetar(&["trace", "nowhere", "--tx", "0,0,1", "--rx", "1,1,1"]).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn a_dry_run_tells_json() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let out = out.to_str().unwrap();
    let json = |args: &[&str]| serde_json::from_str::<serde_json::Value>(&cli::succeed(args)).unwrap();
    let shown = json(&["generate", "--limit", "3", "--out", out, "--dry-run", "--json"]);
    assert_eq!((&shown["rows_to_make"], &shown["splits"]["fusion"]), (&24.into(), &15.into()));
    let shown = json(&["sweep", "rf_chain", "--dry-run", "--json"]);
    assert_eq!(shown["points"].as_array().unwrap().len(), 20);
}

#[test]
#[cfg(unix)]
fn a_device_is_not_replaced_by_the_result() {
    let folder = tempfile::tempdir().unwrap();
    // A link stands in for the device itself: these tests may run as root.
    let out = folder.path().join("null.npy");
    std::os::unix::fs::symlink("/dev/null", &out).unwrap();
    let error = cli::fail(&["observe", "lab", "--tx", "0,0,1", "--rx", "1,1,1", "--out", out.to_str().unwrap()]);
    assert!(error.contains("null.npy") && error.contains("give a regular file"), "{error}");
    assert!(std::fs::symlink_metadata(&out).unwrap().is_symlink());
}

#[test]
fn too_many_threads_are_refused_before_any_work() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    for command in [vec!["generate"], vec!["replay", "track"], vec!["sweep", "rf_chain"]] {
        let args = [command, vec!["--threads", "1000000000", "--out", out.to_str().unwrap()]].concat();
        assert!(cli::fail(&args).contains("number of threads"));
    }
    assert!(!out.exists());
}

#[test]
fn nothing_to_score_is_told_before_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    cli::succeed(&["generate", "--split", "test", "--limit", "1", "--csi", "none", "--out", out]);
    let output = cli::run(&["evaluate", out, "--limit", "0"]);
    assert!(output.stdout.is_empty() && String::from_utf8_lossy(&output.stderr).contains("no row to score"));
}
