//! Rows of a dataset as pictures need them: settings from the recipe, a scene and an observation from a row.

use std::sync::Arc;

use magnetar_dataset::{Recipe, Record, Reported};
use magnetar_scene::{Layer, Scene, SceneBox};
use magnetar_signal::Observation;

use crate::error::ReportError;
use crate::simulator::LinkSettings;

/// The settings a recipe's rows were made with.
///
/// # Errors
/// If a pattern or a material file cannot be read.
pub fn recipe_settings(recipe: &Recipe) -> Result<LinkSettings, ReportError> {
    let (radio, materials) = (Arc::new(recipe.radio()?), recipe.materials()?);
    Ok(LinkSettings { radio, materials, propagation: recipe.propagation })
}

/// The scene of a row as its receiver believes it.
///
/// # Errors
/// If the recipe's own scene cannot be read.
pub fn row_scene(record: &Record, recipe: &Recipe) -> Result<Scene, ReportError> {
    let levels = recipe.reflection;
    let layer = |name: &str, level_db| Layer::new(name, recipe.surfaces.thickness_m).reflecting_more_by(level_db);
    let m = &record.materials;
    let name = format!("row {}", record.index);
    let Reported { room, board, .. } = record.reported();
    let mut scene = Scene::new(
        &name,
        room,
        [layer(&m.wall, levels.walls_db), layer(&m.ceiling, levels.ceiling_db), layer(&m.floor, levels.floor_db)],
        f64::midpoint(room.min.z, room.max.z),
    );
    if let Some(nominal) = recipe.nominal_scene()? {
        let boxes = nominal.scene.boxes.into_iter().zip(&record.layout.boxes);
        scene.boxes = boxes.map(|(own, shape)| SceneBox { shape: *shape, ..own }).collect();
        scene.materials = nominal.scene.materials;
        if recipe.has_scene_materials() {
            scene.surfaces = nominal.scene.surfaces;
        }
    }
    scene.boxes.extend(board.iter().map(|shape| {
        SceneBox {
            name: Some("board".into()),
            shape: *shape,
            layer: Layer::new(m.board.as_deref().unwrap_or(&recipe.surfaces.board_material), recipe.board.thickness_m)
                .reflecting_more_by(levels.board_db),
        }
    }));
    Ok(scene)
}

/// The stored observation of a row, if there is one.
#[must_use]
pub fn row_observation(record: &Record) -> Option<Observation> {
    record.csi.as_deref().map(Observation::from_interleaved)
}
