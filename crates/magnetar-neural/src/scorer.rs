//! A model as a scorer.

use magnetar_posterior::{Knowledge, MaterialKnowledge, PosteriorError, ScoreRow, Scorer, Twin, Volume};
use rayon::prelude::*;

use crate::model::hash_of;
use crate::{Inputs, Model, NeuralError};

/// Scores rows with a model.
pub struct LearnedScorer {
    name: String,
    model: Model,
    /// The twin that NP6 is built on.
    twin: Option<Twin>,
}

impl LearnedScorer {
    /// The scorer of a model. `twin` must be there for designs that use one.
    ///
    /// # Errors
    /// If it is not.
    pub fn new(name: &str, model: Model, twin: Option<Twin>) -> Result<Self, NeuralError> {
        let design = model.record().design;
        if design.uses_twin() && twin.is_none() {
            return Err(NeuralError::Request { problem: format!("{design} needs a twin") });
        }
        Ok(Self { name: name.to_owned(), model, twin: twin.filter(|_| design.uses_twin()) })
    }

    fn volume(&self, row: &ScoreRow<'_>, twin: Option<&Volume>) -> Result<Volume, PosteriorError> {
        let inputs = Inputs::new(row, twin)?;
        let logits = self.model.logits(&inputs)?;
        posterior(row, &logits, &self.model.record().calibration)
    }
}

/// The posterior of logits: masked softmax at a temperature, a share spread evenly.
pub(crate) fn posterior(
    row: &ScoreRow<'_>,
    logits: &[f32],
    calibration: &crate::Calibration,
) -> Result<Volume, PosteriorError> {
    let (size, mask) = (row.support.size(), row.support.mask(row.rx));
    let scores: Vec<f64> = logits.iter().map(|logit| calibration.temperature * f64::from(*logit)).collect();
    let volume = Volume::from_scores(size, &mask, &scores)?;
    if calibration.uniform_share == 0.0 {
        return Ok(volume);
    }
    let even = calibration.uniform_share / mask.count() as f64;
    let kept = 1.0 - calibration.uniform_share;
    let weights: Vec<f64> = volume.mass().iter().map(|mass| even + kept * f64::from(*mass)).collect();
    Volume::from_weights(size, &mask, &weights)
}

impl Scorer for LearnedScorer {
    fn name(&self) -> &str {
        &self.name
    }

    fn identity(&self) -> String {
        match &self.twin {
            Some(twin) => hash_of(&[&self.model.identity(), &twin.identity()]),
            None => self.model.identity(),
        }
    }

    fn knowledge(&self) -> Knowledge {
        match &self.twin {
            Some(twin) => twin.knowledge(),
            // What it learned of materials is in its weights: the rooms it was trained in.
            None => Knowledge { materials: MaterialKnowledge::Unused, layout: true, ..Knowledge::NOTHING },
        }
    }

    fn device(&self) -> String {
        self.twin.as_ref().map_or_else(|| "cpu".to_owned(), Scorer::device)
    }

    fn score(&self, rows: &[ScoreRow<'_>]) -> Result<Vec<Volume>, PosteriorError> {
        let twins = self.twin.as_ref().map(|twin| twin.score(rows)).transpose()?;
        let twin_of = |n: usize| twins.as_ref().and_then(|volumes| volumes.get(n));
        rows.par_iter().enumerate().map(|(n, row)| self.volume(row, twin_of(n))).collect()
    }
}
