//! `magnetar fuse`.

use std::process::ExitCode;

use anyhow::Context;
use magnetar_study::{FusionSummary, SetResult, fuse_all, needed_columns};

use super::scorer_args::{DatasetScorerArgs, knowledge_line, scorer_json};
use crate::output::counted;
use crate::progress;

/// Flags of `magnetar fuse`.
#[derive(clap::Args)]
#[command(after_help = "\
Fuses the views of each set two ways: early (product of XY marginals) and late
(sum over headings of the product of joints). P_1m is the mass within 1 m of the
true position.

Examples:
  magnetar fuse data
  magnetar fuse data --split fusion --limit 100 --json")]
pub struct Args {
    /// The split of sets.
    #[arg(long, default_value = "fusion", value_name = "NAME")]
    split: String,
    /// Fuse only the first N sets.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    with: DatasetScorerArgs,
}

/// Prints early against late fusion.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (dataset, scorer) = args.with.open()?;
    dataset.require_truth()?;
    let manifest = dataset.split(&args.split)?;
    let sets = manifest.present_rows() / u64::from(manifest.views.max(1));
    let limit = args.limit.unwrap_or(usize::MAX);
    let bar = progress::bar(sets.min(limit as u64), "sets");
    let records = dataset.records(&args.split, needed_columns(std::slice::from_ref(&scorer)))?;
    let results = fuse_all(&args.split, records, &*scorer, args.with.size(), limit, &|n| bar.inc(n))?;
    bar.finish_and_clear();
    let of = |keep: &dyn Fn(&SetResult) -> bool| {
        FusionSummary::of(&results.iter().copied().filter(|r| keep(r)).collect::<Vec<_>>())
    };
    let all = of(&|_| true).context("no set to fuse")?;
    let (open, board) = (of(&|r| !r.board), of(&|r| r.board));
    if args.with.json {
        let mut out = serde_json::to_value(&all)?;
        out["no_board"] = serde_json::to_value(&open)?;
        out["board"] = serde_json::to_value(&board)?;
        out["scorer"] = scorer_json(&*scorer);
        println!("{}", serde_json::to_string_pretty(&out)?);
        return Ok(ExitCode::SUCCESS);
    }
    println!("{}", knowledge_line(&*scorer));
    for (name, summary) in [("all", Some(all)), ("no board", open), ("board", board)] {
        if let Some(s) = summary {
            println!("{name}: {}", counted(s.sets, "set"));
            println!(
                "  P_1m: one view {:.2} %, early {:.2} %, late {:.2} %; late minus early {:+.2} +- {:.2} points",
                s.single_p1m_percent, s.early_p1m_percent, s.late_p1m_percent, s.difference_pp, s.difference_sd_pp
            );
            println!(
                "  gains of 5 points or more in {:.1} % of sets, losses in {:.1} %",
                s.gain_percent, s.loss_percent
            );
            let [least, middle, most] = s.difference_by_kappa_pp;
            println!(
                "  kappa where late puts its mass: {:.2e}, {:.1} times that of headings that tell nothing (median); late minus \
                 early by thirds of it: {least:+.2}, {middle:+.2}, {most:+.2} points",
                s.kappa, s.kappa_over_even_median
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}
