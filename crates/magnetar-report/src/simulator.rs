//! One link from scene to arrivals, as a page shows it: paths, observation, SRE estimates.

use magnetar_scene::{AntennaPattern, MaterialLibrary, Pose, Scene};
use magnetar_signal::sre::{Sre, SreOptions, Workspace};
use magnetar_signal::{
    Arrival, Band, ELEMENTS, ElementPath, LinkConfig, Observation, RfChainConfig, RfChainDraw, RxArray, Synthesizer,
    add_noise, link_between,
};
use magnetar_trace::{Path, Tracer};
use num_complex::Complex32;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

use crate::error::ReportError;

/// Everything of a link that does not change while TX, RX and the scene move.
#[derive(Debug, Clone)]
pub struct LinkSettings {
    /// Frequency grid.
    pub band: Band,
    /// The RX's elements.
    pub array: RxArray,
    /// Link scale.
    pub link: LinkConfig,
    /// The RF chain's imperfections.
    pub rf_chain: RfChainConfig,
    /// The estimator.
    pub sre: SreOptions,
    /// The TX's pattern.
    pub tx_pattern: AntennaPattern,
    /// Each RX element's pattern.
    pub rx_patterns: [AntennaPattern; ELEMENTS],
    /// Materials a scene may name.
    pub materials: MaterialLibrary,
}

impl LinkSettings {
    /// The defaults, with the shipped synthetic Vivaldi at both ends.
    #[must_use]
    pub fn shipped() -> Self {
        let pattern = magnetar_scene::synthetic_vivaldi();
        Self {
            band: Band::default(),
            array: RxArray::default(),
            link: LinkConfig::default(),
            rf_chain: RfChainConfig::default(),
            sre: SreOptions::default(),
            tx_pattern: pattern.clone(),
            rx_patterns: [pattern.clone(), pattern],
            materials: MaterialLibrary::shipped(),
        }
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
    synthesizer: Synthesizer,
    sre: Sre,
    workspace: Workspace,
}

impl Simulator {
    /// For a set of settings.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn new(settings: LinkSettings) -> Result<Self, ReportError> {
        settings.band.check()?;
        settings.array.check()?;
        settings.link.check()?;
        settings.rf_chain.check()?;
        let sre = Sre::new(&settings.band, &settings.array, &settings.sre)?;
        let workspace = sre.workspace();
        Ok(Self { synthesizer: Synthesizer::new(settings.band), sre, workspace, settings })
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &LinkSettings {
        &self.settings
    }

    /// Traces a link and simulates one observation of it; `seed` decides RF chain and noise.
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
        let (paths, elements, scale) = self.trace(scene, tx, rx, tx_power_offset_db)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let rf_chain = self.settings.rf_chain.draw(&mut rng);
        let mut observation = self.synthesizer.block();
        self.synthesizer.clean(&elements, scale, &mut observation);
        self.synthesizer.perturb(&rf_chain, &mut observation);
        add_noise(&mut observation, &mut rng);
        let arrivals = self.estimate(&observation)?;
        Ok(SimulatedLink { paths, observation, rf_chain, arrivals })
    }

    /// Traces a link: its paths with antennas and link scale applied.
    ///
    /// # Errors
    /// As [`Simulator::run`].
    pub fn paths(
        &self,
        scene: &Scene,
        tx: &Pose,
        rx: &Pose,
        tx_power_offset_db: f64,
    ) -> Result<Vec<LinkPath>, ReportError> {
        Ok(self.trace(scene, tx, rx, tx_power_offset_db)?.0)
    }

    /// All arrivals that SRE finds in an observation, the strongest first.
    ///
    /// # Errors
    /// If the observation has a bin that is not finite or another number of bins than the band.
    pub fn estimate(&mut self, observation: &Observation) -> Result<Vec<Arrival>, ReportError> {
        let bin = |k: usize| -> [Complex32; ELEMENTS] { [observation.get(k, 0), observation.get(k, 1)] };
        let block: Vec<[Complex32; ELEMENTS]> = (0..observation.bins()).map(bin).collect();
        let estimate = self.sre.estimate(&block, &mut self.workspace)?;
        Ok(estimate.components().iter().map(|component| component.arrival).collect())
    }

    fn trace(
        &self,
        scene: &Scene,
        tx: &Pose,
        rx: &Pose,
        tx_power_offset_db: f64,
    ) -> Result<(Vec<LinkPath>, Vec<ElementPath>, f64), ReportError> {
        let LinkSettings { band, array, link, materials, tx_pattern, rx_patterns, .. } = &self.settings;
        let world = scene.resolve(materials, band.carrier_hz)?;
        let tracer = Tracer::new(world.room, &world.surfaces, &world.boxes, band.carrier_hz)?;
        let paths = tracer.trace(&tx.position, &rx.position)?;
        let ends = link_between(*tx, *rx, *array, tx_pattern, [&rx_patterns[0], &rx_patterns[1]]);
        let scale = link.amplitude_scale(band, ends.boresight_amplitude(), tx_power_offset_db);
        let elements: Vec<ElementPath> = paths.iter().map(|path| ends.element_path(path)).collect();
        let snr = |e: &ElementPath| {
            let power = e.gain.iter().map(num_complex::Complex64::norm_sqr).sum::<f64>() / ELEMENTS as f64;
            10.0 * (power * scale * scale).log10()
        };
        let paths = paths.iter().zip(&elements).map(|(p, e)| LinkPath { path: *p, raw_snr_db: snr(e) }).collect();
        Ok((paths, elements, scale))
    }
}
