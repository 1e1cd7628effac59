//! `magnetar ablation`.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use magnetar_dataset::Columns;
use magnetar_posterior::{Ablation, Scorer};
use magnetar_study::evaluate;
use serde_json::json;

use super::scorer_args::{DatasetScorerArgs, knowledge_line};
use crate::progress;

/// Flags of `magnetar ablation`.
#[derive(clap::Args)]
#[command(after_help = "\
Scores the rows once with the full likelihood and once without each of its
terms, the parameters unchanged.

Examples:
  magnetar ablation data --split test --limit 500")]
pub struct Args {
    /// The split to score.
    #[arg(long, default_value = "test", value_name = "NAME")]
    split: String,
    /// Score only the first N rows.
    #[arg(long, default_value_t = 500, value_name = "N")]
    limit: u64,
    #[command(flatten)]
    with: DatasetScorerArgs,
}

/// Prints what each term of the likelihood is worth.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (dataset, twin) = args.with.open_twin()?;
    let rows = dataset.split(&args.split)?.present_rows().min(args.limit);
    let bar = progress::bar(rows * Ablation::ALL.len() as u64, "rows");
    let mut table = Vec::new();
    for ablation in Ablation::ALL {
        let records = dataset.records(&args.split, Columns::WithoutCsi)?.take(usize::try_from(rows)?);
        let ablated: Arc<dyn Scorer> = Arc::new(twin.with_likelihood(twin.likelihood().ablated(ablation)));
        let split = [(args.split.as_str(), records)];
        let results = evaluate(split, &[ablated], args.with.size(), &|n| bar.inc(n))?;
        table.push((ablation, results[0].scores.metrics().context("no row to score")?));
    }
    bar.finish_and_clear();
    let full = table[0].1.nll;
    if args.with.json {
        let entries: Vec<_> = table
            .iter()
            .map(|(ablation, s)| json!({ "likelihood": ablation.label(), "nll_loss": s.nll - full, "metrics": s }))
            .collect();
        println!("{}", serde_json::to_string_pretty(&entries)?);
        return Ok(ExitCode::SUCCESS);
    }
    println!("{}", knowledge_line(&twin));
    println!("| likelihood | NLL, nat | loss, nat | HPD gap, pp | V@40 % | P_1m, % |");
    println!("|---|---|---|---|---|---|");
    for (ablation, s) in &table {
        println!(
            "| {} | {:.3} +- {:.3} | {:+.3} | {:.1} | {:.2} | {:.1} |",
            ablation.label(),
            s.nll,
            s.nll_stderr,
            s.nll - full,
            s.hpd_gap_pp,
            s.v40_percent,
            s.p1m_percent
        );
    }
    Ok(ExitCode::SUCCESS)
}
