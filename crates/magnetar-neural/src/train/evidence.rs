//! What the twin made of rows that are shown again: a twin takes longer over a row than a small network.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use magnetar_posterior::{PosteriorError, SupportSize, Volume};

/// The most memory that kept posteriors take, bytes. What is beyond it is worked out again.
const MOST_BYTES: usize = 1 << 30;

/// A row and the size of the support it was scored on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct EvidenceKey {
    row: (&'static str, u64),
    size: [usize; 3],
}

impl EvidenceKey {
    pub(crate) fn new(row: (&'static str, u64), size: SupportSize) -> Self {
        Self { row, size: [size.headings, size.rows, size.columns] }
    }
}

/// Posteriors of the twin by row and size of support.
#[derive(Default)]
pub(crate) struct KeptEvidence(Mutex<HashMap<EvidenceKey, Arc<Volume>>>);

impl KeptEvidence {
    /// The kept posterior, or that of `score`, which is kept if there is a key and memory left.
    pub(crate) fn get(
        &self,
        key: Option<EvidenceKey>,
        score: impl FnOnce() -> Result<Arc<Volume>, PosteriorError>,
    ) -> Result<Arc<Volume>, PosteriorError> {
        let Some(key) = key else { return score() };
        // Only whole entries are ever put in, so what a thread that panicked left is sound.
        if let Some(kept) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(Arc::clone(kept));
        }
        let made = score()?;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if (kept.len() + 1) * size_of_val(made.mass()) <= MOST_BYTES {
            kept.insert(key, Arc::clone(&made));
        }
        Ok(made)
    }
}
