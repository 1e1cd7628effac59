//! `magnetar recipe`, `generate`, `verify`, `merge` and `stats`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::cli;
use crate::folder::files;

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_recipe_is_shown_with_units_and_origins_and_reads_back() {
    let shown = json(&cli::succeed(&["recipe", "show", "--json", "--set", "link.reference_snr_db=40"]));
    let values = shown["values"].as_array().unwrap();
    let find = |key: &str| values.iter().find(|entry| entry["key"] == key).unwrap();
    assert_eq!(find("link.reference_snr_db")["origin"], "changed");
    assert_eq!(find("link.input_power_adjustment_db")["origin"], "paper");
    assert_eq!(find("devices.height_m")["origin"], "ours");
    assert_eq!(find("devices.height_m")["unit"], "m");
    assert!(cli::succeed(&["recipe", "show"]).contains("array.spacing_m = 0.026 m"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("whole.toml");
    fs::write(&path, cli::succeed(&["recipe", "show", "--toml"])).unwrap();
    let check = |recipe: &str| json(&cli::succeed(&["recipe", "check", "--json", recipe]))[0]["hash"].clone();
    assert_eq!(check(path.to_str().unwrap()), check("paper"));
}

#[test]
fn bad_requests_stop_before_any_work() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let out_text = out.to_str().unwrap();
    for (args, word) in [
        (vec!["--set", "splits.train.board=1000000000000000000"], "1000000000"),
        (vec!["--set", "board.width_max=1"], "board.width_max_m"),
        (vec!["--set", "splits.test.materials=[{wall=\"cheese\",ceiling=\"wood\",floor=\"wood\"}]"], "cheese"),
        (vec!["--recipe", "nowhere.toml"], "nowhere.toml"),
        (vec!["--csi", "f64"], "f32, f16, none"),
        (vec!["--shard-size", "0"], "from 1"),
        (vec!["--limit", "0"], "a limit of 0"),
        (vec!["--split", "tset"], "train, val, test, fusion"),
        (vec!["--part", "5/4"], "from 1 to N"),
        (vec!["--shards", "0..99999"], "0..80"),
    ] {
        let mut all = vec!["generate", "--out", out_text];
        all.extend(args);
        let error = cli::fail(&all);
        assert!(error.contains(word), "{all:?}: {error}");
        let parquet = out.exists() && files(&out).keys().any(|name| name.ends_with(".parquet"));
        assert!(!parquet, "{all:?}");
    }
    let error = cli::fail(&["generate", "--out", "/dev/null/x"]);
    assert!(error.contains("/dev/null/x"), "{error}");
    for command in ["verify", "stats"] {
        assert!(cli::fail(&[command, folder.path().to_str().unwrap()]).contains("no manifest.json"));
    }
}

#[test]
fn a_killed_run_is_finished_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, killed) = (folder.path().join("whole"), folder.path().join("killed"));
    let args = |out: &Path| {
        let out = out.to_str().unwrap().to_owned();
        ["generate", "--split", "train", "--limit", "6000", "--shard-size", "100", "--threads", "2", "--out"]
            .map(str::to_owned)
            .into_iter()
            .chain([out])
            .collect::<Vec<_>>()
    };
    let call = |args: &[String]| cli::succeed(&args.iter().map(String::as_str).collect::<Vec<_>>());
    call(&args(&whole));
    let again = args(&killed);
    for shards in [3, 20] {
        let mut child = cli::magnetar(&again.iter().map(String::as_str).collect::<Vec<_>>())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let made = || fs::read_dir(killed.join("train")).map_or(0, |entries| entries.count());
        while made() < shards && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(1));
        }
        let _ = child.kill();
        child.wait().unwrap();
    }
    call(&again);
    assert!(files(&killed) == files(&whole));
    let verified = json(&cli::succeed(&["verify", killed.to_str().unwrap(), "--json"]));
    assert_eq!(verified["valid"], true);
    let stats = json(&cli::succeed(&["stats", killed.to_str().unwrap(), "--json"]));
    assert_eq!((&stats[0]["board"]["rows"], &stats[0]["no_board"]["rows"]), (&3600.into(), &2400.into()));
}

#[test]
fn a_flipped_bit_fails_verification() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    cli::succeed(&["generate", "--limit", "20", "--split", "test,fusion", "--csi", "f16", "--out", out]);
    let valid = json(&cli::succeed(&["verify", out, "--json"]));
    assert_eq!(valid["verification"]["rows"], 120);
    let shard = folder.path().join("fusion/part-00000.parquet");
    let mut bytes = fs::read(&shard).unwrap();
    bytes[1000] ^= 4;
    fs::write(&shard, bytes).unwrap();
    let output = cli::run(&["verify", out]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("fusion/part-00000.parquet"));
}

/// A limit on the size of files stands in for a full disk: both fail in the middle of a write.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_stops_cleanly_and_the_run_can_be_finished() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let generate = ["generate", "--split", "val", "--limit", "1000", "--out", out.to_str().unwrap()];
    let script = "trap '' XFSZ; ulimit -f 1000; exec \"$0\" \"$@\"";
    let output =
        Command::new("bash").args(["-c", script, env!("CARGO_BIN_EXE_magnetar")]).args(generate).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("run the same command again"), "{error}");
    assert_eq!(fs::read_dir(out.join("val")).unwrap().count(), 0);
    cli::succeed(&generate);
    cli::succeed(&["verify", out.to_str().unwrap()]);
}

/// Peak resident memory of a run, kB.
#[cfg(target_os = "linux")]
fn peak_memory(rows: &str, out: &Path) -> u64 {
    let args = ["generate", "--split", "train", "--limit", rows, "--shard-size", "500", "--threads", "2", "--out"];
    let mut child = cli::magnetar(&args).arg(out).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let found = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
        peak = found.unwrap_or(0).max(peak);
        sleep(Duration::from_millis(2));
    }
    assert!(child.wait().unwrap().success());
    peak
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_rows() {
    let folder = tempfile::tempdir().unwrap();
    let small = peak_memory("4000", &folder.path().join("small"));
    let large = peak_memory("16000", &folder.path().join("large"));
    assert!(large < 400_000, "{large} kB");
    // A tenth, and 4 MB for the allocator's own mood, which matters where the whole is only some 50 MB.
    assert!(large < small * 11 / 10 + 4_000, "{small} kB for 4,000 rows, {large} kB for 16,000");
}

#[test]
fn parts_of_many_machines_become_one_dataset() {
    let folder = tempfile::tempdir().unwrap();
    let out = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let generate = |name: &str, more: &[&str]| {
        let folder = out(name);
        let mut args = vec!["generate", "--limit", "50", "--shard-size", "20", "--csi", "none", "--out", &folder];
        args.extend(more);
        cli::succeed(&args);
    };
    generate("whole", &[]);
    generate("b", &["--part", "2/2"]);
    generate("a", &["--part", "1/2"]);
    let merged = json(&cli::succeed(&["merge", &out("b"), &out("a"), "--out", &out("merged"), "--json"]));
    assert_eq!(merged["complete"], true);
    assert!(files(&folder.path().join("merged")) == files(&folder.path().join("whole")));
    assert!(cli::fail(&["generate", "--seed", "2", "--limit", "50", "--out", &out("whole")]).contains("seed: 2, 1"));
}

#[test]
fn a_part_without_shards_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("part");
    let what = ["generate", "--split", "test", "--limit", "50", "--shard-size", "20", "--csi", "none"];
    let output = cli::run(&[&what[..], &["--part", "1/100000", "--out", out.to_str().unwrap()]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("test: nothing in this part: the split has 3 shards"), "{said}");
}

/// Tasks of an array job make the parts of the whole, and a merge names those that are missing.
#[test]
fn parts_of_an_array_job_make_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let common = ["generate", "--split", "val", "--limit", "50", "--shard-size", "10", "--csi", "none"];
    let made = |more: &[&str], task: Option<(&str, &str)>| {
        let mut command = cli::magnetar(&[&common[..], more].concat());
        if let Some((id, count)) = task {
            let first = ("SLURM_ARRAY_TASK_MIN", "1");
            command.envs([("SLURM_ARRAY_TASK_ID", id), ("SLURM_ARRAY_TASK_COUNT", count), first]);
        }
        assert!(command.output().unwrap().status.success());
    };
    made(&["--out", &at("whole")], None);
    for id in ["1", "2", "3"] {
        made(&["--part", "auto", "--out", &at(id)], Some((id, "3")));
    }
    let error = cli::fail(&["merge", &at("1"), &at("3"), "--out", &at("merged"), "--complete"]);
    assert!(error.contains("split val, shards 1..3") && error.contains("--shards A..B"), "{error}");
    let merged = json(&cli::succeed(&["merge", &at("2"), "--out", &at("merged"), "--complete", "--json"]));
    assert_eq!((&merged["complete"], &merged["missing_shards"]), (&true.into(), &serde_json::json!({})));
    let bytes = |name: &str| fs::read(folder.path().join(name).join("manifest.json")).unwrap();
    assert_eq!(bytes("whole"), bytes("merged"));
}
