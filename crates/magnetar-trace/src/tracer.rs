//! The image method: the direct path and every first-order specular reflection, exactly, in double precision.

use std::f64::consts::PI;

use magnetar_scene::{BoxShape, Face, Room, SPEED_OF_LIGHT, Slab};
use nalgebra::{Point3, Vector3};
use num_complex::Complex64;

use crate::visibility::{Occluder, Occluders};
use crate::{Device, Interaction, Path, PathGeometry, SlabReflector, Surface, TraceError};

/// Faces closer than this (metres) lie in one plane: where faces of touching or overlapping boxes, or of a box behind a
/// wall and the wall, both hold a reflection point, the wave is reflected once.
const SAME_PLANE_M: f64 = 1e-9;

/// A room with boxes, made ready for tracing at one frequency.
///
/// Read-only while tracing: threads share one tracer.
#[derive(Debug, Clone)]
pub struct Tracer {
    room: Room,
    wavelength: f64,
    surfaces: [SlabReflector; 6],
    box_slabs: Vec<SlabReflector>,
    occluders: Occluders,
}

impl Tracer {
    /// Makes a world ready: the room, its six surfaces in the order of `Face::ALL`, its boxes, the carrier in Hz.
    ///
    /// Boxes may touch or overlap one another and the walls.
    ///
    /// # Errors
    /// If a number is not finite, a size or thickness not positive, a conductivity negative.
    pub fn new(
        room: Room,
        surfaces: &[Slab; 6],
        boxes: &[(BoxShape, Slab)],
        frequency_hz: f64,
    ) -> Result<Self, TraceError> {
        let mut tracer = Self {
            room,
            wavelength: 0.0,
            surfaces: surfaces.map(|slab| SlabReflector::new(&slab, frequency_hz)),
            box_slabs: Vec::new(),
            occluders: Occluders::default(),
        };
        tracer.rebuild(room, surfaces, boxes, frequency_hz)?;
        Ok(tracer)
    }

    /// Takes over another world, keeping the memory of this one. After an error the tracer holds the old world.
    ///
    /// # Errors
    /// As for [`Tracer::new`].
    pub fn rebuild(
        &mut self,
        room: Room,
        surfaces: &[Slab; 6],
        boxes: &[(BoxShape, Slab)],
        frequency_hz: f64,
    ) -> Result<(), TraceError> {
        check(surfaces, boxes, frequency_hz)?;
        self.room = room;
        self.wavelength = SPEED_OF_LIGHT / frequency_hz;
        self.surfaces = surfaces.map(|slab| SlabReflector::new(&slab, frequency_hz));
        self.box_slabs.clear();
        self.box_slabs.extend(boxes.iter().map(|(_, slab)| SlabReflector::new(slab, frequency_hz)));
        self.occluders.rebuild(boxes.iter().map(|(shape, _)| *shape));
        Ok(())
    }

    /// The room's bounds.
    #[must_use]
    pub fn room(&self) -> &Room {
        &self.room
    }

    /// Wavelength of the carrier, metres.
    #[must_use]
    pub fn wavelength(&self) -> f64 {
        self.wavelength
    }

    /// The slab behind a surface; `None` for a box that is not in this world.
    #[must_use]
    pub fn reflector(&self, surface: Surface) -> Option<&SlabReflector> {
        match surface {
            Surface::Room(face) => Some(&self.surfaces[face as usize]),
            Surface::Box { index, .. } => self.box_slabs.get(index as usize),
        }
    }

    /// All paths, the direct one first, then by delay.
    ///
    /// # Errors
    /// If TX or RX is outside the room or inside a box, or both are at one point.
    pub fn trace(&self, tx: &Point3<f64>, rx: &Point3<f64>) -> Result<Vec<Path>, TraceError> {
        let mut paths = Vec::with_capacity(16);
        self.trace_into(tx, rx, &mut paths)?;
        paths.sort_by(|a, b| a.geometry.listing_order(&b.geometry));
        Ok(paths)
    }

    /// All paths into the caller's buffer, which is cleared first: the direct one, then the room's surfaces in the
    /// order of `Face::ALL`, then the boxes in theirs. Allocates nothing once the buffer has grown.
    ///
    /// # Errors
    /// As for [`Tracer::trace`].
    pub fn trace_into(&self, tx: &Point3<f64>, rx: &Point3<f64>, paths: &mut Vec<Path>) -> Result<(), TraceError> {
        paths.clear();
        self.visit(tx, rx, |geometry| {
            paths.push(Path { geometry: *geometry, coefficient: self.coefficient(geometry) });
        })
    }

    /// The geometry of all paths, without coefficients, in the order of [`Tracer::trace_into`].
    ///
    /// # Errors
    /// As for [`Tracer::trace`].
    pub fn geometry_into(
        &self,
        tx: &Point3<f64>,
        rx: &Point3<f64>,
        paths: &mut Vec<PathGeometry>,
    ) -> Result<(), TraceError> {
        paths.clear();
        self.visit(tx, rx, |geometry| paths.push(*geometry))
    }

    /// The coefficient of a path of this world with this world's materials.
    #[must_use]
    pub fn coefficient(&self, geometry: &PathGeometry) -> Complex64 {
        let spread = self.wavelength / (4.0 * PI * geometry.length);
        match geometry.interactions.first().and_then(|met| self.reflector(met.surface)) {
            None => Complex64::new(spread, 0.0),
            Some(reflector) => {
                let r = reflector.reflection(geometry.cos_incidence);
                spread * (geometry.te * r.te + geometry.tm * r.tm)
            }
        }
    }

    /// Whether a device may stand here.
    ///
    /// # Errors
    /// If the point is not strictly inside the room or is inside a box.
    pub fn check_device(&self, device: Device, position: &Point3<f64>) -> Result<(), TraceError> {
        if !self.room.contains(position) {
            return Err(TraceError::OutsideRoom { device, position: *position, bounds: self.room.bounds() });
        }
        match self.occluders.containing(position) {
            Some(index) => Err(TraceError::InsideBox { device, position: *position, index }),
            None => Ok(()),
        }
    }

    fn visit(&self, tx: &Point3<f64>, rx: &Point3<f64>, mut emit: impl FnMut(&PathGeometry)) -> Result<(), TraceError> {
        self.check_device(Device::Tx, tx)?;
        self.check_device(Device::Rx, rx)?;
        let step = rx - tx;
        let mut path = PathGeometry::direct(&step);
        if path.length == 0.0 {
            return Err(TraceError::SamePoint(*tx));
        }
        if self.occluders.clear(tx, rx, None) {
            emit(&path);
        }
        for face in Face::ALL {
            let (axis, normal) = (face.axis(), inward_normal(face));
            let plane = if face.is_max() { self.room.max[axis] } else { self.room.min[axis] };
            let (tx_height, rx_height) = ((tx[axis] - plane).abs(), (rx[axis] - plane).abs());
            let mut vertex = tx + step * (tx_height / (tx_height + rx_height));
            vertex[axis] = plane;
            if self.occluders.clear(tx, &vertex, None) && self.occluders.clear(&vertex, rx, None) {
                path.reflect(
                    Interaction::reflection(Surface::Room(face), vertex),
                    &step,
                    &normal,
                    tx_height,
                    rx_height,
                );
                emit(&path);
            }
        }
        self.visit_boxes(tx, rx, &step, &mut path, emit);
        Ok(())
    }

    fn visit_boxes(
        &self,
        tx: &Point3<f64>,
        rx: &Point3<f64>,
        step: &Vector3<f64>,
        path: &mut PathGeometry,
        mut emit: impl FnMut(&PathGeometry),
    ) {
        let boxes = self.occluders.boxes();
        for (index, occluder) in boxes.iter().enumerate() {
            let (tx_local, rx_local) = (occluder.local(tx), occluder.local(rx));
            for axis in 0..3 {
                let (t, r, half) = (tx_local[axis], rx_local[axis], occluder.half[axis]);
                // At most one of two opposite faces has both devices on its outer side.
                let side = if t > half && r > half {
                    1.0
                } else if t < -half && r < -half {
                    -1.0
                } else {
                    continue;
                };
                let (tx_height, rx_height) = (t * side - half, r * side - half);
                let fraction = tx_height / (tx_height + rx_height);
                let inside = (0..3)
                    .filter(|&a| a != axis)
                    .all(|a| (tx_local[a] + fraction * (rx_local[a] - tx_local[a])).abs() <= occluder.half[a]);
                if !inside {
                    continue;
                }
                let mut normal = [0.0; 3];
                normal[axis] = side;
                let normal = Vector3::from(occluder.global_direction(normal));
                let vertex = tx + step * fraction - normal * mirror_height(tx_height, rx_height);
                let within_room = (0..3).all(|a| self.room.min[a] <= vertex[a] && vertex[a] <= self.room.max[a]);
                if within_room
                    && self.occluders.clear(tx, &vertex, Some(index))
                    && self.occluders.clear(&vertex, rx, Some(index))
                    && !self.in_room_surface(&vertex, &normal)
                    && !shadowed_twin(boxes, index, &vertex, &normal)
                {
                    let face = Face::ALL[2 * axis + usize::from(side > 0.0)];
                    let surface = Surface::Box { index: index as u32, face };
                    path.reflect(Interaction::reflection(surface, vertex), step, &normal, tx_height, rx_height);
                    emit(path);
                }
            }
        }
    }

    /// Whether a face with this normal at this point lies in an outer surface of the room: the box then stands behind
    /// that surface, which reflects in its place.
    fn in_room_surface(&self, vertex: &Point3<f64>, normal: &Vector3<f64>) -> bool {
        (0..3).any(|axis| {
            let plane = if normal[axis] > 0.0 { self.room.min[axis] } else { self.room.max[axis] };
            normal[axis].abs() > 1.0 - 1e-12 && (vertex[axis] - plane).abs() <= SAME_PLANE_M
        })
    }
}

/// How far the point that divides the straight TX-RX segment in the ratio of the heights lies above the plane.
#[inline]
fn mirror_height(tx_height: f64, rx_height: f64) -> f64 {
    2.0 * tx_height * rx_height / (tx_height + rx_height)
}

/// Whether an earlier box has a face in the same plane, facing the same way, that holds the same point.
fn shadowed_twin(boxes: &[Occluder], index: usize, vertex: &Point3<f64>, normal: &Vector3<f64>) -> bool {
    boxes[..index].iter().any(|other| {
        let p = other.local(vertex);
        (0..3).any(|axis| {
            let mut outward = [0.0; 3];
            outward[axis] = p[axis].signum();
            (p[axis].abs() - other.half[axis]).abs() <= SAME_PLANE_M
                && (0..3).all(|a| a == axis || p[a].abs() <= other.half[a])
                && Vector3::from(other.global_direction(outward)).dot(normal) > 1.0 - 1e-12
        })
    })
}

fn inward_normal(face: Face) -> Vector3<f64> {
    let mut normal = Vector3::zeros();
    normal[face.axis()] = if face.is_max() { -1.0 } else { 1.0 };
    normal
}

impl PathGeometry {
    /// Becomes the reflection from a plane with the unit normal towards the devices, which stand at the given heights
    /// over it. Memory beyond the one interaction is left as it is: a path of order 1 costs no more than it holds.
    #[inline]
    fn reflect(
        &mut self,
        interaction: Interaction,
        step: &Vector3<f64>,
        normal: &Vector3<f64>,
        tx_height: f64,
        rx_height: f64,
    ) {
        // The image of the RX lies 2 rx_height behind the RX: the path is the straight line to it.
        let unfolded = step - normal * (2.0 * rx_height);
        let length = unfolded.norm();
        let k1 = unfolded / length;
        let cos_incidence = (tx_height + rx_height) / length;
        let k2 = k1 + normal * (2.0 * cos_incidence);
        (self.te, self.tm) = polarisation(&k1, &k2, normal);
        (self.length, self.departure, self.arrival, self.cos_incidence) = (length, k1, -k2, cos_incidence);
        self.interactions.set_single(interaction);
    }
}

/// Weights of the TE and TM coefficients between vertically polarised isotropic antennas.
fn polarisation(k1: &Vector3<f64>, k2: &Vector3<f64>, normal: &Vector3<f64>) -> (f64, f64) {
    let across = k1.cross(normal);
    let square = across.norm_squared();
    // At normal incidence every s orthogonal to k1 gives the same coefficient.
    let s = if square < 1e-12 { any_orthogonal(k1) } else { across / square.sqrt() };
    let (v1, v2) = (vertical(k1), vertical(k2));
    (v2.dot(&s) * s.dot(&v1), v2.dot(&k2.cross(&s)) * k1.cross(&s).dot(&v1))
}

/// The field of a vertically polarised antenna in direction k: the unit vector of growing zenith angle.
fn vertical(k: &Vector3<f64>) -> Vector3<f64> {
    let horizontal = (k.x * k.x + k.y * k.y).sqrt();
    if horizontal == 0.0 {
        return Vector3::new(k.z, 0.0, 0.0);
    }
    let ratio = k.z / horizontal;
    Vector3::new(ratio * k.x, ratio * k.y, -horizontal)
}

fn any_orthogonal(k: &Vector3<f64>) -> Vector3<f64> {
    let helper = if k.z.abs() < 0.9 { Vector3::z() } else { Vector3::x() };
    k.cross(&helper).normalize()
}

fn check(surfaces: &[Slab; 6], boxes: &[(BoxShape, Slab)], frequency_hz: f64) -> Result<(), TraceError> {
    if !(frequency_hz.is_finite() && frequency_hz > 0.0) {
        return Err(TraceError::Frequency(frequency_hz));
    }
    let sound = |slab: &Slab| {
        slab.eps_r.is_finite()
            && slab.sigma.is_finite()
            && slab.sigma >= 0.0
            && slab.thickness.is_finite()
            && slab.thickness > 0.0
    };
    for (face, slab) in Face::ALL.into_iter().zip(surfaces) {
        if !sound(slab) {
            return Err(TraceError::Slab { surface: Surface::Room(face).to_string(), slab: *slab });
        }
    }
    for (index, (shape, slab)) in boxes.iter().enumerate() {
        let finite = shape.center.iter().all(|c| c.is_finite()) && shape.yaw.is_finite();
        if !finite || !shape.size.iter().all(|s| s.is_finite() && *s > 0.0) {
            return Err(TraceError::Shape { index, shape: *shape });
        }
        if !sound(slab) {
            return Err(TraceError::Slab { surface: format!("box{index}"), slab: *slab });
        }
    }
    Ok(())
}
