//! `magnetar replay`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use magnetar_dataset::replay::STAND_IN;
use magnetar_dataset::{Job, Plan};
use serde_json::json;

use super::audit::write_onto_card;
use super::recipe::load_recipe;
use crate::args::parse_threads;
use crate::output::counted;
use crate::{console, progress};

/// Flags of `magnetar replay`.
#[derive(clap::Args)]
#[command(after_help = "\
The rows are simulated stand-ins for measurements, and the dataset says so in
its card, manifest and Parquet metadata. They have the columns of any dataset
plus protocol, placement, site and command. The TX faces the RX. A stopped run
is finished by the same command.

Examples:
  magnetar replay full-rotation --out rotation     # 4 placements x 7 sites x 360 headings
  magnetar replay track --out track                # 25 sites x 6 headings (or 3) x 10 TX
  magnetar replay all --out replay --csi none      # both, as two splits of one dataset
  magnetar verify replay")]
pub struct Args {
    /// What to replay.
    #[arg(value_enum)]
    protocol: ProtocolArg,
    /// The dataset's folder.
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// The recipe with the campaign: a shipped one's name or a file.
    #[arg(long, default_value = "replay", value_name = "NAME|FILE")]
    recipe: String,
    /// Change one key of the recipe; may be given many times.
    #[arg(long, value_name = "KEY.PATH=VALUE")]
    set: Vec<String>,
    /// How observations are stored: f32, f16 or none (the recipe's store.csi).
    #[arg(long, value_name = "TYPE")]
    csi: Option<String>,
    /// The seed of all draws.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Worker threads; 0 for one per core.
    #[arg(long, default_value_t = 0, value_parser = parse_threads)]
    threads: usize,
    /// Print a JSON summary.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ProtocolArg {
    /// The RX turns through all headings at seven sites.
    FullRotation,
    /// The TX moves on its track, the RX stands on the sites of a grid.
    Track,
    /// Both.
    All,
}

/// Replays the measurement campaign.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut sets = args.set.clone();
    sets.extend(args.csi.as_ref().map(|csi| format!("store.csi={csi:?}")));
    let recipe = load_recipe(&args.recipe, &sets)?;
    if recipe.replay.is_none() {
        anyhow::bail!("{}: has no [replay] section; extend the recipe \"replay\"", args.recipe);
    }
    let wanted = match args.protocol {
        ProtocolArg::FullRotation => Some("full-rotation"),
        ProtocolArg::Track => Some("track"),
        ProtocolArg::All => None,
    };
    let splits: Vec<String> = recipe
        .splits
        .iter()
        .filter(|(_, split)| wanted.is_none_or(|label| split.protocol.label() == label))
        .map(|(name, _)| name.clone())
        .collect();
    if splits.is_empty() {
        anyhow::bail!("{}: no split replays {}", args.recipe, wanted.unwrap_or_default());
    }
    let job = Job { splits, threads: args.threads, ..Job::new(Arc::new(recipe), args.seed, &args.out) };
    console::say_that_it_resumes();
    let planning = progress::phase("looking at what is there");
    let plan = Plan::new(job)?;
    drop(planning);
    let bar = progress::bar(plan.rows(), "rows");
    let summary = plan.run(&|rows| bar.inc(rows))?;
    bar.finish_and_clear();
    write_onto_card(&args.out)?;
    if args.json {
        let splits: serde_json::Map<_, _> =
            summary.manifest.splits.iter().map(|(name, split)| (name.clone(), json!(split.present_rows()))).collect();
        println!(
            "{}",
            json!({"out": args.out, "stand_in": STAND_IN, "rows_made": summary.rows, "splits": splits,
                   "recipe_hash": summary.manifest.recipe_hash, "seed": summary.manifest.seed})
        );
        return Ok(ExitCode::SUCCESS);
    }
    println!("{STAND_IN}.");
    for (name, split) in &summary.manifest.splits {
        println!("  {name:<14} {:>6} rows, {}", split.present_rows(), counted(split.shards.len(), "shard"));
    }
    println!(
        "{} in {}: {}",
        progress::bytes(summary.bytes),
        progress::duration(summary.elapsed),
        args.out.join(magnetar_dataset::MANIFEST).display()
    );
    Ok(ExitCode::SUCCESS)
}
