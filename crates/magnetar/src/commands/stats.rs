//! `magnetar stats`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use magnetar_dataset::stats::{Percentiles, RowStatistics, region_labels, stats};

use super::dataset_folder::open_dataset;
use crate::output::counted;
use crate::progress;

/// Flags of `magnetar stats`.
#[derive(clap::Args)]
#[command(after_help = "\
An arrival is matched with the strongest true path within one resolution cell of
its delay. AoA errors are against the alias of the truth within the estimator's
range; `unaliased` ones are against the true direction itself.

Examples:
  magnetar stats data
  magnetar stats data --split test --json")]
pub struct Args {
    /// The dataset's folder.
    dataset: PathBuf,
    /// Only these splits; may be given many times or as a list.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    split: Vec<String>,
    /// Print one JSON array.
    #[arg(long)]
    json: bool,
}

/// Prints what a dataset looks like.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let dataset = open_dataset(&args.dataset)?;
    let splits = dataset.manifest().splits.iter();
    let wanted = splits.filter(|(name, _)| args.split.is_empty() || args.split.contains(name));
    let bar = progress::bar(wanted.map(|(_, split)| split.present_rows()).sum(), "rows");
    let summaries = stats(&dataset, &args.split, &|rows| bar.inc(rows))?;
    bar.finish_and_clear();
    if args.json {
        println!("{}", serde_json::to_string_pretty(&summaries).context("the statistics cannot be written as JSON")?);
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(stand_in) = &dataset.manifest().stand_in {
        println!("{stand_in}.");
    }
    if let Some(measured) = &dataset.manifest().measured {
        println!("Measured: {}; there are no true paths to compare with.", measured.campaign);
    }
    for split in &summaries {
        for (condition, summary) in [("no board", &split.no_board), ("board", &split.board)] {
            if summary.rows > 0 {
                print(&format!("{}, {condition}", split.split), summary);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn print(title: &str, summary: &RowStatistics) {
    println!(
        "{title}: {}, LOS {:.1} %, {:.2} paths per row",
        counted(summary.rows, "row"),
        100.0 * summary.los_share,
        summary.paths_mean
    );
    if summary.regions.iter().any(|n| *n > 0) {
        let regions: Vec<_> =
            region_labels().iter().zip(summary.regions).map(|(name, n)| format!("{name} {n}")).collect();
        println!("  boards: {}", regions.join(", "));
    }
    let arrivals: Vec<_> = summary.arrivals.iter().enumerate().map(|(k, n)| format!("{n} with {k}")).collect();
    println!("  arrivals: {}; {:.1} % match a true path", arrivals.join(", "), 100.0 * summary.matched_share);
    println!("  {:<24}{:>10}{:>10}{:>10}{:>10}", "percentiles", "5 %", "50 %", "90 %", "95 %");
    for (name, values) in [
        ("raw SNR, dB", summary.raw_snr_db),
        ("SNR error, dB", summary.snr_error_db),
        ("phase error, deg", summary.phase_error_deg),
        ("AoA error, deg", summary.aoa_error_deg),
        ("AoA unaliased, deg", summary.aoa_unaliased_error_deg),
    ] {
        if let Some(Percentiles { p5, p50, p90, p95, .. }) = values {
            println!("  {name:<24}{p5:>10.2}{p50:>10.2}{p90:>10.2}{p95:>10.2}");
        }
    }
}
