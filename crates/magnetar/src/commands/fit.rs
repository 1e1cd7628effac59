//! `magnetar fit`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::Context;
use magnetar_dataset::{Columns, Dataset};
use magnetar_files::AtomicFile;
use magnetar_posterior::{Scorer, SupportSize, TwinFile, TwinParameters, TwinScorer};
use magnetar_study::{Fit, FitOrigin, FitRow, FitState, calibrate, withheld_nll};
use serde_json::json;

use super::dataset_folder::open_dataset;
use super::scorer_args::ScorerArgs;
use crate::args::parse_toml_name;
use crate::output::counted;
use crate::{console, progress};

/// Splits that results are reported on: nothing is chosen by them.
const HELD_OUT: [&str; 2] = ["test", "fusion"];

/// Flags of `magnetar fit`.
#[derive(clap::Args)]
#[command(after_help = "\
Fits the widths and rates of the twin's likelihood by maximum likelihood on
`train`, starting from the given (or shipped) parameters, until a pass gains
less than 0.002 nat on held-back rows of `val`. Temperature and floor are then
chosen on those rows for calibration. Every row is scored with its own materials
withheld, as those of a test room are; `test` and `fusion` are refused.

After every pass the state is kept in OUT.checkpoint; after an interruption the
same command goes on from it.

Examples:
  magnetar fit data --out my.twin.toml
  magnetar fit data --limit 4000 --cells 33 --out my.twin.toml")]
pub struct Args {
    /// The dataset's folder.
    dataset: PathBuf,
    /// The split to fit on.
    #[arg(long, default_value = "train", value_name = "NAME")]
    split: String,
    /// The split whose rows decide when to stop, and temperature and floor.
    #[arg(long, default_value = "val", value_name = "NAME")]
    held_back: String,
    /// Fit on the first N rows, and hold as many of the other split back.
    #[arg(long, default_value_t = 500, value_name = "N")]
    limit: usize,
    /// Choose temperature and floor on the first N rows of that split: more than are searched with, as each is scored once.
    #[arg(long, default_value_t = 1000, value_name = "N")]
    calibrate: usize,
    /// Passes over all parameters at most.
    #[arg(long, default_value_t = 20, value_name = "N")]
    passes: usize,
    /// Cells along either axis of the room while fitting; temperature and floor are chosen on 33.
    #[arg(long, default_value_t = 17, value_name = "N")]
    cells: usize,
    /// Where to write the parameters.
    #[arg(short, long, value_name = "FILE.toml", value_parser = parse_toml_name)]
    out: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    scorer: ScorerArgs,
}

/// Fits the parameters and writes them.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    for split in [&args.split, &args.held_back] {
        anyhow::ensure!(
            !HELD_OUT.contains(&split.as_str()),
            "--split, --held-back: split {split} is held out, and nothing is chosen by it; fit on train, hold val back"
        );
    }
    let dataset = open_dataset(&args.dataset)?;
    dataset.require_truth()?;
    let twin = args.scorer.open_twin_to_fit(dataset.recipe())?;
    let scorer = twin.likelihood();
    let size = SupportSize { rows: args.cells, columns: args.cells, ..SupportSize::EVALUATION };
    // Of one split, the rows after those fitted to are held back.
    let skip = if args.split == args.held_back { args.limit } else { 0 };
    console::say_that_it_resumes();
    let loading = progress::phase("reading rows");
    let rows = load(&dataset, &args.split, (0, args.limit), size)?;
    let held_back = load(&dataset, &args.held_back, (skip, args.limit), size)?;
    drop(loading);
    let origin = FitOrigin {
        recipe_hash: dataset.recipe().hash(),
        seed: dataset.manifest().seed,
        split: args.split.clone(),
        rows: rows.len() as u64,
        held_back: args.held_back.clone(),
        held_back_rows: held_back.len() as u64,
        cells: args.cells as u64,
        begun_with: twin.identity(),
    };
    let state = search(args, scorer, (&rows, &held_back), &origin)?;

    let fitted = scorer.with_parameters(state.chosen);
    let judges = load(&dataset, &args.held_back, (skip, args.calibrate), SupportSize::EVALUATION)?;
    note!("temperature and floor on {} rows of {}", judges.len(), args.held_back);
    let calibrating = progress::phase("scoring with every temperature and floor");
    let before = withheld_nll(&fitted, &judges)?;
    let chosen = calibrate(&fitted, &judges)?;
    drop(calibrating);
    note!(
        "  NLL {before:.4} nat before, {:.4} after; HPD gap {:.2} pp; temperature {}, floor {}",
        chosen.nll,
        chosen.hpd_gap_pp,
        chosen.temperature,
        chosen.uniform_share
    );
    let bias: Vec<String> = chosen.bias_pp.iter().map(|bias| format!("{bias:+.2}")).collect();
    note!("  coverage minus nominal by the assignment withheld: {} pp", bias.join(", "));
    let parameters =
        TwinParameters { temperature: chosen.temperature, uniform_share: chosen.uniform_share, ..state.chosen };
    let recipe = dataset.recipe();
    let file = TwinFile {
        recipe: recipe.name.clone(),
        recipe_hash: recipe.hash(),
        fitted_rows: rows.len() as u64,
        fitted_nll: state.fitted_nll,
        propagation: twin.likelihood().model().propagation,
        parameters: rounded(&parameters),
    };
    let text = file.to_toml()?;
    AtomicFile::write(&args.out, text.as_bytes()).with_context(|| format!("cannot write {}", args.out.display()))?;
    FitState::forget(&checkpoint_path(&args.out))?;
    if args.json {
        let shown = json!({
            "out": args.out, "recipe": file.recipe, "recipe_hash": file.recipe_hash, "fitted_rows": file.fitted_rows,
            "fitted_nll": file.fitted_nll, "held_back_nll": state.held_back_nll, "passes": state.passes,
            "converged": state.converged, "calibrated_nll": chosen.nll, "hpd_gap_pp": chosen.hpd_gap_pp,
            "parameters": file.parameters,
        });
        println!("{shown:#}");
    } else {
        print!("{text}");
        println!("# written to {}", args.out.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Searches pass by pass, keeping a checkpoint, until a pass gains too little.
fn search(
    args: &Args,
    scorer: &TwinScorer,
    (rows, held_back): (&[FitRow], &[FitRow]),
    origin: &FitOrigin,
) -> anyhow::Result<FitState> {
    let path = checkpoint_path(&args.out);
    let scoring = progress::phase("scoring with the parameters it begins with");
    let mut fit = match FitState::kept(&path, origin)? {
        Some(state) => {
            note!("going on from {} after {}", path.display(), counted(state.passes, "pass"));
            Fit::resume(scorer, rows, held_back, state).context("the checkpoint is not of this program's parameters")?
        }
        None => Fit::new(scorer, rows, held_back)?,
    };
    drop(scoring);
    let state = fit.state();
    note!(
        "{} rows of {}: NLL {:.4} nat; {} rows of {} held back: {:.4} nat",
        rows.len(),
        args.split,
        state.fitted_nll,
        held_back.len(),
        args.held_back,
        state.held_back_nll
    );
    while !fit.state().converged && fit.state().passes < args.passes {
        let started = Instant::now();
        let bar = progress::bar(fit.evaluations_per_pass(), "evaluations");
        bar.set_prefix(format!("pass {} ", fit.state().passes + 1));
        fit.pass(&|| bar.inc(1))?;
        bar.finish_and_clear();
        fit.state().keep(&path, origin)?;
        let (state, took) = (fit.state(), started.elapsed());
        let left = took * u32::try_from(args.passes.saturating_sub(state.passes)).unwrap_or(0);
        note!(
            "pass {}: NLL {:.4} nat, held back {:.4}; {}, at most {} left",
            state.passes,
            state.fitted_nll,
            state.held_back_nll,
            progress::duration(took),
            progress::duration(left)
        );
    }
    if !fit.state().converged {
        note!(
            "warning: not converged after {} passes; --parameters {} goes on from here",
            args.passes,
            args.out.display()
        );
    }
    Ok(fit.state().clone())
}

/// `OUT.checkpoint`.
pub(super) fn checkpoint_path(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".checkpoint");
    PathBuf::from(name)
}

/// Five digits are more than rows can tell.
fn rounded(parameters: &TwinParameters) -> TwinParameters {
    let round = |value: f64| format!("{value:.4e}").parse().unwrap_or(value);
    TwinParameters::from_array(parameters.to_array().map(round))
}

/// So many rows of a split, after others that are skipped.
fn load(
    dataset: &Dataset,
    split: &str,
    (skip, count): (usize, usize),
    size: SupportSize,
) -> anyhow::Result<Vec<FitRow>> {
    let mut rows = Vec::new();
    for record in dataset.records(split, Columns::WithoutCsi)?.skip(skip).take(count) {
        rows.push(FitRow::new(&record?, dataset.recipe(), size)?);
    }
    anyhow::ensure!(!rows.is_empty(), "split {split} has no row to fit to or hold back");
    Ok(rows)
}
