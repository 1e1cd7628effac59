//! The paths of one candidate position as flat arrays: the image method on the receiver's layout.

use magnetar_scene::{BoxShape, Face, Pose, Room};
use nalgebra::{Point3, Vector3};

use super::flat::{TwinBox, TwinRow};
use super::lanes::{atan2, log2};
use super::tables::{GainTable, HeadingTable, elevation_index};
use crate::Layout;

/// Paths scored for a candidate; beyond, the weakest are left out.
pub(crate) const MAX_PATHS: usize = 12;

/// What a path meets: decides which reflection table it uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Class {
    Direct = 0,
    Wall = 1,
    Ceiling = 2,
    Floor = 3,
    Box = 4,
}

/// `10 log10(x)` from `log2(x)`.
pub(crate) const DB_PER_OCTAVE: f32 = 3.010_3;

/// The paths from one candidate position to the RX, heading and materials still open.
#[derive(Debug, Clone)]
pub(crate) struct Paths {
    pub(crate) count: usize,
    pub(crate) class: [Class; MAX_PATHS],
    /// y component of the arrival direction in the RX's frame.
    pub(crate) across: [f32; MAX_PATHS],
    /// Unfolded length, metres.
    pub(crate) length: [f32; MAX_PATHS],
    /// Raw SNR without reflection loss and TX pattern, dB.
    pub(crate) snr_db: [f32; MAX_PATHS],
    /// Row of the heading table.
    pub(crate) row: [u32; MAX_PATHS],
    pub(crate) cos_incidence: [f32; MAX_PATHS],
    pub(crate) te: [f32; MAX_PATHS],
    pub(crate) tm: [f32; MAX_PATHS],
}

impl Paths {
    pub(crate) fn new() -> Self {
        Self {
            count: 0,
            class: [Class::Direct; MAX_PATHS],
            across: [0.0; MAX_PATHS],
            length: [1.0; MAX_PATHS],
            snr_db: [0.0; MAX_PATHS],
            row: [0; MAX_PATHS],
            cos_incidence: [1.0; MAX_PATHS],
            te: [1.0; MAX_PATHS],
            tm: [0.0; MAX_PATHS],
        }
    }
}

/// One box with its frame made ready.
#[derive(Debug, Clone)]
struct Block {
    center: Point3<f64>,
    sin: f64,
    cos: f64,
    half: Vector3<f64>,
    rx_local: Point3<f64>,
}

impl Block {
    fn new(shape: &BoxShape, rx: &Point3<f64>) -> Self {
        let (sin, cos) = shape.yaw.sin_cos();
        Self { center: shape.center, sin, cos, half: shape.size / 2.0, rx_local: shape.local_from_global(rx) }
    }

    #[inline(always)]
    fn local(&self, p: &Point3<f64>) -> Point3<f64> {
        let d = p - self.center;
        Point3::new(self.cos * d.x + self.sin * d.y, self.cos * d.y - self.sin * d.x, d.z)
    }

    /// Whether the segment between two points of its frame passes through the inside.
    #[inline(always)]
    fn blocks(&self, a: &Point3<f64>, b: &Point3<f64>) -> bool {
        let (mut enter, mut leave) = (0.0f64, 1.0f64);
        for axis in 0..3 {
            let half = self.half[axis];
            let (from, step) = (a[axis], b[axis] - a[axis]);
            if step == 0.0 {
                if from.abs() >= half {
                    return false;
                }
                continue;
            }
            let inverse = 1.0 / step;
            let (t0, t1) = ((-half - from) * inverse, (half - from) * inverse);
            enter = enter.max(t0.min(t1));
            leave = leave.min(t0.max(t1));
        }
        // Touching a face from outside (a reflection point on it) is no blockage.
        enter + 1e-9 < leave
    }
}

/// A layout and an RX made ready for tracing candidates.
#[derive(Debug, Clone)]
pub(crate) struct World<'a> {
    room: Room,
    rx: Pose,
    sin: f64,
    cos: f64,
    rx_heading: f32,
    blocks: Vec<Block>,
    /// Raw SNR at 1 m, dB.
    snr_at_one_metre_db: f32,
    rx_gain: &'a GainTable,
    tx_gain: &'a HeadingTable,
}

impl<'a> World<'a> {
    pub(crate) fn new(
        layout: &Layout,
        rx: &Pose,
        snr_at_one_metre_db: f64,
        rx_gain: &'a GainTable,
        tx_gain: &'a HeadingTable,
    ) -> Self {
        let (sin, cos) = rx.heading.sin_cos();
        Self {
            room: layout.room,
            rx: *rx,
            sin,
            cos,
            rx_heading: rx.heading as f32,
            blocks: layout.boxes.iter().map(|b| Block::new(b, &rx.position)).collect(),
            snr_at_one_metre_db: snr_at_one_metre_db as f32,
            rx_gain,
            tx_gain,
        }
    }

    /// Writes itself into the flat layouts.
    pub(super) fn flatten(&self, row: &mut TwinRow, boxes: &mut Vec<TwinBox>) {
        row.room_min = self.room.min.into();
        row.room_max = self.room.max.into();
        row.rx = self.rx.position.into();
        (row.rx_sin, row.rx_cos, row.rx_heading) = (self.sin, self.cos, self.rx_heading);
        boxes.extend(self.blocks.iter().map(|block| TwinBox {
            center: block.center.into(),
            half: block.half.into(),
            rx_local: block.rx_local.into(),
            sin: block.sin,
            cos: block.cos,
        }));
    }

    /// Whether a device could be at this point: outside every box.
    pub(crate) fn admits(&self, p: &Point3<f64>) -> bool {
        self.blocks.iter().all(|b| {
            let l = b.local(p);
            (0..3).any(|a| l[a].abs() >= b.half[a])
        })
    }

    fn clear(&self, a: &Point3<f64>, b: &Point3<f64>) -> bool {
        self.blocks.iter().all(|block| !block.blocks(&block.local(a), &block.local(b)))
    }

    /// All paths from a TX position.
    pub(crate) fn trace(&self, tx: &Point3<f64>, paths: &mut Paths) {
        paths.count = 0;
        let rx = &self.rx.position;
        let step = rx - tx;
        let distance = step.norm();
        if distance < 1e-6 {
            return;
        }
        if self.clear(tx, rx) {
            self.push(paths, Class::Direct, &(step / distance), &(-step / distance), distance, 1.0, 1.0, 0.0);
        }
        for face in Face::ALL {
            let axis = face.axis();
            let plane = if face.is_max() { self.room.max[axis] } else { self.room.min[axis] };
            let (tx_height, rx_height) = ((tx[axis] - plane).abs(), (rx[axis] - plane).abs());
            if !self.blocks.is_empty() {
                let mut vertex = tx + step * (tx_height / (tx_height + rx_height));
                vertex[axis] = plane;
                if !(self.clear(tx, &vertex) && self.clear(&vertex, rx)) {
                    continue;
                }
            }
            let mut normal = Vector3::zeros();
            normal[axis] = if face.is_max() { -1.0 } else { 1.0 };
            let class = match face {
                Face::ZMin => Class::Floor,
                Face::ZMax => Class::Ceiling,
                _ => Class::Wall,
            };
            self.push_reflection(paths, class, &step, &normal, tx_height, rx_height);
        }
        self.trace_boxes(tx, &step, paths);
    }

    fn trace_boxes(&self, tx: &Point3<f64>, step: &Vector3<f64>, paths: &mut Paths) {
        let rx = &self.rx.position;
        for (index, block) in self.blocks.iter().enumerate() {
            let (t, r) = (block.local(tx), block.rx_local);
            for axis in 0..3 {
                let half = block.half[axis];
                let side = if t[axis] > half && r[axis] > half {
                    1.0
                } else if t[axis] < -half && r[axis] < -half {
                    -1.0
                } else {
                    continue;
                };
                let (tx_height, rx_height) = (t[axis] * side - half, r[axis] * side - half);
                let fraction = tx_height / (tx_height + rx_height);
                let on_face =
                    (0..3).filter(|&a| a != axis).all(|a| (t[a] + fraction * (r[a] - t[a])).abs() <= block.half[a]);
                if !on_face {
                    continue;
                }
                let mut n = Vector3::zeros();
                n[axis] = side;
                let normal = Vector3::new(block.cos * n.x - block.sin * n.y, block.sin * n.x + block.cos * n.y, n.z);
                let dip = 2.0 * tx_height * rx_height / (tx_height + rx_height);
                let vertex = tx + step * fraction - normal * dip;
                let inside = (0..3).all(|a| self.room.min[a] <= vertex[a] && vertex[a] <= self.room.max[a]);
                let others = self.blocks.iter().enumerate().filter(|(n, _)| *n != index);
                let seen = others.into_iter().all(|(_, b)| {
                    let v = b.local(&vertex);
                    !b.blocks(&b.local(tx), &v) && !b.blocks(&v, &b.local(rx))
                });
                if inside && seen {
                    self.push_reflection(paths, Class::Box, step, &normal, tx_height, rx_height);
                }
            }
        }
    }

    /// The image of the RX lies `2 rx_height` behind the plane from it: the path is the straight line there.
    #[inline(always)]
    fn push_reflection(
        &self,
        paths: &mut Paths,
        class: Class,
        step: &Vector3<f64>,
        normal: &Vector3<f64>,
        tx_height: f64,
        rx_height: f64,
    ) {
        let unfolded = step - normal * (2.0 * rx_height);
        let length = unfolded.norm();
        let k1 = unfolded / length;
        let cos_incidence = (tx_height + rx_height) / length;
        let k2 = k1 + normal * (2.0 * cos_incidence);
        let (te, tm) = polarisation(&k1, &k2, normal);
        self.push(paths, class, &k1, &-k2, length, cos_incidence, te, tm);
    }

    #[allow(clippy::too_many_arguments, reason = "one path's numbers, inlined into their arrays")]
    #[inline(always)]
    fn push(
        &self,
        paths: &mut Paths,
        class: Class,
        departure: &Vector3<f64>,
        arrival: &Vector3<f64>,
        length: f64,
        cos_incidence: f64,
        te: f64,
        tm: f64,
    ) {
        let azimuth = atan2(arrival.y as f32, arrival.x as f32);
        let rx_gain = self.rx_gain.at(azimuth - self.rx_heading, elevation_index(arrival.z as f32));
        let snr_db = self.snr_at_one_metre_db - 2.0 * DB_PER_OCTAVE * log2(length as f32) + rx_gain;
        let slot = if paths.count < MAX_PATHS {
            paths.count += 1;
            paths.count - 1
        } else {
            // Full: the new path takes the place of the weakest if it is stronger.
            let weakest = (0..MAX_PATHS).fold(0, |w, n| if paths.snr_db[n] < paths.snr_db[w] { n } else { w });
            if paths.snr_db[weakest] >= snr_db {
                return;
            }
            weakest
        };
        let leaving = atan2(departure.y as f32, departure.x as f32);
        paths.class[slot] = class;
        paths.across[slot] = (self.cos * arrival.y - self.sin * arrival.x) as f32;
        paths.length[slot] = length as f32;
        paths.snr_db[slot] = snr_db;
        paths.row[slot] = self.tx_gain.row(leaving, elevation_index(departure.z as f32)) as u32;
        paths.cos_incidence[slot] = cos_incidence as f32;
        paths.te[slot] = te as f32;
        paths.tm[slot] = tm as f32;
    }
}

/// Weights of R_te and R_tm between vertically polarised isotropic antennas.
#[inline(always)]
fn polarisation(k1: &Vector3<f64>, k2: &Vector3<f64>, normal: &Vector3<f64>) -> (f64, f64) {
    // Devices of one height and a vertical wall: the field is orthogonal to the (horizontal) plane of incidence.
    if k1.z == 0.0 && normal.z == 0.0 {
        return (1.0, 0.0);
    }
    // A horizontal surface: the field lies in the (vertical) plane of incidence.
    if normal.z.abs() == 1.0 {
        return (0.0, 1.0);
    }
    let across = k1.cross(normal);
    let square = across.norm_squared();
    if square < 1e-12 {
        return (1.0, 0.0);
    }
    let s = across / square.sqrt();
    let (v1, v2) = (vertical(k1), vertical(k2));
    (v2.dot(&s) * s.dot(&v1), v2.dot(&k2.cross(&s)) * k1.cross(&s).dot(&v1))
}

fn vertical(k: &Vector3<f64>) -> Vector3<f64> {
    let horizontal = k.x.hypot(k.y).max(1e-12);
    let ratio = k.z / horizontal;
    Vector3::new(ratio * k.x, ratio * k.y, -horizontal)
}
