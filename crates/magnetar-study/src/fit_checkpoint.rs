//! A fit that can be gone on with: its state in a file, and what it belongs to.

use std::path::Path;

use magnetar_files::AtomicFile;
use serde::{Deserialize, Serialize};

use crate::{FitState, StudyError};

/// The largest checkpoint that is read, bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// What a search is of: one of anything else cannot be gone on with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitOrigin {
    /// Hash of the dataset's recipe.
    pub recipe_hash: String,
    /// Seed of the dataset.
    pub seed: u64,
    /// Rows fitted to.
    pub rows: u64,
    /// Cells along either axis of the room.
    pub cells: u64,
    /// Identity of the scorer that the search began with.
    pub begun_with: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FitCheckpoint {
    origin: FitOrigin,
    state: FitState,
}

impl FitState {
    /// Keeps the state in a file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn keep(&self, path: &Path, origin: &FitOrigin) -> Result<(), StudyError> {
        let checkpoint = FitCheckpoint { origin: origin.clone(), state: self.clone() };
        let text = toml::to_string(&checkpoint).map_err(|e| fault(path, e.to_string()))?;
        AtomicFile::write(path, text.as_bytes()).map_err(|e| fault(path, format!("cannot be written: {e}")))
    }

    /// The state that a search of the same origin kept; `None` if there is no such file.
    ///
    /// # Errors
    /// If the file is no checkpoint, or that of another search.
    pub fn kept(path: &Path, origin: &FitOrigin) -> Result<Option<Self>, StudyError> {
        if !path.exists() {
            return Ok(None);
        }
        let text = magnetar_files::read_text(path, MAX_BYTES).map_err(|e| fault(path, e.to_string()))?;
        let found: FitCheckpoint = toml::from_str(&text).map_err(|e| fault(path, e.to_string()))?;
        if found.origin != *origin {
            return Err(fault(path, "is of another dataset, other rows or other first parameters".into()));
        }
        found.state.parameters.check(&path.display().to_string())?;
        found.state.chosen.check(&path.display().to_string())?;
        Ok(Some(found.state))
    }

    /// Removes a state that is not needed any more, if there is one.
    ///
    /// # Errors
    /// If the file cannot be removed.
    pub fn forget(path: &Path) -> Result<(), StudyError> {
        magnetar_files::remove_file(path).map_err(|e| fault(path, format!("cannot be removed: {e}")))
    }
}

fn fault(path: &Path, reason: String) -> StudyError {
    StudyError::FitCheckpoint { path: path.to_owned(), reason }
}
