//! `magnetar version`.

use crate::cli;

#[test]
fn version_is_json() {
    let out: serde_json::Value = serde_json::from_str(&cli::succeed(&["version"])).unwrap();
    assert_eq!(out["version"], env!("CARGO_PKG_VERSION"));
    let commit = out["commit"].as_str().unwrap();
    let long = cli::succeed(&["--version"]);
    assert!(long.contains(commit), "{long}");
    let features = out["features"].as_array().unwrap();
    assert!(features.iter().all(|name| long.contains(name.as_str().unwrap())), "{long}");
    assert_eq!(features.iter().any(|name| name == "cuda"), cfg!(feature = "cuda"));
}

#[test]
fn an_unknown_subcommand_is_refused() {
    assert!(cli::fail(&["frobnicate"]).contains("frobnicate"));
}
