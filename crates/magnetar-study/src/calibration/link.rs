//! A row whose both ends are known: what a receiver that is off by so much would see there.

use std::sync::Arc;

use magnetar_dataset::{Assignment, Recipe, Record, Slabs};
use magnetar_posterior::TwinModel;
use magnetar_scene::{BoxShape, Face, Pose, Slab};
use magnetar_signal::{Arrival, ElementPath, Radio};
use magnetar_trace::{Path, Surface, Tracer};
use nalgebra::{Complex, Vector3};

use super::parameters::{Offsets, SurfaceGroup};
use crate::StudyError;

/// What all rows share: the receiver's own model.
pub(super) struct Physics {
    model: TwinModel,
    tx_boresight: f64,
    rx_boresight: f64,
    /// Free-space amplitude at 1 m.
    at_one_metre: f64,
    /// Inter-element phase per unit of the direction's y component, radians.
    phase_per_unit: f64,
}

impl Physics {
    pub(super) fn new(model: TwinModel) -> Self {
        Self {
            tx_boresight: model.tx_pattern.amplitude(&Vector3::x()),
            rx_boresight: rx_power(&model, &Vector3::x()),
            at_one_metre: magnetar_scene::SPEED_OF_LIGHT / model.carrier_hz / (4.0 * std::f64::consts::PI),
            phase_per_unit: model.phase_per_unit(),
            model,
        }
    }

    /// The step of length that the band resolves, metres.
    pub(super) fn resolution_m(&self) -> f64 {
        self.model.cell_m()
    }

    /// Bins of an observation.
    pub(super) fn bins(&self) -> usize {
        self.model.bins
    }
}

/// Power gain of both RX elements together, for a direction in the RX's frame.
fn rx_power(model: &TwinModel, direction: &Vector3<f64>) -> f64 {
    model.rx_patterns.iter().map(|pattern| pattern.amplitude(direction).powi(2)).sum()
}

/// A path as the receiver should see it.
pub(super) struct Predicted {
    /// Inter-element phase, radians.
    pub(super) phase: f64,
    /// Raw SNR, dB.
    pub(super) level_db: f64,
    /// Total length, metres.
    pub(super) length_m: f64,
}

/// A row's ends and the world between them, as reported.
pub(super) struct Ends {
    tracer: Tracer,
    /// What each box is: a scene's own, or the board (the last).
    board: Option<u32>,
    tx: Pose,
    rx: Pose,
    /// The most arrivals that a row keeps.
    keep: usize,
    /// Rows of one group share one state of the receiver.
    pub(super) group: u64,
}

/// One row: its ends, and what was seen there.
#[derive(Clone)]
pub(super) struct Link {
    pub(super) ends: Arc<Ends>,
    /// Strongest first.
    pub(super) arrivals: Vec<Arrival>,
}

impl Link {
    /// The row's world as the receiver believes it, with the row's own materials.
    pub(super) fn new(record: &Record, recipe: &Recipe, worlds: &Worlds<'_>) -> Result<Self, StudyError> {
        let reported = record.reported();
        let surfaces = worlds.surfaces(record)?;
        let standing: Vec<(BoxShape, Slab)> =
            record.reported_standing().zip(worlds.boxes.iter().copied().chain([worlds.board])).collect();
        let tracer = Tracer::new(reported.room, &surfaces, &standing, recipe.band.carrier_hz)
            .and_then(|tracer| tracer.with_options(recipe.propagation))
            .map_err(|source| StudyError::CalibrationRow { index: record.index, source })?;
        let group = match &record.replayed {
            Some(replayed) => u64::from(replayed.site) + 1_000_003 * u64::from(record.layout.board.is_some()),
            None => record.outing.as_ref().map_or(record.set, |outing| outing.outing),
        };
        let ends = Ends {
            tracer,
            board: record.layout.board.map(|_| record.layout.boxes.len() as u32),
            tx: record.tx,
            rx: reported.rx,
            keep: record.arrivals.keep,
            group,
        };
        Ok(Self { ends: Arc::new(ends), arrivals: record.arrivals.found.clone() })
    }

    /// The raw SNR below which a path is not among the first `most` arrivals: that of the last one kept, or what is
    /// detected at all, dB.
    pub(super) fn faintest_db(&self, physics: &Physics, most: usize) -> f64 {
        let kept = self.ends.keep.min(most).checked_sub(1).and_then(|last| self.arrivals.get(last));
        kept.map_or(physics.model.threshold_db, |arrival| arrival.raw_snr_db)
    }
}

impl Ends {
    /// The paths between the antennas of a receiver with these offsets; none where its pose would be impossible. They depend on
    /// nothing but where it is.
    pub(super) fn trace(&self, offsets: &Offsets<'_>, paths: &mut Vec<Path>) {
        let mounting = offsets.mounting();
        let (tx, rx) = (mounting.tx(&self.tx), mounting.rx(&self.rx));
        if self.tracer.trace_into(&tx.position, &rx.position, paths).is_err() {
            paths.clear();
        }
    }

    /// Traced paths as a receiver with these offsets should see them.
    pub(super) fn predict(&self, physics: &Physics, offsets: &Offsets<'_>, paths: &[Path], out: &mut Vec<Predicted>) {
        let mounting = offsets.mounting();
        let (tx, rx) = (mounting.tx(&self.tx), mounting.rx(&self.rx));
        let model = &physics.model;
        out.clear();
        out.extend(paths.iter().map(|path| {
            let (arrival, departure) =
                (rx.device_from_global(&path.geometry.arrival), tx.device_from_global(&path.geometry.departure));
            let tx_amplitude = model.tx_pattern.amplitude(&departure) / physics.tx_boresight;
            let power = path.coefficient.norm_sqr() / physics.at_one_metre.powi(2)
                * tx_amplitude.powi(2)
                * rx_power(model, &arrival)
                / physics.rx_boresight;
            Predicted {
                phase: physics.phase_per_unit * arrival.y + offsets.phase_at(arrival.y),
                level_db: model.snr_at_one_metre_db
                    + 10.0 * libm::log10(power.max(1e-30))
                    + offsets.level_db()
                    + self.reflections_db(offsets, path),
                length_m: path.geometry.length,
            }
        }));
    }

    /// Traced paths as the elements of a receiver with these offsets hear them, but for its level.
    pub(super) fn hear(&self, radio: &Radio, offsets: &Offsets<'_>, paths: &[Path], out: &mut Vec<ElementPath>) {
        let mounting = offsets.mounting();
        let (tx, rx) = (mounting.tx(&self.tx), mounting.rx(&self.rx));
        let link = radio.link(tx, rx);
        // The phase that the estimator takes off is one that this receiver adds.
        let added = radio.config().sre.phase_offset_deg.to_radians();
        out.clear();
        out.extend(paths.iter().map(|path| {
            let mut heard = link.element_path(path);
            let amplitude = libm::exp10(self.reflections_db(offsets, path) / 20.0);
            heard.gain.iter_mut().for_each(|gain| *gain *= amplitude);
            let turn = added + offsets.phase_at(rx.device_from_global(&path.geometry.arrival).y);
            heard.gain[1] *= Complex::new(libm::cos(turn), libm::sin(turn));
            heard
        }));
    }

    /// The reflection levels along a path together, dB.
    fn reflections_db(&self, offsets: &Offsets<'_>, path: &Path) -> f64 {
        path.interactions().iter().map(|met| offsets.reflection_db(self.group_of(met.surface))).sum()
    }

    fn group_of(&self, surface: Surface) -> SurfaceGroup {
        match surface {
            Surface::Room(Face::ZMin) => SurfaceGroup::Floor,
            Surface::Room(Face::ZMax) => SurfaceGroup::Ceiling,
            Surface::Room(_) => SurfaceGroup::Walls,
            Surface::Box { index, .. } if Some(index) == self.board => SurfaceGroup::Board,
            Surface::Box { .. } => SurfaceGroup::Boxes,
        }
    }
}

/// The slabs of a recipe's worlds.
pub(super) struct Worlds<'a> {
    slabs: Slabs<'a>,
    boxes: Vec<Slab>,
    board: Slab,
    /// Those of the recipe's scene, if rooms have them.
    scene: Option<[Slab; 6]>,
}

impl<'a> Worlds<'a> {
    pub(super) fn new(recipe: &'a Recipe) -> Result<Self, StudyError> {
        let slabs = recipe.slabs()?;
        let scene = match recipe.splits.values().next().filter(|_| recipe.has_scene_materials()) {
            Some(split) => slabs.assignments(split)?.first().map(|(_, surfaces)| *surfaces),
            None => None,
        };
        Ok(Self { boxes: slabs.boxes(), board: slabs.board()?, scene, slabs })
    }

    fn surfaces(&self, record: &Record) -> Result<[Slab; 6], StudyError> {
        if let Some(surfaces) = self.scene {
            return Ok(surfaces);
        }
        let m = &record.materials;
        let assignment =
            Assignment { wall: m.wall.to_string(), ceiling: m.ceiling.to_string(), floor: m.floor.to_string() };
        Ok(self.slabs.room(&assignment)?)
    }
}
