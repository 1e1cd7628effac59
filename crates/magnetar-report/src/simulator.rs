//! One link from scene to arrivals, as a page shows it: paths, observation, SRE estimates.

use std::sync::Arc;

use magnetar_scene::{MaterialLibrary, Pose, Scene};
use magnetar_signal::{Arrival, LinkDraw, LinkSimulator, Observation, Radio, RadioConfig, RfChainDraw, seeded_streams};
use magnetar_trace::{Path, TraceOptions};

use crate::error::ReportError;

/// Everything of a link that does not change while TX, RX and the scene move.
#[derive(Debug, Clone)]
pub struct LinkSettings {
    /// The radio.
    pub radio: Arc<Radio>,
    /// Materials a scene may name.
    pub materials: MaterialLibrary,
    /// Which paths are looked for.
    pub propagation: TraceOptions,
}

impl LinkSettings {
    /// A radio among these materials, with paths of first order in an opaque world.
    ///
    /// # Errors
    /// If a setting is out of range or a pattern cannot be read.
    pub fn new(config: RadioConfig, materials: MaterialLibrary) -> Result<Self, ReportError> {
        Ok(Self { radio: Arc::new(Radio::new(config)?), materials, propagation: TraceOptions::default() })
    }

    /// The default radio among the shipped materials.
    ///
    /// # Errors
    /// If the shipped pattern cannot be read, which a test excludes.
    pub fn shipped() -> Result<Self, ReportError> {
        Self::new(RadioConfig::default(), MaterialLibrary::shipped())
    }
}

/// One traced path with the antennas applied.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkPath {
    /// The path between isotropic antennas.
    pub path: Path,
    /// Its SNR in one bin with both antennas and the link scale, mean over the RX elements, dB.
    pub raw_snr_db: f64,
}

/// One simulated link.
#[derive(Debug, Clone)]
pub struct SimulatedLink {
    /// The paths, the direct one first, then by delay.
    pub paths: Vec<LinkPath>,
    /// The observation, RF chain and noise included.
    pub observation: Observation,
    /// What the RF chain did.
    pub rf_chain: RfChainDraw,
    /// All arrivals that SRE found, the strongest first.
    pub arrivals: Vec<Arrival>,
}

/// Runs links with one set of settings, keeping its buffers.
pub struct Simulator {
    settings: LinkSettings,
    link: LinkSimulator,
}

impl Simulator {
    /// For a set of settings.
    ///
    /// # Errors
    /// If the order of the paths is too high.
    pub fn new(settings: LinkSettings) -> Result<Self, ReportError> {
        let link = LinkSimulator::new(Arc::clone(&settings.radio)).with_options(settings.propagation)?;
        Ok(Self { link, settings })
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &LinkSettings {
        &self.settings
    }

    /// Traces a link and simulates one observation of it. `seed` decides RF chain and noise: the observation is the
    /// first of that seed.
    ///
    /// # Errors
    /// If the scene makes no sense, or a device is outside the room or inside a box.
    pub fn run(
        &mut self,
        scene: &Scene,
        tx: &Pose,
        rx: &Pose,
        tx_power_offset_db: f64,
        seed: u64,
    ) -> Result<SimulatedLink, ReportError> {
        let paths = self.paths(scene, tx, rx, tx_power_offset_db)?;
        let [mut chain, mut noise] = seeded_streams(seed, 0);
        let rf_chain = self.settings.radio.config().rf_chain.draw(&mut chain);
        let mut observation = self.link.block();
        self.link.observe(&LinkDraw { tx_power_offset_db, rf_chain }, &mut noise, &mut observation);
        let components = self.link.estimate(&observation)?.components();
        let arrivals = components.iter().map(|component| component.arrival).collect();
        Ok(SimulatedLink { paths, observation, rf_chain, arrivals })
    }

    /// Traces a link: its paths with antennas and link scale applied.
    ///
    /// # Errors
    /// As [`Simulator::run`].
    pub fn paths(
        &mut self,
        scene: &Scene,
        tx: &Pose,
        rx: &Pose,
        tx_power_offset_db: f64,
    ) -> Result<Vec<LinkPath>, ReportError> {
        let LinkSettings { radio, materials, .. } = &self.settings;
        let world = scene.resolve(materials, radio.band().carrier_hz)?;
        self.link.trace(world.room, &world.surfaces, &world.boxes, tx, rx)?;
        let snrs = self.link.path_snrs_db(tx_power_offset_db);
        Ok(self.link.paths().iter().zip(snrs).map(|(path, raw_snr_db)| LinkPath { path: *path, raw_snr_db }).collect())
    }
}

#[cfg(test)]
mod tests {
    use magnetar_dataset::Recipe;

    use super::*;
    use crate::corpus::recipe_settings;

    /// Whether two seeds give different observations of one link of a recipe.
    fn is_random(sets: &[&str]) -> bool {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        let recipe = Recipe::load("paper", &sets).unwrap();
        let mut simulator = Simulator::new(recipe_settings(&recipe).unwrap()).unwrap();
        let scene = Scene::load("lab").unwrap();
        let (tx, rx) = (Pose::new(0.98, 2.28, 1.08, -1.6), Pose::new(1.0, -1.0, 1.08, 1.4));
        let mut seen = |seed| simulator.run(&scene, &tx, &rx, 0.0, seed).unwrap().observation;
        seen(1) != seen(2)
    }

    #[test]
    fn noise_and_rf_chain_are_shown_only_if_the_recipe_has_them() {
        assert!(is_random(&["noise.enabled=false"]));
        assert!(is_random(&["rf_chain.enabled=false"]));
        assert!(!is_random(&["noise.enabled=false", "rf_chain.enabled=false"]));
    }
}
