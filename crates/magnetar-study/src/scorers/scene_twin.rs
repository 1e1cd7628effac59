//! The twin of a scene: every surface's material is known.

use magnetar_posterior::{MaterialKnowledge, PosteriorError, RoomSlabs, Twin, TwinModel, TwinScorer};
use magnetar_scene::ResolvedScene;
use magnetar_signal::{Radio, RadioConfig};

use super::ScorerSettings;

/// The devices of a scene.
#[derive(Debug, Clone, Copy)]
pub struct SceneDevices<'a> {
    /// The radio.
    pub radio: &'a Radio,
    /// Height of the TX, metres in the global frame.
    pub tx_height_m: f64,
    /// Least distance of the TX from a wall, metres.
    pub wall_margin_m: f64,
    /// Least distance of TX and RX, metres.
    pub separation_min_m: f64,
}

/// The twin that knows the slab of every surface and box of a scene.
///
/// # Errors
/// If the radio or the parameters give no twin.
pub fn scene_twin(
    world: &ResolvedScene,
    devices: &SceneDevices<'_>,
    settings: &ScorerSettings,
) -> Result<Twin, PosteriorError> {
    let radio = devices.radio;
    let RadioConfig { band, array, link, sre, .. } = radio.config();
    let model = TwinModel {
        carrier_hz: band.carrier_hz,
        bandwidth_hz: band.bandwidth_hz,
        bins: band.bins,
        spacing_m: array.spacing_m,
        tx_pattern: radio.tx_pattern().clone(),
        rx_patterns: radio.rx_patterns().clone(),
        snr_at_one_metre_db: radio.snr_at_one_metre_db(),
        power_offset_max_db: link.tx_power_offset_max_db,
        threshold_db: radio.detection_threshold_db(),
        tx_height_m: devices.tx_height_m,
        wall_margin_m: devices.wall_margin_m,
        separation_min_m: devices.separation_min_m,
        assignments: vec![RoomSlabs(world.surfaces)],
        // Never used: every box has a slab of its own.
        box_slab: world.surfaces[0],
        box_slabs: world.boxes.iter().map(|(_, slab)| *slab).collect(),
        propagation: settings.parameters.propagation,
        keep: sre.keep,
    };
    let scorer = TwinScorer::new(model, settings.parameters.parameters)?;
    Ok(Twin::new(scorer, settings.backend.clone(), MaterialKnowledge::Exact))
}
