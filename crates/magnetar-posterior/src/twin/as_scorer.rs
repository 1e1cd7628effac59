//! The twin as one scorer among others: its likelihood, a device, and what it was given.

use std::fmt;
use std::sync::Arc;

use super::{ScoringBackend, TwinScorer};
use crate::identity::hash_of;
use crate::{Knowledge, LevelKnowledge, MaterialKnowledge, PosteriorError, ReportedErrors, ScoreRow, Scorer, Volume};

/// The twin posterior on a device.
#[derive(Clone)]
pub struct Twin {
    scorer: TwinScorer,
    backend: Arc<dyn ScoringBackend>,
    materials: MaterialKnowledge,
}

impl fmt::Debug for Twin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Twin").field("backend", &self.backend.description()).finish_non_exhaustive()
    }
}

impl Twin {
    /// The twin of a model. `materials` says what the model's material assignments are.
    #[must_use]
    pub fn new(scorer: TwinScorer, backend: Arc<dyn ScoringBackend>, materials: MaterialKnowledge) -> Self {
        Self { scorer, backend, materials }
    }

    /// Its likelihood.
    #[must_use]
    pub fn likelihood(&self) -> &TwinScorer {
        &self.scorer
    }

    /// The same twin with another likelihood, such as one with a term left out.
    #[must_use]
    pub fn with_likelihood(&self, scorer: TwinScorer) -> Self {
        Self { scorer, ..self.clone() }
    }
}

impl Scorer for Twin {
    fn name(&self) -> &str {
        "twin"
    }

    fn identity(&self) -> String {
        let scorer = &self.scorer;
        hash_of(&("twin v2", scorer.model(), scorer.parameters(), scorer.grain(), scorer.ablation()))
    }

    fn knowledge(&self) -> Knowledge {
        let (model, parameters) = (self.scorer.model(), self.scorer.parameters());
        let level = LevelKnowledge {
            snr_at_one_metre_db: model.snr_at_one_metre_db,
            offset_max_db: self.scorer.level_max_db(),
        };
        let reported = ReportedErrors {
            heading_deg: parameters.heading_sigma_deg,
            position_m: parameters.position_sigma_m,
            map_m: parameters.map_sigma_m,
        };
        Knowledge {
            materials: self.materials.clone(),
            level: Some(level),
            layout: true,
            reported: Some(reported),
            propagation: Some(model.propagation),
        }
    }

    fn device(&self) -> String {
        self.backend.description()
    }

    fn score(&self, rows: &[ScoreRow<'_>]) -> Result<Vec<Volume>, PosteriorError> {
        self.scorer.score_batch(&*self.backend, rows)
    }
}
