//! `magnetar version`.

use crate::cli;

#[test]
fn version_is_json() {
    let out: serde_json::Value = serde_json::from_str(&cli::succeed(&["version"])).unwrap();
    assert_eq!(out["version"], env!("CARGO_PKG_VERSION"));
    let commit = out["commit"].as_str().unwrap();
    assert!(cli::succeed(&["--version"]).contains(commit), "{out}");
    assert!(out["features"].is_array());
}

#[test]
fn an_unknown_subcommand_is_refused() {
    assert!(cli::fail(&["frobnicate"]).contains("frobnicate"));
}
