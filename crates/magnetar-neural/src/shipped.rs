//! Models that come with this crate: reduced runs (preset `cpu`), each with the command that made it in its record.

use magnetar_dataset::Recipe;

use crate::{Design, Model, NeuralError};

/// A model that comes with this crate.
#[derive(Debug, Clone, Copy)]
pub struct ShippedModel {
    /// Its design and the recipe it was trained on: `np6-field`.
    pub name: &'static str,
    bytes: &'static [u8],
}

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        &[$(ShippedModel { name: $name, bytes: include_bytes!(concat!("../weights/", $name, ".safetensors")) }),*]
    };
}

/// All of them; of each design the first is taken for rows of other recipes.
const SHIPPED: &[ShippedModel] = shipped![
    "np1-paper",
    "np2-paper",
    "np4-paper",
    "np5-paper",
    "np6-field",
    "sm1-paper",
    "sm2-paper",
    "sm3-paper",
    "sm4-paper",
    "sa1-paper",
    "sa2-paper",
    "sa3-paper",
    "sa4-paper",
];

impl ShippedModel {
    /// All of them.
    #[must_use]
    pub fn all() -> &'static [Self] {
        SHIPPED
    }

    /// The design's name, the part before the recipe's.
    fn design(&self) -> &'static str {
        self.name.split('-').next().unwrap_or(self.name)
    }

    /// Whether a scorer's name is that of a shipped model, or of a design of which there is one.
    #[must_use]
    pub fn is_named(name: &str) -> bool {
        SHIPPED.iter().any(|shipped| shipped.name == name || shipped.design() == name)
    }

    /// The model of a name: `np6-field`, or a design's, `np6`, that was trained on the recipe, or else the design's first.
    ///
    /// # Errors
    /// If there is none.
    pub fn find(name: &str, recipe: Option<&Recipe>) -> Result<(&'static str, Model), NeuralError> {
        if let Some(shipped) = SHIPPED.iter().find(|shipped| shipped.name == name) {
            return Ok((shipped.name, shipped.model()?));
        }
        let hash = recipe.map(Recipe::hash);
        let mut first = None;
        for shipped in SHIPPED.iter().filter(|shipped| shipped.design() == name) {
            let model = shipped.model()?;
            if hash.as_ref() == Some(&model.record().recipe_hash) {
                return Ok((shipped.name, model));
            }
            first.get_or_insert((shipped.name, model));
        }
        first.ok_or_else(|| {
            let names: Vec<&str> = SHIPPED.iter().map(|shipped| shipped.name).collect();
            let which = match name.parse::<Design>() {
                Ok(design) => {
                    format!("no model of {design} is shipped; `magnetar train {design} --out FILE` makes one")
                }
                Err(_) => format!("no shipped model {name:?}"),
            };
            NeuralError::Request { problem: format!("{which} (shipped: {})", names.join(", ")) }
        })
    }

    /// Its weights and record.
    ///
    /// # Errors
    /// If they are damaged, which a test excludes.
    pub fn model(&self) -> Result<Model, NeuralError> {
        Model::from_bytes(self.bytes, &format!("the shipped model {}", self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_model_is_what_its_name_says_and_can_be_made_again() {
        let mut bytes = 0;
        for shipped in ShippedModel::all() {
            let model = shipped.model().unwrap();
            let record = model.record();
            assert_eq!(shipped.name, format!("{}-{}", record.design, record.recipe));
            let recipe = Recipe::load(&record.recipe, &[]).unwrap();
            assert_eq!(record.recipe_hash, recipe.hash(), "{}: the recipe has changed since", shipped.name);
            assert!(record.training.reduced);
            let command = format!("magnetar train {} --preset cpu", record.design);
            assert!(record.training.command.starts_with(&command), "{}", record.training.command);
            let (found, _) = ShippedModel::find(record.design.name(), Some(&recipe)).unwrap();
            assert_eq!(found, shipped.name);
            bytes += shipped.bytes.len();
        }
        assert!(bytes < 8 << 20, "{bytes} bytes of weights");
    }

    #[test]
    fn what_is_not_shipped_is_refused_with_what_is() {
        let error = ShippedModel::find("np9", None).unwrap_err().to_string();
        assert!(error.contains("no shipped model \"np9\""), "{error}");
    }
}
