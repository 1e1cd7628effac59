//! Every kind of writing, stopped or failed at every change of the file system it makes. Commands that write one file in
//! one call (`fit`, `plot`, `report`, `view --out`) are those that `estimate` and `posterior` stand for.
//!
//! After each fault the older or the newer state is whole; the same command, run again, gives the bytes of a run without
//! faults and leaves nothing else. `MAGNETAR_FAULTS=full` goes through every operation with every fault; without it each
//! scenario is struck at some two dozen places. The counts are printed (`--nocapture`).

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::folder::files;

/// How many faults of a kind strike a scenario without `MAGNETAR_FAULTS=full`.
const STRIKES: usize = 8;

/// A fault that lasts is a disk that stays full, or one that is gone.
const KINDS: [(&str, &str); 5] = [("kill", ""), ("eio", ""), ("enospc", ""), ("eio", "+"), ("enospc", "+")];

type Files = BTreeMap<String, Vec<u8>>;

/// Whether what a fault left is whole, given the files before and after an undisturbed run.
type Whole = fn(&Path, &Files, &Files) -> Result<(), String>;

struct Scenario {
    name: &'static str,
    /// What is run first, each in the scenario's folder.
    before: Vec<String>,
    /// The command that is struck.
    command: String,
    whole: Whole,
}

fn start(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_magnetar"));
    command.args(line.split_whitespace()).current_dir(folder).env("RAYON_NUM_THREADS", "1");
    command
}

fn succeed(folder: &Path, line: &str) {
    let output = start(folder, line).output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).unwrap();
    for (name, bytes) in files(from) {
        let path = to.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// Of a dataset `out`: it verifies as far as it goes, and no row that was there is gone.
fn dataset(folder: &Path, before: &Files, _: &Files) -> Result<(), String> {
    if !folder.join("out/manifest.json").exists() {
        return if before.contains_key("out/manifest.json") { Err("the manifest is gone".into()) } else { Ok(()) };
    }
    let output = start(folder, "verify out --partial --json --sample 3 --seed 1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        return Err(text + &String::from_utf8_lossy(&output.stderr));
    }
    let rows = |manifest: &[u8]| -> u64 {
        let manifest: serde_json::Value = serde_json::from_slice(manifest).unwrap();
        let shards = manifest["splits"]["train"]["shards"].as_array().unwrap();
        shards.iter().map(|shard| shard["rows"].as_u64().unwrap()).sum()
    };
    let had = before.get("out/manifest.json").map_or(0, |manifest| rows(manifest));
    let has = rows(&fs::read(folder.join("out/manifest.json")).unwrap());
    if has < had { Err(format!("{has} rows of {had}")) } else { Ok(()) }
}

/// Of a finished sweep that is extended: it verifies.
fn sweep(folder: &Path, _: &Files, _: &Files) -> Result<(), String> {
    let output = start(folder, "verify out --json --sample 3 --seed 1").output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&said).into_owned()) }
}

/// Of files that are replaced together: all are the older or all the newer ones.
fn old_or_new(folder: &Path, before: &Files, after: &Files) -> Result<(), String> {
    let mut found = files(folder);
    found.retain(|name, _| !name.contains(".magnetar-"));
    if found == *before || found == *after { Ok(()) } else { Err(format!("torn: {:?}", found.keys())) }
}

fn scenarios(folder: &Path) -> Vec<Scenario> {
    let small = "--split train --shard-size 10 --csi none --threads 1 --out";
    let generate = |out: &str, more: &str| format!("generate {small} {out} {more}");
    let sweep_file = |values: &str| {
        format!(
            "name = \"snr\"\ndescription = \"\"\nsplit = \"test\"\nrows = 6\n[[axis]]\nkey = \"link.reference_snr_db\"\n\
             values = [{values}]\n"
        )
    };
    fs::write(folder.join("short.toml"), sweep_file("30")).unwrap();
    fs::write(folder.join("long.toml"), sweep_file("30, 50")).unwrap();
    let own = |name, before: Vec<String>, command: String, whole| Scenario { name, before, command, whole };
    let support = "--split train --headings 6 --rows 9 --columns 9";
    vec![
        own("generate", vec![], generate("out", "--limit 25"), dataset),
        own("extend", vec![generate("out", "--limit 25")], generate("out", "--limit 47"), dataset),
        own(
            "merge",
            vec![
                generate("a", "--limit 45 --part 1/3"),
                generate("b", "--limit 45 --part 2/3"),
                generate("c", "--limit 45 --part 3/3"),
                "merge a --out out".into(),
            ],
            "merge b c --out out".into(),
            dataset,
        ),
        own("merge anew", vec![generate("a", "--limit 25")], "merge a --out out".into(), dataset),
        own(
            "sweep",
            vec!["sweep short.toml --threads 1 --out out".into()],
            "sweep long.toml --threads 1 --out out".into(),
            sweep,
        ),
        own(
            "features",
            vec![generate("d", "--limit 6"), format!("features d {support} --limit 3 --out out")],
            format!("features d {support} --limit 5 --out out"),
            old_or_new,
        ),
        own(
            "features anew",
            vec![generate("d", "--limit 6")],
            format!("features d {support} --limit 5 --out deep/out"),
            old_or_new,
        ),
        own(
            "posterior",
            vec![generate("d", "--limit 6"), "posterior d --split train --all --limit 3 --out p.parquet".into()],
            "posterior d --split train --all --limit 5 --out p.parquet".into(),
            old_or_new,
        ),
        own(
            "estimate",
            vec![
                "observe lab --tx 0,0 --rx 1,-2 --count 4 --seed 1 --out obs.npy".into(),
                "estimate obs.npy --out est.csv".into(),
            ],
            "estimate obs.npy --all --out est.csv".into(),
            old_or_new,
        ),
    ]
}

/// The operations to strike: all, or some spread over all.
fn places(operations: usize) -> Vec<usize> {
    let full = std::env::var("MAGNETAR_FAULTS").is_ok_and(|value| value == "full");
    let step = if full { 1 } else { operations.div_ceil(STRIKES).max(1) };
    let mut places: Vec<usize> = (1..=operations).step_by(step).collect();
    if places.last() != Some(&operations) {
        places.push(operations);
    }
    places
}

#[derive(Default)]
struct Counts {
    kills: usize,
    failures: usize,
}

/// A struck command ends as the fault says: killed, or with a message and no panic.
fn check_end(kind: &str, output: &Output) -> Result<(), String> {
    let error = String::from_utf8_lossy(&output.stderr);
    match (kind, output.status.code()) {
        ("kill", None) if output.status.signal().is_some() => Ok(()),
        // What only cleans up may fail without harm.
        (_, Some(0)) if kind != "kill" => Ok(()),
        (_, Some(1)) if kind != "kill" && !error.contains("panicked") => Ok(()),
        _ => Err(format!("{:?}: {error}", output.status)),
    }
}

fn strike_everywhere(scenario: &Scenario, base: &Path, counts: &mut Counts) -> Vec<String> {
    let work = tempfile::tempdir().unwrap();
    let (work, log) = (work.path().join("work"), work.path().join("log"));
    for line in &scenario.before {
        succeed(base, line);
    }
    let before = files(base);
    copy(base, &work);
    let output = start(&work, &scenario.command).env("MAGNETAR_FAULT_LOG", &log).output().unwrap();
    assert!(output.status.success(), "{}: {}", scenario.name, String::from_utf8_lossy(&output.stderr));
    let after = files(&work);
    let operations = fs::read_to_string(&log).unwrap();
    let mut problems = Vec::new();
    for (kind, lasting) in KINDS {
        for place in places(operations.lines().count()) {
            copy(base, &work);
            let fault = format!("{kind}:{place}{lasting}");
            let struck = start(&work, &scenario.command).env("MAGNETAR_FAULT", &fault).output().unwrap();
            *(if kind == "kill" { &mut counts.kills } else { &mut counts.failures }) += 1;
            let check = || -> Result<(), String> {
                check_end(kind, &struck)?;
                (scenario.whole)(&work, &before, &after)?;
                let again = start(&work, &scenario.command).output().unwrap();
                let found = files(&work);
                if !again.status.success() {
                    Err(format!("run again: {}", String::from_utf8_lossy(&again.stderr)))
                } else if found == after {
                    Ok(())
                } else {
                    Err(format!("run again: {:?}, expected {:?}", found.keys(), after.keys()))
                }
            };
            if let Err(problem) = check() {
                let operation = operations.lines().nth(place - 1).unwrap_or_default();
                problems.push(format!("{} {fault} at [{operation}]: {problem}", scenario.name));
            }
        }
    }
    println!("{:<14} {:>4} operations", scenario.name, operations.lines().count());
    problems
}

#[test]
fn no_fault_tears_loses_or_leaves_anything() {
    let shared = tempfile::tempdir().unwrap();
    let mut counts = Counts::default();
    let mut problems = Vec::new();
    for scenario in scenarios(shared.path()) {
        let base = tempfile::tempdir().unwrap();
        copy(shared.path(), base.path());
        problems.extend(strike_everywhere(&scenario, base.path(), &mut counts));
    }
    println!("{} kills, {} injected failures, {} problems", counts.kills, counts.failures, problems.len());
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}
