//! What a recipe's names and numbers stand for: its radio, its materials and their slabs.

use magnetar_scene::{MaterialLibrary, Slab};
use magnetar_signal::{Radio, RadioConfig, RadioError};

use super::{Assignment, Recipe, RecipeError};

impl Recipe {
    /// The settings of the recipe's radio.
    #[must_use]
    pub fn radio_config(&self) -> RadioConfig {
        RadioConfig {
            band: self.band,
            array: self.array,
            antennas: self.antennas.clone(),
            link: self.link,
            rf_chain: self.rf_chain,
            noise: self.noise,
            sre: self.sre.clone(),
        }
    }

    /// The recipe's radio, its patterns loaded.
    ///
    /// # Errors
    /// If a setting is out of range or a pattern cannot be read.
    pub fn radio(&self) -> Result<Radio, RecipeError> {
        Radio::new(self.radio_config()).map_err(|e: RadioError| self.error(e.to_string()))
    }

    /// The shipped materials and the recipe's own.
    ///
    /// # Errors
    /// If one of the recipe's material files cannot be read.
    pub fn materials(&self) -> Result<MaterialLibrary, RecipeError> {
        let mut library = MaterialLibrary::shipped();
        for file in &self.surfaces.material_files {
            library.add_path(file.as_ref()).map_err(|e| self.error(e.to_string()))?;
        }
        Ok(library)
    }

    /// The slabs of the recipe's materials at its carrier.
    ///
    /// # Errors
    /// As [`Recipe::materials`].
    pub fn slabs(&self) -> Result<Slabs<'_>, RecipeError> {
        Ok(Slabs { recipe: self, library: self.materials()? })
    }

    fn error(&self, message: String) -> RecipeError {
        RecipeError::new(format!("recipe {:?}", self.name), message)
    }
}

/// Slabs of materials by name, with a recipe's thicknesses and at its carrier.
#[derive(Debug, Clone)]
pub struct Slabs<'a> {
    recipe: &'a Recipe,
    library: MaterialLibrary,
}

impl Slabs<'_> {
    /// The room's six surfaces under an assignment, in the order of `Face::ALL`.
    ///
    /// # Errors
    /// If there is no such material, or it is not known at the carrier.
    pub fn room(&self, assignment: &Assignment) -> Result<[Slab; 6], RecipeError> {
        let slab = |name: &str| self.slab(name, self.recipe.surfaces.thickness_m);
        let (wall, ceiling, floor) = (slab(&assignment.wall)?, slab(&assignment.ceiling)?, slab(&assignment.floor)?);
        Ok([wall, wall, wall, wall, floor, ceiling])
    }

    /// The board.
    ///
    /// # Errors
    /// As [`Slabs::room`].
    pub fn board(&self) -> Result<Slab, RecipeError> {
        self.slab(&self.recipe.surfaces.board_material, self.recipe.board.thickness_m)
    }

    fn slab(&self, name: &str, thickness: f64) -> Result<Slab, RecipeError> {
        let material = self.library.get(name).ok_or_else(|| {
            let known: Vec<_> = self.library.iter().map(|material| material.name.as_str()).collect();
            self.recipe.error(format!("no material {name:?}; there is {}", known.join(", ")))
        })?;
        let (eps_r, sigma) = material.at(self.recipe.band.carrier_hz).map_err(|e| self.recipe.error(e.to_string()))?;
        Ok(Slab { eps_r, sigma, thickness })
    }
}
