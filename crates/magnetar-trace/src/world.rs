//! The geometry that everybody shares: a room, the boxes in it, and the one traversal that finds paths.

use magnetar_scene::{BoxShape, Face, Room};
use nalgebra::{Point3, Vector3};

use crate::faces::Faces;
use crate::specular::Search;
use crate::visibility::Occluders;
use crate::{Block, Interaction, LeftOut, PathGeometry, Surface, TraceOptions};

/// Faces closer than this (metres) lie in one plane: where faces of touching or overlapping boxes, or of a box behind a
/// wall and the wall, both hold a reflection point, the wave is reflected once.
const SAME_PLANE_M: f64 = 1e-9;

/// Normals whose cosine differs by less than this from 1 point the same way.
const SAME_DIRECTION: f64 = 1e-12;

/// A room and the boxes in it, ready for tracing. Boxes may touch or overlap one another and the walls.
///
/// Read-only while tracing: threads share one world.
#[derive(Debug, Clone)]
pub struct World {
    pub(crate) room: Room,
    pub(crate) occluders: Occluders,
}

/// A fixed RX with what depends on it alone worked out, for tracing many TX positions.
#[derive(Debug, Clone)]
pub struct FixedReceiver<'w> {
    world: &'w World,
    position: Point3<f64>,
    /// The position in each box's own frame.
    local: Vec<[f64; 3]>,
    /// Which faces of boxes may reflect, where all TX stand at one height.
    faces: Option<Faces>,
}

impl World {
    /// Makes a room and its boxes ready.
    #[must_use]
    pub fn new(room: Room, boxes: impl IntoIterator<Item = BoxShape>) -> Self {
        let mut world = Self { room, occluders: Occluders::default() };
        world.rebuild(room, boxes);
        world
    }

    /// Takes over another room and other boxes, keeping the memory of these.
    pub fn rebuild(&mut self, room: Room, boxes: impl IntoIterator<Item = BoxShape>) {
        self.room = room;
        self.occluders.rebuild(boxes.into_iter());
    }

    /// The room's bounds.
    #[must_use]
    pub fn room(&self) -> &Room {
        &self.room
    }

    /// The boxes, each in its own frame, in the order they were given.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        self.occluders.boxes()
    }

    /// The first box whose interior holds the point; none for a point on a box's surface.
    #[must_use]
    #[inline]
    pub fn box_around(&self, point: &Point3<f64>) -> Option<usize> {
        self.occluders.containing(point)
    }

    /// The unit normal of a surface towards the side it reflects to, global frame; zero for a box that is not here.
    #[must_use]
    #[inline]
    pub fn normal(&self, surface: Surface) -> Vector3<f64> {
        match surface {
            Surface::Room(face) => inward_normal(face),
            Surface::Box { index, face } => self
                .blocks()
                .get(index as usize)
                .map_or_else(Vector3::zeros, |b| b.outward_normal(face.axis(), if face.is_max() { 1.0 } else { -1.0 })),
        }
    }

    /// A fixed RX, made ready for many TX positions.
    #[must_use]
    pub fn receiver(&self, position: &Point3<f64>) -> FixedReceiver<'_> {
        let local = self.blocks().iter().map(|block| block.local(position)).collect();
        FixedReceiver { world: self, position: *position, local, faces: None }
    }

    /// Gives every path between two different points to `emit`, and says what was left out. In an opaque world the direct
    /// path comes first, then the first order (the room's surfaces in the order of [`Face::ALL`], then the boxes in
    /// theirs), then longer paths. Allocates nothing.
    ///
    /// Both points must be inside the room and outside every box, else the result means nothing.
    #[inline]
    pub fn visit(
        &self,
        tx: &Point3<f64>,
        rx: &Point3<f64>,
        options: &TraceOptions,
        mut emit: impl FnMut(&PathGeometry),
    ) -> LeftOut {
        if options.transmission || options.max_order == 0 {
            return Search::run(self, tx, rx, *options, 0, emit);
        }
        let all = |visit: &mut dyn FnMut(usize, usize)| {
            (0..self.blocks().len()).for_each(|index| (0..3).for_each(|axis| visit(index, axis)));
        };
        self.visit_first_order(tx, rx, |index| self.blocks()[index].local(rx), all, &mut emit);
        if options.max_order > 1 { Search::run(self, tx, rx, *options, 2, emit) } else { LeftOut::default() }
    }

    #[inline]
    fn visit_first_order(
        &self,
        tx: &Point3<f64>,
        rx: &Point3<f64>,
        rx_local: impl Fn(usize) -> [f64; 3],
        each_face: impl FnOnce(&mut dyn FnMut(usize, usize)),
        mut emit: impl FnMut(&PathGeometry),
    ) {
        let step = rx - tx;
        let mut path = PathGeometry::direct(&step);
        if self.occluders.clear(tx, rx, None) {
            emit(&path);
        }
        for face in Face::ALL {
            let (axis, normal) = (face.axis(), inward_normal(face));
            let plane = self.plane(face);
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
        each_face(&mut |index, axis| {
            let block = &self.blocks()[index];
            let Some(meeting) = block.mirror(axis, &block.local(tx), &rx_local(index)) else { return };
            let Meeting { side, tx_height, rx_height, fraction } = meeting;
            let normal = block.outward_normal(axis, side);
            let vertex = tx + step * fraction - normal * mirror_height(tx_height, rx_height);
            if self.within_room(&vertex)
                && self.occluders.clear(tx, &vertex, Some(index))
                && self.occluders.clear(&vertex, rx, Some(index))
                && self.reflects_itself(index, &vertex, &normal)
            {
                let face = Face::ALL[2 * axis + usize::from(side > 0.0)];
                let surface = Surface::Box { index: index as u32, face };
                path.reflect(Interaction::reflection(surface, vertex), &step, &normal, tx_height, rx_height);
                emit(&path);
            }
        });
    }

    /// Where a surface of the room lies on its axis, metres.
    #[inline]
    pub(crate) fn plane(&self, face: Face) -> f64 {
        let axis = face.axis();
        if face.is_max() { self.room.max[axis] } else { self.room.min[axis] }
    }

    /// Whether a point lies in the room, its surfaces included.
    #[inline]
    pub(crate) fn within_room(&self, point: &Point3<f64>) -> bool {
        (0..3).all(|a| self.room.min[a] <= point[a] && point[a] <= self.room.max[a])
    }

    /// Whether it is this box that reflects at a point of its face: the face lies in no surface of the room (the box then
    /// stands behind that surface, which reflects in its place) and in no face of an earlier box.
    #[inline]
    pub(crate) fn reflects_itself(&self, index: usize, vertex: &Point3<f64>, normal: &Vector3<f64>) -> bool {
        !self.in_room_surface(vertex, normal)
            && !(0..index).any(|i| self.occluders.is_near(i, vertex) && self.blocks()[i].has_face_at(vertex, normal))
    }

    fn in_room_surface(&self, vertex: &Point3<f64>, normal: &Vector3<f64>) -> bool {
        (0..3).any(|axis| {
            let plane = if normal[axis] > 0.0 { self.room.min[axis] } else { self.room.max[axis] };
            normal[axis].abs() > 1.0 - SAME_DIRECTION && (vertex[axis] - plane).abs() <= SAME_PLANE_M
        })
    }
}

impl FixedReceiver<'_> {
    /// The direct path and the first order from a TX to this receiver, in an opaque world; as [`World::visit`].
    #[inline]
    pub fn visit(&self, tx: &Point3<f64>, emit: impl FnMut(&PathGeometry)) {
        let each_face = |visit: &mut dyn FnMut(usize, usize)| match &self.faces {
            Some(faces) if faces.tx_height == tx.z => faces.each_over(tx, visit),
            _ => (0..self.local.len()).for_each(|index| (0..3).for_each(|axis| visit(index, axis))),
        };
        self.world.visit_first_order(tx, &self.position, |index| self.local[index], each_face, emit);
    }

    /// The same, made ready for TX that all stand at one height (metres, global frame): boxes whose faces cannot reflect
    /// to them are left aside. Other heights stay right, only slower.
    #[must_use]
    pub fn for_tx_height(mut self, height: f64) -> Self {
        self.faces = Some(Faces::new(self.world, &self.local, height));
        self
    }

    /// The world it stands in.
    #[must_use]
    pub fn world(&self) -> &World {
        self.world
    }

    /// Its position in the own frame of each box, metres.
    #[must_use]
    pub fn local(&self) -> &[[f64; 3]] {
        &self.local
    }
}

/// Two points over one face of a box: how the wave between them meets its plane.
pub(crate) struct Meeting {
    /// 1 or -1: which of the two faces of the axis.
    side: f64,
    tx_height: f64,
    rx_height: f64,
    /// Part of the way from TX to RX, along the plane, where the reflection point lies.
    fraction: f64,
}

impl Block {
    /// The face of an axis that both points (own frame) stand over and that holds their reflection point.
    #[inline]
    pub(crate) fn mirror(&self, axis: usize, tx: &[f64; 3], rx: &[f64; 3]) -> Option<Meeting> {
        let (t, r, half) = (tx[axis], rx[axis], self.half[axis]);
        // At most one of two opposite faces has both devices on its outer side.
        let side = if t > half && r > half {
            1.0
        } else if t < -half && r < -half {
            -1.0
        } else {
            return None;
        };
        let (tx_height, rx_height) = (t * side - half, r * side - half);
        let fraction = tx_height / (tx_height + rx_height);
        let on_face = (0..3).filter(|&a| a != axis).all(|a| (tx[a] + fraction * (rx[a] - tx[a])).abs() <= self.half[a]);
        on_face.then_some(Meeting { side, tx_height, rx_height, fraction })
    }

    /// Whether a face with this outward normal holds the point.
    fn has_face_at(&self, point: &Point3<f64>, normal: &Vector3<f64>) -> bool {
        let p = self.local(point);
        (0..3).any(|axis| {
            (p[axis].abs() - self.half[axis]).abs() <= SAME_PLANE_M
                && (0..3).all(|a| a == axis || p[a].abs() <= self.half[a])
                && self.outward_normal(axis, p[axis].signum()).dot(normal) > 1.0 - SAME_DIRECTION
        })
    }
}

/// How far the point that divides the straight TX-RX segment in the ratio of the heights lies above the plane.
#[inline]
fn mirror_height(tx_height: f64, rx_height: f64) -> f64 {
    2.0 * tx_height * rx_height / (tx_height + rx_height)
}

#[inline]
pub(crate) fn inward_normal(face: Face) -> Vector3<f64> {
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
        self.length = unfolded.norm();
        self.departure = unfolded / self.length;
        self.cos_incidence = (tx_height + rx_height) / self.length;
        self.arrival = -(self.departure + normal * (2.0 * self.cos_incidence));
        self.interactions.set_single(interaction);
    }
}
