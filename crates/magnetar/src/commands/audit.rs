//! `magnetar audit`.

use std::path::PathBuf;
use std::process::ExitCode;

use magnetar_study::{Audit, ConditionAudit, Mean, audit};
use serde_json::{Value, json};

use super::dataset_folder::open_dataset;

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
    let found = audit(&dataset, args.limit)?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&to_json(&found))?);
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "binned models, fitted to {} rows of {}, scored on {} rows of {}",
        found.fitted_rows, found.fitted_split, found.all.rows, found.scored_split
    );
    println!(
        "  {:<10}{:>7}{:>20}{:>20}{:>16}{:>14}{:>22}",
        "", "rows", "layout alone, nat", "direct path, nat", "arrivals", "LOS, %", "strongest is LOS, %"
    );
    let conditions =
        [("all", Some(&found.all)), ("no board", found.no_board.as_ref()), ("board", found.board.as_ref())];
    for (name, of) in conditions {
        let Some(of) = of else { continue };
        println!(
            "  {name:<10}{:>7}{:>20}{:>20}{:>16}{:>14}{:>22}",
            of.rows,
            shown(of.layout_only_nat, 3),
            shown(of.direct_path_nat, 3),
            shown(of.arrivals_per_row, 2),
            shown(of.los_percent, 1),
            shown(of.first_is_los_percent, 1)
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn shown(value: Mean, decimals: usize) -> String {
    if value.stderr.is_finite() {
        format!("{:.decimals$} +- {:.decimals$}", value.mean, value.stderr)
    } else {
        format!("{:.decimals$} +- n/a", value.mean)
    }
}

fn to_json(found: &Audit) -> Value {
    let mut out = condition_json(&found.all);
    out["fitted_split"] = json!(found.fitted_split);
    out["fitted_rows"] = json!(found.fitted_rows);
    out["scored_split"] = json!(found.scored_split);
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
