//! `magnetar fit`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use magnetar_dataset::{Columns, Dataset};
use magnetar_files::AtomicFile;
use magnetar_posterior::{TwinFile, TwinScorer};
use magnetar_study::{FitRow, fit, withheld_nll};

use super::scorer_args::DatasetScorerArgs;

/// Flags of `magnetar fit`.
#[derive(clap::Args)]
#[command(after_help = "\
Fits the widths and rates of the twin's likelihood by maximum likelihood,
starting from the given (or shipped) parameters. Every row is scored with its
own materials withheld, as those of a test room are.

Examples:
  magnetar fit data --out my.twin.toml
  magnetar fit data --limit 2000 --check val --out my.twin.toml")]
pub struct Args {
    /// The split to fit on.
    #[arg(long, default_value = "train", value_name = "NAME")]
    split: String,
    /// Fit on the first N rows.
    #[arg(long, default_value_t = 1000, value_name = "N")]
    limit: usize,
    /// Passes over all parameters at most.
    #[arg(long, default_value_t = 8, value_name = "N")]
    sweeps: usize,
    /// Also report the NLL on as many rows of this split.
    #[arg(long, value_name = "NAME")]
    check: Option<String>,
    /// Where to write the parameters.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    with: DatasetScorerArgs,
}

/// Fits the parameters and writes them.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(args.split != "test", "the test split is held out: fit on another");
    let (dataset, twin) = args.with.open_twin()?;
    let scorer = twin.likelihood();
    let rows = load(args, &dataset, &args.split)?;
    let before = withheld_nll(scorer, &rows)?;
    eprintln!("{} rows of {}: NLL {before:.4} nat before", rows.len(), args.split);
    let (parameters, nll) = fit(scorer, &rows, args.sweeps, &|sweep, nll, _| {
        eprintln!("sweep {}: NLL {nll:.4} nat", sweep + 1);
    })?;
    if let Some(split) = &args.check {
        let rows = load(args, &dataset, split)?;
        let check = |s: &TwinScorer| withheld_nll(s, &rows);
        let (old, new) = (check(scorer)?, check(&scorer.with_parameters(parameters))?);
        eprintln!("{} rows of {split}: NLL {old:.4} nat before, {new:.4} after", rows.len());
    }
    let recipe = dataset.recipe();
    let file = TwinFile {
        recipe: recipe.name.clone(),
        recipe_hash: recipe.hash(),
        fitted_rows: rows.len() as u64,
        fitted_nll: nll,
        parameters,
    };
    let text = file.to_toml()?;
    AtomicFile::write(&args.out, text.as_bytes()).with_context(|| format!("cannot write {}", args.out.display()))?;
    print!("{text}");
    Ok(ExitCode::SUCCESS)
}

fn load(args: &Args, dataset: &Dataset, split: &str) -> anyhow::Result<Vec<FitRow>> {
    let mut rows = Vec::new();
    for record in dataset.records(split, Columns::WithoutCsi)?.take(args.limit) {
        rows.push(FitRow::new(&record?, dataset.recipe(), args.with.size())?);
    }
    anyhow::ensure!(!rows.is_empty(), "split {split} has no row");
    Ok(rows)
}
