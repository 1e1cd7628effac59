//! Learned scorers from their files, for every command that scores.

use std::path::Path;
use std::sync::Arc;

use magnetar_dataset::Recipe;
use magnetar_posterior::{PosteriorError, Scorer, TwinFile};
use magnetar_study::{ScorerSettings, ScorerSource, StudyError, open_twin};

use crate::{LearnedScorer, Model, NeuralError, ShippedModel};

/// Ending of model files.
const ENDING: &str = "safetensors";

/// Opens shipped models by name and model files by path.
#[derive(Debug, Clone, Copy, Default)]
pub struct LearnedScorers;

impl LearnedScorers {
    /// The model of a file or a shipped one, and the name it goes by in tables: the file's, or its own. Of a design of which
    /// several models are shipped, that of the recipe is taken.
    ///
    /// # Errors
    /// If there is no such model or its file cannot be read.
    pub fn model(&self, name: &str, recipe: Option<&Recipe>) -> Result<(String, Model), NeuralError> {
        let path = Path::new(name);
        if ShippedModel::is_named(name) || !is_model_file(path) {
            let (shown, model) = ShippedModel::find(name, recipe).map_err(|error| match error {
                NeuralError::Request { problem } => {
                    NeuralError::Request { problem: format!("{problem}; or give a file that ends in .{ENDING}") }
                }
                other => other,
            })?;
            return Ok((shown.to_owned(), model));
        }
        let shown = path.file_name().map_or_else(|| name.to_owned(), |name| name.to_string_lossy().into());
        Ok((shown, Model::from_file(path)?))
    }

    /// Whether the scorer of this name is built on the twin.
    #[must_use]
    pub fn uses_twin(&self, name: &str) -> bool {
        self.opens(name) && self.model(name, None).is_ok_and(|(_, model)| model.record().design.uses_twin())
    }
}

fn is_model_file(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == ENDING)
}

impl ScorerSource for LearnedScorers {
    fn names(&self) -> Vec<String> {
        let shipped = ShippedModel::all().iter().map(|shipped| shipped.name.to_owned());
        shipped.chain([format!("models of your own (`magnetar train DESIGN --out MODEL.{ENDING}`)")]).collect()
    }

    fn opens(&self, name: &str) -> bool {
        ShippedModel::is_named(name) || is_model_file(Path::new(name))
    }

    fn warning(&self, name: &str, recipe: &Recipe) -> Option<String> {
        // A file that cannot be read is told when it is opened.
        let (shown, model) = self.model(name, Some(recipe)).ok()?;
        let record = model.record();
        (record.recipe_hash != recipe.hash()).then(|| {
            format!(
                "{shown} was trained on recipe {:?}, not on this dataset's {:?}; `magnetar train {} --out FILE` makes a \
                 model for it",
                record.recipe, recipe.name, record.design
            )
        })
    }

    fn open(&self, name: &str, recipe: &Recipe, settings: &ScorerSettings) -> Result<Arc<dyn Scorer>, StudyError> {
        let (shown, model) = self.model(name, Some(recipe)).map_err(PosteriorError::from)?;
        let record = model.record();
        let twin = match record.twin {
            None => None,
            Some(parameters) => {
                // The twin that the network was trained with, whatever parameters the settings have.
                let parameters = TwinFile {
                    recipe: record.recipe.clone(),
                    recipe_hash: record.recipe_hash.clone(),
                    fitted_rows: 0,
                    fitted_nll: 0.0,
                    propagation: Default::default(),
                    parameters,
                };
                Some(open_twin(recipe, &ScorerSettings { parameters, ..settings.clone() })?)
            }
        };
        Ok(Arc::new(LearnedScorer::new(&shown, model, twin).map_err(PosteriorError::from)?))
    }
}
