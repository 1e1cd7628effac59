//! A fit that can be gone on with: its state in a file, and what it belongs to.

use std::ops::RangeInclusive;
use std::path::Path;

use magnetar_files::AtomicFile;
use serde::{Deserialize, Serialize};

use crate::{FitState, StudyError};

/// The largest checkpoint that is read, bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// Factors that a search may have come to try a parameter at.
const STEP_RANGE: RangeInclusive<f64> = 1.0..=3.0;

/// What a search is of: one of anything else cannot be gone on with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitOrigin {
    /// Hash of the dataset's recipe.
    pub recipe_hash: String,
    /// Seed of the dataset.
    pub seed: u64,
    /// The split fitted to.
    pub split: String,
    /// Rows fitted to.
    pub rows: u64,
    /// The split whose rows decide when to stop.
    pub held_back: String,
    /// How many of them.
    pub held_back_rows: u64,
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
        found.state.check().map_err(|reason| fault(path, reason))?;
        found.state.parameters.check(&path.display().to_string())?;
        found.state.chosen.check(&path.display().to_string())?;
        Ok(Some(found.state))
    }

    /// Steps are factors as the search makes them, likelihoods are numbers.
    fn check(&self) -> Result<(), String> {
        if let Some(step) = self.steps.iter().find(|step| !STEP_RANGE.contains(step)) {
            return Err(format!("steps: {step} is outside {} to {}", STEP_RANGE.start(), STEP_RANGE.end()));
        }
        if !(self.fitted_nll.is_finite() && self.held_back_nll.is_finite()) {
            return Err("fitted_nll and held_back_nll must be finite numbers".into());
        }
        Ok(())
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

#[cfg(test)]
mod tests {
    use magnetar_posterior::TwinFile;

    use super::*;

    fn origin() -> FitOrigin {
        FitOrigin { recipe_hash: "abc".into(), seed: 1, rows: 4, cells: 5, ..FitOrigin::default() }
    }

    fn state() -> FitState {
        let parameters = TwinFile::shipped().unwrap().parameters;
        let steps = vec![1.5; magnetar_posterior::PARAMETER_RANGES.len()];
        let (fitted_nll, held_back_nll) = (6.5, 6.25);
        FitState { passes: 1, converged: false, fitted_nll, held_back_nll, steps, parameters, chosen: parameters }
    }

    #[test]
    fn a_state_is_kept_for_the_same_search_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fit.checkpoint");
        assert_eq!(FitState::kept(&path, &origin()).unwrap(), None);
        state().keep(&path, &origin()).unwrap();
        assert_eq!(FitState::kept(&path, &origin()).unwrap(), Some(state()));
        for other in [
            FitOrigin { split: "val".into(), ..origin() },
            FitOrigin { held_back: "train".into(), ..origin() },
            FitOrigin { held_back_rows: 3, ..origin() },
            FitOrigin { seed: 2, ..origin() },
        ] {
            let error = FitState::kept(&path, &other).unwrap_err().to_string();
            assert!(error.contains("fit.checkpoint") && error.contains("other rows"), "{error}");
        }
    }

    #[test]
    fn numbers_that_no_search_comes_to_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fit.checkpoint");
        for wrong in [
            FitState { steps: vec![f64::NAN], ..state() },
            FitState { steps: vec![-1.0], ..state() },
            FitState { fitted_nll: f64::INFINITY, ..state() },
        ] {
            wrong.keep(&path, &origin()).unwrap();
            let error = FitState::kept(&path, &origin()).unwrap_err().to_string();
            assert!(error.contains("fit.checkpoint"), "{error}");
        }
        std::fs::write(&path, vec![b'a'; MAX_BYTES as usize + 1]).unwrap();
        assert!(FitState::kept(&path, &origin()).is_err());
    }
}
