//! Every command that writes, stopped or failed at the changes of the file system it makes.
//!
//! After each fault the older or the newer state is whole; the same command, run again, gives the bytes of a run without
//! faults and leaves nothing else. `MAGNETAR_FAULTS=full` goes through every operation with every fault, in several
//! sizes; without it each scenario is struck at some places. The counts are printed (`--nocapture`) as the table of
//! docs/reliability.md.

mod scenarios;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use self::scenarios::{Scenario, scenarios};
use crate::folder::files;

/// About how many faults of a kind strike a scenario without `MAGNETAR_FAULTS=full`.
const STRIKES: usize = 5;

/// With `MAGNETAR_FAULTS=full`, how many times as much is written in each pass.
const SIZES: [u64; 2] = [1, 3];

/// A fault that lasts is a disk that stays full, or one that is gone.
const KINDS: [(&str, &str); 5] = [("kill", ""), ("eio", ""), ("enospc", ""), ("eio", "+"), ("enospc", "+")];

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

fn is_full() -> bool {
    std::env::var("MAGNETAR_FAULTS").is_ok_and(|value| value == "full")
}

/// The operations to strike: all, or some spread over all.
fn places(operations: usize) -> Vec<usize> {
    let step = if is_full() { 1 } else { operations.div_ceil(STRIKES).max(1) };
    let mut places: Vec<usize> = (1..=operations).step_by(step).collect();
    if places.last() != Some(&operations) {
        places.push(operations);
    }
    places
}

/// What was done to a command, and what came of it.
#[derive(Default)]
struct Outcome {
    operations: usize,
    kills: usize,
    failures: usize,
    problems: Vec<String>,
}

impl Outcome {
    fn add(&mut self, other: &Self) {
        self.operations += other.operations;
        self.kills += other.kills;
        self.failures += other.failures;
        self.problems.extend_from_slice(&other.problems);
    }

    fn print(&self, name: &str) {
        let Self { operations, kills, failures, problems } = self;
        println!("| {name} | {operations} | {kills} | {failures} | {} |", problems.len());
    }
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

fn strike_everywhere(scenario: &Scenario, base: &Path) -> Outcome {
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
    assert!(before != after, "{}: changes nothing", scenario.name);
    let log = fs::read_to_string(&log).unwrap();
    let mut outcome = Outcome { operations: log.lines().count(), ..Outcome::default() };
    for (kind, lasting) in KINDS {
        for place in places(outcome.operations) {
            copy(base, &work);
            let fault = format!("{kind}:{place}{lasting}");
            let struck = start(&work, &scenario.command).env("MAGNETAR_FAULT", &fault).output().unwrap();
            *(if kind == "kill" { &mut outcome.kills } else { &mut outcome.failures }) += 1;
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
                let operation = log.lines().nth(place - 1).unwrap_or_default();
                outcome.problems.push(format!("{} {fault} at [{operation}]: {problem}", scenario.name));
            }
        }
    }
    outcome
}

/// Strikes all scenarios, as many at a time as there are processors; outcomes are in the order of the scenarios.
fn strike_all(size: u64) -> Vec<(&'static str, Outcome)> {
    let shared = tempfile::tempdir().unwrap();
    let all = scenarios(shared.path(), size);
    let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((n, scenario)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|n| Some((n, all.get(n)?)))
                {
                    let base = tempfile::tempdir().unwrap();
                    copy(shared.path(), base.path());
                    let outcome = strike_everywhere(scenario, base.path());
                    outcomes.lock().unwrap().push((n, scenario.name, outcome));
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap();
    outcomes.sort_by_key(|(n, _, _)| *n);
    outcomes.into_iter().map(|(_, name, outcome)| (name, outcome)).collect()
}

#[test]
fn no_fault_tears_loses_or_leaves_anything() {
    let mut table: Vec<(&str, Outcome)> = Vec::new();
    for &size in if is_full() { &SIZES[..] } else { &SIZES[..1] } {
        for (name, outcome) in strike_all(size) {
            match table.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => sum.add(&outcome),
                None => table.push((name, outcome)),
            }
        }
    }
    let mut all = Outcome::default();
    println!("| command | operations | kills | failures | torn, lost or left over |\n|---|---|---|---|---|");
    for (name, outcome) in &table {
        outcome.print(name);
        all.add(outcome);
    }
    all.print("all");
    assert!(all.problems.is_empty(), "{} problems:\n{}", all.problems.len(), all.problems.join("\n"));
}
