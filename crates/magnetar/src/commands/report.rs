//! `magnetar report`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use magnetar_files::AtomicFile;
use magnetar_report::LinkScorer;
use magnetar_report::report::{ReportOptions, report, report_rows};
use serde_json::json;

use super::dataset_folder::open_dataset;
use super::scorer_args::ScorerArgs;
use crate::args::parse_html_name;
use crate::progress;

/// Flags of `magnetar report`.
#[derive(clap::Args)]
#[command(after_help = "\
The page is one file that opens from disk and loads nothing: recipe, split
counts, coverage, distributions by board condition, and example rows with plan,
channel, delay profile and posterior.

Examples:
  magnetar report data
  magnetar report data -o data.html --limit 5000 --examples 4")]
pub struct Args {
    /// The dataset's folder.
    dataset: PathBuf,
    /// The page to write.
    #[arg(short, long, value_name = "FILE.html", default_value = "report.html", value_parser = parse_html_name)]
    out: PathBuf,
    /// Rows of each split read for the charts.
    #[arg(long, alias = "rows", value_name = "N", default_value_t = ReportOptions::default().rows)]
    limit: u64,
    /// Example rows of each split.
    #[arg(long, default_value_t = ReportOptions::default().examples, value_parser = clap::value_parser!(u64).range(0..=10))]
    examples: u64,
    /// Leave the posterior out of the examples.
    #[arg(long)]
    no_posterior: bool,
    #[command(flatten)]
    scorer: ScorerArgs,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Writes the page.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let dataset = open_dataset(&args.dataset)?;
    dataset.require_truth()?;
    let options = ReportOptions { rows: args.limit, examples: args.examples };
    let scorer = match args.no_posterior {
        true => None,
        false => Some(LinkScorer::fixed(args.scorer.open(dataset.recipe())?)),
    };
    let bar = progress::bar(report_rows(&dataset, &options), "rows");
    let page = report(&dataset, &options, scorer.as_ref(), &|rows| bar.inc(rows))?;
    bar.finish_and_clear();
    AtomicFile::write(&args.out, page.as_bytes())
        .with_context(|| format!("{} cannot be written", args.out.display()))?;
    if args.json {
        println!("{}", json!({ "out": args.out, "bytes": page.len() }));
    } else {
        println!("{}", args.out.display());
    }
    Ok(ExitCode::SUCCESS)
}
