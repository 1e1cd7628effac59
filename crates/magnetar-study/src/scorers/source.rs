//! Scorers of crates after this one.

use std::sync::Arc;

use magnetar_dataset::Recipe;
use magnetar_posterior::Scorer;

use super::ScorerSettings;
use crate::StudyError;

/// Opens scorers that this crate does not know, such as learned ones: by name, or from a file.
pub trait ScorerSource: Send + Sync {
    /// What it opens, for messages: names and endings of files.
    fn names(&self) -> Vec<String>;

    /// Whether it opens the scorer of this name.
    fn opens(&self, name: &str) -> bool;

    /// What a user should know before a scorer that it opens scores rows of a recipe, such as that it was trained on
    /// another; `None` if there is nothing.
    fn warning(&self, name: &str, recipe: &Recipe) -> Option<String>;

    /// Opens a scorer that it says it opens.
    ///
    /// # Errors
    /// If the scorer cannot be read or made for the recipe.
    fn open(&self, name: &str, recipe: &Recipe, settings: &ScorerSettings) -> Result<Arc<dyn Scorer>, StudyError>;
}
