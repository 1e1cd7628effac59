//! `magnetar merge`.

use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use magnetar_dataset::SplitManifest;
use serde_json::json;

use super::audit::write_onto_card;
use super::dataset_folder::open_dataset;
use crate::output::counted;
use crate::progress;

/// Flags of `magnetar merge`.
#[derive(clap::Args)]
#[command(after_help = "\
Parts made with generate --part or --shards, on any machine and in any order,
become the dataset one run would have made, to the byte. The target may be one
of the parts.

Examples:
  magnetar merge part1 part2 part3 part4 --out data
  magnetar merge parts/* --out data --complete     # an error if a part is missing")]
pub struct Args {
    /// Folders of the parts, or their places in an object store.
    #[arg(required = true, value_name = "DIR")]
    parts: Vec<PathBuf>,
    /// The folder of the whole, or its place in an object store.
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// Fail if shards are missing, once what there is has been put together.
    #[arg(long)]
    complete: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Puts parts together.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut shards = 0;
    for part in &args.parts {
        shards += open_dataset(part)?.manifest().splits.values().map(|split| split.shards.len() as u64).sum::<u64>();
    }
    let bar = progress::bar(shards, "shards");
    let merged = magnetar_dataset::merge(&args.parts, &args.out, &|shards| bar.inc(shards))?;
    bar.finish_and_clear();
    write_onto_card(&args.out)?;
    let splits = &merged.manifest.splits;
    let shard_rows = u64::from(merged.manifest.recipe.store.shard_rows);
    let missing: Vec<(&String, Vec<Range<u64>>)> = splits
        .iter()
        .map(|(name, split)| (name, missing_shards(split, shard_rows)))
        .filter(|(_, ranges)| !ranges.is_empty())
        .collect();
    if args.json {
        let ranges = |ranges: &[Range<u64>]| ranges.iter().map(|r| json!([r.start, r.end])).collect::<Vec<_>>();
        let missing: serde_json::Map<_, _> =
            missing.iter().map(|(name, of)| ((*name).clone(), json!(ranges(of)))).collect();
        let complete = missing.is_empty();
        println!(
            "{}",
            json!({
                "out": args.out, "shards_copied": merged.shards, "complete": complete, "missing_shards": missing,
            })
        );
    } else {
        for (name, split) in splits {
            println!("  {name:<8} {:>9} of {} rows", split.present_rows(), split.rows);
        }
        let state = if missing.is_empty() { "complete" } else { "incomplete" };
        let copied = counted(merged.shards, "shard");
        println!("{copied} copied into {}; the dataset is {state}", args.out.display());
    }
    for (name, ranges) in &missing {
        eprintln!("missing: split {name}, shards {}", shown(ranges));
    }
    if args.complete && !missing.is_empty() {
        bail!("parts are missing; make them (generate --shards A..B makes those named above) and merge again");
    }
    Ok(ExitCode::SUCCESS)
}

/// The numbers of the shards that a split lacks, as ranges.
fn missing_shards(split: &SplitManifest, shard_rows: u64) -> Vec<Range<u64>> {
    let mut missing = Vec::new();
    let mut next = 0;
    for shard in &split.shards {
        if shard.number > next {
            missing.push(next..shard.number);
        }
        next = shard.number + 1;
    }
    let count = split.rows.div_ceil(shard_rows.max(1));
    if next < count {
        missing.push(next..count);
    }
    missing
}

fn shown(ranges: &[Range<u64>]) -> String {
    ranges.iter().map(|range| format!("{}..{}", range.start, range.end)).collect::<Vec<_>>().join(", ")
}
