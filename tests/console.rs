//! What every subcommand does alike: standard output that cannot be written, JSON, files that are no files.

use std::fs::OpenOptions;
#[cfg(unix)]
use std::io::{BufRead, BufReader, Read};
#[cfg(unix)]
use std::path::Path;
#[cfg(unix)]
use std::process::{Command, Stdio};

use crate::cli;
use crate::folder::files;

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
    let shown = json(&["generate", "--split", "test", "--out", out, "--dry-run", "--nodes", "5", "--json"]);
    let share = shown["seconds_on_nodes"].as_f64().unwrap() / shown["seconds"].as_f64().unwrap();
    assert!(shown["nodes"] == 5 && (share - 0.2).abs() < 1e-6, "{shown}");
    assert!(cli::fail(&["generate", "--nodes", "5"]).contains("--dry-run"));
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

#[test]
fn every_kind_of_shipped_thing_is_listed_shown_and_checked() {
    for (kind, name) in [
        ("scene", "lab"),
        ("material", "glass"),
        ("pattern", "isotropic"),
        ("recipe", "field"),
        ("sweep", "board"),
        ("scorer", "twin"),
    ] {
        assert!(cli::succeed(&[kind, "list"]).contains(name), "{kind}");
        let listed: serde_json::Value = serde_json::from_str(&cli::succeed(&[kind, "list", "--json"])).unwrap();
        let listed = if kind == "scorer" { &listed["scorers"] } else { &listed };
        assert!(listed.as_array().unwrap().iter().any(|item| item["name"] == name || item == name), "{kind}: {listed}");
        assert!(!cli::succeed(&[kind, "show", name]).is_empty(), "{kind}");
        let checked = cli::succeed(&[kind, "check", name]);
        assert!(checked.contains(name), "{kind}: {checked}");
        assert!(cli::fail(&[kind, "check", "nowhere.toml"]).contains("nowhere.toml"), "{kind}");
    }
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let script = cli::succeed(&["completions", shell]);
        assert!(["generate", "locate", "carrier-ghz"].iter().all(|word| script.contains(word)), "{shell}");
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("man");
    cli::succeed(&["man", "--out", out.to_str().unwrap()]);
    let page = std::fs::read_to_string(out.join("magnetar-scene-show.1")).unwrap();
    assert!(page.starts_with(".") && page.contains("toml"), "{page}");
    assert!(cli::succeed(&["man"]).contains("generate"));
}

#[test]
fn quiet_and_progress_are_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    let stderr = |name: &str, more: &[&str]| {
        let out = folder.path().join(name);
        let args = ["generate", "--split", "val", "--limit", "40", "--csi", "none", "--out", out.to_str().unwrap()];
        let output = cli::run(&[&args[..], more].concat());
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    // Not a terminal: notes, and no bar.
    let plain = stderr("plain", &[]);
    assert!(plain.contains("rows to make") && !plain.contains("rows/s"), "{plain}");
    assert_eq!(stderr("quiet", &["--quiet"]), "");
    assert!(stderr("verbose", &["-v"]).contains("took "));
    let json = stderr("json", &["-q", "--progress", "json"]);
    let mut counted = json.lines().filter(|line| line.contains("\"unit\""));
    let last: serde_json::Value = serde_json::from_str(counted.next_back().unwrap()).unwrap();
    assert_eq!((&last["done"], &last["total"], &last["unit"]), (&40.into(), &40.into(), &"rows".into()), "{json}");
}

#[test]
fn the_doctor_measures_the_machine() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().to_str().unwrap();
    let report: serde_json::Value = serde_json::from_str(&cli::succeed(&["doctor", "--dir", here, "--json"])).unwrap();
    assert!(
        report["rows_per_second"].as_f64().unwrap() > 0.0 && report["disk_bytes_per_second"].as_f64().unwrap() > 0.0
    );
    assert!(report["threads"].as_u64().unwrap() > 0);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    assert!(cli::fail(&["doctor", "--dir", "/nowhere/at/all"]).contains("--dir"));
}

/// Runs a command in a folder, interrupts it once its work has begun, and returns what it said.
#[cfg(unix)]
fn interrupted(folder: &Path, command: &str) -> String {
    let args = shlex::split(command).unwrap();
    let args: Vec<&str> = args.iter().map(String::as_str).chain(["--progress", "json"]).collect();
    let mut child =
        cli::magnetar(&args).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    // Whoever shows progress listens for interruptions.
    while !said.lines().last().is_some_and(|line| line.starts_with('{')) {
        assert!(stderr.read_line(&mut said).unwrap() > 0, "magnetar {command} ended first: {said}");
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    stderr.read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "magnetar {command}: {said}");
    said
}

#[test]
#[cfg(unix)]
fn an_interrupted_command_says_what_the_same_command_will_do() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let made = cli::magnetar(&["generate", "--limit", "1500", "--out", "data"]).current_dir(here).output().unwrap();
    assert!(made.status.success());
    let goes_on = [
        "generate --out corpus",
        "replay all --out replayed",
        "sweep sensitivity --out sweep",
        "fit data --out mine.toml",
        "train np1 --preset cpu --out np1.safetensors",
    ];
    let starts_anew = [
        "evaluate data",
        "fuse data",
        "ablation data",
        "audit data",
        "posterior data --all --out volumes.npy",
        "features data --dense --out features",
        "verify data --sample 1000",
        "merge data --out merged",
        "report data --limit 1500",
        "plot cone data --limit 1500 -o cone.svg",
        "observe lab --tx 0,0 --rx 1,1 --count 100000 --out many.npy",
    ];
    for command in goes_on {
        let said = interrupted(here, command);
        assert!(said.contains("the same command goes on"), "magnetar {command}: {said}");
    }
    for command in starts_anew {
        let said = interrupted(here, command);
        assert!(said.contains("the same command starts from the beginning"), "magnetar {command}: {said}");
    }
    for unfinished in ["mine.toml", "np1.safetensors", "volumes.npy", "features", "report.html", "cone.svg", "many.npy"]
    {
        assert!(!here.join(unfinished).exists(), "{unfinished} is there, and not finished");
    }
}

#[test]
fn few_rows_are_shared_among_the_parts() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &str| {
        let args = shlex::split(args).unwrap();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = cli::magnetar(&args).current_dir(folder.path()).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    for part in 1..=4 {
        let made = run(&format!("generate --limit 40 --csi none --part {part}/4 --out part{part} --json"));
        let made: serde_json::Value = serde_json::from_str(&made).unwrap();
        for (split, rows) in [("train", 10), ("val", 10), ("test", 10), ("fusion", 50)] {
            assert_eq!(made["splits"][split]["rows"], rows, "part {part}, {split}");
        }
    }
    run("merge part1 part2 part3 part4 --out whole");
    run("generate --limit 40 --csi none --shard-size 10 --out one");
    let (whole, one) = (files(&folder.path().join("whole")), files(&folder.path().join("one")));
    assert!(whole == one, "the parts together are what one run makes");
}
