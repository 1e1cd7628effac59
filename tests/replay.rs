//! `magnetar replay`.

use crate::cli::{fail, succeed};

/// The track with one heading and one TX position a site: 4 x 25 rows.
const SMALL: [&str; 10] = [
    "--set",
    "replay.track_headings=1",
    "--set",
    "replay.track_headings_no_board=[1]",
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
    // Labelled wherever its numbers appear, and balanced as the paper does.
    assert!(succeed(&["stats", out]).contains("Simulated stand-in"));
    let page = folder.path().join("page.html");
    succeed(&["report", out, "--no-posterior", "--rows", "60", "--out", page.to_str().unwrap()]);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(
        page.contains("Simulated stand-in") && page.contains("spread evenly") && !page.contains("independent draws")
    );
    let scored = ["evaluate", out, "--headings", "6", "--rows", "9", "--columns", "9", "--limit", "60"];
    let text = succeed(&scored);
    assert!(text.contains("Simulated stand-in") && text.contains("board placement, then protocol, then RX site"));
    let scored: serde_json::Value = serde_json::from_str(&succeed(&[&scored[..], &["--json"]].concat())).unwrap();
    assert_eq!(scored["split"], "track");
    let twin = &scored["twin"];
    // A limit meets every placement, and placements weigh equally whatever the limit took of each.
    let nll = |name: &str| twin["placement"][name]["nll"].as_f64().unwrap();
    let board = (nll("left") + nll("middle") + nll("right")) / 3.0;
    assert!((twin["board"]["nll"].as_f64().unwrap() - board).abs() < 1e-9);
    assert!((twin["nll"].as_f64().unwrap() - (board + nll("none")) / 2.0).abs() < 1e-9);
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
