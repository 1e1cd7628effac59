//! The device behind the twin: the CPU, or whatever scores faster.

use magnetar_signal::BackendError;
use rayon::prelude::*;

use super::TwinScorer;
use crate::{PosteriorError, ScoreRow, Volume};

/// Computes the twin's evidence for many observations.
///
/// All backends compute the same thing: log posteriors differ by rounding only, within 1e-3 nat.
pub trait ScoringBackend: Send + Sync {
    /// `cpu`, or `cuda` and the device's name, for people.
    fn description(&self) -> String;

    /// For each row the likelihood of its arrivals integrated over every candidate's cell, by flat candidate index.
    ///
    /// # Errors
    /// When the backend's device fails.
    fn evidence(&self, scorer: &TwinScorer, rows: &[ScoreRow<'_>]) -> Result<Vec<Vec<f64>>, BackendError>;
}

/// Scoring on all cores.
#[derive(Debug, Clone, Copy, Default)]
pub struct CpuScoring;

impl ScoringBackend for CpuScoring {
    fn description(&self) -> String {
        "cpu".to_owned()
    }

    fn evidence(&self, scorer: &TwinScorer, rows: &[ScoreRow<'_>]) -> Result<Vec<Vec<f64>>, BackendError> {
        let score = |row: &ScoreRow<'_>| scorer.evidence(None, row);
        Ok(rows.par_iter().map(score).collect())
    }
}

impl TwinScorer {
    /// The posteriors of many observations.
    ///
    /// # Errors
    /// When the backend fails, or every candidate of a row is masked.
    pub fn score_batch(
        &self,
        backend: &dyn ScoringBackend,
        rows: &[ScoreRow<'_>],
    ) -> Result<Vec<Volume>, PosteriorError> {
        let evidence = backend.evidence(self, rows)?;
        let finish = |(row, evidence): (&ScoreRow<'_>, Vec<f64>)| self.finish(&evidence, row.rx, row.support);
        rows.par_iter().zip(evidence).map(finish).collect()
    }
}
