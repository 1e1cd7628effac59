//! `magnetar evaluate`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use magnetar_dataset::{Columns, Dataset};
use magnetar_posterior::{Summary, Tally, evaluate};
use serde_json::{Value, json};

use super::backend::BackendChoice;
use super::twin_scorer::ScorerArgs;
use crate::progress;

/// Flags of `magnetar evaluate`.
#[derive(clap::Args)]
#[command(after_help = "\
Averages weigh no-board and board rows equally, and within each every material assignment equally. Of replays, board
placements weigh equally as well, protocols within each placement, and RX sites within each protocol.

Examples:
  magnetar evaluate data
  magnetar evaluate data --split test --limit 2000 --json
  magnetar evaluate replay --split full-rotation,track")]
pub struct Args {
    /// The dataset's folder.
    dataset: PathBuf,
    /// The splits to score together; may be given many times or as a list.
    #[arg(long, default_value = "test", value_delimiter = ',', value_name = "NAME")]
    split: Vec<String>,
    /// Score only the first N rows of each.
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// What scores the candidates: the CPU, the GPU, or the GPU if there is one.
    #[arg(long, default_value = "cpu", value_name = "cpu|cuda|auto")]
    backend: BackendChoice,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    scorer: ScorerArgs,
}

/// Prints the metrics of the twin scorer and of the uniform reference.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let dataset = Dataset::open(&args.dataset)?;
    let scorer = args.scorer.scorer(&dataset)?;
    let backend = args.backend.scoring()?;
    let (mut rows, mut records) = (0, Vec::new());
    for split in &args.split {
        let of_split = dataset.split(split)?.present_rows().min(args.limit.unwrap_or(u64::MAX));
        rows += of_split;
        records.push(dataset.records(split, Columns::WithoutCsi)?.take(usize::try_from(of_split)?));
    }
    let bar = progress::bar(rows, "rows");
    let evaluation = evaluate(records.into_iter().flatten(), &scorer, &*backend, args.scorer.size(), &|n| bar.inc(n))?;
    bar.finish_and_clear();
    let scorers = [("twin", &evaluation.twin), ("uniform", &evaluation.uniform)];
    if args.json {
        let mut out = serde_json::Map::new();
        out.insert("split".into(), json!(args.split.join(",")));
        for (name, tally) in scorers {
            out.insert(name.into(), to_json(tally)?);
        }
        println!("{}", serde_json::to_string_pretty(&out)?);
        return Ok(ExitCode::SUCCESS);
    }
    for (name, tally) in scorers {
        print(name, tally).context("no row to score")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn to_json(tally: &Tally) -> anyhow::Result<Value> {
    let mut all = serde_json::to_value(tally.summary().context("no row to score")?)?;
    for (key, board) in [("no_board", false), ("board", true)] {
        all[key] = serde_json::to_value(tally.summary_by_board(board))?;
    }
    Ok(all)
}

fn print(name: &str, tally: &Tally) -> Option<()> {
    println!("{name}");
    println!(
        "  {:<10}{:>7}{:>18}{:>9}{:>8}{:>15}{:>15}{:>13}{:>13}{:>10}{:>10}",
        "",
        "rows",
        "NLL, nat",
        "HPD gap",
        "V@40 %",
        "MAP XY, m",
        "MAP yaw, deg",
        "hit, %",
        "P_1m, %",
        "cone m.",
        "cone h."
    );
    let conditions = [
        ("balanced", tally.summary()),
        ("no board", tally.summary_by_board(false)),
        ("board", tally.summary_by_board(true)),
    ];
    for (condition, summary) in conditions {
        if let Some(s) = summary {
            println!(
                "  {condition:<10}{:>7}{:>10.3} +-{:>5.3}{:>9.2}{:>8.2}{:>8.3} +-{:>4.3}{:>8.1} +-{:>4.1}{:>6.1} +-{:>4.1}{:>6.1} +-{:>4.1}{:>10.1}{:>10.1}",
                s.samples,
                s.nll,
                s.nll_stderr,
                s.hpd_gap_pp,
                s.v40_percent,
                s.map_xy_m,
                s.map_xy_m_stderr,
                s.map_yaw_deg,
                s.map_yaw_deg_stderr,
                s.joint_hit_percent,
                s.joint_hit_percent_stderr,
                s.p1m_percent,
                s.p1m_percent_stderr,
                s.cone_mass_auc_percent,
                s.cone_hit_auc_percent
            );
        }
    }
    let Summary { reliability, .. } = tally.summary()?;
    let line = |of: &dyn Fn(usize) -> f64| {
        (0..reliability.len()).map(|n| format!("{:>6.1}", 100.0 * of(n))).collect::<String>()
    };
    println!("  HPD nominal, %  {}", line(&|n| reliability[n].nominal));
    println!("  empirical, %    {}", line(&|n| reliability[n].empirical));
    Some(())
}
