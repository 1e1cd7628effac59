//! Observations of links, and the arrivals in observations.

use std::path::PathBuf;
use std::sync::Arc;

use magnetar_scene::{AntennaPattern, Pose};
use magnetar_signal::sre::{AoaMode, Component, Method, SreOptions};
use magnetar_signal::{
    AntennaConfig, Band, ELEMENTS, LineArray, LinkSimulator, NoiseSource, Radio, RadioConfig, Receiver, ReceiverError,
    ReceiverSettings, RfChainConfig, seeded_streams,
};
use num_complex::Complex32;
use numpy::{IntoPyArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use crate::error::{Class, Failure, Outcome};
use crate::input;
use crate::recipe::Recipe;
use crate::run::run;
use crate::scene::{Pattern, Scene};

/// The last stage to be run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Clean,
    Perturbed,
    Noisy,
}

/// An antenna pattern by name or file, or one that is there already.
#[derive(FromPyObject)]
enum PatternSource {
    Given(Py<Pattern>),
    Named(String),
}

impl PatternSource {
    fn load(&self) -> Outcome<AntennaPattern> {
        match self {
            Self::Given(pattern) => Ok(pattern.get().pattern.clone()),
            Self::Named(name) => Ok(AntennaPattern::load(name)?),
        }
    }
}

/// How `observe` simulates.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct ObserveOptions {
    count: usize,
    seed: u64,
    stage: String,
    max_order: usize,
    transmission: bool,
    materials: Vec<PathBuf>,
    tx_pattern: Option<PatternSource>,
    rx_pattern: Option<(PatternSource, PatternSource)>,
    rf_chain: bool,
    redraw_rf_chain: bool,
    /// One for all links, or one each.
    tx_power_offset_db: Vec<f64>,
}

impl ObserveOptions {
    fn stage(&self) -> Outcome<Stage> {
        match self.stage.as_str() {
            "clean" => Ok(Stage::Clean),
            "perturbed" => Ok(Stage::Perturbed),
            "noisy" => Ok(Stage::Noisy),
            other => Err(Failure::input(format!("stage {other:?}: expected \"clean\", \"perturbed\" or \"noisy\""))),
        }
    }

    fn radio(&self, recipe: Option<&Recipe>) -> Outcome<Radio> {
        let mut config = recipe.map_or_else(RadioConfig::default, |recipe| recipe.recipe.radio_config());
        if !self.rf_chain {
            config.rf_chain = RfChainConfig::off();
        }
        let AntennaConfig { tx_pattern, rx_patterns: [first, second] } = &config.antennas;
        let tx = match &self.tx_pattern {
            Some(pattern) => pattern.load()?,
            None => AntennaPattern::load(tx_pattern)?,
        };
        let rx = match &self.rx_pattern {
            Some((first, second)) => [first.load()?, second.load()?],
            None => [AntennaPattern::load(first)?, AntennaPattern::load(second)?],
        };
        let radio = Radio::with_patterns(config, tx, rx)?;
        if !self.tx_power_offset_db.iter().all(|offset| (-100.0..=100.0).contains(offset)) {
            return Err(Failure::input("tx_power_offset_db: expected a number of decibels from -100 to 100"));
        }
        if radio.amplitude_scale(0.0) == 0.0 {
            let message = "the antenna patterns have no gain at boresight, to which the reference SNR belongs";
            return Err(Failure::Named(Class::Signal, message.to_owned()));
        }
        Ok(radio)
    }
}

/// Observations of links: complex64 of shape (links, count, bins, 2); see `magnetar.observe`.
#[pyfunction]
pub fn observe<'py>(
    py: Python<'py>,
    scene: &Bound<'py, Scene>,
    tx: &Bound<'py, PyAny>,
    rx: &Bound<'py, PyAny>,
    recipe: Option<&Bound<'py, Recipe>>,
    options: ObserveOptions,
) -> PyResult<Bound<'py, PyAny>> {
    let scene = scene.get();
    let height = scene.scene.device_height;
    let links = input::pairs(input::poses(tx, height, "tx")?, input::poses(rx, height, "rx")?)?;
    let stage = options.stage()?;
    let offsets = &options.tx_power_offset_db;
    if ![1, links.len()].contains(&offsets.len()) {
        let (found, expected) = (offsets.len(), links.len());
        let message = format!("tx_power_offset_db: {found} for {expected} links; give one for all, or one each");
        return Err(Failure::input(message).into());
    }
    let radio = Arc::new(options.radio(recipe.map(Bound::get))?);
    let propagation = input::options(options.max_order, options.transmission)?;
    let world = scene.resolve(radio.band().carrier_hz, &options.materials)?;
    let shape = [links.len(), options.count, radio.band().bins, ELEMENTS];
    let numbers = input::volume_of(&[shape[0], shape[1], shape[2], 2 * ELEMENTS], "observations")? / 2;
    let per_link = shape[1] * shape[2] * ELEMENTS;
    let blocks = run(py, |stop| {
        let mut blocks = vec![Complex32::default(); numbers];
        let one = |simulator: &mut Outcome<LinkSimulator>,
                   link: usize,
                   (tx, rx): &(Pose, Pose),
                   out: &mut [Complex32]|
         -> Outcome<()> {
            let simulator = simulator.as_mut().map_err(|_| Failure::Stopped)?;
            simulator.trace(world.room, &world.surfaces, &world.boxes, tx, rx)?;
            let mut clean = simulator.block();
            simulator.clean(offsets[link.min(offsets.len() - 1)], &mut clean);
            let (mut perturbed, mut noisy) = (clean.clone(), clean.clone());
            let bins = clean.bins();
            for (n, out) in out.chunks_exact_mut(bins * ELEMENTS).enumerate() {
                stop.check()?;
                // Observations are numbered over all links: each has its own noise.
                let index = (link * options.count + n) as u64;
                let chain = if options.redraw_rf_chain { index } else { (link * options.count) as u64 };
                if stage != Stage::Clean && (n == 0 || options.redraw_rf_chain) {
                    let [mut rng, _] = seeded_streams(options.seed, chain);
                    let draw = simulator.radio().config().rf_chain.draw(&mut rng);
                    perturbed.clone_from(&clean);
                    simulator.perturb(&draw, &mut perturbed);
                }
                noisy.clone_from(&perturbed);
                if stage == Stage::Noisy {
                    let [_, mut noise] = seeded_streams(options.seed, index);
                    simulator.add_noise(&mut noise, &mut noisy);
                }
                noisy.write_interleaved(out);
            }
            Ok(())
        };
        let simulator = || LinkSimulator::new(Arc::clone(&radio)).with_options(propagation).map_err(Failure::from);
        (blocks.par_chunks_mut(per_link.max(1)).zip(&links).enumerate())
            .map_init(simulator, |simulator, (link, (out, devices))| one(simulator, link, devices, out))
            .collect::<Outcome<Vec<()>>>()?;
        Ok(blocks)
    })?;
    input::shaped(py, blocks, &shape)
}

/// How `estimate` looks for components.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct EstimateOptions {
    keep: Option<usize>,
    p_fa: Option<f64>,
    max_paths: Option<usize>,
    method: String,
    aoa_mode: String,
    noise_variance: Option<Vec<f64>>,
    noise_floor: bool,
    inactive_bins: Vec<usize>,
    excluded_bins: Vec<usize>,
    carrier_hz: Option<f64>,
    bandwidth_hz: Option<f64>,
    spacing_m: Option<f64>,
    positions_m: Option<Vec<f64>>,
    all: bool,
}

impl EstimateOptions {
    fn sre(&self, base: SreOptions) -> Outcome<SreOptions> {
        let method = match self.method.as_str() {
            "refined" => Method::Refined,
            "greedy" => Method::Greedy,
            other => return Err(Failure::input(format!("method {other:?}: expected \"refined\" or \"greedy\""))),
        };
        let aoa_mode = match self.aoa_mode.as_str() {
            "narrowband" => AoaMode::Narrowband,
            "wideband" => AoaMode::Wideband,
            other => {
                return Err(Failure::input(format!("aoa_mode {other:?}: expected \"narrowband\" or \"wideband\"")));
            }
        };
        Ok(SreOptions {
            method,
            aoa_mode,
            keep: self.keep.unwrap_or(base.keep),
            p_fa: self.p_fa.unwrap_or(base.p_fa),
            max_paths: self.max_paths.unwrap_or(base.max_paths),
            inactive_bins: self.inactive_bins.clone(),
            excluded_bins: self.excluded_bins.clone(),
            ..base
        })
    }

    fn receiver(&self, recipe: Option<&Recipe>, bins: usize, channels: usize) -> Outcome<Receiver> {
        let config = recipe.map_or_else(RadioConfig::default, |recipe| recipe.recipe.radio_config());
        let band = Band {
            carrier_hz: self.carrier_hz.unwrap_or(config.band.carrier_hz),
            bandwidth_hz: self.bandwidth_hz.unwrap_or(config.band.bandwidth_hz),
            bins,
        };
        let array = match &self.positions_m {
            Some(places) => LineArray::at(places)?,
            None => LineArray::uniform(channels, self.spacing_m.unwrap_or(config.array.spacing_m))?,
        };
        let noise = match &self.noise_variance {
            _ if self.noise_floor => NoiseSource::Floor,
            Some(variances) => NoiseSource::Known(variances.clone()),
            None => NoiseSource::Options,
        };
        let settings = ReceiverSettings { noise, ..ReceiverSettings::default() };
        Ok(Receiver::new(&band, &array, &self.sre(config.sre)?, settings)?)
    }
}

/// The components of observations, one array per quantity; see `magnetar.estimate`.
#[pyfunction]
pub fn estimate<'py>(
    py: Python<'py>,
    blocks: &Bound<'py, PyAny>,
    recipe: Option<&Bound<'py, Recipe>>,
    options: EstimateOptions,
) -> PyResult<Bound<'py, PyDict>> {
    let array = input::complexes(blocks, "blocks")?;
    let shape = array.shape().to_vec();
    let [.., bins, channels] = shape[..] else {
        let message = format!("blocks: an array of shape {shape:?}; expected (..., bins, channels)");
        return Err(Failure::input(message).into());
    };
    if array.is_empty() {
        return Err(Failure::input(format!("blocks: an array of shape {shape:?} without observations")).into());
    }
    let receiver = options.receiver(recipe.map(Bound::get), bins, channels)?;
    let base = recipe.map_or_else(SreOptions::default, |recipe| recipe.get().recipe.sre.clone());
    let keep = options.keep.unwrap_or(base.keep);
    let mut blocks = input::slice(&array, "blocks")?.to_vec();
    let estimates = run(py, |stop| {
        let one = |n: usize, block: &mut [Complex32], workspace: &mut _| -> Outcome<Vec<Component>> {
            stop.check()?;
            let at = |error: ReceiverError| match Failure::from(error) {
                Failure::Named(class, text) => Failure::Named(class, format!("observation {n}: {text}")),
                other => other,
            };
            receiver.prepare(block).map_err(at)?;
            let mut components = receiver.components(block, workspace).map_err(at)?;
            if !options.all {
                components.truncate(keep);
            }
            Ok(components)
        };
        (blocks.par_chunks_mut(bins * channels).enumerate())
            .map_init(|| receiver.workspace(), |workspace, (n, block)| one(n, block, workspace))
            .collect::<Outcome<Vec<_>>>()
    })?;
    let found = PyDict::new(py);
    let all: Vec<(usize, usize, &Component)> = (estimates.iter().enumerate())
        .flat_map(|(n, components)| components.iter().enumerate().map(move |(rank, one)| (n, rank, one)))
        .collect();
    let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    found.set_item("observation", all.iter().map(|(n, ..)| number(*n)).collect::<Vec<_>>().into_pyarray(py))?;
    found.set_item("rank", all.iter().map(|(_, rank, _)| number(*rank)).collect::<Vec<_>>().into_pyarray(py))?;
    let column =
        |of: &dyn Fn(&Component) -> f64| all.iter().map(|(.., one)| of(one)).collect::<Vec<f64>>().into_pyarray(py);
    found.set_item("aoa_rad", column(&|one| one.arrival.aoa_rad))?;
    found.set_item("phase_rad", column(&|one| one.arrival.phase_rad))?;
    found.set_item("delay_s", column(&|one| one.arrival.delay_s))?;
    found.set_item("raw_snr_db", column(&|one| one.arrival.raw_snr_db))?;
    found.set_item("snr_db", column(&|one| one.arrival.snr_db))?;
    found.set_item("alias_confidence", column(&|one| one.alias_confidence))?;
    found.set_item("observations", estimates.len())?;
    found.set_item("keep", keep)?;
    Ok(found)
}
