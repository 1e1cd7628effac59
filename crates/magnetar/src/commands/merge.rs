//! `magnetar merge`.

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;

use super::audit::write_onto_card;
use crate::progress;

/// Flags of `magnetar merge`.
#[derive(clap::Args)]
#[command(after_help = "\
Parts made with generate --part or --shards, on any machine and in any order,
become the dataset one run would have made, to the byte. The target may be one
of the parts.

Examples:
  magnetar merge part1 part2 part3 part4 --out data")]
pub struct Args {
    /// Folders of the parts.
    #[arg(required = true, value_name = "DIR")]
    parts: Vec<PathBuf>,
    /// The folder of the whole.
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Puts parts together.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let copying = progress::phase("copying and hashing shards");
    let merged = magnetar_dataset::merge(&args.parts, &args.out)?;
    drop(copying);
    write_onto_card(&args.out)?;
    let splits = &merged.manifest.splits;
    let complete = splits.values().all(magnetar_dataset::SplitManifest::is_complete);
    if args.json {
        println!("{}", json!({ "out": args.out, "shards_copied": merged.shards, "complete": complete }));
    } else {
        for (name, split) in splits {
            println!("  {name:<8} {:>9} of {} rows", split.present_rows(), split.rows);
        }
        let state = if complete { "complete" } else { "incomplete" };
        println!("{} shards copied into {}; the dataset is {state}", merged.shards, args.out.display());
    }
    Ok(ExitCode::SUCCESS)
}
