//! `magnetar evaluate`.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, ensure};
use magnetar_posterior::{BalancedMean, BalancedMetrics, REPLAY_LEVELS, UniformScorer};
use magnetar_study::{Evaluation, evaluate, evaluation_json, needed_columns, post_indices};
use serde_json::json;

use super::scorer_args::DatasetScorerArgs;
use crate::output::{counted, with_error};
use crate::progress;

/// Flags of `magnetar evaluate`.
#[derive(clap::Args)]
#[command(after_help = "\
Averages weigh no-board and board rows equally, and within each every material
assignment equally. Of replays, board placements weigh equally as well,
protocols within each placement, and RX sites within each protocol, as in the
paper. Standard errors treat the rows of such a group as independent.

Several scorers are scored on the same rows: the differences from the first are
taken row by row. I_post ranks all of them, the uniform posterior included.
Scores of rows whose materials the scorer knows are no held-out scores; how many
there are is printed.

Examples:
  magnetar evaluate data
  magnetar evaluate data --scorer twin --scorer network.npy
  magnetar evaluate data --split test --limit 2000 --json
  magnetar evaluate replay                        # all protocols of a replay together")]
pub struct Args {
    /// The splits to score together; may be given many times or as a list. Test if left out; of a replay all.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    split: Vec<String>,
    /// Score at most N rows of each: the first; of a replay rows spread over its protocol.
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    #[command(flatten)]
    with: DatasetScorerArgs,
}

/// Prints the metrics of every scorer and of the uniform reference.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (dataset, mut scorers) = args.with.open_all()?;
    if !scorers.iter().any(|scorer| scorer.name() == "uniform") {
        scorers.push(Arc::new(UniformScorer));
    }
    dataset.require_truth()?;
    let manifest = dataset.manifest();
    let follows_protocol = manifest.stand_in.is_some() || manifest.measured.is_some();
    let splits = match (args.split.is_empty(), follows_protocol) {
        (false, _) => args.split.clone(),
        (true, true) => manifest.splits.keys().cloned().collect(),
        (true, false) => vec!["test".to_owned()],
    };
    let limit = args.limit.unwrap_or(u64::MAX);
    let (mut rows, mut records) = (0, Vec::new());
    for split in &splits {
        rows += dataset.sample_rows(split, limit)?;
        records.push((split.as_str(), dataset.sample(split, needed_columns(&scorers), limit)?));
    }
    ensure!(rows > 0, "no row to score in split {}; give a larger --limit, or another split", splits.join(", "));
    let bar = progress::bar(rows, "rows");
    let evaluations = evaluate(records, &scorers, args.with.size(), &|n| bar.inc(n))?;
    bar.finish_and_clear();
    let indices = post_indices(&evaluations).context("no row to score")?;
    if args.with.json {
        let mut out = serde_json::Map::new();
        out.insert("split".into(), json!(splits.join(",")));
        out.insert("stand_in".into(), json!(manifest.stand_in));
        out.insert("measured".into(), json!(manifest.measured.as_ref().map(|of| &of.campaign)));
        out.insert("balanced_over".into(), json!(balanced_over(follows_protocol)));
        out.extend(evaluation_json(&evaluations).context("no row to score")?);
        println!("{}", serde_json::to_string_pretty(&out)?);
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(stand_in) = &manifest.stand_in {
        println!("{stand_in}.");
    }
    if let Some(measured) = &manifest.measured {
        println!("Measured: {}.", measured.campaign);
    }
    println!("balanced over {}", balanced_over(follows_protocol).join(", then "));
    for (evaluation, index) in evaluations.iter().zip(&indices) {
        print(evaluation, *index).context("no row to score")?;
    }
    if let [first, others @ ..] = &evaluations[..]
        && !others.is_empty()
    {
        print_differences(first, others);
    }
    Ok(ExitCode::SUCCESS)
}

/// Differences of all other scorers from the first, row by row.
fn print_differences(first: &Evaluation, others: &[Evaluation]) {
    println!("minus {}, row by row", first.name);
    println!(
        "  {:<24}{:>20}{:>20}{:>18}{:>18}{:>18}",
        "", "NLL, nat", "MAP XY, m", "MAP yaw, deg", "hit, pp", "P_1m, pp"
    );
    for other in others {
        let Some(d) = other.against_first.differences() else { continue };
        let shown = |value: BalancedMean, decimals: usize| with_error(value.mean, value.stderr, decimals);
        println!(
            "  {:<24}{:>20}{:>20}{:>18}{:>18}{:>18}",
            other.name,
            shown(d.nll, 3),
            shown(d.map_xy_m, 3),
            shown(d.map_yaw_deg, 1),
            shown(d.joint_hit_pp, 1),
            shown(d.p1m_pp, 1)
        );
    }
}

/// What averages weigh equally, outermost first.
fn balanced_over(replay: bool) -> &'static [&'static str] {
    let all = &["board condition", "material assignment", "board placement", "protocol", "RX site"];
    if replay { all } else { &all[..2] }
}

fn print(evaluation: &Evaluation, post_index: f64) -> Option<()> {
    let Evaluation { name, knowledge, scores, rows_of_known_materials, .. } = evaluation;
    println!("{name}: {knowledge}");
    if *rows_of_known_materials > 0 {
        let rows = counted(*rows_of_known_materials, "row");
        println!("  the materials of {rows} are among those it knows");
    }
    println!(
        "  {:<14}{:>7}{:>18}{:>9}{:>8}{:>17}{:>15}{:>13}{:>13}{:>10}{:>10}",
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
    let mut conditions = vec![
        ("balanced", scores.metrics()),
        ("no board", scores.metrics_by_board(false)),
        ("board", scores.metrics_by_board(true)),
    ];
    for (_, level) in REPLAY_LEVELS {
        let groups = scores.groups(level).into_iter().filter(|group| *group != "none");
        conditions.extend(groups.map(|group| (group, scores.metrics_by_group(level, group))));
    }
    for (condition, summary) in conditions {
        if let Some(s) = summary {
            let nll = with_error(s.nll, s.nll_stderr, 3);
            let (xy, yaw) =
                (with_error(s.map_xy_m, s.map_xy_m_stderr, 3), with_error(s.map_yaw_deg, s.map_yaw_deg_stderr, 1));
            let hit = with_error(s.joint_hit_percent, s.joint_hit_percent_stderr, 1);
            let p1m = with_error(s.p1m_percent, s.p1m_percent_stderr, 1);
            println!(
                "  {condition:<14}{:>7}{nll:>18}{:>9.2}{:>8.2}{xy:>17}{yaw:>15}{hit:>13}{p1m:>13}{:>10.1}{:>10.1}",
                s.samples, s.hpd_gap_pp, s.v40_percent, s.cones.cone_mass_auc_percent, s.cones.cone_hit_auc_percent
            );
        }
    }
    let BalancedMetrics { reliability, .. } = scores.metrics()?;
    let line = |of: &dyn Fn(usize) -> f64| {
        (0..reliability.len()).map(|n| format!("{:>6.1}", 100.0 * of(n))).collect::<String>()
    };
    println!("  HPD nominal, %  {}", line(&|n| reliability[n].nominal));
    println!("  empirical, %    {}", line(&|n| reliability[n].empirical));
    println!("  I_post          {post_index:>6.2}");
    Some(())
}
