//! The rows that a model is shown.

use std::ops::Range;
use std::sync::Arc;

use magnetar_dataset::{Columns, Dataset, Generator, Recipe, Record};
use magnetar_posterior::{PosteriorError, Support, TwinScorer, Volume};
use magnetar_scene::Pose;
use magnetar_study::{ReceiverView, StudyError, assignment_index, truth};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

use super::TrainingPlan;
use super::evidence::{EvidenceKey, KeptEvidence};
use super::real::{MixedIn, Mixture, RealRows};
use crate::{NeuralError, RealRecord};

/// The splits that models learn from and are chosen on.
pub(super) const TRAIN: &str = "train";
const VALIDATION: &str = "val";

/// What training needs of a row.
#[derive(Debug, Clone)]
pub struct TrainingRow {
    /// What the receiver knows.
    pub view: ReceiverView,
    /// Where the TX is.
    pub truth: Pose,
    /// Number of the row's own material assignment among those the twin knows: withheld from it.
    pub left_out: Option<usize>,
    /// Its split, and its number there.
    origin: (&'static str, u64),
}

impl TrainingRow {
    pub(super) fn new(mut record: Record, recipe: &Recipe, origin: (&'static str, u64)) -> Self {
        record.csi = None;
        let left_out = assignment_index(recipe, &record.materials);
        Self { view: ReceiverView::of(&record), truth: truth(&record), left_out, origin }
    }
}

enum Source {
    /// Drawn when they are needed: index by index, again from 0 after the split's count.
    Recipe { generator: Box<Generator>, count: u64 },
    /// Read before: every pass in an order of its own.
    Dataset(Vec<TrainingRow>),
}

/// Rows to learn from, and rows to choose on.
pub struct TrainingRows {
    recipe: Arc<Recipe>,
    source: Source,
    /// Real rows among them.
    real: Option<MixedIn>,
    validation: Vec<TrainingRow>,
    /// The twin of designs that look at one.
    twin: Option<TwinScorer>,
    /// What the twin made of rows that are shown again.
    evidence: KeptEvidence,
    seed: u64,
    described: String,
}

impl TrainingRows {
    /// Rows drawn on the fly from a recipe with a seed.
    ///
    /// # Errors
    /// If the recipe lacks a split or its constraints cannot be met.
    pub fn from_recipe(recipe: &Arc<Recipe>, seed: u64, validation_rows: u64) -> Result<Self, NeuralError> {
        let split = |name: &str| {
            let problem = || format!("recipe {}: no split {name}; models learn from train, chosen on val", recipe.name);
            recipe.splits.get(name).ok_or_else(|| NeuralError::Request { problem: problem() })
        };
        let count = split(TRAIN)?.rows();
        let kept = split(VALIDATION)?.rows().min(validation_rows);
        let open = |name: &str| Generator::new(recipe, seed, name).map_err(StudyError::from);
        let chosen_on = open(VALIDATION)?;
        let validation = make(&chosen_on, recipe, VALIDATION, &(0..kept).collect::<Vec<_>>())?;
        Ok(Self {
            source: Source::Recipe { generator: Box::new(open(TRAIN)?), count },
            described: format!("recipe {}, seed {seed}, drawn on the fly", recipe.name),
            recipe: Arc::clone(recipe),
            real: None,
            validation,
            twin: None,
            evidence: KeptEvidence::default(),
            seed,
        })
    }

    /// Rows of a dataset that is there, in orders drawn with a seed.
    ///
    /// # Errors
    /// If it lacks a split or a row cannot be read.
    pub fn from_dataset(dataset: &Dataset, seed: u64, validation_rows: u64) -> Result<Self, NeuralError> {
        dataset.require_truth().map_err(StudyError::from)?;
        let recipe = Arc::new(dataset.recipe().clone());
        let read = |split: &'static str, most: u64| -> Result<Vec<TrainingRow>, NeuralError> {
            let records = dataset.records(split, Columns::WithoutCsi).map_err(StudyError::from)?;
            let most = usize::try_from(most).unwrap_or(usize::MAX);
            let rows = records.take(most).zip(0..);
            let rows = rows.map(|(record, n)| Ok(TrainingRow::new(record?, &recipe, (split, n))));
            Ok(rows.collect::<Result<Vec<_>, magnetar_dataset::DatasetError>>().map_err(StudyError::from)?)
        };
        let rows = read(TRAIN, u64::MAX)?;
        let validation = read(VALIDATION, validation_rows)?;
        if rows.is_empty() || validation.is_empty() {
            let problem = format!(
                "the dataset has {} rows of {TRAIN} and {} of {VALIDATION}; training needs both",
                rows.len(),
                validation.len()
            );
            return Err(NeuralError::Request { problem });
        }
        let manifest = dataset.manifest();
        let described =
            format!("dataset of recipe {}, seed {}, {} rows of {TRAIN}", recipe.name, manifest.seed, rows.len());
        let (source, evidence) = (Source::Dataset(rows), KeptEvidence::default());
        Ok(Self { recipe, source, real: None, validation, twin: None, evidence, seed, described })
    }

    /// The first rows only, again and again: for designs whose twin takes longer over a row than the network.
    #[must_use]
    pub fn limited_to(mut self, rows: Option<u64>) -> Self {
        let Some(most) = rows else { return self };
        match &mut self.source {
            Source::Recipe { count, .. } => *count = (*count).min(most),
            Source::Dataset(rows) => rows.truncate(usize::try_from(most).unwrap_or(usize::MAX)),
        }
        self.described = format!("{}, the first {most} rows of {TRAIN} again and again", self.described);
        self
    }

    /// The same rows with real ones among them, as many as the plan says: the paper's regime S+R.
    #[must_use]
    pub fn with_real(mut self, real: RealRows, plan: &TrainingPlan) -> Self {
        let mixture = Mixture { simulated: plan.exposures, real: plan.real_exposures };
        self.described = format!("{}; real: {}", self.described, real.described());
        self.real = Some(MixedIn { rows: Arc::new(real), mixture, moved: !plan.design.uses_twin() });
        self
    }

    /// The real rows among them, for a model's record.
    pub(crate) fn real_record(&self) -> Option<RealRecord> {
        let MixedIn { rows, mixture, moved } = self.real.as_ref()?;
        let (exposures, count) = (mixture.real, rows.count() as u64);
        Some(RealRecord { exposures, rows: count, source: rows.described().to_owned(), moved: *moved })
    }

    /// The same rows with the twin's evidence, each row's own materials withheld.
    #[must_use]
    pub fn with_twin(self, twin: TwinScorer) -> Self {
        Self { twin: Some(twin), ..self }
    }

    /// The recipe.
    #[must_use]
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Where they come from, in words.
    #[must_use]
    pub fn described(&self) -> &str {
        &self.described
    }

    /// The twin of designs that look at one.
    #[must_use]
    pub fn twin(&self) -> Option<&TwinScorer> {
        self.twin.as_ref()
    }

    /// What the twin makes of a row, its own materials withheld; `None` without a twin. With `again`, on a support of
    /// evaluation, which is the same whenever the row is shown, it is kept.
    pub(crate) fn twin_evidence(
        &self,
        row: &TrainingRow,
        support: &Support,
        again: bool,
    ) -> Result<Option<Arc<Volume>>, PosteriorError> {
        let ReceiverView { layout, rx, arrivals, .. } = &row.view;
        let Some(twin) = self.twin() else { return Ok(None) };
        let score = || twin.score_without(row.left_out, layout, rx, arrivals, support).map(Arc::new);
        let key = again.then(|| EvidenceKey::new(row.origin, support.size()));
        self.evidence.get(key, score).map(Some)
    }

    pub(crate) fn validation(&self) -> &[TrainingRow] {
        &self.validation
    }

    /// The rows of some exposures, in order.
    ///
    /// # Errors
    /// If a row cannot be drawn.
    pub fn take(&self, exposures: Range<u64>) -> Result<Vec<TrainingRow>, NeuralError> {
        let Some(MixedIn { rows, mixture, moved }) = &self.real else { return self.simulated(exposures) };
        let places: Vec<Result<u64, u64>> = exposures.map(|exposure| mixture.place(exposure)).collect();
        let among = || places.iter().flatten();
        let simulated = match (among().min(), among().max()) {
            (Some(first), Some(last)) => self.simulated(*first..last + 1)?,
            _ => Vec::new(),
        };
        let mut simulated = simulated.into_iter();
        let mixed = places.into_iter().filter_map(|place| match place {
            Ok(_) => simulated.next(),
            Err(number) => Some(rows.exposure(number, self.seed, *moved)),
        });
        Ok(mixed.collect())
    }

    /// The rows of some simulated exposures, counted without the real ones.
    fn simulated(&self, exposures: Range<u64>) -> Result<Vec<TrainingRow>, NeuralError> {
        match &self.source {
            Source::Recipe { generator, count } => {
                let indices: Vec<u64> = exposures.map(|exposure| exposure % count).collect();
                make(generator, &self.recipe, TRAIN, &indices)
            }
            Source::Dataset(rows) => {
                let count = rows.len() as u64;
                let mut order: Option<(u64, Vec<usize>)> = None;
                let mut taken = Vec::new();
                for exposure in exposures {
                    let pass = exposure / count;
                    if order.as_ref().is_none_or(|(of, _)| *of != pass) {
                        order = Some((pass, shuffled(rows.len(), self.seed, pass)));
                    }
                    let place = usize::try_from(exposure % count).unwrap_or(0);
                    taken.extend(order.iter().map(|(_, order)| rows[order[place]].clone()));
                }
                Ok(taken)
            }
        }
    }
}

/// Rows of a split, on all threads, in order.
fn make(
    generator: &Generator,
    recipe: &Recipe,
    split: &'static str,
    indices: &[u64],
) -> Result<Vec<TrainingRow>, NeuralError> {
    let row = |record, index: u64| TrainingRow::new(record, recipe, (split, index));
    let rows: Result<Vec<_>, magnetar_dataset::DatasetError> = (indices.par_iter())
        .map_init(|| generator.rows(), |rows, index| rows.row(*index).map(|record| row(record, *index)))
        .collect();
    Ok(rows.map_err(StudyError::from)?)
}

/// The order of a pass.
fn shuffled(count: usize, seed: u64, pass: u64) -> Vec<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(u64::MAX - pass);
    let mut order: Vec<usize> = (0..count).collect();
    for n in (1..count).rev() {
        order.swap(n, rng.random_range(0..=n));
    }
    order
}
