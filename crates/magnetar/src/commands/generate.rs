//! `magnetar generate`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use magnetar_dataset::{Job, Plan, Recipe, Slice, Summary};
use serde_json::json;

use super::audit::write_onto_card;
use super::backend::BackendChoice;
use super::part::{PartChoice, parse_part};
use super::recipe::{RecipeArgs, load_recipe};
use crate::advice::at_its_line;
use crate::args::{pair, parse_threads};
use crate::output::counted;
use crate::{console, progress};

/// One part in so many of the estimated size is wanted free beyond it.
const SPACE_MARGIN: u64 = 20;

/// Flags of `magnetar generate`.
#[derive(clap::Args)]
#[command(after_help = "\
A stopped run (Ctrl-C, a crash, a full disk) is finished by the same command;
the result is the same to the byte.

Examples:
  magnetar generate                                # the paper's corpora into data/
  magnetar generate --limit 2000 --out small       # the first 2,000 samples of every split
  magnetar generate --split test --csi none
  magnetar generate --set rf_chain.enabled=false --out clean
  magnetar generate --part 1/4 --out part1         # a quarter of every split; see magnetar merge
  magnetar generate --part 1/4 --out s3://lab/data # parts may share one place in a store
  magnetar generate --dry-run --nodes 16           # size, and time on so many machines

With --limit, --part makes shards smaller where a split would have fewer of them
than there are parts.")]
pub struct Args {
    #[command(flatten)]
    recipe: RecipeArgs,
    /// The dataset's folder, or its place in an object store (s3://bucket/prefix; docs/scale.md).
    #[arg(short, long, default_value = "data", value_name = "DIR")]
    out: PathBuf,
    /// Only these splits; may be given many times or as a list.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    split: Vec<String>,
    /// Only the first so many samples (sets, in the fusion split) of each split.
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// The seed of all draws.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Worker threads; 0 for one per core.
    #[arg(long, default_value_t = 0, value_parser = parse_threads)]
    threads: usize,
    /// Rows of a Parquet file (the recipe's store.shard_rows).
    #[arg(long, value_name = "ROWS")]
    shard_size: Option<u64>,
    /// How observations are stored: f32, f16 or none (the recipe's store.csi).
    #[arg(long, value_name = "TYPE")]
    csi: Option<String>,
    /// Only the I-th of N runs of shards of each split, I from 1; auto (or auto/N) for the task of a Slurm, AWS Batch or
    /// Kubernetes array job that this is.
    #[arg(long, value_name = "I/N|auto", value_parser = parse_part, conflicts_with = "shards")]
    part: Option<PartChoice>,
    /// Only shards A to B of each split, B excluded.
    #[arg(long, value_name = "A..B", value_parser = parse_shards)]
    shards: Option<Slice>,
    /// What sums the paths: the CPU, the GPU, or the GPU if there is one.
    #[arg(long, default_value = "cpu", value_name = "cpu|cuda|auto")]
    backend: BackendChoice,
    /// Start even if the space that is free looks too small.
    #[arg(long)]
    ignore_free_space: bool,
    /// Check everything and print size and time, but make nothing.
    #[arg(long)]
    dry_run: bool,
    /// With --dry-run: how long so many machines like this one take, each with one part of as many (--part).
    #[arg(long, value_name = "N", requires = "dry_run", conflicts_with_all = ["part", "shards"],
          value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    nodes: Option<u64>,
    /// Print a JSON summary.
    #[arg(long)]
    json: bool,
}

fn parse_shards(text: &str) -> Result<Slice, String> {
    match pair(text, "..") {
        Some((first, last)) if first < last => Ok(Slice::Shards { first, last }),
        _ => Err("expected A..B with A below B, such as 0..10".to_owned()),
    }
}

/// Generates a dataset.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut sets = args.recipe.set.clone();
    sets.extend(args.shard_size.map(|rows| format!("store.shard_rows={rows}")));
    sets.extend(args.csi.as_ref().map(|csi| format!("store.csi={csi:?}")));
    let mut recipe = load_recipe(&args.recipe.recipe, &sets)?;
    let part = args.part.map(PartChoice::slice).transpose()?;
    share_among_parts(args, part, &mut recipe);
    let backend = args.backend.synthesis(recipe.band)?;
    let slice = part.or(args.shards).unwrap_or_default();
    let job = Job {
        recipe: Arc::new(recipe),
        seed: args.seed,
        out: args.out.clone(),
        splits: args.split.clone(),
        limit: args.limit,
        slice,
        threads: args.threads,
        durable: true,
        backend,
        ready: None,
    };
    console::say_that_it_resumes();
    let planning = progress::phase("looking at what is there");
    let plan = Plan::new(job).map_err(|error| at_its_line(&args.recipe.recipe, error))?;
    let estimate = plan.estimate()?;
    drop(planning);
    let rows = plan.rows();
    for (split, rows) in plan.rows_by_split() {
        note!("{split}: {} to make", counted(rows, "row"));
    }
    for (split, shards) in plan.empty_splits() {
        note!(
            "{split}: nothing in this part: the split has {}, fewer than there are parts; use fewer parts or a smaller \
             --shard-size",
            counted(*shards, "shard")
        );
    }
    if plan.kept_rows() > 0 {
        let kept = counted(plan.kept_rows(), "row");
        note!("there already: {kept}");
    }
    note!(
        "about {} and {} for {} in {} into {}",
        progress::bytes(estimate.bytes),
        progress::duration(estimate.duration),
        counted(rows, "row"),
        counted(plan.shards(), "shard"),
        args.out.display()
    );
    // Other machines have disks of their own.
    if !args.ignore_free_space && args.nodes.is_none() {
        check_space(args, &plan, estimate.bytes)?;
    }
    let shared = args.nodes.map(|nodes| Shared::new(nodes, &plan, estimate.duration));
    if let Some(shared) = &shared {
        shared.note();
    }
    if args.dry_run {
        if args.json {
            let splits: serde_json::Map<_, _> =
                plan.rows_by_split().into_iter().map(|(split, rows)| (split, json!(rows))).collect();
            let mut shown = json!({
                "out": args.out, "rows_to_make": rows, "rows_kept": plan.kept_rows(), "shards": plan.shards(),
                "bytes": estimate.bytes, "seconds": estimate.duration.as_secs_f64(), "splits": splits,
            });
            if let Some(shared) = &shared {
                shown["nodes"] = json!(shared.nodes);
                shown["seconds_on_nodes"] = json!(shared.duration.as_secs_f64());
            }
            println!("{shown}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    let bar = progress::bar(rows, "rows");
    let summary = plan.run(&|rows| bar.inc(rows))?;
    bar.finish_and_clear();
    write_onto_card(&args.out)?;
    print(args, &summary);
    Ok(ExitCode::SUCCESS)
}

/// A plan shared by several machines like this one, each with one part.
struct Shared {
    nodes: u64,
    /// Shards of the largest part.
    shards: u64,
    /// Until the last one is done.
    duration: Duration,
}

impl Shared {
    #[allow(clippy::cast_precision_loss, reason = "a guess")]
    fn new(nodes: u64, plan: &Plan, alone: Duration) -> Self {
        let all = plan.shards() as u64;
        let shards = all.div_ceil(nodes);
        Self { nodes, shards, duration: alone.mul_f64(shards as f64 / all.max(1) as f64) }
    }

    #[allow(clippy::cast_precision_loss, reason = "for display")]
    fn note(&self) {
        let nodes = self.nodes;
        let node_hours = self.duration.mul_f64(nodes as f64).as_secs_f64() / 3600.0;
        note!(
            "on {} like this one: about {}, {node_hours:.2} node-hours, at most {} each (--part 1/{nodes} to \
             {nodes}/{nodes}, or auto)",
            counted(nodes, "node"),
            progress::duration(self.duration),
            counted(self.shards, "shard")
        );
    }
}

/// Makes shards small enough that every part has some of every split, where --limit leaves few rows. It depends on nothing
/// but recipe, limit and number of parts: all parts agree.
fn share_among_parts(args: &Args, part: Option<Slice>, recipe: &mut Recipe) {
    let (Some(limit), Some(Slice::Part { parts, .. }), None) = (args.limit, part, args.shard_size) else { return };
    let asked = recipe.splits.iter().filter(|(name, _)| args.split.is_empty() || args.split.contains(name));
    let fewest =
        asked.map(|(_, split)| split.sets().min(limit) * u64::from(split.views)).filter(|rows| *rows >= parts).min();
    let size = fewest.map_or(1, |rows| rows / parts);
    if size < u64::from(recipe.store.shard_rows) {
        recipe.store.shard_rows = u32::try_from(size.max(1)).unwrap_or(u32::MAX);
        note!("shards of {size} rows, so that each of {parts} parts has some; --shard-size sets another number");
    }
}

/// Refuses what will not fit. The margin covers the error of the estimate, which a few rows are enough for.
fn check_space(args: &Args, plan: &Plan, bytes: u64) -> anyhow::Result<()> {
    let needed = bytes.saturating_add(bytes / SPACE_MARGIN);
    if let Some(available) = plan.available_bytes().filter(|available| *available < needed) {
        bail!(
            "{}: about {} are needed, {} are free; free some space, use --limit, --csi f16 or --csi none, or try \
             nevertheless with --ignore-free-space",
            args.out.display(),
            progress::bytes(needed),
            progress::bytes(available)
        );
    }
    Ok(())
}

fn print(args: &Args, summary: &Summary) {
    #[allow(clippy::cast_precision_loss, reason = "for display")]
    let rate = summary.rows as f64 / summary.elapsed.as_secs_f64().max(1e-9);
    let splits = &summary.manifest.splits;
    if args.json {
        let splits: serde_json::Map<_, _> = splits
            .iter()
            .map(|(name, split)| {
                let shown = json!({
                    "rows": split.present_rows(), "of": split.rows, "shards": split.shards.len(),
                    "bytes": split.shards.iter().map(|shard| shard.bytes).sum::<u64>(),
                });
                (name.clone(), shown)
            })
            .collect();
        let shown = json!({
            "out": args.out, "recipe_hash": summary.manifest.recipe_hash, "seed": summary.manifest.seed,
            "backend": summary.manifest.backend, "rows_made": summary.rows, "bytes_written": summary.bytes, "seconds": summary.elapsed.as_secs_f64(),
            "rows_per_second": rate, "splits": splits,
        });
        println!("{shown}");
        return;
    }
    println!(
        "{}, {} in {} ({rate:.0} rows/s)",
        counted(summary.rows, "row"),
        progress::bytes(summary.bytes),
        progress::duration(summary.elapsed)
    );
    for (name, split) in splits {
        let bytes = split.shards.iter().map(|shard| shard.bytes).sum::<u64>();
        let state = if split.is_complete() { "complete" } else { "incomplete" };
        println!(
            "  {name:<8} {:>9} of {}, {}, {}, {state}",
            split.present_rows(),
            counted(split.rows, "row"),
            counted(split.shards.len(), "shard"),
            progress::bytes(bytes)
        );
    }
    println!("manifest and card: {}", args.out.join(magnetar_dataset::MANIFEST).display());
}
