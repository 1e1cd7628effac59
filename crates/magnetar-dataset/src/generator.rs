//! From an index to a row: draw, trace, antennas, synthesis, RF chain, noise, estimation.

use std::fmt;
use std::sync::Arc;

use magnetar_scene::{BoxShape, Slab};
use magnetar_signal::{LinkDraw, LinkSimulator, Observation, Radio};
use num_complex::Complex32;
use rand::rngs::ChaCha8Rng;

use crate::draw::{Drawer, DrawnScene};
use crate::error::DatasetError;
use crate::layout::Board;
use crate::outing::OutingState;
use crate::recipe::Recipe;
use crate::record::{Materials, Record, RecordPath};
use crate::stream::{Purpose, Streams};
use crate::unmodelled::add_unmodelled;
use crate::wave::{DeviceDirection, ReceivedWave};

/// Makes the rows of one split. Shared by all threads; each takes a [`RowGenerator`] of its own.
pub struct Generator {
    drawer: Drawer,
    /// For each assignment of the split: names and slabs in the order of `Face::ALL`.
    assignments: Vec<(Materials, [Slab; 6])>,
    /// What the boxes of the recipe's scene are made of, in its order.
    box_slabs: Vec<Slab>,
    board_material: Arc<str>,
    board_slab: Slab,
    radio: Arc<Radio>,
}

/// One thread's buffers for making rows.
pub struct RowGenerator<'g> {
    pub(crate) generator: &'g Generator,
    scene: Option<(u64, DrawnScene)>,
    outing: Option<OutingState>,
    pub(crate) simulator: LinkSimulator,
    block: Observation,
    standing: Vec<(BoxShape, Slab)>,
}

/// One row, made on its own. For many rows keep a [`Generator`] and a [`RowGenerator`].
///
/// # Errors
/// If the recipe is wrong, or its constraints cannot be met for this row.
pub fn generate_record(recipe: &Arc<Recipe>, seed: u64, split: &str, index: u64) -> Result<Record, DatasetError> {
    Generator::new(recipe, seed, split)?.rows().row(index)
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator").field("recipe", &self.recipe().name).finish_non_exhaustive()
    }
}

impl Generator {
    /// Makes a split ready: materials at the carrier, patterns, the estimator.
    ///
    /// # Errors
    /// If the recipe has no such split or names a material or pattern that is not there.
    pub fn new(recipe: &Arc<Recipe>, seed: u64, split: &str) -> Result<Self, DatasetError> {
        recipe.check()?;
        recipe.check_files()?;
        let drawer = Drawer::new(recipe, seed, split)?;
        let slabs = recipe.slabs()?;
        let assignments = slabs
            .assignments(drawer.split())?
            .into_iter()
            .map(|(names, room)| {
                let [wall, ceiling, floor] = names.map(Arc::<str>::from);
                (Materials { wall, ceiling, floor, board: None }, room)
            })
            .collect();
        Ok(Self {
            box_slabs: slabs.boxes(),
            board_material: recipe.surfaces.board_material.as_str().into(),
            board_slab: slabs.board()?,
            radio: Arc::new(recipe.radio()?),
            drawer,
            assignments,
        })
    }

    /// Whether it makes the rows of a recipe's split with this seed.
    #[must_use]
    pub fn makes(&self, recipe: &Recipe, seed: u64, split: &str) -> bool {
        *self.recipe() == *recipe && *self.drawer.streams() == Streams::new(seed, split)
    }

    /// The recipe.
    #[must_use]
    pub fn recipe(&self) -> &Recipe {
        self.drawer.recipe()
    }

    /// The recipe's radio.
    #[must_use]
    pub fn radio(&self) -> &Arc<Radio> {
        &self.radio
    }

    /// Buffers for one thread.
    #[must_use]
    pub fn rows(&self) -> RowGenerator<'_> {
        let simulator = LinkSimulator::new(Arc::clone(&self.radio))
            .with_options(self.recipe().propagation)
            .expect("the order was checked with the recipe");
        RowGenerator {
            generator: self,
            scene: None,
            outing: None,
            block: simulator.block(),
            standing: Vec::new(),
            simulator,
        }
    }

    /// The random numbers of a row's noise.
    pub(crate) fn noise(&self, record: &Record) -> ChaCha8Rng {
        self.drawer.streams().rng(Purpose::Noise, record.index)
    }

    /// Puts an observation into its record.
    pub(crate) fn store(&self, block: &Observation, record: &mut Record) {
        let csi = record.csi.get_or_insert_default();
        csi.resize(2 * block.bins(), Complex32::default());
        block.write_interleaved(csi);
    }
}

/// What is random about a row's observation, besides its noise.
pub(crate) fn link_draw(record: &Record) -> LinkDraw {
    LinkDraw { tx_power_offset_db: record.level_db(), rf_chain: record.rf_chain }
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
    pub fn row(&mut self, index: u64) -> Result<Record, DatasetError> {
        let mut record = blank(self.generator);
        self.row_into(index, &mut record)?;
        Ok(record)
    }

    /// Row number `index` into a record whose memory is used again.
    ///
    /// # Errors
    /// If the recipe's constraints cannot be met for this row.
    pub fn row_into(&mut self, index: u64, record: &mut Record) -> Result<(), DatasetError> {
        self.draw(index, record)?;
        self.trace(record)?;
        self.synthesise(record);
        self.estimate(record)
    }

    /// Draws the scene, the TX-power offset and the RF chain of a row.
    ///
    /// # Errors
    /// If the recipe's constraints cannot be met for this row.
    pub fn draw(&mut self, index: u64, record: &mut Record) -> Result<(), DatasetError> {
        let generator = self.generator;
        let drawer = &generator.drawer;
        let recipe = drawer.recipe();
        let views = u64::from(drawer.split().views);
        let (set, view) = (index / views, index % views);
        let scene = match self.scene.take() {
            Some((drawn, scene)) if drawn == set => scene,
            _ => drawer.scene(set)?,
        };
        record.index = index;
        record.set = set;
        record.view = u32::try_from(view).unwrap_or(u32::MAX);
        record.layout.room = scene.layout.room;
        record.materials = generator.assignments[scene.assignment].0.clone();
        record.materials.board = scene.layout.board.map(|_| Arc::clone(&generator.board_material));
        record.layout.boxes.clone_from(&scene.layout.boxes);
        record.layout.board = scene.layout.board.map(Board::seen_from_either_side);
        record.tx = scene.devices.tx;
        record.rx = scene.devices.rx[usize::try_from(view).unwrap_or(0)];
        record.replayed.clone_from(&scene.replayed);
        record.tx_power_offset_db =
            recipe.link.draw_tx_power_offset_db(&mut drawer.streams().rng(Purpose::Link, index));
        record.rf_chain = recipe.rf_chain.draw(&mut drawer.streams().rng(Purpose::RfChain, index));
        self.scene = Some((set, scene));
        self.draw_model_error(record);
        Ok(())
    }

    /// What the receiver believes, and its state during the row's outing.
    fn draw_model_error(&mut self, record: &mut Record) {
        self.draw_outing(record);
        // The phase that the estimator takes off is one that this receiver adds.
        let offset = self.generator.drawer.recipe().sre.phase_offset_deg;
        if offset != 0.0 {
            record.rf_chain.phase_error_rad += offset.to_radians();
        }
    }

    fn draw_outing(&mut self, record: &mut Record) {
        let drawer = &self.generator.drawer;
        if !drawer.recipe().has_outings() {
            return;
        }
        let number = drawer.outing_of(record.set);
        let outing = match self.outing.take() {
            Some(outing) if outing.number == number => outing,
            _ => drawer.outing(number),
        };
        record.rf_chain = outing.rf_chain(record.rf_chain);
        record.believed = Some(drawer.reported(record));
        let row = record.outing.get_or_insert_default();
        (row.outing, row.level_offset_db) = (number, outing.level_offset_db);
        self.outing = Some(outing);
    }

    /// Traces the drawn scene and applies the antennas.
    ///
    /// # Errors
    /// If the tracer refuses the scene, which a drawn one never gives it reason to.
    pub fn trace(&mut self, record: &mut Record) -> Result<(), DatasetError> {
        let generator = self.generator;
        let assignment = self.scene.as_ref().map_or(0, |(_, scene)| scene.assignment);
        let slabs = &generator.assignments[assignment].1;
        let drawn = self.scene.as_ref().and_then(|(_, scene)| scene.layout.board);
        self.standing.clear();
        let standing = record.layout.boxes.iter().copied().chain(drawn.map(|board| board.shape));
        self.standing.extend(standing.zip(generator.box_slabs.iter().copied().chain([generator.board_slab])));
        self.simulator
            .trace(record.layout.room, slabs, &self.standing, &record.tx, &record.rx)
            .map_err(|source| DatasetError::Trace { row: record.index, source })?;
        self.apply_pattern_error(record);
        let (paths, element_paths) = (self.simulator.paths(), self.simulator.element_paths());
        record.los = paths.first().is_some_and(|path| path.geometry.is_line_of_sight());
        record.left_out = self.simulator.options().transmission.then_some(*self.simulator.left_out());
        record.paths.clear();
        record.paths.extend(paths.iter().zip(element_paths).map(|(path, element)| {
            let arrival = record.rx.device_from_global(&path.geometry.arrival);
            let departure = record.tx.device_from_global(&path.geometry.departure);
            RecordPath {
                surface: path.interactions().surfaces().next(),
                interactions: Some(*path.interactions()),
                wave: ReceivedWave {
                    delay_s: path.delay(),
                    coefficients: element.gain,
                    aoa: DeviceDirection::of(&arrival),
                },
                aod: DeviceDirection::of(&departure),
            }
        }));
        if drawn.map(|board| board.shape) != record.layout.board.map(|board| board.shape) {
            let board = u32::try_from(record.layout.boxes.len()).unwrap_or(u32::MAX);
            record.paths.iter_mut().for_each(|path| path.turn_box(board));
        }
        self.add_unmodelled(record);
        Ok(())
    }

    /// The outing's pattern errors on every traced path.
    fn apply_pattern_error(&mut self, record: &Record) {
        let Some(pattern) = self.outing.as_ref().and_then(|outing| outing.pattern.as_ref()) else { return };
        let directions: Vec<_> = (self.simulator.paths().iter())
            .map(|path| {
                let departure = record.tx.device_from_global(&path.geometry.departure);
                (departure, record.rx.device_from_global(&path.geometry.arrival))
            })
            .collect();
        for (path, (departure, arrival)) in self.simulator.element_paths_mut().iter_mut().zip(&directions) {
            pattern.apply(departure, arrival, path);
        }
    }

    /// Arrivals that no traced path explains.
    fn add_unmodelled(&mut self, record: &mut Record) {
        let drawer = &self.generator.drawer;
        let (Some(row), Some(outing)) = (&mut record.outing, &self.outing) else { return };
        let rng = drawer.streams().rng(Purpose::Unmodelled, record.index);
        let recipe = drawer.recipe();
        let paths = self.simulator.element_paths_mut();
        row.unmodelled = add_unmodelled(&recipe.model_error, &recipe.array, outing.pattern.as_ref(), rng, paths);
    }

    /// Synthesises the observation of the traced paths: link scale, RF chain, noise.
    pub fn synthesise(&mut self, record: &mut Record) {
        let mut noise = self.generator.noise(record);
        self.simulator.observe(&link_draw(record), &mut noise, &mut self.block);
        self.generator.store(&self.block, record);
    }

    /// Estimates the arrivals of the synthesised observation.
    ///
    /// # Errors
    /// If the observation is beyond what single precision holds.
    pub fn estimate(&mut self, record: &mut Record) -> Result<(), DatasetError> {
        let csi = record.csi.as_deref().unwrap_or_default().as_chunks::<2>().0;
        let estimate = self
            .simulator
            .estimate_interleaved(csi)
            .map_err(|source| DatasetError::Estimation { row: record.index, source })?;
        estimate.write_arrivals(&mut record.arrivals);
        Ok(())
    }
}

/// A record to be filled.
pub(crate) fn blank(generator: &Generator) -> Record {
    Record { materials: generator.assignments[0].0.clone(), paths: Vec::with_capacity(16), ..Record::blank() }
}
