//! The twin's model from a recipe: what the receiver was told about the radio and the rooms.

use magnetar_dataset::{Materials, Recipe};
use magnetar_posterior::{PosteriorError, RoomSlabs, TwinModel};
use magnetar_scene::{AntennaPattern, MaterialLibrary, Slab};
use magnetar_signal::sre::Sre;

/// The split whose material assignments the receiver knows. Those of the test split are held out.
const KNOWN_SPLIT: &str = "train";

/// The model of a recipe. Materials are those of its `train` split (of its first split if it has none of that
/// name): the test split's are held out.
///
/// # Errors
/// When a pattern, a material or an option of the estimator is wrong.
pub fn twin_model(recipe: &Recipe) -> Result<TwinModel, PosteriorError> {
    let fault =
        |message: String| PosteriorError::Parameters { place: format!("recipe {:?}", recipe.name), reason: message };
    let pattern = |name: &str| AntennaPattern::load(name).map_err(|e| fault(e.to_string()));
    let mut library = MaterialLibrary::shipped();
    for file in &recipe.surfaces.material_files {
        library.add_path(file.as_ref()).map_err(|e| fault(e.to_string()))?;
    }
    let slab = |name: &str, thickness: f64| {
        let material = library.get(name).ok_or_else(|| fault(format!("no material {name:?}")))?;
        let (eps_r, sigma) = material.at(recipe.band.carrier_hz).map_err(|e| fault(e.to_string()))?;
        Ok::<_, PosteriorError>(Slab { eps_r, sigma, thickness })
    };
    let wall = recipe.surfaces.thickness_m;
    let known = known_split(recipe).and_then(|name| recipe.splits.get(name));
    let mut assignments = Vec::new();
    for a in known.iter().flat_map(|split| &split.materials) {
        assignments.push(RoomSlabs {
            wall: slab(&a.wall, wall)?,
            ceiling: slab(&a.ceiling, wall)?,
            floor: slab(&a.floor, wall)?,
        });
    }
    let sre = Sre::new(&recipe.band, &recipe.array, &recipe.sre).map_err(|e| fault(e.to_string()))?;
    let link = &recipe.link;
    Ok(TwinModel {
        carrier_hz: recipe.band.carrier_hz,
        bandwidth_hz: recipe.band.bandwidth_hz,
        bins: recipe.band.bins,
        spacing_m: recipe.array.spacing_m,
        tx_pattern: pattern(&recipe.antennas.tx_pattern)?,
        rx_patterns: [pattern(&recipe.antennas.rx_patterns[0])?, pattern(&recipe.antennas.rx_patterns[1])?],
        snr_at_one_metre_db: link.reference_snr_db + link.input_power_adjustment_db,
        power_offset_max_db: link.tx_power_offset_max_db,
        // A peak of energy E over both channels is a raw SNR of E / (2 N) per bin and channel.
        threshold_db: 10.0 * (sre.threshold() / (2 * recipe.band.bins) as f64).log10(),
        tx_height_m: recipe.devices.height_m,
        wall_margin_m: recipe.devices.wall_margin_m,
        separation_min_m: recipe.devices.separation_min_m,
        assignments,
        box_slab: slab(&recipe.surfaces.board_material, recipe.board.thickness_m)?,
    })
}

/// The split whose material assignments the receiver knows: `train`, or a recipe's first split.
#[must_use]
pub fn known_split(recipe: &Recipe) -> Option<&str> {
    let first = || recipe.splits.keys().next().map(String::as_str);
    if recipe.splits.contains_key(KNOWN_SPLIT) { Some(KNOWN_SPLIT) } else { first() }
}

/// Position of a room's materials among the known assignments of a recipe, if they are among them.
#[must_use]
pub fn assignment_index(recipe: &Recipe, materials: &Materials) -> Option<usize> {
    let known = recipe.splits.get(known_split(recipe)?)?;
    known
        .materials
        .iter()
        .position(|a| a.wall == *materials.wall && a.ceiling == *materials.ceiling && a.floor == *materials.floor)
}
