//! The uniform scorer: every candidate alike, the reference that all others are measured against.

use sha2::{Digest, Sha256};

use crate::identity::hex;
use crate::{Knowledge, PosteriorError, ScoreRow, Scorer, Volume};

/// Spreads the mass evenly over all valid candidates.
#[derive(Debug, Clone, Copy, Default)]
pub struct UniformScorer;

impl Scorer for UniformScorer {
    fn name(&self) -> &str {
        "uniform"
    }

    fn identity(&self) -> String {
        hex(&Sha256::digest(b"uniform v1"))
    }

    fn knowledge(&self) -> Knowledge {
        Knowledge::NOTHING
    }

    fn score(&self, rows: &[ScoreRow<'_>]) -> Result<Vec<Volume>, PosteriorError> {
        rows.iter().map(|row| Volume::uniform(row.support.size(), &row.support.mask(row.rx))).collect()
    }
}
