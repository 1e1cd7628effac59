//! `magnetar audit`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use magnetar_study::{Audit, ConditionAudit, audit, audit_onto_card, audit_rows};
use serde_json::{Value, json};

use super::dataset_folder::open_dataset;
use crate::progress;

/// Flags of `magnetar audit`.
#[derive(clap::Args)]
#[command(after_help = "\
How much of the TX pose a dataset gives away without the radio (layout and RX
pose alone), and by its strongest arrival taken as the direct path: gain over
the uniform posterior of binned models that are fitted to `train` and scored on
`val`. A trained network can find at least as much.

Examples:
  magnetar audit data
  magnetar audit data --limit 10000 --json")]
pub struct Args {
    /// The dataset's folder.
    dataset: PathBuf,
    /// Fit to the first N rows, and score as many others.
    #[arg(long, default_value_t = 4000, value_name = "N")]
    limit: usize,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Prints the audit.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let dataset = open_dataset(&args.dataset)?;
    dataset.require_truth()?;
    let bar = progress::bar(audit_rows(&dataset, args.limit)?, "rows");
    let found = audit(&dataset, args.limit, &|rows| bar.inc(rows))?;
    bar.finish_and_clear();
    if args.json {
        println!("{}", serde_json::to_string_pretty(&to_json(&found))?);
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "binned models, fitted to {} rows of {}, scored on {} rows of {}",
        found.splits.fitted_rows, found.splits.fitted, found.all.rows, found.splits.scored
    );
    println!(
        "  {:<10}{:>7}{:>20}{:>20}{:>16}{:>14}{:>22}",
        "", "rows", "layout alone, nat", "direct path, nat", "arrivals", "LOS, %", "strongest is LOS, %"
    );
    for (name, of) in found.conditions() {
        let gains = [of.layout_only_nat, of.direct_path_nat].map(|gain| format!("{:>20}", gain.shown(3))).concat();
        let shares = [(of.los_percent, 14), (of.first_is_los_percent, 22)];
        let shares = shares.map(|(share, width)| format!("{:>width$}", share.shown(1))).concat();
        println!("  {name:<10}{:>7}{gains}{:>16}{shares}", of.rows, of.arrivals_per_row.shown(2));
    }
    Ok(ExitCode::SUCCESS)
}

/// Audits a dataset that was just made and puts the figures on its card.
pub fn write_onto_card(folder: &Path) -> anyhow::Result<()> {
    let _auditing = progress::phase("auditing the rows for the card");
    audit_onto_card(folder).with_context(|| format!("{}: the rows cannot be audited", folder.display()))
}

fn to_json(found: &Audit) -> Value {
    let mut out = condition_json(&found.all);
    out["fitted_split"] = json!(found.splits.fitted);
    out["fitted_rows"] = json!(found.splits.fitted_rows);
    out["scored_split"] = json!(found.splits.scored);
    out["no_board"] = found.no_board.as_ref().map_or(Value::Null, condition_json);
    out["board"] = found.board.as_ref().map_or(Value::Null, condition_json);
    out
}

fn condition_json(of: &ConditionAudit) -> Value {
    json!({
        "rows": of.rows,
        "layout_only_nat": of.layout_only_nat.mean,
        "layout_only_nat_stderr": of.layout_only_nat.stderr,
        "direct_path_nat": of.direct_path_nat.mean,
        "direct_path_nat_stderr": of.direct_path_nat.stderr,
        "arrivals_per_row": of.arrivals_per_row.mean,
        "arrivals_per_row_stderr": of.arrivals_per_row.stderr,
        "los_percent": of.los_percent.mean,
        "los_percent_stderr": of.los_percent.stderr,
        "first_is_los_percent": of.first_is_los_percent.mean,
        "first_is_los_percent_stderr": of.first_is_los_percent.stderr,
    })
}
