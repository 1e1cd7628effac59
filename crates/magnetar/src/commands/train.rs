//! `magnetar train`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, ensure};
use magnetar_dataset::Recipe;
use magnetar_neural::train::{
    Preset, REAL_EXPOSURES, RealRows, Sampling, Trainer, TrainingPlan, TrainingProgress, TrainingRows,
};
use magnetar_neural::{Design, Model, NeuralError};
use magnetar_posterior::TwinScorer;
use magnetar_study::{twin_model, twin_parameters};
use serde_json::json;

use super::dataset_folder::open_dataset;
use super::fit::checkpoint_path;
use super::recipe::RecipeArgs;
use crate::args::{parse_model_name, parse_threads};
use crate::{console, progress};

/// Losses are averaged over so many steps before they are shown.
const SHOWN_STEPS: u64 = 200;

/// Flags of `magnetar train`.
#[derive(clap::Args)]
#[command(after_help = "\
Designs: np1 to np5, sm1 to sm4 and sa1 to sa4 are the paper's; np6 is ours, the
twin as a prior. docs/scorers.md says what each is.

Preset `paper` is the paper's protocol: 1,638,400 exposures in four stages of
33, 25, 33 and 41 cells a side, supports redrawn and the truth inserted for
every exposure, Adam, 2 % warm-up, cosine to zero, the best stage by density NLL
on `val`. Preset `cpu` is a reduced run for a few cores: narrower, fewer
exposures, of each of which some candidates or headings are scored, besides
those of the truth, and the log-sum corrected for it. Every number can be
changed.

Rows come from a recipe, drawn on the fly, or from a dataset's train and val
splits. With --real, rows of a measured campaign (or its replay) without a board
are shown besides, again and again, TX and RX moved together in the room (not
for np6, whose twin knows the walls): keep them apart from those that are scored
later. Weights are the same for any number of threads. State is kept in
OUT.checkpoint; after an interruption the same command goes on from it.

Examples:
  magnetar train np1 --preset cpu --out np1.safetensors
  magnetar train np6 --preset cpu --recipe field --out np6.safetensors
  magnetar train np4 --data data --exposures 100000 --out np4.safetensors
  magnetar replay track --recipe replay-train --out real
  magnetar train np4 --preset cpu --real real --out np4.safetensors
  magnetar evaluate data --scorer twin --scorer np1.safetensors")]
pub struct Args {
    /// The design.
    #[arg(value_name = "DESIGN")]
    design: Design,
    /// Rows of a dataset, instead of those of a recipe.
    #[arg(long, conflicts_with_all = ["recipe", "set"], value_name = "FOLDER")]
    data: Option<PathBuf>,
    #[command(flatten)]
    recipe: RecipeArgs,
    /// Show rows of this dataset besides, measured or replayed, without a board: the paper's regime S+R. Of its split
    /// `train` if it has one, else of all.
    #[arg(long, value_name = "FOLDER")]
    real: Option<PathBuf>,
    /// How often one of them is shown, spread among the others.
    #[arg(long, value_name = "N", requires = "real", default_value_t = REAL_EXPOSURES)]
    real_exposures: u64,
    /// The numbers to begin with: paper or cpu.
    #[arg(long, default_value = "paper", value_name = "paper|cpu")]
    preset: Preset,
    /// Seed of first weights, supports and samples, and of rows that are drawn.
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    seed: u64,
    /// Rows that are shown in all.
    #[arg(long, value_name = "N")]
    exposures: Option<u64>,
    /// Rows per step.
    #[arg(long, value_name = "N")]
    batch: Option<u64>,
    /// Largest learning rate.
    #[arg(long, value_name = "RATE")]
    rate: Option<f64>,
    /// Cells a side of the supports, stage by stage.
    #[arg(long, value_delimiter = ',', value_name = "N,N,...")]
    stages: Vec<usize>,
    /// Widths of hidden layers.
    #[arg(long, value_delimiter = ',', value_name = "N,N,...")]
    hidden: Vec<usize>,
    /// Channels of attention.
    #[arg(long, value_name = "N")]
    attention: Option<usize>,
    /// Channels of a U-Net's levels.
    #[arg(long, value_delimiter = ',', value_name = "N,N,...")]
    levels: Vec<usize>,
    /// Residual blocks per level.
    #[arg(long, value_name = "N")]
    blocks: Option<usize>,
    /// Score N candidates besides those of the truth; 0 for all.
    #[arg(long, value_name = "N", conflicts_with = "sample_headings")]
    sample_candidates: Option<usize>,
    /// Score N headings besides those of the truth; 0 for all.
    #[arg(long, value_name = "N")]
    sample_headings: Option<usize>,
    /// Rows of `val` that the stages are judged on.
    #[arg(long, value_name = "N")]
    validation_rows: Option<u64>,
    /// Learn from the first N rows of `train`, again and again; 0 for all.
    #[arg(long, value_name = "N")]
    rows: Option<u64>,
    /// Parameters of np6's twin: a file that `magnetar fit` made, or shipped ones by name. If not given, those shipped for
    /// the recipe, or else those of paper.
    #[arg(long, value_name = "NAME|FILE")]
    parameters: Option<PathBuf>,
    /// Worker threads; 0 for one per core.
    #[arg(long, default_value_t = 0, value_parser = parse_threads)]
    threads: usize,
    /// Where to write the model: .safetensors.
    #[arg(short, long, value_name = "FILE", value_parser = parse_model_name)]
    out: PathBuf,
    /// Print the model's record as JSON.
    #[arg(long)]
    json: bool,
}

impl Args {
    fn plan(&self) -> TrainingPlan {
        let mut plan = TrainingPlan::preset(self.preset, self.design, self.seed);
        plan.real_exposures = if self.real.is_some() { self.real_exposures } else { 0 };
        plan.distinct_rows = self.rows.or(plan.distinct_rows).filter(|rows| *rows > 0);
        let TrainingPlan { widths, exposures, batch, peak_rate, stages, validation_rows, sampling, .. } = &mut plan;
        let list = |to: &mut Vec<usize>, given: &Vec<usize>| {
            if !given.is_empty() {
                to.clone_from(given);
            }
        };
        list(stages, &self.stages);
        list(&mut widths.hidden, &self.hidden);
        list(&mut widths.levels, &self.levels);
        widths.attention = self.attention.unwrap_or(widths.attention);
        widths.blocks = self.blocks.unwrap_or(widths.blocks);
        *exposures = self.exposures.unwrap_or(*exposures);
        *batch = self.batch.unwrap_or(*batch);
        *peak_rate = self.rate.unwrap_or(*peak_rate);
        *validation_rows = self.validation_rows.unwrap_or(*validation_rows);
        *sampling = match (self.sample_candidates, self.sample_headings) {
            (Some(0), _) | (_, Some(0)) => Sampling::All,
            (Some(count), _) => Sampling::Candidates(count),
            (_, Some(count)) => Sampling::Headings(count),
            (None, None) => *sampling,
        };
        plan
    }

    fn rows(&self, plan: &TrainingPlan) -> anyhow::Result<TrainingRows> {
        let rows = match &self.data {
            Some(folder) => TrainingRows::from_dataset(&open_dataset(folder)?, plan.seed, plan.validation_rows)?,
            None => TrainingRows::from_recipe(
                &Arc::new(Recipe::load(&self.recipe.recipe, &self.recipe.set)?),
                plan.seed,
                plan.validation_rows,
            )?,
        };
        let rows = complete(rows, plan, self.parameters.as_deref())?;
        let Some(folder) = &self.real else { return Ok(rows) };
        let real = RealRows::from_dataset(&open_dataset(folder)?, rows.recipe())?;
        Ok(rows.with_real(real, plan))
    }
}

/// Rows as a plan wants them: no more than it takes, and with the twin's evidence if its design looks at it.
pub(super) fn complete(
    rows: TrainingRows,
    plan: &TrainingPlan,
    parameters: Option<&Path>,
) -> anyhow::Result<TrainingRows> {
    let rows = rows.limited_to(plan.distinct_rows);
    if !plan.design.uses_twin() {
        ensure!(parameters.is_none(), "--parameters: {} uses no twin", plan.design);
        return Ok(rows);
    }
    let recipe = rows.recipe();
    let file = twin_parameters(parameters, Some(recipe))?;
    ensure!(
        file.propagation.is_default(),
        "--parameters: a network's twin reckons with paths of order 1, these are for {}",
        file.propagation.describe()
    );
    let twin = TwinScorer::new(twin_model(recipe)?, file.parameters)?;
    Ok(rows.with_twin(twin))
}

/// Trains a model and writes it.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let plan = args.plan();
    plan.check()?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads).build().context("cannot start threads")?;
    let model = pool.install(|| train_to(&plan, &args.rows(&plan)?, &args.out, &command_line()))?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&json!({"out": args.out, "record": model.record()}))?);
    } else {
        println!("{}", args.out.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Trains a model, or goes on with it, and writes it; `command` goes into its record.
pub(super) fn train_to(plan: &TrainingPlan, rows: &TrainingRows, out: &Path, command: &str) -> anyhow::Result<Model> {
    let checkpoint = checkpoint_path(out);
    let mut trainer = Trainer::new(plan.clone(), rows, Some(&checkpoint))?;
    note!(
        "{}: {}; {} parameters; {} exposures in {} steps; {}",
        plan.design,
        plan.design.description(),
        trainer.parameter_count(),
        plan.exposures,
        plan.steps(),
        rows.described()
    );
    if trainer.step() > 0 {
        note!("going on after step {} of {}", trainer.step(), plan.steps());
    }
    console::say_that_it_resumes();
    let bar = progress::resumed_bar(plan.steps(), trainer.step(), "steps");
    let shown = std::cell::Cell::new((0.0, 0u64, Instant::now()));
    let model = trainer.run(command, Some(&checkpoint), &|at: &TrainingProgress| {
        bar.set_position(at.step);
        let (sum, count, last) = shown.get();
        shown.set((sum + at.loss, count + 1, last));
        if at.step.is_multiple_of(SHOWN_STEPS) || at.step == at.steps {
            let (sum, count, last) = shown.get();
            let left = last.elapsed().mul_f64((at.steps - at.step) as f64 / count as f64);
            note!(
                "step {}/{}, stage {}: loss {:.4} nat, rate {:.2e}, {} left",
                at.step,
                at.steps,
                at.stage + 1,
                sum / count as f64,
                at.rate,
                progress::duration(left)
            );
            shown.set((0.0, 0, Instant::now()));
        }
    })?;
    bar.finish_and_clear();
    model.write(out)?;
    magnetar_files::remove_file(&checkpoint)
        .map_err(|source| NeuralError::Write { path: checkpoint.clone(), source })?;
    for (n, stage) in model.record().training.stages.iter().enumerate() {
        let chosen = if n == model.record().training.chosen_stage { ", chosen" } else { "" };
        note!(
            "stage {}, {} cells: loss {:.4} nat, density NLL on val {:.4} nat{chosen}",
            n + 1,
            stage.cells,
            stage.loss,
            stage.density_nll
        );
    }
    Ok(model)
}

/// The command as it was given, for the model's record; the program by its name alone.
fn command_line() -> String {
    let rest: Vec<String> = std::env::args().skip(1).collect();
    format!("magnetar {}", rest.join(" "))
}
