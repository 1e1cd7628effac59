//! Paths of several interactions by the image method: a search over sequences of surfaces, from the TX on.
//!
//! The image of the TX in a sequence of planes sees the RX along the unfolded path. A sequence is followed only where its
//! last image can light the next surface: the image stands over that face, and, after a face of a box, the box lies in the
//! beam that this face lets through. Sequences of the room's surfaces alone are not searched: `lattice.rs` has them.

use magnetar_scene::Face;
use nalgebra::{Point3, Vector3};

use crate::beam::Beam;
use crate::block::Passage;
use crate::lattice::{self, FoldedPath};
use crate::world::inward_normal;
use crate::{
    Block, Interaction, InteractionKind, LeftOut, MAX_INTERACTIONS, MAX_ORDER, PathGeometry, Surface, TraceOptions,
    World,
};

/// How far beyond an edge, metres (and per metre of distance), a point surely misses: far above rounding.
const SLACK_M: f64 = 1e-6;

/// A surface in a sequence.
#[derive(Clone, Copy)]
struct Mirror {
    surface: Surface,
    /// Unit normal towards the side it reflects to.
    normal: Vector3<f64>,
    /// `normal . p` of its points, metres.
    offset: f64,
}

impl Mirror {
    const NONE: Self = Self { surface: Surface::Room(Face::XMin), normal: Vector3::new(0.0, 0.0, 0.0), offset: 0.0 };

    fn room(world: &World, face: Face) -> Self {
        let normal = inward_normal(face);
        Self { surface: Surface::Room(face), normal, offset: world.plane(face) * normal[face.axis()] }
    }

    fn of_block(block: &Block, index: usize, axis: usize, side: f64) -> Self {
        let normal = block.outward_normal(axis, side);
        let face = Face::ALL[2 * axis + usize::from(side > 0.0)];
        let offset = normal.dot(&block.center.coords) + block.half[axis];
        Self { surface: Surface::Box { index: index as u32, face }, normal, offset }
    }

    /// How far a point stands over the plane, metres.
    #[inline]
    fn height(&self, point: &Point3<f64>) -> f64 {
        self.normal.dot(&point.coords) - self.offset
    }

    #[inline]
    fn image(&self, point: &Point3<f64>) -> Point3<f64> {
        point - self.normal * (2.0 * self.height(point))
    }

    /// The box it belongs to.
    #[inline]
    fn block(&self) -> Option<usize> {
        match self.surface {
            Surface::Room(_) => None,
            Surface::Box { index, .. } => Some(index as usize),
        }
    }
}

/// One search between two points.
pub(crate) struct Search<'w, E> {
    world: &'w World,
    rx: Point3<f64>,
    /// The room's surfaces, in the order of `Face::ALL`, and the images of the RX in them.
    room: [Mirror; 6],
    rx_images: [Point3<f64>; 6],
    options: TraceOptions,
    /// Sequences shorter than this are found elsewhere.
    min_order: usize,
    emit: E,
    /// The sequence followed, as many as `images` has beyond the TX.
    mirrors: [Mirror; MAX_ORDER],
    /// The TX and its images in the sequence.
    images: [Point3<f64>; MAX_ORDER + 1],
    path: PathGeometry,
    left_out: LeftOut,
}

impl<'w, E: FnMut(&PathGeometry)> Search<'w, E> {
    /// Gives all paths of at least `min_order` reflections to `emit`: those off the room's surfaces alone first, by their
    /// order, then those by boxes, shorter sequences before those they begin.
    pub(crate) fn run(
        world: &'w World,
        tx: &Point3<f64>,
        rx: &Point3<f64>,
        options: TraceOptions,
        min_order: usize,
        emit: E,
    ) -> LeftOut {
        let room = Face::ALL.map(|face| Mirror::room(world, face));
        let mut search = Self {
            world,
            rx: *rx,
            room,
            rx_images: room.map(|mirror| mirror.image(rx)),
            options,
            min_order,
            emit,
            mirrors: [Mirror::NONE; MAX_ORDER],
            images: [*tx; MAX_ORDER + 1],
            path: PathGeometry::direct(&(rx - tx)),
            left_out: LeftOut::default(),
        };
        for order in min_order..=options.max_order {
            lattice::each_path(&world.room, tx, rx, order, |folded| search.fold(order, folded));
        }
        if options.max_order > 0 && !world.blocks().is_empty() {
            search.extend(0, None, false);
        }
        search.left_out
    }

    /// Emits a path off the room's surfaces, if every leg of it is free.
    fn fold(&mut self, order: usize, folded: &FoldedPath) {
        self.path.interactions.clear();
        let mut from = self.images[0];
        for (face, vertex) in folded.faces.iter().zip(&folded.vertices).take(order) {
            if !self.free_leg(&from, vertex, [None; 2]) || !self.meet(Surface::Room(*face), vertex) {
                return;
            }
            from = *vertex;
        }
        let rx = self.rx;
        if self.free_leg(&from, &rx, [None; 2]) {
            let length = folded.first.norm();
            let first = folded.first / length;
            // The last leg's direction is the first's but for signs.
            let last = first.zip_map(&folded.last, |unit, of| {
                if unit.is_sign_negative() == of.is_sign_negative() { unit } else { -unit }
            });
            self.finish(length, first, last);
            (self.emit)(&self.path);
        }
    }

    /// Adds every surface that the last image of a sequence of this order can light; `boxed` says whether a box is among
    /// the sequence.
    fn extend(&mut self, order: usize, beam: Option<&Beam>, boxed: bool) {
        let world = self.world;
        let image = self.images[order];
        let last = order.checked_sub(1).map(|n| self.mirrors[n].surface);
        // A sequence that ends without a box is no business of this search.
        if boxed || order + 1 < self.options.max_order {
            for face in Face::ALL {
                let mirror = self.room[face as usize];
                if last != Some(mirror.surface) && mirror.height(&image) > 0.0 {
                    self.follow(order, mirror, beam, boxed);
                }
            }
        }
        let after = order.checked_sub(1).and_then(|n| self.mirrors[n].block());
        let mut light = |index: usize| {
            // A convex box sends no wave from one of its faces to another.
            if after != Some(index) {
                self.light_box(order, index, &image);
            }
        };
        match beam {
            Some(beam) => world.occluders.each_in_beam(beam, light),
            None => (0..world.blocks().len()).for_each(&mut light),
        }
    }

    /// Adds the faces of a box that look towards the image.
    #[inline]
    fn light_box(&mut self, order: usize, index: usize, image: &Point3<f64>) {
        let block = &self.world.blocks()[index];
        let source = block.local(image);
        let leaf = order + 1 == self.options.max_order;
        let target = if leaf { block.local(&self.rx) } else { source };
        for axis in 0..3 {
            // The last surface of a sequence must hold the point where the image is mirrored to the RX.
            if leaf && block.mirror(axis, &source, &target).is_none() {
                continue;
            }
            let side = if source[axis] > block.half[axis] {
                1.0
            } else if source[axis] < -block.half[axis] {
                -1.0
            } else {
                continue;
            };
            let mirror = Mirror::of_block(block, index, axis, side);
            let beam = (!leaf && self.world.occluders.prunes_beams())
                .then(|| Beam::through_face(&mirror.image(image), block, axis, side));
            self.follow(order, mirror, beam.as_ref(), true);
        }
    }

    /// Takes the surface into the sequence: looks for its path, then for longer sequences.
    #[inline]
    fn follow(&mut self, order: usize, mirror: Mirror, beam: Option<&Beam>, boxed: bool) {
        self.mirrors[order] = mirror;
        self.images[order + 1] = mirror.image(&self.images[order]);
        if boxed && order + 1 >= self.min_order && mirror.height(&self.rx) > 0.0 && self.may_hold(order) {
            self.solve(order + 1);
        }
        if order + 1 < self.options.max_order {
            let reflected = match (mirror.surface, beam) {
                (Surface::Room(_), Some(beam)) => Some(beam.mirrored(|p| mirror.image(p))),
                (_, beam) => beam.copied(),
            };
            self.extend(order + 1, reflected.as_ref(), boxed);
        }
    }

    /// False only if the sequence up to this place surely holds no path: where it ends with a box and then surfaces of the
    /// room, the RX, mirrored back in those, must see the image of that box through its face.
    #[inline]
    fn may_hold(&self, last: usize) -> bool {
        let (mut rx, mut at) = (self.rx, last);
        let (axis, block) = loop {
            match self.mirrors[at].surface {
                Surface::Box { index, face } => break (face.axis(), &self.world.blocks()[index as usize]),
                Surface::Room(face) if at == last => rx = self.rx_images[face as usize],
                Surface::Room(_) => rx = self.mirrors[at].image(&rx),
            }
            // A sequence has a box where this is asked.
            let Some(before) = at.checked_sub(1) else { return true };
            at = before;
        };
        let (source, target) = (block.local(&self.images[at]), block.local(&rx));
        let (half, side) = (block.half[axis], source[axis].signum());
        let (over, beyond) = (source[axis] * side - half, target[axis] * side - half);
        if beyond < -SLACK_M {
            return false;
        }
        // Points that near to the plane leave it open where they meet it.
        over + beyond < SLACK_M || {
            let fraction = over / (over + beyond);
            (0..3).filter(|&a| a != axis).all(|a| {
                let met = source[a] + fraction * (target[a] - source[a]);
                met.abs() <= block.half[a] + SLACK_M * (1.0 + target[a].abs() + source[a].abs())
            })
        }
    }

    /// Goes back from the RX to the images and emits the path, if every point of it lies on its surface and every leg is
    /// free.
    fn solve(&mut self, order: usize) {
        let mut vertices = [Point3::origin(); MAX_ORDER];
        let mut point = self.rx;
        for n in (0..order).rev() {
            let (mirror, image) = (&self.mirrors[n], &self.images[n + 1]);
            let (over, under) = (mirror.height(&point), mirror.height(image));
            if over <= 0.0 {
                return;
            }
            let mut vertex = point + (image - point) * (over / (over - under));
            if let Surface::Room(face) = mirror.surface {
                vertex[face.axis()] = self.world.plane(face);
            }
            if !self.world.within_room(&vertex) || !self.on_face(mirror, &vertex) {
                return;
            }
            vertices[n] = vertex;
            point = vertex;
        }
        if self.assemble(order, &vertices) {
            (self.emit)(&self.path);
        }
    }

    #[inline]
    fn on_face(&self, mirror: &Mirror, vertex: &Point3<f64>) -> bool {
        match mirror.surface {
            Surface::Room(_) => true,
            Surface::Box { index, face } => {
                let block = &self.world.blocks()[index as usize];
                let local = block.local(vertex);
                (0..3).all(|a| a == face.axis() || local[a].abs() <= block.half[a])
            }
        }
    }

    /// Makes the path of the vertices, with what its legs cross; false if one of them is not free.
    fn assemble(&mut self, order: usize, vertices: &[Point3<f64>; MAX_ORDER]) -> bool {
        self.path.interactions.clear();
        let mut from = self.images[0];
        for n in 0..=order {
            let to = vertices[..order].get(n).copied().unwrap_or(self.rx);
            // The boxes at the ends of a leg are not in its way: it leaves and meets them on the outer side.
            let ends = [n.checked_sub(1), (n < order).then_some(n)].map(|at| self.mirrors[at?].block());
            if !self.free_leg(&from, &to, ends) {
                return false;
            }
            if n < order {
                let mirror = &self.mirrors[n];
                if let Some(index) = mirror.block()
                    && !self.world.reflects_itself(index, &to, &mirror.normal)
                {
                    return false;
                }
                if !self.meet(mirror.surface, &to) {
                    return false;
                }
            }
            from = to;
        }
        let unfolded = self.rx - self.images[order];
        let length = unfolded.norm();
        let last = unfolded / length;
        // The last direction mirrored back through the sequence is the first.
        let mirrors = self.mirrors[..order].iter().rev();
        let first = mirrors.fold(last, |k, mirror| k - mirror.normal * (2.0 * k.dot(&mirror.normal)));
        self.finish(length, first, last);
        true
    }

    /// Adds a reflection to the path; false if there is no room for it.
    #[inline]
    fn meet(&mut self, surface: Surface, vertex: &Point3<f64>) -> bool {
        let fits = self.path.interactions.push(Interaction::reflection(surface, *vertex));
        self.left_out.too_long += usize::from(!fits);
        fits
    }

    /// Completes the path: its length, metres, and the unit directions of its first and its last leg.
    #[inline]
    fn finish(&mut self, length: f64, first: Vector3<f64>, last: Vector3<f64>) {
        (self.path.length, self.path.departure, self.path.arrival) = (length, first, -last);
        let met = self.path.interactions.first().map(|met| self.world.normal(met.surface));
        self.path.cos_incidence = met.map_or(1.0, |normal| first.dot(&normal).abs());
    }

    #[inline]
    fn free_leg(&mut self, from: &Point3<f64>, to: &Point3<f64>, ends: [Option<usize>; 2]) -> bool {
        if self.options.transmission {
            self.cross(from, to, ends)
        } else {
            self.world.occluders.clear_but(from, to, ends)
        }
    }

    /// Adds what a leg crosses to the path; false if something on it lets no wave through.
    #[inline(never)]
    fn cross(&mut self, from: &Point3<f64>, to: &Point3<f64>, ends: [Option<usize>; 2]) -> bool {
        // The crossed boxes by where their middles are crossed: of boxes that overlap, the one entered first may be left last,
        // and the way back must list the same ones in reverse.
        let mut crossed = [(0.0, Interaction::reflection(Surface::Room(Face::XMin), *from)); MAX_INTERACTIONS];
        let (mut count, mut other_faces, mut opaque) = (0, false, false);
        self.world.occluders.each_on_segment(from, to, |index| {
            if ends.contains(&Some(index)) {
                return;
            }
            match self.world.blocks()[index].passage(from, to) {
                Passage::Beside => {}
                Passage::Opaque => opaque = true,
                Passage::OtherFaces => other_faces = true,
                Passage::Through { face, enter, leave } => {
                    let surface = Surface::Box { index: index as u32, face };
                    let middle = f64::midpoint(enter, leave);
                    let vertex = from + (to - from) * middle;
                    if let Some(slot) = crossed.get_mut(count) {
                        *slot = (middle, Interaction { surface, kind: InteractionKind::Transmission, vertex });
                    }
                    count += 1;
                }
            }
        });
        if opaque || other_faces {
            self.left_out.other_faces += usize::from(!opaque);
            return false;
        }
        let Some(crossed) = crossed.get_mut(..count) else {
            self.left_out.too_long += 1;
            return false;
        };
        crossed.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
        let fits = crossed.iter().all(|(_, crossing)| self.path.interactions.push(*crossing));
        self.left_out.too_long += usize::from(!fits);
        fits
    }
}
