//! From an index to a row: draw, trace, antennas, synthesis, RF chain, noise, estimation.

use std::sync::Arc;

use magnetar_scene::{AntennaPattern, BoxShape, MaterialLibrary, Pose, Slab, wrap};
use magnetar_signal::sre::{Sre, Workspace};
use magnetar_signal::{Arrivals, ElementPath, Link, Observation, Synthesizer, add_noise};
use magnetar_trace::{Path, Tracer, azimuth, elevation};
use nalgebra::Vector3;
use num_complex::Complex32;

use crate::draw::{Drawer, Layout};
use crate::error::Error;
use crate::recipe::{Recipe, RecipeError};
use crate::record::{Materials, Record, RecordPath};
use crate::stream::Purpose;

/// Makes the rows of one split. Shared by all threads; each takes a [`RowGenerator`] of its own.
pub struct Generator {
    drawer: Drawer,
    /// For each assignment of the split: names and slabs in the order of `Face::ALL`.
    assignments: Vec<(Materials, [Slab; 6])>,
    board_material: Arc<str>,
    board_slab: Slab,
    tx_pattern: AntennaPattern,
    rx_patterns: [AntennaPattern; 2],
    boresight_amplitude: f64,
    sre: Sre,
}

/// One thread's buffers for making rows.
pub struct RowGenerator<'g> {
    pub(crate) generator: &'g Generator,
    layout: Option<(u64, Layout)>,
    tracer: Option<Tracer>,
    paths: Vec<Path>,
    pub(crate) element_paths: Vec<ElementPath>,
    synthesizer: Synthesizer,
    block: Observation,
    workspace: Workspace,
}

/// One row, made on its own. For many rows keep a [`Generator`] and a [`RowGenerator`].
///
/// # Errors
/// If the recipe is wrong, or its constraints cannot be met for this row.
pub fn generate_record(recipe: &Arc<Recipe>, seed: u64, split: &str, index: u64) -> Result<Record, Error> {
    Generator::new(recipe, seed, split)?.rows().row(index)
}

impl Generator {
    /// Makes a split ready: materials at the carrier, patterns, the estimator.
    ///
    /// # Errors
    /// If the recipe has no such split or names a material or pattern that is not there.
    pub fn new(recipe: &Arc<Recipe>, seed: u64, split: &str) -> Result<Self, Error> {
        recipe.check()?;
        recipe.check_files()?;
        let drawer = Drawer::new(recipe, seed, split)?;
        let materials = Slabs::new(recipe)?;
        let wall = recipe.surfaces.thickness_m;
        let mut assignments = Vec::new();
        for assignment in &drawer.split().materials {
            let slab = |name: &str| materials.slab(name, wall);
            let (side, ceiling, floor) =
                (slab(&assignment.wall)?, slab(&assignment.ceiling)?, slab(&assignment.floor)?);
            let names = Materials {
                wall: assignment.wall.as_str().into(),
                ceiling: assignment.ceiling.as_str().into(),
                floor: assignment.floor.as_str().into(),
                board: None,
            };
            assignments.push((names, [side, side, side, side, floor, ceiling]));
        }
        let (tx_pattern, rx_patterns) = patterns(recipe)?;
        let sre = Sre::new(&recipe.band, &recipe.array, &recipe.sre)
            .map_err(|e| RecipeError::new(&recipe.name, e.to_string()))?;
        Ok(Self {
            board_material: recipe.surfaces.board_material.as_str().into(),
            board_slab: materials.slab(&recipe.surfaces.board_material, recipe.board.thickness_m)?,
            drawer,
            assignments,
            tx_pattern,
            rx_patterns,
            boresight_amplitude: boresight_amplitude(recipe)?,
            sre,
        })
    }

    /// The recipe.
    #[must_use]
    pub fn recipe(&self) -> &Recipe {
        self.drawer.recipe()
    }

    /// Buffers for one thread.
    #[must_use]
    pub fn rows(&self) -> RowGenerator<'_> {
        let synthesizer = Synthesizer::new(self.recipe().band);
        RowGenerator {
            generator: self,
            layout: None,
            tracer: None,
            paths: Vec::with_capacity(16),
            element_paths: Vec::with_capacity(16),
            block: synthesizer.block(),
            synthesizer,
            workspace: self.sre.workspace(),
        }
    }

    /// The factor of every path gain of a row.
    pub(crate) fn scale(&self, record: &Record) -> f64 {
        let recipe = self.recipe();
        recipe.link.amplitude_scale(&recipe.band, self.boresight_amplitude, record.tx_power_offset_db)
    }

    /// Adds a row's noise, if the recipe has any.
    pub(crate) fn add_noise(&self, record: &Record, block: &mut Observation) {
        if self.recipe().noise.enabled {
            add_noise(block, &mut self.drawer.streams().rng(Purpose::Noise, record.index));
        }
    }

    /// Puts an observation into its record.
    pub(crate) fn store(&self, block: &Observation, record: &mut Record) {
        let csi = record.csi.get_or_insert_default();
        csi.resize(2 * block.bins(), Complex32::default());
        block.write_interleaved(csi);
    }

    fn link(&self, tx: Pose, rx: Pose) -> Link<impl Fn(&Vector3<f64>) -> f64 + '_, impl Fn(&Vector3<f64>) -> f64 + '_> {
        link(self.recipe(), &self.tx_pattern, &self.rx_patterns, tx, rx)
    }
}

fn link<'a>(
    recipe: &Recipe,
    tx_pattern: &'a AntennaPattern,
    rx_patterns: &'a [AntennaPattern; 2],
    tx: Pose,
    rx: Pose,
) -> Link<impl Fn(&Vector3<f64>) -> f64 + 'a, impl Fn(&Vector3<f64>) -> f64 + 'a> {
    let [first, second] = rx_patterns;
    Link {
        tx,
        rx,
        array: recipe.array,
        tx_pattern: amplitude(tx_pattern),
        rx_patterns: [amplitude(first), amplitude(second)],
    }
}

/// The patterns of a recipe: the TX's and those of the RX elements.
fn patterns(recipe: &Recipe) -> Result<(AntennaPattern, [AntennaPattern; 2]), RecipeError> {
    let pattern = |name: &str| AntennaPattern::load(name).map_err(|e| scene_error(recipe, &e));
    let antennas = &recipe.antennas;
    let rx = [pattern(&antennas.rx_patterns[0])?, pattern(&antennas.rx_patterns[1])?];
    Ok((pattern(&antennas.tx_pattern)?, rx))
}

/// Amplitude of a recipe's antennas facing each other; what its link scale is normalised by.
///
/// # Errors
/// If a pattern cannot be read.
pub fn boresight_amplitude(recipe: &Recipe) -> Result<f64, RecipeError> {
    let (tx, rx) = patterns(recipe)?;
    let anywhere = Pose::new(0.0, 0.0, 0.0, 0.0);
    Ok(link(recipe, &tx, &rx, anywhere, anywhere).boresight_amplitude())
}

fn amplitude(pattern: &AntennaPattern) -> impl Fn(&Vector3<f64>) -> f64 + '_ {
    |direction| pattern.amplitude(direction)
}

/// Slabs of materials by name at a recipe's carrier.
pub(crate) struct Slabs<'a> {
    recipe: &'a Recipe,
    library: MaterialLibrary,
}

impl<'a> Slabs<'a> {
    /// The shipped materials and the recipe's own.
    ///
    /// # Errors
    /// If one of the recipe's material files cannot be read.
    pub(crate) fn new(recipe: &'a Recipe) -> Result<Self, RecipeError> {
        let mut library = MaterialLibrary::shipped();
        for file in &recipe.surfaces.material_files {
            library.add_path(file.as_ref()).map_err(|e| scene_error(recipe, &e))?;
        }
        Ok(Self { recipe, library })
    }

    /// A material's slab.
    ///
    /// # Errors
    /// If there is no such material, or it is not known at the carrier.
    pub(crate) fn slab(&self, name: &str, thickness: f64) -> Result<Slab, RecipeError> {
        let material = self.library.get(name).ok_or_else(|| {
            let known: Vec<_> = self.library.iter().map(|material| material.name.as_str()).collect();
            RecipeError::new(&self.recipe.name, format!("no material {name:?}; there is {}", known.join(", ")))
        })?;
        let (eps_r, sigma) = material.at(self.recipe.band.carrier_hz).map_err(|e| scene_error(self.recipe, &e))?;
        Ok(Slab { eps_r, sigma, thickness })
    }
}

fn scene_error(recipe: &Recipe, error: &magnetar_scene::Error) -> RecipeError {
    RecipeError::new(format!("recipe {:?}", recipe.name), error.to_string())
}

impl RowGenerator<'_> {
    /// A record to be filled by the calls below.
    #[must_use]
    pub fn blank(&self) -> Record {
        blank(self.generator)
    }

    /// Row number `index`, its observation included.
    ///
    /// # Errors
    /// If the recipe's constraints cannot be met for this row.
    pub fn row(&mut self, index: u64) -> Result<Record, Error> {
        let mut record = blank(self.generator);
        self.row_into(index, &mut record)?;
        Ok(record)
    }

    /// Row number `index` into a record whose memory is used again.
    ///
    /// # Errors
    /// If the recipe's constraints cannot be met for this row.
    pub fn row_into(&mut self, index: u64, record: &mut Record) -> Result<(), Error> {
        self.draw(index, record)?;
        self.trace(record)?;
        self.synthesise(record);
        self.estimate(record)
    }

    /// Draws the scene, the TX-power offset and the RF chain of a row.
    ///
    /// # Errors
    /// If the recipe's constraints cannot be met for this row.
    pub fn draw(&mut self, index: u64, record: &mut Record) -> Result<(), Error> {
        let generator = self.generator;
        let drawer = &generator.drawer;
        let recipe = drawer.recipe();
        let views = u64::from(drawer.split().views);
        let (set, view) = (index / views, index % views);
        let layout = match self.layout.take() {
            Some((drawn, layout)) if drawn == set => layout,
            _ => drawer.layout(set)?,
        };
        record.index = index;
        record.set = set;
        record.view = u32::try_from(view).unwrap_or(u32::MAX);
        record.room = layout.room;
        record.materials = generator.assignments[layout.assignment].0.clone();
        record.materials.board = layout.board.map(|_| Arc::clone(&generator.board_material));
        record.board = layout.board;
        record.tx = layout.tx;
        record.rx = layout.rx[usize::try_from(view).unwrap_or(0)];
        record.replayed.clone_from(&layout.replayed);
        record.tx_power_offset_db =
            recipe.link.draw_tx_power_offset_db(&mut drawer.streams().rng(Purpose::Link, index));
        record.rf_chain = recipe.rf_chain.draw(&mut drawer.streams().rng(Purpose::RfChain, index));
        self.layout = Some((set, layout));
        Ok(())
    }

    /// Traces the drawn scene and applies the antennas.
    ///
    /// # Errors
    /// If the tracer refuses the scene, which a drawn one never gives it reason to.
    pub fn trace(&mut self, record: &mut Record) -> Result<(), Error> {
        let generator = self.generator;
        let assignment = self.layout.as_ref().map_or(0, |(_, layout)| layout.assignment);
        let slabs = &generator.assignments[assignment].1;
        let board: Option<(BoxShape, Slab)> = record.board.map(|board| (board.shape, generator.board_slab));
        let carrier = generator.recipe().band.carrier_hz;
        let refused = |e: magnetar_trace::TraceError| Error::Request(format!("row {}: {e}", record.index));
        match &mut self.tracer {
            Some(tracer) => tracer.rebuild(record.room, slabs, board.as_slice(), carrier).map_err(refused)?,
            None => {
                self.tracer = Some(Tracer::new(record.room, slabs, board.as_slice(), carrier).map_err(refused)?);
            }
        }
        if let Some(tracer) = &self.tracer {
            tracer.trace_into(&record.tx.position, &record.rx.position, &mut self.paths).map_err(refused)?;
        }
        let late = |path: &Path| (!path.geometry.is_line_of_sight(), path.geometry.length);
        self.paths.sort_by(|a, b| {
            let ((a_kind, a_length), (b_kind, b_length)) = (late(a), late(b));
            a_kind.cmp(&b_kind).then(a_length.total_cmp(&b_length))
        });
        let link = generator.link(record.tx, record.rx);
        self.element_paths.clear();
        self.element_paths.extend(self.paths.iter().map(|path| link.element_path(path)));
        record.los = self.paths.first().is_some_and(|path| path.geometry.is_line_of_sight());
        record.paths.clear();
        record.paths.extend(self.paths.iter().zip(&self.element_paths).map(|(path, element)| {
            let arrival = record.rx.device_from_global(&path.geometry.arrival);
            let departure = record.tx.device_from_global(&path.geometry.departure);
            RecordPath {
                surface: path.interactions().surfaces().next(),
                delay_s: path.delay(),
                coefficients: element.gain,
                aoa_azimuth: wrap(azimuth(&arrival)),
                aoa_elevation: elevation(&arrival),
                aod_azimuth: wrap(azimuth(&departure)),
                aod_elevation: elevation(&departure),
            }
        }));
        Ok(())
    }

    /// Synthesises the observation of the traced paths: link scale, RF chain, noise.
    pub fn synthesise(&mut self, record: &mut Record) {
        let generator = self.generator;
        self.synthesizer.clean(&self.element_paths, generator.scale(record), &mut self.block);
        if generator.recipe().rf_chain.enabled {
            self.synthesizer.perturb(&record.rf_chain, &mut self.block);
        }
        generator.add_noise(record, &mut self.block);
        generator.store(&self.block, record);
    }

    /// Estimates the arrivals of the synthesised observation.
    ///
    /// # Errors
    /// If the observation is beyond what single precision holds.
    pub fn estimate(&mut self, record: &mut Record) -> Result<(), Error> {
        let csi = record.csi.as_deref().unwrap_or_default().as_chunks::<2>().0;
        let estimate = self
            .generator
            .sre
            .estimate(csi, &mut self.workspace)
            .map_err(|e| Error::Request(format!("row {}: {e}", record.index)))?;
        estimate.write_arrivals(&mut record.arrivals);
        Ok(())
    }
}

/// A record to be filled.
pub(crate) fn blank(generator: &Generator) -> Record {
    let nowhere = Pose::new(0.0, 0.0, 0.0, 0.0);
    Record {
        index: 0,
        set: 0,
        view: 0,
        room: magnetar_scene::Room { min: nowhere.position, max: nowhere.position },
        materials: generator.assignments[0].0.clone(),
        board: None,
        tx: nowhere,
        rx: nowhere,
        tx_power_offset_db: 0.0,
        rf_chain: magnetar_signal::RfChainDraw::default(),
        los: false,
        paths: Vec::with_capacity(16),
        arrivals: Arrivals::default(),
        replayed: None,
        csi: None,
    }
}
