//! One link from a world to its arrivals, stage by stage.

use std::sync::Arc;

use magnetar_scene::{BoxShape, Pose, Room, Slab};
use magnetar_trace::{LeftOut, Path, TraceError, TraceOptions, Tracer};
use num_complex::{Complex32, Complex64};
use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};

use crate::sre::{Estimate, SreError, Workspace};
use crate::{ELEMENTS, ElementPath, Observation, Radio, RfChainDraw, SignalRow, Synthesizer, add_noise};

/// Simulates links of one radio, stage by stage: paths, paths at the elements, the noise-free block, the perturbed
/// block, the noisy block, the estimate. Each stage can be had on its own and honours the radio's switches
/// (`rf_chain.enabled`, `noise.enabled`).
///
/// Keeps its buffers, so that one that has been used does not allocate. A thread has one of its own; the radio is
/// shared.
pub struct LinkSimulator {
    radio: Arc<Radio>,
    options: TraceOptions,
    tracer: Option<Tracer>,
    left_out: LeftOut,
    paths: Vec<Path>,
    element_paths: Vec<ElementPath>,
    synthesizer: Synthesizer,
    interleaved: Vec<[Complex32; ELEMENTS]>,
    workspace: Workspace,
}

/// What is random about one observation of a link, besides its noise.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LinkDraw {
    /// TX-power offset, dB.
    pub tx_power_offset_db: f64,
    /// The RF chain.
    pub rf_chain: RfChainDraw,
}

impl LinkSimulator {
    /// For a radio, with paths of first order in an opaque world.
    #[must_use]
    pub fn new(radio: Arc<Radio>) -> Self {
        Self {
            options: TraceOptions::default(),
            tracer: None,
            left_out: LeftOut::default(),
            paths: Vec::with_capacity(16),
            element_paths: Vec::with_capacity(16),
            synthesizer: Synthesizer::new(*radio.band()),
            interleaved: Vec::new(),
            workspace: radio.sre().workspace(),
            radio,
        }
    }

    /// The same with other paths looked for.
    ///
    /// # Errors
    /// If the order is above [`magnetar_trace::MAX_ORDER`].
    pub fn with_options(mut self, options: TraceOptions) -> Result<Self, TraceError> {
        options.check()?;
        (self.options, self.tracer) = (options, None);
        Ok(self)
    }

    /// The radio.
    #[must_use]
    pub fn radio(&self) -> &Arc<Radio> {
        &self.radio
    }

    /// Traces a link in a world (the room, its six surfaces in the order of `Face::ALL`, its boxes) and applies the
    /// antennas: fills [`Self::paths`] and [`Self::element_paths`].
    ///
    /// # Errors
    /// If the world makes no sense, or a device is outside the room or inside a box. There are no paths then.
    pub fn trace(
        &mut self,
        room: Room,
        surfaces: &[Slab; 6],
        boxes: &[(BoxShape, Slab)],
        tx: &Pose,
        rx: &Pose,
    ) -> Result<(), TraceError> {
        self.paths.clear();
        self.element_paths.clear();
        self.left_out = LeftOut::default();
        let carrier_hz = self.radio.band().carrier_hz;
        let tracer = match self.tracer.take() {
            Some(mut tracer) => {
                tracer.rebuild(room, surfaces, boxes, carrier_hz)?;
                tracer
            }
            None => Tracer::new(room, surfaces, boxes, carrier_hz)?.with_options(self.options)?,
        };
        let traced = tracer.trace_into(&tx.position, &rx.position, &mut self.paths);
        self.tracer = Some(tracer);
        self.left_out = traced?;
        self.paths.sort_by(|a, b| a.geometry.listing_order(&b.geometry));
        let link = self.radio.link(*tx, *rx);
        self.element_paths.extend(self.paths.iter().map(|path| link.element_path(path)));
        Ok(())
    }

    /// Which paths are looked for.
    #[must_use]
    pub fn options(&self) -> &TraceOptions {
        &self.options
    }

    /// What was found and left out when the link was traced.
    #[must_use]
    pub fn left_out(&self) -> &LeftOut {
        &self.left_out
    }

    /// The traced paths between isotropic antennas: the direct one first, then by delay.
    #[must_use]
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// The same paths as the RX elements hear them, antennas applied, before the link scale.
    #[must_use]
    pub fn element_paths(&self) -> &[ElementPath] {
        &self.element_paths
    }

    /// The same, to be changed or added to: what the observation will hold beyond the model.
    pub fn element_paths_mut(&mut self) -> &mut Vec<ElementPath> {
        &mut self.element_paths
    }

    /// SNR per bin of each path with both antennas and the link scale, mean over the RX elements, dB.
    pub fn path_snrs_db(&self, tx_power_offset_db: f64) -> impl ExactSizeIterator<Item = f64> + '_ {
        let scale = self.radio.amplitude_scale(tx_power_offset_db);
        self.element_paths.iter().map(move |path| {
            let power = path.gain.iter().map(Complex64::norm_sqr).sum::<f64>() / ELEMENTS as f64;
            10.0 * libm::log10(power * scale * scale)
        })
    }

    /// A block of zeros to be filled.
    #[must_use]
    pub fn block(&self) -> Observation {
        self.synthesizer.block()
    }

    /// The noise-free block of the traced paths, link scale applied.
    pub fn clean(&mut self, tx_power_offset_db: f64, block: &mut Observation) {
        self.synthesizer.clean(&self.element_paths, self.radio.amplitude_scale(tx_power_offset_db), block);
    }

    /// The RF chain on a noise-free block, the energy kept; nothing if the radio's RF chain is switched off.
    pub fn perturb(&mut self, draw: &RfChainDraw, block: &mut Observation) {
        if self.radio.config().rf_chain.enabled {
            self.synthesizer.perturb(draw, block);
        }
    }

    /// Noise on a block; none if the radio's noise is switched off.
    pub fn add_noise<R: Rng + ?Sized>(&self, rng: &mut R, block: &mut Observation) {
        if self.radio.config().noise.enabled {
            add_noise(block, rng);
        }
    }

    /// The observation of the traced paths: noise-free block, RF chain and noise in one call. `noise` gives the random
    /// numbers of the noise.
    pub fn observe<R: Rng + ?Sized>(&mut self, draw: &LinkDraw, noise: &mut R, block: &mut Observation) {
        self.clean(draw.tx_power_offset_db, block);
        self.perturb(&draw.rf_chain, block);
        self.add_noise(noise, block);
    }

    /// The traced paths as a backend takes them to synthesise many observations at once.
    #[must_use]
    pub fn signal_row<'a>(&self, paths: &'a [ElementPath], draw: &LinkDraw) -> SignalRow<'a> {
        SignalRow { paths, scale: self.radio.amplitude_scale(draw.tx_power_offset_db), rf_chain: draw.rf_chain }
    }

    /// The components in an observation.
    ///
    /// # Errors
    /// If it has another number of bins than the band, a bin that is not finite, or a scale beyond single precision.
    pub fn estimate(&mut self, block: &Observation) -> Result<&Estimate, SreError> {
        self.interleaved.resize(block.bins(), [Complex32::default(); ELEMENTS]);
        block.write_interleaved(self.interleaved.as_flattened_mut());
        self.radio.sre().estimate(&self.interleaved, &mut self.workspace)
    }

    /// The components in an observation given as it lies in files: `[bin][channel]`.
    ///
    /// # Errors
    /// As [`Self::estimate`].
    pub fn estimate_interleaved(&mut self, block: &[[Complex32; ELEMENTS]]) -> Result<&Estimate, SreError> {
        self.radio.sre().estimate(block, &mut self.workspace)
    }
}

/// Random numbers of observation number `index` of a seed: its RF chain and its noise have a stream each, so that an
/// observation is the same whatever the number of others.
#[must_use]
pub fn seeded_streams(seed: u64, index: u64) -> [ChaCha8Rng; 2] {
    [0, 1].map(|stream| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(2 * index + stream);
        rng
    })
}

#[cfg(test)]
mod tests {
    use magnetar_scene::{MaterialLibrary, Scene};

    use super::*;
    use crate::{Arrivals, RadioConfig};

    /// A link across the shipped laboratory, traced.
    fn traced(config: RadioConfig) -> LinkSimulator {
        let mut simulator = LinkSimulator::new(Arc::new(Radio::new(config).unwrap()));
        let scene = Scene::load("lab_middle").unwrap();
        let world = scene.resolve(&MaterialLibrary::shipped(), simulator.radio().band().carrier_hz).unwrap();
        let (tx, rx) = (Pose::new(0.98, 2.28, 1.08, -1.6), Pose::new(1.0, -1.0, 1.08, 1.4));
        simulator.trace(world.room, &world.surfaces, &world.boxes, &tx, &rx).unwrap();
        simulator
    }

    fn draw(simulator: &LinkSimulator) -> LinkDraw {
        let [mut chain, _] = seeded_streams(3, 0);
        LinkDraw { tx_power_offset_db: 1.0, rf_chain: simulator.radio().config().rf_chain.draw(&mut chain) }
    }

    #[test]
    fn all_stages_at_once_are_the_stages_one_by_one() {
        let mut simulator = traced(RadioConfig::default());
        let draw = draw(&simulator);
        let (mut whole, mut staged) = (simulator.block(), simulator.block());
        let noise = || {
            let [_, noise] = seeded_streams(3, 0);
            noise
        };
        simulator.observe(&draw, &mut noise(), &mut whole);
        simulator.clean(draw.tx_power_offset_db, &mut staged);
        let clean = staged.energy();
        simulator.perturb(&draw.rf_chain, &mut staged);
        assert!((staged.energy() / clean - 1.0).abs() < 1e-5);
        simulator.add_noise(&mut noise(), &mut staged);
        assert_eq!(whole, staged);
        let mut arrivals = Arrivals::default();
        simulator.estimate(&whole).unwrap().write_arrivals(&mut arrivals);
        assert_eq!((arrivals.keep, arrivals.found.len()), (2, 2));
    }

    #[test]
    fn what_is_switched_off_leaves_no_trace() {
        let mut config = RadioConfig::default();
        (config.rf_chain.enabled, config.noise.enabled) = (false, false);
        let mut simulator = traced(config);
        let mut other = draw(&simulator);
        other.rf_chain.common_phase_rad = 1.0;
        let (mut observed, mut clean) = (simulator.block(), simulator.block());
        let [_, mut noise] = seeded_streams(3, 0);
        simulator.observe(&other, &mut noise, &mut observed);
        simulator.clean(other.tx_power_offset_db, &mut clean);
        assert_eq!(observed, clean);
    }

    #[test]
    fn the_snr_of_the_paths_is_that_of_their_blocks() {
        let mut simulator = traced(RadioConfig::default());
        let expected: Vec<f64> = simulator.path_snrs_db(-2.0).collect();
        let heard = simulator.element_paths().to_vec();
        let mut block = simulator.block();
        for (path, snr_db) in heard.into_iter().zip(expected) {
            simulator.element_paths = vec![path];
            simulator.clean(-2.0, &mut block);
            let power = block.energy() / (ELEMENTS * block.bins()) as f64;
            assert!((10.0 * power.log10() - snr_db).abs() < 1e-4, "{snr_db}");
        }
    }

    /// Threads that wait for others while they work for them have many on their stacks at once.
    #[test]
    fn a_simulator_is_small_on_the_stack() {
        assert!(size_of::<LinkSimulator>() < 2048, "{} bytes", size_of::<LinkSimulator>());
    }
}
