//! `magnetar benchmark`.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, ensure};
use magnetar_dataset::Recipe;
use magnetar_dataset::replay::STAND_IN;
use magnetar_neural::train::{Preset, TrainingPlan, TrainingRows};
use magnetar_neural::{
    Benchmark, BenchmarkColumns, BenchmarkLine, BenchmarkStep, ByBoard, Contestant, Design, LearnedScorers, Model,
    OverSeeds, ShippedModel,
};
use magnetar_posterior::Scorer;
use magnetar_study::{ScorerSettings, ScorerSource, open_scorer};
use serde_json::json;

use super::recipe::RecipeArgs;
use super::scorer_args::learned_scorers;
use super::train::{complete, train_to};
use crate::args::parse_threads;
use crate::output::with_error;
use crate::progress;

/// Scorers that are not trained and stand in every table.
const REFERENCES: [&str; 2] = ["twin", "uniform"];

/// Flags of `magnetar benchmark`.
#[derive(clap::Args)]
#[command(after_help = "\
Table (a) has NLL and V@40 on rows of the recipe's `test` split and, on replays
of the paper's campaign (simulated), NLL, HPD gap, V@40, MAP errors and joint
hits; table (b) the time from one row to its posterior on one thread, and I_post
over all lines. Twin and uniform posterior are in every table. Balanced figures,
then no-board and board rows apart. With one model per design +- is the standard
error over rows; with several the sample deviation over seeds of training.

Without --train the shipped models of the recipe are scored. With it, models of
--preset are trained with seeds 1 to --seeds, kept in --models, and not trained
again if they are there.

Examples:
  magnetar benchmark --seed 401
  magnetar benchmark --scorers np1,np6 --recipe field --seed 402 --json
  magnetar benchmark --train --preset cpu --seeds 3 --models runs")]
pub struct Args {
    /// Designs or models to score; if left out all that are shipped for the recipe, or with --train all designs.
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    scorers: Vec<String>,
    #[command(flatten)]
    recipe: RecipeArgs,
    /// Seed of the rows that are scored; models learn from rows of other seeds.
    #[arg(long, default_value_t = 401, value_name = "SEED")]
    seed: u64,
    /// Score N rows of the test split.
    #[arg(long, default_value_t = 1000, value_name = "N")]
    limit: u64,
    /// Score N rows of each protocol of the replay, spread over it; 0 for none.
    #[arg(long, default_value_t = 500, value_name = "N")]
    replay_limit: u64,
    /// Time N rows, one at a time.
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    timed_rows: u64,
    /// Train the designs first.
    #[arg(long, requires = "models")]
    train: bool,
    /// The numbers of training: paper or cpu.
    #[arg(long, default_value = "cpu", value_name = "paper|cpu")]
    preset: Preset,
    /// Train each design with seeds 1 to N.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100))]
    seeds: u64,
    /// Rows that each model is shown, instead of the preset's.
    #[arg(long, value_name = "N")]
    exposures: Option<u64>,
    /// Rows of `val` that stages are judged on, instead of the preset's.
    #[arg(long, value_name = "N")]
    validation_rows: Option<u64>,
    /// Folder of the models that are trained.
    #[arg(long, value_name = "FOLDER")]
    models: Option<PathBuf>,
    /// Worker threads; 0 for one per core.
    #[arg(long, default_value_t = 0, value_parser = parse_threads)]
    threads: usize,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Prints the paper's table.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads).build().context("cannot start threads")?;
    let recipe = Arc::new(Recipe::load(&args.recipe.recipe, &args.recipe.set)?);
    let replay = match args.replay_limit {
        0 => None,
        limit => Some((Arc::new(Recipe::load("replay", &[])?), limit)),
    };
    ensure!(args.limit > 0, "--limit 0: score at least one row");
    let benchmark = Benchmark { recipe, rows: args.limit, replay, seed: args.seed, timed_rows: args.timed_rows };
    let lines = pool.install(|| -> anyhow::Result<_> {
        let contestants = args.contestants(&benchmark.recipe)?;
        let bar = progress::bar(benchmark.rows_to_score()?, "rows");
        let timing = OnceCell::new();
        let begin_timing = || {
            bar.finish_and_clear();
            progress::bar(benchmark.rows_to_time(&contestants), "rows timed")
        };
        let lines = benchmark.run(&contestants, &|step| match step {
            BenchmarkStep::Scored(rows) => bar.inc(rows),
            BenchmarkStep::Timed => timing.get_or_init(begin_timing).inc(1),
        })?;
        timing.get_or_init(begin_timing).finish_and_clear();
        Ok(lines)
    })?;
    if args.json {
        let all = json!({
            "recipe": benchmark.recipe.name, "recipe_hash": benchmark.recipe.hash(), "seed": args.seed,
            "replay": benchmark.replay.as_ref().map(|_| STAND_IN), "lines": lines,
        });
        println!("{}", serde_json::to_string_pretty(&all)?);
    } else {
        print(&benchmark, &lines);
    }
    Ok(ExitCode::SUCCESS)
}

impl Args {
    /// The lines of the table: designs, then the references.
    fn contestants(&self, recipe: &Arc<Recipe>) -> anyhow::Result<Vec<Contestant>> {
        let settings = ScorerSettings { source: Some(learned_scorers()), ..ScorerSettings::shipped_for(recipe)? };
        let open = |name: &str| open_scorer(name, recipe, &settings).with_context(|| format!("--scorers {name}"));
        let mut contestants = Vec::new();
        for name in self.names(recipe) {
            ensure!(!REFERENCES.contains(&name.as_str()), "--scorers {name}: it is in every table; leave it out here");
            let named = || format!("--scorers {name}");
            contestants.push(if self.train {
                let design: Design = name.parse::<Design>().with_context(named)?;
                let models = (1..=self.seeds).map(|seed| self.trained(design, recipe, seed));
                let models = models.collect::<anyhow::Result<Vec<(PathBuf, Model)>>>()?;
                let scorers = models.iter().map(|(path, _)| open(&path.to_string_lossy()));
                let exposures = models.first().map(|(_, model)| model.record().training.exposures);
                Contestant { name, scorers: scorers.collect::<anyhow::Result<Vec<_>>>()?, exposures }
            } else {
                if let Some(warning) = LearnedScorers.warning(&name, recipe) {
                    eprintln!("warning: {warning}");
                }
                let learned = LearnedScorers.opens(&name).then(|| LearnedScorers.model(&name, Some(recipe)));
                let exposures =
                    learned.transpose().with_context(named)?.map(|(_, model)| model.record().training.exposures);
                let scorer = open(&name)?;
                Contestant { name: scorer.name().to_owned(), scorers: vec![scorer], exposures }
            });
        }
        for (n, contestant) in contestants.iter().enumerate() {
            let twice = contestants[..n].iter().any(|other| other.name == contestant.name);
            ensure!(!twice, "--scorers: {} is given twice; give each once", contestant.name);
        }
        for name in REFERENCES {
            let scorers: Vec<Arc<dyn Scorer>> = vec![open(name)?];
            contestants.push(Contestant { name: name.to_owned(), scorers, exposures: None });
        }
        Ok(contestants)
    }

    fn names(&self, recipe: &Recipe) -> Vec<String> {
        if !self.scorers.is_empty() {
            return self.scorers.clone();
        }
        if self.train {
            return Design::ALL.map(|design| design.name().to_owned()).to_vec();
        }
        let ending = format!("-{}", recipe.name);
        let shipped = ShippedModel::all().iter().filter(|shipped| shipped.name.ends_with(&ending));
        shipped.map(|shipped| shipped.name.to_owned()).collect()
    }

    /// The model of a design and a seed: the one that is there, or a new one.
    fn trained(&self, design: Design, recipe: &Arc<Recipe>, seed: u64) -> anyhow::Result<(PathBuf, Model)> {
        let folder = self.models.as_ref().context("--train needs --models, a folder for what is trained")?;
        let made = magnetar_files::create_folder(folder);
        made.with_context(|| format!("--models {}: expected a folder, or a name for a new one", folder.display()))?;
        let out = folder.join(format!("{design}-{}-{seed}.safetensors", recipe.name));
        let mut plan = TrainingPlan::preset(self.preset, design, seed);
        plan.exposures = self.exposures.unwrap_or(plan.exposures);
        plan.validation_rows = self.validation_rows.unwrap_or(plan.validation_rows);
        plan.check()?;
        if out.exists() {
            let model = Model::from_file(&out)?;
            let record = model.record();
            let same = (record.design, record.training.seed, record.training.exposures, &record.recipe_hash)
                == (design, seed, plan.steps() * plan.batch, &recipe.hash());
            ensure!(same, "{}: a model of another run; remove it or give another folder", out.display());
            return Ok((out, model));
        }
        let rows = TrainingRows::from_recipe(recipe, seed, plan.validation_rows)?;
        let rows = complete(rows, &plan, None)?;
        let flag = |name: &str, value: Option<u64>| value.map(|n| format!(" --{name} {n}")).unwrap_or_default();
        let command = format!(
            "magnetar train {design} --preset {} --recipe {} --seed {seed}{}{}",
            self.preset,
            self.recipe.recipe,
            flag("exposures", self.exposures),
            flag("validation-rows", self.validation_rows)
        );
        let model = train_to(&plan, &rows, &out, &command)?;
        Ok((out, model))
    }
}

/// A condition's columns among those of a line.
type Condition = fn(&ByBoard) -> Option<&BenchmarkColumns>;

fn print(benchmark: &Benchmark, lines: &[BenchmarkLine]) {
    println!("recipe {}, rows of seed {}", benchmark.recipe.name, benchmark.seed);
    if benchmark.replay.is_some() {
        println!("{STAND_IN}.");
    }
    let conditions: [(&str, Condition); 3] = [
        ("balanced", |by| Some(&by.balanced)),
        ("no board", |by| by.no_board.as_ref()),
        ("board", |by| by.board.as_ref()),
    ];
    // The name of a model's file can be long.
    let width = lines.iter().map(|line| line.name.chars().count() + 2).fold(12, usize::max);
    for (condition, of) in conditions {
        println!();
        println!("(a) {condition:<left$}| test split            | replay", left = width + 24);
        println!(
            "  {:<width$}{:>11}{:>7}    | {:>14}{:>8} | {:>14}{:>9}{:>8}{:>9}{:>10}{:>8}",
            "scorer",
            "exposures",
            "seeds",
            "NLL, nat",
            "V@40 %",
            "NLL, nat",
            "HPD gap",
            "V@40 %",
            "XY, m",
            "yaw, deg",
            "hit, %"
        );
        for line in lines {
            let Some(sim) = of(&line.sim) else { continue };
            let exposures = line.exposures.map_or_else(|| "-".to_owned(), |n| n.to_string());
            let replay = line.replay.as_ref().and_then(of).map(replay_columns).unwrap_or_default();
            println!(
                "  {:<width$}{exposures:>11}{:>7}    | {:>14}{:>8.2} | {replay}",
                line.name,
                line.exposures.map_or_else(|| "-".to_owned(), |_| line.seeds.to_string()),
                nll(sim),
                sim.v40_percent.mean
            );
        }
    }
    println!();
    println!("(b) {:<left$}{:>16}{:>9}", "scorer", "time, ms", "I_post", left = width - 1);
    for line in lines {
        let OverSeeds { mean, deviation } = line.time_ms;
        println!(
            "  {:<left$}{:>16}{:>9.2}",
            line.name,
            with_error(mean, deviation.unwrap_or(f64::NAN), 2),
            line.post_index,
            left = width + 1
        );
    }
}

fn replay_columns(columns: &BenchmarkColumns) -> String {
    format!(
        "{:>14}{:>9.2}{:>8.2}{:>9.2}{:>10.1}{:>8.1}",
        nll(columns),
        columns.hpd_gap_pp.mean,
        columns.v40_percent.mean,
        columns.map_xy_m.mean,
        columns.map_yaw_deg.mean,
        columns.joint_hit_percent.mean
    )
}

/// NLL with the deviation over seeds, or of a single seed with the standard error over rows.
fn nll(columns: &BenchmarkColumns) -> String {
    with_error(columns.nll.mean, columns.nll.deviation.unwrap_or(columns.nll_stderr), 3)
}
