//! `magnetar verify`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;
use magnetar_dataset::{SplitManifest, Verification, VerifyOptions, verify};
use magnetar_files::{place, read_text, unseal};
use magnetar_report::sweep::sweep_page;
use magnetar_study::sweep::{SWEEP_PAGE, SweepTable, verify_sweep};
use serde_json::json;

use super::dataset_folder::{is_sweep, open_dataset};
use super::scorer_args::learned_scorers;
use crate::output::counted;
use crate::progress;

/// A larger file is not the page of a sweep.
const MAX_PAGE_BYTES: u64 = 256 << 20;

/// Flags of `magnetar verify`.
#[derive(clap::Args)]
#[command(after_help = "\
Checks the manifest, the hash of every file, counts, schema, ranges, and makes a
random sample of rows again to compare them bit for bit. A sweep's points are
checked by hash, its stored datasets like any other, and some of its points are
measured again. Exit code 1 if anything is wrong.

Examples:
  magnetar verify data
  magnetar verify data --sample 1000 --json
  magnetar verify part1 --partial")]
pub struct Args {
    /// The folder of a dataset or of a sweep, or its place in an object store.
    dataset: PathBuf,
    /// Rows of each split to make again.
    #[arg(long, default_value_t = 100, value_name = "N")]
    sample: u64,
    /// Chooses those rows; another choice every time if left out.
    #[arg(long)]
    seed: Option<u64>,
    /// Accept missing shards, such as in one part of many.
    #[arg(long)]
    partial: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Verifies a dataset.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    let seed = args.seed.unwrap_or_else(now);
    let options = VerifyOptions { sample: args.sample, seed, partial: args.partial };
    let folder = &*place(&args.dataset)?;
    let found = if is_sweep(folder).with_context(|| args.dataset.display().to_string())? {
        let bar = progress::counter("rows");
        let mut found = verify_sweep(folder, options, Some(learned_scorers()), &|rows| bar.inc(rows))?;
        bar.finish_and_clear();
        if found.problems.is_empty() {
            check_page(folder, &mut found)?;
        }
        found
    } else {
        let dataset = open_dataset(folder)?;
        let bar = progress::bar(dataset.manifest().splits.values().map(SplitManifest::present_rows).sum(), "rows");
        let found = verify(folder, options, &|rows| bar.inc(rows))?;
        bar.finish_and_clear();
        found
    };
    if args.json {
        let shown = json!({ "valid": found.problems.is_empty(), "sample_seed": seed, "verification": found });
        println!("{shown}");
    } else {
        for problem in &found.problems {
            println!("{problem}");
        }
        for note in &found.notes {
            println!("note: {note}");
        }
        let verdict = match found.problems.len() {
            0 => "valid".to_owned(),
            n => counted(n, "problem"),
        };
        println!(
            "{}: {verdict}; {} in {}, {} made again (sample seed {seed})",
            args.dataset.display(),
            counted(found.rows, "row"),
            counted(found.shards, "shard"),
            counted(found.regenerated, "row")
        );
    }
    Ok(if found.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A sweep's page follows from its table; another version may draw it differently. A run that was stopped before it came
/// to its page leaves that of an earlier state.
fn check_page(folder: &Path, found: &mut Verification) -> anyhow::Result<()> {
    let (path, table) = (folder.join(SWEEP_PAGE), SweepTable::open(folder)?);
    let at = |problem: &str| format!("{}: {problem}; the same sweep command writes it anew", path.display());
    match read_text(&path, MAX_PAGE_BYTES) {
        Err(e) => found.problems.push(at(&e.to_string())),
        Ok(_) if table.manifest.version != env!("CARGO_PKG_VERSION") => {}
        Ok(page) if page == sweep_page(&table) => {}
        Ok(page) if unseal(&page).is_some() => found.notes.push(at("the page of an earlier state")),
        Ok(_) => found.problems.push(at("not the page of this sweep, edited or damaged")),
    }
    Ok(())
}
