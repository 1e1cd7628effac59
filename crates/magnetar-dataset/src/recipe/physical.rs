//! What a recipe's names and numbers stand for: its radio, its materials and their slabs.

use magnetar_scene::{MaterialLibrary, ResolvedScene, Slab};
use magnetar_signal::{Radio, RadioConfig};

use super::{Assignment, NominalScene, Recipe, RecipeError, RecipeProblem, Split};

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
        Radio::new(self.radio_config()).map_err(|e| self.error(e))
    }

    /// The shipped materials and the recipe's own.
    ///
    /// # Errors
    /// If one of the recipe's material files cannot be read.
    pub fn materials(&self) -> Result<MaterialLibrary, RecipeError> {
        let mut library = MaterialLibrary::shipped();
        for file in &self.surfaces.material_files {
            library.add_path(file.as_ref()).map_err(|e| self.error(e))?;
        }
        Ok(library)
    }

    /// The slabs of the recipe's materials at its carrier.
    ///
    /// # Errors
    /// As [`Recipe::materials`].
    pub fn slabs(&self) -> Result<Slabs<'_>, RecipeError> {
        let library = self.materials()?;
        let scene = self.nominal_scene()?.zip(self.resolved_scene(&library)?);
        Ok(Slabs { recipe: self, library, scene })
    }

    /// A problem of this recipe.
    pub(super) fn error(&self, problem: impl Into<RecipeProblem>) -> RecipeError {
        RecipeError::new(format!("recipe {:?}", self.name), problem)
    }
}

/// The names of the materials of wall, ceiling and floor, and the six surfaces in the order of `Face::ALL`.
pub type NamedSurfaces = ([String; 3], [Slab; 6]);

/// Slabs of materials by name, with a recipe's thicknesses and at its carrier.
#[derive(Debug, Clone)]
pub struct Slabs<'a> {
    recipe: &'a Recipe,
    library: MaterialLibrary,
    /// The recipe's scene, and it at the carrier.
    scene: Option<(NominalScene, ResolvedScene)>,
}

impl Slabs<'_> {
    /// The room's six surfaces under an assignment, in the order of `Face::ALL`.
    ///
    /// # Errors
    /// If there is no such material, or it is not known at the carrier.
    pub fn room(&self, assignment: &Assignment) -> Result<[Slab; 6], RecipeError> {
        let slab = |name: &str| self.slab(name, self.recipe.surfaces.thickness_m);
        let (wall, ceiling, floor) = (slab(&assignment.wall)?, slab(&assignment.ceiling)?, slab(&assignment.floor)?);
        Ok(self.recipe.reflection.room([wall, wall, wall, wall, floor, ceiling]))
    }

    /// What the rooms of a split are drawn from. With a
    /// scene that is the scene's own alone, unless the recipe says otherwise.
    ///
    /// # Errors
    /// As [`Slabs::room`].
    pub fn assignments(&self, split: &Split) -> Result<Vec<NamedSurfaces>, RecipeError> {
        if let Some((nominal, resolved)) = self.scene.as_ref().filter(|_| self.recipe.has_scene_materials()) {
            return Ok(vec![(nominal.material_names(), resolved.surfaces)]);
        }
        let one = |a: &Assignment| Ok(([a.wall.clone(), a.ceiling.clone(), a.floor.clone()], self.room(a)?));
        split.materials.iter().map(one).collect()
    }

    /// The boxes of the recipe's scene, in its order; none without one.
    #[must_use]
    pub fn boxes(&self) -> Vec<Slab> {
        self.scene.iter().flat_map(|(_, resolved)| resolved.boxes.iter().map(|(_, slab)| *slab)).collect()
    }

    /// The board.
    ///
    /// # Errors
    /// As [`Slabs::room`].
    pub fn board(&self) -> Result<Slab, RecipeError> {
        let Recipe { surfaces, board, reflection, .. } = self.recipe;
        Ok(self.slab(&surfaces.board_material, board.thickness_m)?.reflecting_more_by(reflection.board_db))
    }

    fn slab(&self, name: &str, thickness: f64) -> Result<Slab, RecipeError> {
        let material = self.library.get(name).ok_or_else(|| {
            let known: Vec<_> = self.library.iter().map(|material| material.name.as_str()).collect();
            self.recipe.error(format!("no material {name:?}; there is {}", known.join(", ")))
        })?;
        let (eps_r, sigma) = material.at(self.recipe.band.carrier_hz).map_err(|e| self.recipe.error(e))?;
        Ok(Slab::new(eps_r, sigma, thickness))
    }
}
