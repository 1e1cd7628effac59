//! `magnetar replay`.

use crate::cli::{fail, succeed};

/// The track with one heading and one TX position a site: 4 x 25 rows.
const SMALL: [&str; 8] = [
    "--set",
    "replay.track_headings=1",
    "--set",
    "replay.track_samples=1",
    "--set",
    "splits.track.no_board=25",
    "--set",
    "splits.track.board=75",
];

#[test]
fn a_replay_is_labelled_counted_and_valid() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("track");
    let out = out.to_str().unwrap();
    let mut args = vec!["replay", "track", "--out", out, "--csi", "none", "--json"];
    args.extend(SMALL);
    let said: serde_json::Value = serde_json::from_str(&succeed(&args)).unwrap();
    assert_eq!(said["splits"]["track"], 100);
    assert!(said["stand_in"].as_str().unwrap().contains("Simulated stand-in"));
    let card = std::fs::read_to_string(format!("{out}/README.md")).unwrap();
    assert!(card.contains("Simulated stand-in") && card.contains("`command`"), "{card}");
    assert!(succeed(&["verify", out]).contains("valid"));
    // Again: everything is there.
    let again: serde_json::Value = serde_json::from_str(&succeed(&args)).unwrap();
    assert_eq!(again["rows_made"], 0);
}

#[test]
fn wrong_replays_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("x");
    let out = out.to_str().unwrap();
    assert!(fail(&["replay", "circle", "--out", out]).contains("full-rotation"));
    assert!(fail(&["replay", "track", "--out", out, "--recipe", "paper"]).contains("[replay]"));
    assert!(fail(&["replay", "track", "--out", out, "--set", "replay.track_samples=3"]).contains("no_board"));
    assert!(!folder.path().join("x").exists());
}
