//! `magnetar import`.

use std::path::PathBuf;
use std::process::ExitCode;

use magnetar_dataset::{Campaign, import};
use serde_json::json;

use crate::output::counted;
use crate::progress;

/// Flags of `magnetar import`.
#[derive(clap::Args)]
#[command(after_help = "\
A campaign file names the scene, the recipe of the radio, what is known about
the receiver, and for each recording the observations (.npy, .parquet, or SigMF
with a known waveform or OFDM symbol) and a table of its rows:

  name = \"office, May\"
  scene = \"office.toml\"
  [receiver]
  calibration = \"cables.npy\"
  noise_variance = \"auto\"
  [board.left]
  center_m = [0.23, 1.0, 1.0]
  size_m = [1.0, 0.033, 1.7]
  [[recording]]
  observations = \"drive1.npy\"
  rows = \"drive1.csv\"     # x,y,heading_deg and tx_x,tx_y,tx_heading_deg, placement, protocol, site

The dataset has our columns and is marked measured; without tx_* columns it has
no truth. evaluate, fuse, report, features, stats and verify take it like any
other. All keys are in docs/measured.md; magnetar-to-npy takes MATLAB, HDF5.

Examples:
  magnetar import campaign.toml --out office
  magnetar evaluate office --split test")]
pub struct Args {
    /// The campaign's file.
    campaign: PathBuf,
    /// The dataset's folder, which must not hold anything yet; or its place in an object store, where the same import goes on.
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// Print a JSON summary.
    #[arg(long)]
    json: bool,
}

/// Makes a dataset of a measurement campaign.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let campaign = Campaign::load(&args.campaign)?;
    let bar = progress::counter("rows");
    let imported = import(&campaign, &args.out, &|rows| bar.inc(rows))?;
    bar.finish_and_clear();
    let truth = imported.manifest.measured.as_ref().is_some_and(|measured| measured.truth);
    if let Some(floor) = imported.doubtful_noise {
        eprintln!(
            "warning: noise of variance 1 per bin was assumed, and the data's own looks like {floor:.2e}; \
             give receiver.noise_variance (\"auto\" estimates it) or receiver.inactive_bins"
        );
    }
    if let Some(turn) = imported.turned {
        eprintln!("warning: {} (receiver.calibration)", turn.in_words());
    }
    if args.json {
        let splits: serde_json::Map<_, _> =
            imported.manifest.splits.iter().map(|(name, split)| (name.clone(), json!(split.rows))).collect();
        let summary = json!({
            "out": args.out, "campaign": campaign.name, "measured": true, "truth": truth, "rows": imported.rows,
            "rows_without_arrival": imported.silent, "splits": splits, "recipe_hash": imported.manifest.recipe_hash,
        });
        println!("{summary:#}");
        return Ok(ExitCode::SUCCESS);
    }
    println!("Measured: {} ({}).", campaign.name, if truth { "with the TX's pose" } else { "without the TX's pose" });
    for (name, split) in &imported.manifest.splits {
        println!("  {name:<14} {:>6} rows, {}", split.rows, counted(split.shards.len(), "shard"));
    }
    println!("{} rows have no arrival above the noise", imported.silent);
    println!("manifest and card: {}", args.out.join(magnetar_dataset::MANIFEST).display());
    Ok(ExitCode::SUCCESS)
}
