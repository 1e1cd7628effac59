//! The scene of a recipe: the nominal world of its corpus.

use std::path::Path;

use magnetar_scene::{BoxShape, MaterialLibrary, ResolvedScene, Room, Scene};
use nalgebra::{Point3, Vector3};
use toml::Value;

use super::{Recipe, RecipeError, Split};

/// The key that names it.
pub(super) const SCENE: &str = "scene";

/// The scene's own text in a stored recipe.
pub(super) const SCENE_TEXT: &str = "scene_text";

/// A longer scene (some 3,000 boxes) does not belong into every shard of a corpus.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// Makes a scene the nominal world of a recipe that is being put together: its text, its room, its device height. What
/// is set afterwards comes on top.
pub(super) fn apply(
    table: &mut toml::Table,
    name: &str,
    folder: Option<&Path>,
    place: &str,
) -> Result<(), RecipeError> {
    let shipped = Scene::shipped_names().any(|shipped| shipped == name);
    let path = match folder {
        Some(folder) if !shipped => folder.join(name).to_str().map_or_else(|| name.to_owned(), str::to_owned),
        _ => name.to_owned(),
    };
    let scene = Scene::load(&path).map_err(|e| RecipeError::new(place, e))?;
    let text = scene.to_toml();
    if text.len() > MAX_TEXT_BYTES {
        let problem = format!("scene {path} takes {} bytes; at most {MAX_TEXT_BYTES} in a recipe", text.len());
        return Err(RecipeError::new(place, problem));
    }
    table.insert(SCENE.into(), Value::String(path));
    table.insert(SCENE_TEXT.into(), Value::String(text));
    let bounds =
        ["x_min_m", "x_max_m", "y_min_m", "y_max_m", "z_min_m", "z_max_m"].into_iter().zip(scene.room.bounds());
    for (section, key, value) in
        bounds.map(|(key, value)| ("room", key, value)).chain([("devices", "height_m", scene.device_height)])
    {
        let entry = table.entry(section).or_insert_with(|| Value::Table(toml::Table::new()));
        if let Some(entry) = entry.as_table_mut() {
            entry.insert(key.into(), Value::Float(value));
        }
    }
    Ok(())
}

/// A recipe's scene, read.
#[derive(Debug, Clone, PartialEq)]
pub struct NominalScene {
    /// The scene as the recipe holds it.
    pub scene: Scene,
}

impl NominalScene {
    /// Its boxes in a room of the family: centres move with the room, sizes are scaled along the box's own axes, yaw
    /// stays.
    #[must_use]
    pub fn boxes_in<'a>(&'a self, room: &'a Room) -> impl ExactSizeIterator<Item = BoxShape> + 'a {
        let nominal = self.scene.room;
        let scale = (room.max - room.min).component_div(&(nominal.max - nominal.min));
        self.scene.boxes.iter().map(move |b| {
            let BoxShape { center, size, yaw } = b.shape;
            let (sin, cos) = libm::sincos(yaw);
            let along = |x: f64, y: f64| (x * scale.x * x * scale.x + y * scale.y * y * scale.y).sqrt();
            let offset = (center - nominal.min).component_mul(&scale);
            let size = Vector3::new(size.x * along(cos, sin), size.y * along(sin, cos), size.z * scale.z);
            BoxShape { center: Point3::from(room.min.coords + offset), size, yaw }
        })
    }

    /// The names of the walls' materials (one if all are alike, else four: -x/+x/-y/+y), the ceiling's and the floor's.
    #[must_use]
    pub fn material_names(&self) -> [String; 3] {
        let [walls @ .., floor, ceiling] = self.scene.surfaces.each_ref().map(|layer| layer.material.as_str());
        let alike = walls.iter().all(|wall| *wall == walls[0]);
        let wall = if alike { walls[0].to_owned() } else { walls.join("/") };
        [wall, ceiling.to_owned(), floor.to_owned()]
    }
}

impl Recipe {
    /// The recipe's scene; `None` without one.
    ///
    /// # Errors
    /// If the stored text is not a scene file.
    pub fn nominal_scene(&self) -> Result<Option<NominalScene>, RecipeError> {
        let (Some(name), Some(text)) = (&self.scene, &self.scene_text) else {
            let whole = self.scene.is_some() == self.scene_text.is_some();
            return if whole { Ok(None) } else { Err(self.error("holds half of a scene")) };
        };
        if text.len() > MAX_TEXT_BYTES {
            let problem = format!("takes {} bytes; at most {MAX_TEXT_BYTES} in a recipe", text.len());
            return Err(RecipeError::new(format!("scene {name}"), problem));
        }
        let scene = Scene::from_toml_str(text, &format!("scene {name}")).map_err(|e| self.error(e))?;
        Ok(Some(NominalScene { scene: self.reflection.apply(scene) }))
    }

    /// The recipe's scene with the slabs of its surfaces and boxes at the carrier; `None` without one.
    ///
    /// # Errors
    /// As [`Recipe::nominal_scene`], or if a material is unknown or not defined at the carrier.
    pub fn resolved_scene(&self, materials: &MaterialLibrary) -> Result<Option<ResolvedScene>, RecipeError> {
        let resolve = |nominal: NominalScene| {
            let resolved = nominal.scene.resolve(materials, self.band.carrier_hz);
            resolved.map_err(|e| self.error(e))
        };
        self.nominal_scene()?.map(resolve).transpose()
    }

    /// Whether the room's surfaces are the scene's, and not the splits' assignments.
    #[must_use]
    pub fn has_scene_materials(&self) -> bool {
        self.scene.is_some() && self.surfaces.scene_materials
    }

    /// Assignments of materials that a split's rooms are drawn from.
    #[must_use]
    pub fn assignments(&self, split: &Split) -> usize {
        if self.has_scene_materials() { 1 } else { split.materials.len() }
    }
}
