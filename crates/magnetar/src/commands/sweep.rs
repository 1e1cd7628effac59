//! `magnetar sweep`.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use magnetar_files::{AtomicFile, place};
use magnetar_report::sweep::sweep_page;
use magnetar_study::StudyError;
use magnetar_study::sweep::{
    MeasuredPoints, Outcome, Point, Posterior, SHIPPED, SWEEP_PAGE, SWEEP_TABLE, Sweep, SweepScorer, SweepStep,
    SweepTable, result_path, sensitivities,
};
use serde_json::{Map, json};

use super::check_files::{Accepted, CheckArgs, ListArgs};
use super::scorer_args::ScorerArgs;
use crate::args::parse_threads;
use crate::output::counted;
use crate::{console, progress};

/// Flags of `magnetar sweep`.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "\
A sweep file names a base recipe, a split, rows per point and axes over recipe
keys; docs/sweeps.md describes it. All points share their random numbers.
Finished points are kept: a stopped sweep is finished by the same command, and
one that was extended measures only what is new. `magnetar verify DIR` checks
the result. Whether rows are scored, the file says (posterior); --scorer says by
what.

Several machines share a sweep by its points: each measures some of them into a
folder of its own (--points A..B); put into one folder, the same command without
--points finds all of them there and makes the table. In an object store all of
them measure into one place.

Examples:
  magnetar sweep list
  magnetar sweep rf_chain --out out/rf_chain
  magnetar sweep mine.toml --out out/mine --dry-run
  magnetar sweep sensitivity --out out/sensitivity   # which keys move the posterior's NLL most
  magnetar sweep mine.toml --out out/part2 --points 10..20
  magnetar sweep show board > mine.toml
  magnetar sweep check mine.toml")]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// A sweep file, or the name of a shipped sweep.
    #[arg(value_name = "SWEEP.toml|NAME", required_unless_present_any = ["list", "show"])]
    sweep: Option<String>,
    /// The sweep's folder, or its place in an object store.
    #[arg(short, long, value_name = "DIR", required_unless_present_any = ["list", "show", "dry_run"])]
    out: Option<PathBuf>,
    /// As `sweep list`.
    #[arg(long, hide = true)]
    list: bool,
    /// As `sweep show`.
    #[arg(long, hide = true, value_name = "NAME")]
    show: Option<String>,
    /// Check the sweep and print its points, but measure nothing.
    #[arg(long)]
    dry_run: bool,
    /// Measure points A to B only, B excluded, and write no table: a part of a sweep that several machines share.
    #[arg(long, value_name = "A..B", value_parser = parse_points, conflicts_with = "dry_run")]
    points: Option<Range<usize>>,
    /// Worker threads; 0 for one per core.
    #[arg(long, default_value_t = 0, value_parser = parse_threads)]
    threads: usize,
    /// Print a JSON summary.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    scorer: ScorerArgs,
}

#[derive(clap::Subcommand)]
enum Action {
    /// List the shipped sweeps.
    List(ListArgs),
    /// Print a shipped sweep's file, to start one of your own from.
    Show {
        /// Its name.
        name: String,
    },
    /// Check sweep files. Exit code 1 if any is refused.
    Check(CheckArgs),
}

/// Runs a sweep.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.action {
        Some(Action::List(args)) => return list(args.json),
        Some(Action::Show { name }) => return show(name),
        Some(Action::Check(args)) => return Ok(args.run(check)),
        None if args.list => return list(args.json),
        None => {}
    }
    if let Some(name) = &args.show {
        return show(name);
    }
    let name = args.sweep.as_deref().context("give a sweep file")?;
    let sweep = Sweep::load(name)?;
    note!(
        "{}: {} ({}), {} of split {} each",
        sweep.definition.name,
        counted(sweep.points.len(), "point"),
        sweep.definition.design.label(),
        counted(sweep.definition.rows, "row"),
        sweep.definition.split
    );
    let scorer = SweepScorer::new(
        &sweep.definition,
        &sweep.base,
        args.scorer.name()?,
        args.scorer.settings(Some(&sweep.base))?,
    )?;
    if args.dry_run && args.json {
        let hashes = sweep.hashes(scorer.as_ref());
        let point = |(point, hash): (&Point, &String)| {
            let label = point.label(&sweep.definition.axes);
            json!({ "number": point.number, "label": label, "result": result_path(Path::new(""), hash) })
        };
        let points: Vec<_> = sweep.points.iter().zip(&hashes).map(point).collect();
        println!("{}", json!({ "name": sweep.definition.name, "rows": sweep.definition.rows, "points": points }));
        return Ok(ExitCode::SUCCESS);
    }
    if args.dry_run {
        for point in &sweep.points {
            println!("{:>5}  {}", point.number, point.label(&sweep.definition.axes));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let out = &*place(args.out.as_deref().context("give --out DIR")?)?;
    console::say_that_it_resumes();
    let points = args.points.as_ref().map_or(sweep.points.len(), Range::len) as u64;
    let bar = progress::bar(points * sweep.definition.rows, "rows");
    let done = std::sync::atomic::AtomicU64::new(0);
    let progress = |step| match step {
        SweepStep::Rows(rows) => bar.inc(rows),
        SweepStep::Point => {
            let n = 1 + done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            bar.set_prefix(format!("{n}/{points} points "));
        }
    };
    if let Some(part) = &args.points {
        let measured = sweep.run_points(part.clone(), out, args.threads, scorer.as_ref(), &progress)?;
        bar.finish_and_clear();
        print_part(args, out, &measured);
        return Ok(ExitCode::SUCCESS);
    }
    let outcome = sweep.run(out, args.threads, scorer.as_ref(), &progress)?;
    bar.finish_and_clear();
    let page = out.join(SWEEP_PAGE);
    AtomicFile::write(&page, sweep_page(&outcome.table).as_bytes()).with_context(|| page.display().to_string())?;
    print(args, out, &outcome)?;
    Ok(ExitCode::SUCCESS)
}

fn show(name: &str) -> anyhow::Result<ExitCode> {
    let (_, text) = SHIPPED.iter().find(|(shipped, _)| *shipped == name).with_context(|| {
        format!(
            "no shipped sweep {name:?}; there are {}",
            SHIPPED.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
        )
    })?;
    print!("{text}");
    Ok(ExitCode::SUCCESS)
}

fn check(name: &str) -> Result<Accepted, StudyError> {
    let sweep = Sweep::load(name)?;
    let (points, rows) = (sweep.points.len(), sweep.definition.rows);
    let keys = Map::from_iter([("points".to_owned(), json!(points)), ("rows".to_owned(), json!(rows))]);
    Ok(Accepted {
        summary: format!("{} of {}", counted(points, "point"), counted(rows, "row")),
        keys,
        warnings: Vec::new(),
    })
}

fn list(as_json: bool) -> anyhow::Result<ExitCode> {
    let mut shown = Vec::new();
    for (name, text) in SHIPPED {
        let sweep = Sweep::outline(text, name, None)?;
        shown.push(json!({
            "name": name, "title": sweep.definition.name, "description": sweep.definition.description, "points": sweep.points.len(),
            "rows": sweep.definition.rows, "posterior": sweep.definition.posterior != Posterior::None,
        }));
        if !as_json {
            println!(
                "{name:<12} {:>4} points x {} rows: {}",
                sweep.points.len(),
                sweep.definition.rows,
                sweep.definition.description
            );
        }
    }
    if as_json {
        println!("{}", serde_json::to_string_pretty(&shown)?);
    }
    Ok(ExitCode::SUCCESS)
}

fn parse_points(text: &str) -> Result<Range<usize>, String> {
    match crate::args::pair(text, "..") {
        Some((first, last)) if first < last => Ok(first..last),
        _ => Err("expected A..B with A below B, such as 0..10".to_owned()),
    }
}

/// What a part of a sweep measured.
fn print_part(args: &Args, out: &Path, measured: &MeasuredPoints) {
    let MeasuredPoints { made, kept, rows, elapsed } = measured;
    if args.json {
        let seconds = elapsed.as_secs_f64();
        println!(
            "{}",
            json!({"out": out, "points_made": made, "points_kept": kept, "rows_made": rows, "seconds": seconds})
        );
        return;
    }
    let (points, rows) = (counted(*made, "point"), counted(*rows, "row"));
    println!("{points} measured, {kept} there before; {rows} in {}", progress::duration(*elapsed));
    println!("results of points: {}", out.join("points").display());
}

fn print(args: &Args, out: &Path, outcome: &Outcome) -> anyhow::Result<()> {
    let MeasuredPoints { made, kept, rows, elapsed } = outcome.measured;
    let seconds = elapsed.as_secs_f64();
    #[allow(clippy::cast_precision_loss, reason = "for display")]
    let rate = rows as f64 / seconds.max(1e-9);
    let metric = if outcome.table.manifest.sweep.posterior == Posterior::None { "arrivals_mean" } else { "nll" };
    let movers = sensitivities(&outcome.table, metric);
    if args.json {
        let shown = json!({
            "out": out, "points": outcome.table.results.len(), "points_made": made, "points_kept": kept,
            "rows_made": rows, "seconds": seconds, "rows_per_second": rate,
            "sensitivity": movers.as_ref().map(|found| json!({"metric": metric, "differences": found})),
        });
        println!("{shown}");
        return Ok(());
    }
    match &movers {
        Some(found) => {
            println!("{metric} minus that of the base recipe, the key that moves it most first:");
            println!("  {:<32}{:>18}{:>20}{:>12}", "axis", "value", "base", "difference");
            for s in found {
                let stderr = s.stderr.map_or_else(String::new, |e| format!(" +- {e:.4}"));
                let (axis, value, base) = (clipped(&s.axis, 31), clipped(&s.value, 17), clipped(&s.base, 19));
                println!("  {axis:<32}{value:>18}{base:>20}{:>+12.4}{stderr}", s.difference);
            }
        }
        None => print_points(&outcome.table),
    }
    println!(
        "{} measured, {kept} there before; {} in {} ({rate:.0} rows/s)",
        counted(made, "point"),
        counted(rows, "row"),
        progress::duration(elapsed)
    );
    println!("table and page: {}, {}", out.join(SWEEP_TABLE).display(), out.join(SWEEP_PAGE).display());
    Ok(())
}

/// The few metrics that fit a terminal.
fn print_points(table: &SweepTable) {
    let metrics = ["los_share", "arrivals_mean", "aoa_error_deg_p50", "aoa_error_deg_p90", "snr_error_db_p50", "nll"];
    let there = |name: &&str| table.results.first().is_some_and(|first| first.metric(name).is_some());
    let metrics: Vec<&str> = metrics.into_iter().filter(there).collect();
    let axes: Vec<&str> = table.manifest.sweep.axes.iter().map(|axis| axis.name.as_str()).collect();
    let heads: String = metrics.iter().map(|name| format!("{name:>20}")).collect();
    println!("  {:<40}{heads}", clipped(&axes.join(", "), 39));
    for (point, result) in table.manifest.points.iter().zip(&table.results) {
        let label: Vec<&str> = point.settings.iter().map(|setting| setting.label.as_str()).collect();
        let value = |name: &&str| match result.metric(name).map(|m| (m.value, m.stderr)) {
            Some((Some(value), Some(stderr))) => format!("{:>20}", format!("{value:.3} +- {stderr:.3}")),
            Some((Some(value), None)) => format!("{value:>20.3}"),
            _ => format!("{:>20}", "n/a"),
        };
        println!("  {:<40}{}", clipped(&label.join(", "), 39), metrics.iter().map(value).collect::<String>());
    }
}

/// A text of at most so many characters.
fn clipped(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}
