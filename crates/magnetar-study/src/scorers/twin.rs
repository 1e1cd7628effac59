//! The twin of a recipe.

use magnetar_dataset::Recipe;
use magnetar_posterior::{MaterialKnowledge, Twin, TwinModel, TwinScorer};

use super::ScorerSettings;
use crate::twin_model::KNOWN_SPLIT;
use crate::{StudyError, known_split, twin_model};

/// The twin that knows what a recipe lets its receivers know.
///
/// # Errors
/// If the recipe gives no twin.
pub fn open_twin(recipe: &Recipe, settings: &ScorerSettings) -> Result<Twin, StudyError> {
    let model = TwinModel { propagation: settings.parameters.propagation, ..twin_model(recipe)? };
    let scorer = TwinScorer::new(model, settings.parameters.parameters)?;
    let known = known_split(recipe).and_then(|name| recipe.splits.get(name));
    let nominal = recipe.nominal_scene()?.filter(|_| recipe.has_scene_materials());
    let names = match nominal {
        Some(scene) => vec![scene.material_names().join("/")],
        None => {
            let assignments = known.iter().flat_map(|split| &split.materials);
            assignments.map(|a| format!("{}/{}/{}", a.wall, a.ceiling, a.floor)).collect()
        }
    };
    let own = known_split(recipe) != Some(KNOWN_SPLIT);
    let materials = if own { MaterialKnowledge::Own(names) } else { MaterialKnowledge::OneOf(names) };
    Ok(Twin::new(scorer, settings.backend.clone(), materials))
}
