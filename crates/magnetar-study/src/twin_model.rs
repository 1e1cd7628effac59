//! The twin's model from a recipe: what the receiver was given about the radio and the rooms.

use magnetar_dataset::{Materials, Recipe};
use magnetar_posterior::{RoomSlabs, TwinModel};
use magnetar_trace::TraceOptions;

use crate::error::StudyError;

/// The split whose material assignments the receiver knows. Those of the test split are held out.
pub(crate) const KNOWN_SPLIT: &str = "train";

/// The model of a recipe. Materials are those of its `train` split (of its first split if it has none of that
/// name): the test split's are held out. Those of a recipe's scene are known.
///
/// # Errors
/// When a pattern, a material or an option of the estimator is wrong.
pub fn twin_model(recipe: &Recipe) -> Result<TwinModel, StudyError> {
    let radio = recipe.radio()?;
    let slabs = recipe.slabs()?;
    let known = known_split(recipe).and_then(|name| recipe.splits.get(name));
    let assignments = known.map(|split| slabs.assignments(split)).transpose()?.unwrap_or_default();
    let assignments = assignments.into_iter().map(|(_, room)| RoomSlabs(room)).collect();
    Ok(TwinModel {
        carrier_hz: recipe.band.carrier_hz,
        bandwidth_hz: recipe.band.bandwidth_hz,
        bins: recipe.band.bins,
        spacing_m: recipe.array.spacing_m,
        tx_pattern: radio.tx_pattern().clone(),
        rx_patterns: radio.rx_patterns().clone(),
        snr_at_one_metre_db: radio.snr_at_one_metre_db(),
        power_offset_max_db: recipe.link.tx_power_offset_max_db,
        threshold_db: radio.detection_threshold_db(),
        tx_height_m: recipe.devices.height_m,
        wall_margin_m: recipe.devices.wall_margin_m,
        separation_min_m: recipe.devices.separation_min_m,
        assignments,
        box_slab: slabs.board()?,
        box_slabs: slabs.boxes(),
        propagation: TraceOptions::default(),
        keep: recipe.sre.keep,
    })
}

/// The split whose material assignments the receiver knows: `train`, or a recipe's first split.
#[must_use]
pub fn known_split(recipe: &Recipe) -> Option<&str> {
    let first = || recipe.splits.keys().next().map(String::as_str);
    if recipe.splits.contains_key(KNOWN_SPLIT) { Some(KNOWN_SPLIT) } else { first() }
}

/// Position of a room's materials among the known assignments of a recipe, if they are among them; `None` where a scene
/// leaves no choice.
#[must_use]
pub fn assignment_index(recipe: &Recipe, materials: &Materials) -> Option<usize> {
    let known = recipe.splits.get(known_split(recipe)?).filter(|_| !recipe.has_scene_materials())?;
    known
        .materials
        .iter()
        .position(|a| a.wall == *materials.wall && a.ceiling == *materials.ceiling && a.floor == *materials.floor)
}
