//! The paths of one candidate position as flat arrays: what the world's traversal emits, seen by this receiver.

use magnetar_scene::Pose;
use magnetar_trace::{FixedReceiver, PathGeometry, Surface, TraceOptions, World};
use nalgebra::{Point3, Vector3};

use super::flat::{TwinBox, TwinRow};
use super::lanes::{atan2, log2};
use super::tables::{GainTable, HeadingTable, SlabTables, elevation_steps};

/// Paths scored for a candidate; beyond, the weakest are left out.
pub(crate) const MAX_PATHS: usize = 12;

/// The number of no surface: the direct path's, which has no reflection table. See [`surface_number`].
pub(crate) const DIRECT: u32 = 0;

/// Half the arc over which the slope of the RX gain is taken, radians: some five degrees.
const SLOPE_STEP: f32 = 0.087_266_46;

/// `10 log10(x)` from `log2(x)`.
pub(crate) const DB_PER_OCTAVE: f32 = 3.010_3;

/// The paths from one candidate position to the RX, heading and materials still open.
#[derive(Debug, Clone)]
pub(crate) struct Paths {
    pub(crate) count: usize,
    /// The surface met, by its number; [`DIRECT`] for none.
    pub(crate) surface: [u32; MAX_PATHS],
    arrival: Directions,
    departure: Directions,
    /// y component of the arrival direction in the RX's frame.
    pub(crate) across: [f32; MAX_PATHS],
    /// Unfolded length, metres.
    pub(crate) length: [f32; MAX_PATHS],
    /// Raw SNR without reflection loss and TX pattern, dB.
    pub(crate) snr_db: [f32; MAX_PATHS],
    /// Square of the RX gain's change with azimuth, dB^2 / rad^2.
    pub(crate) slope2: [f32; MAX_PATHS],
    /// Row of the heading table.
    pub(crate) row: [u32; MAX_PATHS],
    pub(crate) cos_incidence: [f32; MAX_PATHS],
    pub(crate) te: [f32; MAX_PATHS],
    pub(crate) tm: [f32; MAX_PATHS],
    /// What surfaces take from each path in each material assignment, dB, where paths may meet several; else empty, and
    /// surface, cosine and weights say it.
    pub(crate) response_db: Vec<[f32; MAX_PATHS]>,
}

impl Paths {
    pub(crate) fn new() -> Self {
        Self {
            count: 0,
            surface: [DIRECT; MAX_PATHS],
            arrival: Directions::default(),
            departure: Directions::default(),
            across: [0.0; MAX_PATHS],
            length: [1.0; MAX_PATHS],
            snr_db: [0.0; MAX_PATHS],
            slope2: [0.0; MAX_PATHS],
            row: [0; MAX_PATHS],
            cos_incidence: [1.0; MAX_PATHS],
            te: [1.0; MAX_PATHS],
            tm: [0.0; MAX_PATHS],
            response_db: Vec::new(),
        }
    }
}

/// Unit directions of all paths in the global frame, component by component.
#[derive(Debug, Clone, Default)]
struct Directions {
    x: [f32; MAX_PATHS],
    y: [f32; MAX_PATHS],
    z: [f32; MAX_PATHS],
}

impl Directions {
    #[inline(always)]
    fn set(&mut self, slot: usize, direction: &Vector3<f64>) {
        self.x[slot] = direction.x as f32;
        self.y[slot] = direction.y as f32;
        self.z[slot] = direction.z as f32;
    }

    /// Azimuths, radians. Of all slots, so that they are worked out side by side.
    #[inline(always)]
    fn azimuths(&self) -> [f32; MAX_PATHS] {
        let mut azimuths = [0.0; MAX_PATHS];
        for ((azimuth, x), y) in azimuths.iter_mut().zip(&self.x).zip(&self.y) {
            *azimuth = atan2(*y, *x);
        }
        azimuths
    }

    /// Elevations, steps of the antenna tables.
    #[inline(always)]
    fn elevations(&self) -> [f32; MAX_PATHS] {
        let mut steps = [0.0; MAX_PATHS];
        for (step, z) in steps.iter_mut().zip(&self.z) {
            *step = elevation_steps(*z);
        }
        steps
    }
}

/// What an RX in a world makes of a path: its own pose, the patterns of both ends, the level.
#[derive(Debug, Clone)]
pub(crate) struct CandidateTracer<'a> {
    receiver: FixedReceiver<'a>,
    /// Which paths, and the slabs they meet, where they are not those of first order in an opaque world.
    several: Option<(TraceOptions, &'a SlabTables)>,
    rx: Pose,
    sin: f64,
    cos: f64,
    rx_heading: f32,
    /// Boxes with a slab of their own; the others have the default one.
    own_box_slabs: usize,
    /// Raw SNR at 1 m, dB.
    snr_at_one_metre_db: f32,
    rx_gain: &'a GainTable,
    tx_gain: &'a HeadingTable,
    /// Of candidate heading 0, which the table's headings are counted from.
    first_heading: f32,
}

impl<'a> CandidateTracer<'a> {
    pub(crate) fn new(
        world: &'a World,
        rx: &Pose,
        model: &super::TwinModel,
        (rx_gain, slabs): (&'a GainTable, &'a SlabTables),
        (tx_gain, first_heading): (&'a HeadingTable, f64),
    ) -> Self {
        let (sin, cos) = libm::sincos(rx.heading);
        Self {
            receiver: world.receiver(&rx.position).for_tx_height(model.tx_height_m),
            several: (!model.propagation.is_default()).then_some((model.propagation, slabs)),
            rx: *rx,
            sin,
            cos,
            rx_heading: rx.heading as f32,
            own_box_slabs: model.box_slabs.len(),
            snr_at_one_metre_db: model.snr_at_one_metre_db as f32,
            rx_gain,
            tx_gain,
            first_heading: first_heading as f32,
        }
    }

    /// Writes itself into the flat layouts.
    pub(super) fn flatten(&self, row: &mut TwinRow, boxes: &mut Vec<TwinBox>) {
        let world = self.receiver.world();
        row.room_min = world.room().min.into();
        row.room_max = world.room().max.into();
        row.rx = self.rx.position.into();
        (row.rx_sin, row.rx_cos, row.rx_heading) = (self.sin, self.cos, self.rx_heading);
        boxes.extend(world.blocks().iter().zip(self.receiver.local()).enumerate().map(|(index, (block, rx_local))| {
            TwinBox {
                center: block.center.into(),
                half: block.half,
                rx_local: *rx_local,
                sin: block.sin,
                cos: block.cos,
                surface: box_number(index, self.own_box_slabs),
                unused: 0,
            }
        }));
    }

    /// Whether a device could be at this point: outside every box.
    pub(crate) fn admits(&self, p: &Point3<f64>) -> bool {
        self.receiver.world().box_around(p).is_none()
    }

    /// All paths from a TX position.
    #[inline(always)]
    pub(crate) fn trace(&self, tx: &Point3<f64>, paths: &mut Paths) {
        self.find(tx, paths);
        self.receive(paths);
    }

    /// The geometry of all paths.
    fn find(&self, tx: &Point3<f64>, paths: &mut Paths) {
        paths.count = 0;
        if (self.rx.position - tx).norm() < 1e-6 {
            return;
        }
        match self.several {
            None => self.receiver.visit(tx, |geometry| self.push(paths, geometry, None)),
            Some((options, slabs)) => {
                paths.response_db.resize(slabs.assignments(), [0.0; MAX_PATHS]);
                self.receiver.world().visit(tx, &self.rx.position, &options, |geometry| {
                    self.push(paths, geometry, Some(slabs));
                });
            }
        }
    }

    /// What the receiver makes of them.
    #[inline(always)]
    fn receive(&self, paths: &mut Paths) {
        let (sin, cos) = (self.sin as f32, self.cos as f32);
        for ((across, x), y) in paths.across.iter_mut().zip(&paths.arrival.x).zip(&paths.arrival.y) {
            *across = cos * y - sin * x;
        }
        for (snr_db, length) in paths.snr_db.iter_mut().zip(&paths.length) {
            *snr_db = self.snr_at_one_metre_db - 2.0 * DB_PER_OCTAVE * log2(*length);
        }
        let (coming, leaving) = (paths.arrival.azimuths(), paths.departure.azimuths());
        let (above, below) = (paths.arrival.elevations(), paths.departure.elevations());
        for i in 0..paths.count {
            let (turned, up) = (coming[i] - self.rx_heading, above[i] as usize);
            paths.snr_db[i] += self.rx_gain.at(turned, up);
            let rise = self.rx_gain.at(turned + SLOPE_STEP, up) - self.rx_gain.at(turned - SLOPE_STEP, up);
            let slope = rise * (0.5 / SLOPE_STEP);
            paths.slope2[i] = slope * slope;
            paths.row[i] = self.tx_gain.row(leaving[i] - self.first_heading, below[i] as usize) as u32;
        }
    }

    /// The path that matters least among those of full [`Paths`]: the weakest in the first assignment, and its level, dB.
    fn weakest(&self, paths: &Paths) -> (usize, f32) {
        let level = |n: usize| {
            let arrival = Vector3::new(paths.arrival.x[n], paths.arrival.y[n], paths.arrival.z[n]);
            self.level_db(&arrival, paths.length[n]) + paths.response_db.first().map_or(0.0, |of| of[n])
        };
        (1..MAX_PATHS).map(|n| (n, level(n))).fold((0, level(0)), |w, n| if n.1 < w.1 { n } else { w })
    }

    /// Raw SNR of a path without reflection loss and TX pattern, dB.
    fn level_db(&self, arrival: &Vector3<f32>, length: f32) -> f32 {
        let turned = atan2(arrival.y, arrival.x) - self.rx_heading;
        let gain = self.rx_gain.at(turned, elevation_steps(arrival.z) as usize);
        self.snr_at_one_metre_db - 2.0 * DB_PER_OCTAVE * log2(length) + gain
    }

    /// What the surfaces of an assignment take from a path, dB.
    fn response_db(&self, geometry: &PathGeometry, slabs: &SlabTables, assignment: usize) -> f32 {
        let slab = |met| Some(slabs.response(assignment, surface_number(met, self.own_box_slabs)));
        let response = self.receiver.world().response(geometry, slab);
        DB_PER_OCTAVE * log2(response.norm_sqr() as f32 + 1e-9)
    }

    #[inline(always)]
    fn push(&self, paths: &mut Paths, geometry: &PathGeometry, several: Option<&SlabTables>) {
        let PathGeometry { departure, arrival, length, .. } = geometry;
        let slot = if paths.count < MAX_PATHS {
            paths.count += 1;
            paths.count - 1
        } else {
            // Full: the new path takes the place of the weakest if it is stronger.
            let (weakest, least) = self.weakest(paths);
            let level = self.level_db(&arrival.cast(), *length as f32);
            if least >= level + several.map_or(0.0, |slabs| self.response_db(geometry, slabs, 0)) {
                return;
            }
            weakest
        };
        if let Some(slabs) = several {
            for assignment in 0..slabs.assignments() {
                paths.response_db[assignment][slot] = self.response_db(geometry, slabs, assignment);
            }
        }
        paths.arrival.set(slot, arrival);
        paths.departure.set(slot, departure);
        paths.length[slot] = *length as f32;
        paths.cos_incidence[slot] = geometry.cos_incidence as f32;
        let (surface, (te, tm)) = match geometry.interactions.first() {
            None => (DIRECT, (1.0, 0.0)),
            Some(met) => {
                let normal = self.receiver.world().normal(met.surface);
                (surface_number(met.surface, self.own_box_slabs), weights(geometry, &normal))
            }
        };
        paths.surface[slot] = surface;
        paths.te[slot] = te as f32;
        paths.tm[slot] = tm as f32;
    }
}

/// The number of a surface among the reflection tables, from 1 on: the room's six in the order of `Face::ALL`, then the
/// default of boxes, then the boxes that have a slab of their own.
#[inline(always)]
pub(crate) fn surface_number(surface: Surface, own_box_slabs: usize) -> u32 {
    match surface {
        Surface::Room(face) => 1 + face as u32,
        Surface::Box { index, .. } => box_number(index as usize, own_box_slabs),
    }
}

#[inline(always)]
fn box_number(index: usize, own_box_slabs: usize) -> u32 {
    if index < own_box_slabs { 8 + index as u32 } else { 7 }
}

/// Weights of R_te and R_tm; the two cases that make up most candidates without the general computation.
#[inline(always)]
fn weights(geometry: &PathGeometry, normal: &Vector3<f64>) -> (f64, f64) {
    // Devices of one height and a vertical wall: the field is orthogonal to the (horizontal) plane of incidence.
    if geometry.departure.z == 0.0 && normal.z == 0.0 {
        return (1.0, 0.0);
    }
    // A horizontal surface: the field lies in the (vertical) plane of incidence.
    if normal.z.abs() == 1.0 {
        return (0.0, 1.0);
    }
    geometry.weights(normal)
}
