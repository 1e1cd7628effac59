//! What stands between two points: the one module that speaks parry's types.

use magnetar_scene::BoxShape;
use nalgebra::{Point3, Vector3};
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::math::Vector;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, TraversalAction};

use crate::Block;
use crate::beam::Beam;
use crate::flat_bounds::FlatBounds;

/// Up to this many boxes a plain loop is faster than the tree (measured by `cargo bench --bench tracer`).
const FEW_BOXES: usize = 8;

/// Up to this many the boxes' bounds side by side are faster than the tree.
const FLAT_BOXES: usize = 1024;

/// All boxes of a scene, with parry's bounding-volume hierarchy where it pays.
#[derive(Debug, Clone, Default)]
pub(crate) struct Occluders {
    boxes: Vec<Block>,
    /// Lower and upper corner of each box along the global axes, a little beyond it, metres.
    corners: Vec<[Point3<f64>; 2]>,
    /// The same, side by side.
    flat: FlatBounds,
    tree: Option<Bvh>,
}

impl Occluders {
    /// Takes over a new set of boxes, keeping the memory of the old one.
    pub(crate) fn rebuild(&mut self, shapes: impl Iterator<Item = BoxShape>) {
        self.boxes.clear();
        self.boxes.extend(shapes.map(|shape| Block::new(&shape)));
        self.corners.clear();
        self.corners.extend(self.boxes.iter().map(corners));
        self.flat.rebuild(self.corners.iter());
        self.tree = (self.boxes.len() > FEW_BOXES).then(|| {
            Bvh::from_iter(BvhBuildStrategy::Binned, self.boxes.iter().enumerate().map(|(i, b)| (i, bounds(b))))
        });
    }

    /// Whether beams narrow down what [`Self::each_in_beam`] visits.
    #[inline]
    pub(crate) fn prunes_beams(&self) -> bool {
        self.tree.is_some()
    }

    pub(crate) fn boxes(&self) -> &[Block] {
        &self.boxes
    }

    /// Whether no box but `except` stands between two points.
    #[inline]
    pub(crate) fn clear(&self, a: &Point3<f64>, b: &Point3<f64>, except: Option<usize>) -> bool {
        if self.tree.is_none() {
            return !(0..self.boxes.len()).any(|i| Some(i) != except && self.stands_between(i, a, b));
        }
        self.first_on_segment(a, b, |i| Some(i) != except && self.boxes[i].blocks(a, b)).is_none()
    }

    /// A box that the segment may meet and of which `hit` is true.
    #[inline]
    fn first_on_segment(&self, a: &Point3<f64>, b: &Point3<f64>, hit: impl Fn(usize) -> bool) -> Option<usize> {
        match &self.tree {
            Some(tree) if self.boxes.len() > FLAT_BOXES => self.search(tree, &Segment::new(a, b), hit),
            _ => self.flat.find(a, b, hit),
        }
    }

    /// Whether a point lies within the bounds of a box, or next to them.
    #[inline]
    pub(crate) fn is_near(&self, index: usize, point: &Point3<f64>) -> bool {
        const NEAR_M: f64 = 1e-6;
        let [low, high] = &self.corners[index];
        (0..3).all(|axis| low[axis] - NEAR_M <= point[axis] && point[axis] <= high[axis] + NEAR_M)
    }

    /// Whether no box but these two stands between two points.
    #[inline]
    pub(crate) fn clear_but(&self, a: &Point3<f64>, b: &Point3<f64>, except: [Option<usize>; 2]) -> bool {
        let blocked = |i: usize| !except.contains(&Some(i)) && self.stands_between(i, a, b);
        match &self.tree {
            None => !(0..self.boxes.len()).any(blocked),
            Some(_) => self.first_on_segment(a, b, blocked).is_none(),
        }
    }

    /// Whether a box stands between two points; most are dismissed without turning the points into its frame.
    #[inline]
    fn stands_between(&self, index: usize, a: &Point3<f64>, b: &Point3<f64>) -> bool {
        let [low, high] = &self.corners[index];
        let beside = |axis: usize| {
            (a[axis] < low[axis] && b[axis] < low[axis]) || (a[axis] > high[axis] && b[axis] > high[axis])
        };
        !(beside(0) || beside(1) || beside(2)) && self.boxes[index].blocks(a, b)
    }

    /// Gives every box to `visit` that the segment may meet.
    pub(crate) fn each_on_segment(&self, a: &Point3<f64>, b: &Point3<f64>, mut visit: impl FnMut(usize)) {
        match &self.tree {
            None => (0..self.boxes.len()).for_each(visit),
            Some(tree) => {
                let segment = Segment::new(a, b);
                each_leaf(tree, |mins, maxs| segment.may_meet(mins, maxs), &mut visit);
            }
        }
    }

    /// Gives every box to `visit` that the beam may meet.
    pub(crate) fn each_in_beam(&self, beam: &Beam, mut visit: impl FnMut(usize)) {
        match &self.tree {
            None => (0..self.boxes.len()).for_each(visit),
            Some(tree) => {
                let planes = beam.planes();
                let vector = |v: Vector| Vector3::new(v.x, v.y, v.z);
                let meets = |mins: Vector, maxs: Vector| {
                    planes.may_hold(&vector((mins + maxs) * 0.5), &vector((maxs - mins) * 0.5))
                };
                each_leaf(tree, meets, &mut visit);
            }
        }
    }

    /// The first box whose interior holds the point.
    #[inline]
    pub(crate) fn containing(&self, p: &Point3<f64>) -> Option<usize> {
        match &self.tree {
            None => self.boxes.iter().position(|x| x.contains(p)),
            Some(_) => self.first_on_segment(p, p, |i| self.boxes[i].contains(p)),
        }
    }

    fn search(&self, tree: &Bvh, segment: &Segment, hit: impl Fn(usize) -> bool) -> Option<usize> {
        let mut found = None;
        tree.traverse(|node| {
            if !segment.may_meet(node.mins(), node.maxs()) {
                return TraversalAction::Prune;
            }
            match node.leaf_data() {
                Some(leaf) if hit(leaf as usize) => {
                    found = Some(leaf as usize);
                    TraversalAction::EarlyExit
                }
                _ => TraversalAction::Continue,
            }
        });
        found
    }
}

fn each_leaf(tree: &Bvh, meets: impl Fn(Vector, Vector) -> bool, visit: &mut impl FnMut(usize)) {
    tree.traverse(|node| {
        if !meets(node.mins(), node.maxs()) {
            return TraversalAction::Prune;
        }
        if let Some(leaf) = node.leaf_data() {
            visit(leaf as usize);
        }
        TraversalAction::Continue
    });
}

/// Half the size of a box along the global axes, metres.
fn extent(block: &Block) -> Vector3<f64> {
    let [hx, hy, hz] = block.half;
    let (sin, cos) = (block.sin.abs(), block.cos.abs());
    Vector3::new(hx * cos + hy * sin, hx * sin + hy * cos, hz)
}

fn bounds(block: &Block) -> Aabb {
    let (center, half) = (block.center, extent(block));
    Aabb::from_half_extents(Vector::new(center.x, center.y, center.z), Vector::new(half.x, half.y, half.z))
}

/// The corners of a box's bounds, beyond it by more than rounding takes away.
pub(crate) fn corners(block: &Block) -> [Point3<f64>; 2] {
    let half = extent(block).add_scalar(1e-9 * (1.0 + block.center.coords.amax()));
    [block.center - half, block.center + half]
}

/// A segment with what a bounding-box test needs, computed once.
struct Segment {
    start: Vector,
    inverse: Vector,
    low: Vector,
    high: Vector,
}

impl Segment {
    fn new(a: &Point3<f64>, b: &Point3<f64>) -> Self {
        let (start, end) = (Vector::new(a.x, a.y, a.z), Vector::new(b.x, b.y, b.z));
        // A zero component gives an infinite inverse; `may_meet` then relies on the overlap test alone.
        Self { start, inverse: (end - start).recip(), low: start.min(end), high: start.max(end) }
    }

    /// False only if the segment surely misses the bounds.
    #[inline]
    fn may_meet(&self, mins: Vector, maxs: Vector) -> bool {
        if self.high.cmplt(mins).any() || self.low.cmpgt(maxs).any() {
            return false;
        }
        let (t0, t1) = ((mins - self.start) * self.inverse, (maxs - self.start) * self.inverse);
        let (mut enter, mut leave) = (0.0f64, 1.0f64);
        for axis in 0..3 {
            // f64::min and max drop the NaN of 0 * infinity: such an axis does not narrow the interval.
            let (near, far) = (t0[axis].min(t1[axis]), t0[axis].max(t1[axis]));
            if near.is_finite() && far.is_finite() {
                enter = enter.max(near);
                leave = leave.min(far);
            }
        }
        enter <= leave + 1e-12
    }
}
