//! What stands between two points: the one module that speaks parry's types.
//!
//! A segment is blocked when a stretch of it lies in a box, its surface included: no ray slips through the seam of two
//! boxes that touch. Meeting a box in one point does not block, so a reflection point sees the side its face looks to.

use magnetar_scene::BoxShape;
use nalgebra::Point3;
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::math::Vector;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, TraversalAction};

/// Up to this many boxes a plain loop is faster than the tree (measured by `cargo bench --bench tracer`).
const FEW_BOXES: usize = 8;

/// A stretch inside a box up to this long, metres, is one point: above the rounding of positions in any room, far
/// below any size that matters to a radio wave.
const POINT_M: f64 = 1e-9;

/// One box, ready for queries in its own frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Occluder {
    pub(crate) center: Point3<f64>,
    pub(crate) half: [f64; 3],
    pub(crate) sin: f64,
    pub(crate) cos: f64,
}

impl Occluder {
    pub(crate) fn new(shape: &BoxShape) -> Self {
        let (sin, cos) = shape.yaw.sin_cos();
        Self { center: shape.center, half: [shape.size.x / 2.0, shape.size.y / 2.0, shape.size.z / 2.0], sin, cos }
    }

    /// A global point in the box's own frame.
    #[inline]
    pub(crate) fn local(&self, p: &Point3<f64>) -> [f64; 3] {
        let (x, y) = (p.x - self.center.x, p.y - self.center.y);
        [self.cos * x + self.sin * y, self.cos * y - self.sin * x, p.z - self.center.z]
    }

    /// A direction of the box's own frame in the global frame.
    #[inline]
    pub(crate) fn global_direction(&self, d: [f64; 3]) -> [f64; 3] {
        [self.cos * d[0] - self.sin * d[1], self.sin * d[0] + self.cos * d[1], d[2]]
    }

    #[inline]
    fn contains(&self, p: &Point3<f64>) -> bool {
        let local = self.local(p);
        (0..3).all(|a| local[a].abs() < self.half[a])
    }

    /// Whether the segment between two global points has a stretch inside.
    #[inline]
    fn blocks(&self, a: &Point3<f64>, b: &Point3<f64>) -> bool {
        let (p, q) = (self.local(a), self.local(b));
        let (mut enter, mut leave) = (0.0f64, 1.0f64);
        for axis in 0..3 {
            let half = self.half[axis];
            let (start, step) = (p[axis], q[axis] - p[axis]);
            // Both ends beyond the same side: the common case, and no division.
            if (start > half && q[axis] > half) || (start < -half && q[axis] < -half) {
                return false;
            }
            if step != 0.0 {
                let (t0, t1) = ((-half - start) / step, (half - start) / step);
                enter = enter.max(t0.min(t1));
                leave = leave.min(t0.max(t1));
            }
        }
        enter < leave && {
            let inside = (0..3).map(|a| (q[a] - p[a]).powi(2)).sum::<f64>().sqrt() * (leave - enter);
            inside > POINT_M
        }
    }

    fn bounds(&self) -> Aabb {
        let [hx, hy, hz] = self.half;
        let ex = hx * self.cos.abs() + hy * self.sin.abs();
        let ey = hx * self.sin.abs() + hy * self.cos.abs();
        Aabb::from_half_extents(Vector::new(self.center.x, self.center.y, self.center.z), Vector::new(ex, ey, hz))
    }
}

/// All boxes of a scene, with parry's bounding-volume hierarchy where it pays.
#[derive(Debug, Clone, Default)]
pub(crate) struct Occluders {
    boxes: Vec<Occluder>,
    tree: Option<Bvh>,
}

impl Occluders {
    /// Takes over a new set of boxes, keeping the memory of the old one.
    pub(crate) fn rebuild(&mut self, shapes: impl Iterator<Item = BoxShape>) {
        self.boxes.clear();
        self.boxes.extend(shapes.map(|shape| Occluder::new(&shape)));
        self.tree = (self.boxes.len() > FEW_BOXES).then(|| {
            Bvh::from_iter(BvhBuildStrategy::Binned, self.boxes.iter().enumerate().map(|(i, b)| (i, b.bounds())))
        });
    }

    pub(crate) fn boxes(&self) -> &[Occluder] {
        &self.boxes
    }

    /// Whether no box but `except` stands between two points.
    #[inline]
    pub(crate) fn clear(&self, a: &Point3<f64>, b: &Point3<f64>, except: Option<usize>) -> bool {
        match &self.tree {
            None => !self.boxes.iter().enumerate().any(|(i, x)| Some(i) != except && x.blocks(a, b)),
            Some(tree) => {
                let blocked = |i: usize| Some(i) != except && self.boxes[i].blocks(a, b);
                self.search(tree, &Segment::new(a, b), blocked).is_none()
            }
        }
    }

    /// The first box whose interior holds the point.
    #[inline]
    pub(crate) fn containing(&self, p: &Point3<f64>) -> Option<usize> {
        match &self.tree {
            None => self.boxes.iter().position(|x| x.contains(p)),
            Some(tree) => self.search(tree, &Segment::new(p, p), |i| self.boxes[i].contains(p)),
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
