//! What can be wrong with a recipe.

use magnetar_files::BoundedReadError;
use magnetar_signal::{ConfigError, RadioError};

/// What is wrong with a recipe, and where.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct RecipeError {
    /// File and line, the setting, or the recipe's name.
    pub place: String,
    /// What was wrong and what is expected.
    #[source]
    pub problem: Box<RecipeProblem>,
}

/// What is wrong with a recipe.
#[derive(Debug, thiserror::Error)]
pub enum RecipeProblem {
    /// A key, a value or a combination that no recipe has.
    #[error("{0}")]
    Setting(String),
    /// A value out of its range.
    #[error(transparent)]
    Range(#[from] ConfigError),
    /// The radio cannot be made.
    #[error(transparent)]
    Radio(#[from] RadioError),
    /// The scene, a material or a pattern is wrong.
    #[error(transparent)]
    Scene(#[from] magnetar_scene::SceneError),
    /// A file cannot be read.
    #[error("{source}; give {instead}")]
    File {
        /// Why.
        source: BoundedReadError,
        /// What may be given in its place.
        instead: String,
    },
    /// A stored recipe is not one.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl From<String> for RecipeProblem {
    fn from(text: String) -> Self {
        Self::Setting(text)
    }
}

impl From<&str> for RecipeProblem {
    fn from(text: &str) -> Self {
        Self::Setting(text.to_owned())
    }
}

impl RecipeError {
    /// A problem at a place.
    pub(crate) fn new(place: impl Into<String>, problem: impl Into<RecipeProblem>) -> Self {
        Self { place: place.into(), problem: Box::new(problem.into()) }
    }

    /// The same problem at another place.
    pub(crate) fn at(self, place: impl Into<String>) -> Self {
        Self { place: place.into(), ..self }
    }
}
