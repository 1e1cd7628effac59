//! What every command that scores shares: the scorer, its parameters, its device, and the size of the support.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, ensure};
use clap::ValueEnum as _;
use magnetar_dataset::{Dataset, Recipe};
use magnetar_neural::LearnedScorers;
use magnetar_posterior::{Scorer, SupportSize, Twin};
use magnetar_report::view::quoted;
use magnetar_study::{
    ScorerSettings, ScorerSource, is_volume_file, open_scorer, open_twin, twin_parameters, uses_twin,
};
use magnetar_trace::MAX_ORDER;
use serde_json::{Value, json};

use super::backend::BackendChoice;
use super::dataset_folder::open_dataset;
use crate::args::parse_cells;

/// The name of the scorer that is taken if none is given.
pub const TWIN: &str = "twin";

/// Flags of every command that scores.
#[derive(clap::Args)]
pub struct ScorerArgs {
    /// What scores: twin, uniform, a model that `magnetar train` made (.safetensors), or a file of volumes (.parquet as `posterior --all` writes it, or .npy [rows, D, H, W] of masses,
    /// volume n for row n).
    #[arg(long = "scorer", default_value = TWIN, value_name = "NAME|FILE")]
    scorers: Vec<String>,
    /// Fitted parameters of the twin's likelihood: a file that `magnetar fit` made, or the shipped ones by their recipe's
    /// name, paper or field. If not given, those shipped for the dataset's recipe, or else those of paper.
    #[arg(long, value_name = "NAME|FILE")]
    parameters: Option<PathBuf>,
    /// What scores the twin's candidates: the CPU, the GPU, or the GPU if there is one.
    #[arg(long, default_value = "cpu", value_name = "cpu|cuda|auto")]
    backend: BackendChoice,
    /// The most reflections of the paths that the twin reckons with, whatever the rows' are; more than 1 is slower and on
    /// the CPU only. If not given, what its parameters were fitted with.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=MAX_ORDER as i64))]
    twin_order: Option<u8>,
    /// Let the twin reckon with waves through boxes.
    #[arg(long)]
    twin_transmission: bool,
}

impl ScorerArgs {
    /// Parameters (given, or shipped for the recipe, or else those of recipe `paper`) and device. The device is opened only
    /// if something computes on it.
    pub fn settings(&self, recipe: Option<&Recipe>) -> anyhow::Result<ScorerSettings> {
        ensure!(
            self.parameters.is_none() || self.uses_twin(),
            "--parameters is for the twin, and --scorer {} has none of its likelihood",
            self.scorers.join(", ")
        );
        ensure!(
            (self.twin_order.is_none() && !self.twin_transmission) || self.scorers.iter().any(|name| uses_twin(name)),
            "--twin-order and --twin-transmission are for --scorer twin, not for {}",
            self.scorers.join(", ")
        );
        let named =
            || format!("--parameters {}: expected paper, field or a file of `magnetar fit`", self.parameters_name());
        let mut parameters = twin_parameters(self.parameters.as_deref(), recipe).with_context(named)?;
        let propagation = &mut parameters.propagation;
        propagation.max_order = self.twin_order.map_or(propagation.max_order, usize::from);
        propagation.transmission |= self.twin_transmission;
        let backend = match self.backend {
            _ if !self.uses_twin() => BackendChoice::Cpu,
            BackendChoice::Auto if !propagation.is_default() => BackendChoice::Cpu,
            backend => backend,
        };
        Ok(ScorerSettings { parameters, backend: backend.scoring()?, source: Some(learned_scorers()) })
    }

    fn parameters_name(&self) -> String {
        self.parameters.as_ref().map_or_else(String::new, |path| path.display().to_string())
    }

    /// Whether the twin is among the scorers, or in one of them.
    fn uses_twin(&self) -> bool {
        self.scorers.iter().any(|name| uses_twin(name) || LearnedScorers.uses_twin(name))
    }

    /// The name of the one scorer that a command takes.
    pub fn name(&self) -> anyhow::Result<&str> {
        match &self.scorers[..] {
            [name] => Ok(name),
            _ => anyhow::bail!("give one --scorer here; `magnetar evaluate` compares several"),
        }
    }

    /// All scorers that were asked for, made for a recipe.
    pub fn open_all(&self, recipe: &Recipe) -> anyhow::Result<Vec<Arc<dyn Scorer>>> {
        let settings = self.settings(Some(recipe))?;
        self.warn(recipe, &settings);
        let mut scorers: Vec<Arc<dyn Scorer>> = Vec::new();
        for name in &self.scorers {
            let scorer = open_scorer(name, recipe, &settings).with_context(|| format!("--scorer {name}"))?;
            let twice = scorers.iter().any(|other| other.name() == scorer.name());
            ensure!(!twice, "two scorers are named {}; give each once, or rename the file", scorer.name());
            scorers.push(scorer);
        }
        Ok(scorers)
    }

    /// The one scorer that was asked for, made for a recipe.
    pub fn open(&self, recipe: &Recipe) -> anyhow::Result<Arc<dyn Scorer>> {
        self.name()?;
        self.open_all(recipe)?.into_iter().next().context("no scorer was given")
    }

    /// The twin, for commands that take its likelihood apart.
    pub fn open_twin(&self, recipe: &Recipe) -> anyhow::Result<Twin> {
        let name = self.name()?;
        ensure!(name == TWIN, "--scorer {name}: only the twin has a likelihood with terms and widths");
        let settings = self.settings(Some(recipe))?;
        self.warn(recipe, &settings);
        open_twin(recipe, &settings).context("the dataset's recipe gives no twin")
    }

    /// The twin to fit: whatever recipe its parameters are of, they are where the fit begins.
    pub fn open_twin_to_fit(&self, recipe: &Recipe) -> anyhow::Result<Twin> {
        let name = self.name()?;
        ensure!(name == TWIN, "--scorer {name}: only the twin has parameters to fit");
        open_twin(recipe, &self.settings(Some(recipe))?).context("the dataset's recipe gives no twin")
    }

    /// What a scene is scored with: a file of volumes belongs to a dataset.
    pub fn scene_scorer(&self) -> anyhow::Result<(&str, ScorerSettings)> {
        let name = self.name()?;
        ensure!(!is_volume_file(name), "--scorer {name}: a file of volumes scores the rows of a dataset, not a scene");
        Ok((name, self.settings(None)?))
    }

    /// The same where several can be chosen from.
    pub fn scene_scorers(&self) -> anyhow::Result<(&[String], ScorerSettings)> {
        for name in &self.scorers {
            ensure!(
                !is_volume_file(name),
                "--scorer {name}: a file of volumes scores the rows of a dataset, not a scene"
            );
        }
        Ok((&self.scorers, self.settings(None)?))
    }

    /// The scorers as they were given.
    pub fn given(&self) -> &[String] {
        &self.scorers
    }

    /// The flags that give one of the scorers again, each after a space.
    pub fn flags_of(&self, given: &str) -> String {
        let mut flags = if given == TWIN { String::new() } else { format!(" --scorer {}", quoted(given)) };
        if uses_twin(given) && self.parameters.is_some() {
            flags += &format!(" --parameters {}", quoted(&self.parameters_name()));
        }
        if (uses_twin(given) || LearnedScorers.uses_twin(given))
            && self.backend != BackendChoice::Cpu
            && let Some(name) = self.backend.to_possible_value()
        {
            flags += &format!(" --backend {}", name.get_name());
        }
        if uses_twin(given) {
            flags += &self.twin_order.map_or_else(String::new, |order| format!(" --twin-order {order}"));
            flags += if self.twin_transmission { " --twin-transmission" } else { "" };
        }
        flags
    }

    /// Warns when the twin's parameters were fitted to another recipe, or a model was trained on one.
    fn warn(&self, recipe: &Recipe, settings: &ScorerSettings) {
        for name in self.scorers.iter().filter(|name| LearnedScorers.opens(name)) {
            if let Some(warning) = LearnedScorers.warning(name, recipe) {
                eprintln!("warning: {warning}");
            }
        }
        let fitted = &settings.parameters;
        if self.scorers.iter().any(|name| uses_twin(name)) && fitted.recipe_hash != recipe.hash() {
            eprintln!(
                "warning: the parameters were fitted to recipe {:?}, not to this dataset's {:?}; \
                 `magnetar fit DATASET --out FILE` makes parameters for it, --parameters FILE uses them",
                fitted.recipe, recipe.name
            );
        }
    }
}

/// What opens learned scorers.
pub fn learned_scorers() -> Arc<dyn ScorerSource> {
    Arc::new(LearnedScorers)
}

/// Flags of the size of the support.
#[derive(clap::Args)]
pub struct SupportArgs {
    /// Heading bins D of the support.
    #[arg(long, value_parser = parse_cells, default_value_t = SupportSize::EVALUATION.headings, value_name = "D")]
    headings: usize,
    /// Rows H of the support, along y.
    #[arg(long, value_parser = parse_cells, default_value_t = SupportSize::EVALUATION.rows, value_name = "H")]
    rows: usize,
    /// Columns W of the support, along x.
    #[arg(long, value_parser = parse_cells, default_value_t = SupportSize::EVALUATION.columns, value_name = "W")]
    columns: usize,
}

impl SupportArgs {
    /// D x H x W.
    pub fn size(&self) -> SupportSize {
        SupportSize { headings: self.headings, rows: self.rows, columns: self.columns }
    }
}

/// Flags of every command that scores the rows of a dataset on a support of any size.
#[derive(clap::Args)]
pub struct DatasetScorerArgs {
    /// The dataset's folder.
    dataset: PathBuf,
    #[command(flatten)]
    scorer: ScorerArgs,
    #[command(flatten)]
    support: SupportArgs,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

impl DatasetScorerArgs {
    /// The dataset and the one scorer for its rows.
    pub fn open(&self) -> anyhow::Result<(Dataset, Arc<dyn Scorer>)> {
        let dataset = open_dataset(&self.dataset)?;
        let scorer = self.scorer.open(dataset.recipe())?;
        Ok((dataset, scorer))
    }

    /// The dataset and all scorers for its rows.
    pub fn open_all(&self) -> anyhow::Result<(Dataset, Vec<Arc<dyn Scorer>>)> {
        let dataset = open_dataset(&self.dataset)?;
        let scorers = self.scorer.open_all(dataset.recipe())?;
        Ok((dataset, scorers))
    }

    /// The dataset and the twin for its rows.
    pub fn open_twin(&self) -> anyhow::Result<(Dataset, Twin)> {
        let dataset = open_dataset(&self.dataset)?;
        dataset.require_truth()?;
        let twin = self.scorer.open_twin(dataset.recipe())?;
        Ok((dataset, twin))
    }

    /// D x H x W.
    pub fn size(&self) -> SupportSize {
        self.support.size()
    }
}

/// A scorer as JSON results have it.
pub fn scorer_json(scorer: &dyn Scorer) -> Value {
    json!({
        "name": scorer.name(),
        "identity": scorer.identity(),
        "device": scorer.device(),
        "knowledge": scorer.knowledge(),
    })
}

/// One line about what a scorer was given.
pub fn knowledge_line(scorer: &dyn Scorer) -> String {
    format!("{}: {}", scorer.name(), scorer.knowledge())
}
