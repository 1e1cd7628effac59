//! One box, ready for queries in its own frame.
//!
//! A segment is blocked when a stretch of it lies in a box, its surface included: no ray slips through the seam of two
//! boxes that touch. Meeting a box in one point does not block, so a reflection point sees the side its face looks to.

use magnetar_scene::{BoxShape, Face};
use nalgebra::{Point3, Vector3};

/// A stretch inside a box up to this long, metres, is one point: above the rounding of positions in any room, far
/// below any size that matters to a radio wave.
const POINT_M: f64 = 1e-9;

/// One box, ready for queries in its own frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Block {
    /// Its centre, metres, global frame.
    pub center: Point3<f64>,
    /// Half its sizes, metres, its own frame.
    pub half: [f64; 3],
    /// Sine of its yaw.
    pub sin: f64,
    /// Cosine of its yaw.
    pub cos: f64,
}

impl Block {
    /// Makes a shape ready.
    #[must_use]
    pub fn new(shape: &BoxShape) -> Self {
        let (sin, cos) = libm::sincos(shape.yaw);
        Self { center: shape.center, half: [shape.size.x / 2.0, shape.size.y / 2.0, shape.size.z / 2.0], sin, cos }
    }

    /// A global point in the box's own frame.
    #[inline]
    #[must_use]
    pub fn local(&self, p: &Point3<f64>) -> [f64; 3] {
        let (x, y) = (p.x - self.center.x, p.y - self.center.y);
        [self.cos * x + self.sin * y, self.cos * y - self.sin * x, p.z - self.center.z]
    }

    /// A direction of the box's own frame in the global frame.
    #[inline]
    pub(crate) fn global_direction(&self, d: [f64; 3]) -> Vector3<f64> {
        Vector3::new(self.cos * d[0] - self.sin * d[1], self.sin * d[0] + self.cos * d[1], d[2])
    }

    /// The outward normal, global frame, of the face on a side (1 or -1) of an axis of its own frame.
    #[inline]
    pub(crate) fn outward_normal(&self, axis: usize, side: f64) -> Vector3<f64> {
        let mut normal = [0.0; 3];
        normal[axis] = side;
        self.global_direction(normal)
    }

    /// Whether a global point lies strictly inside.
    #[inline]
    pub(crate) fn contains(&self, p: &Point3<f64>) -> bool {
        let local = self.local(p);
        (0..3).all(|a| local[a].abs() < self.half[a])
    }

    /// Whether the segment between two global points has a stretch inside.
    #[inline]
    pub(crate) fn blocks(&self, a: &Point3<f64>, b: &Point3<f64>) -> bool {
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

    /// How the segment between two global points passes the box; beside it exactly where it is not blocked.
    pub(crate) fn passage(&self, a: &Point3<f64>, b: &Point3<f64>) -> Passage {
        if !self.blocks(a, b) {
            return Passage::Beside;
        }
        let (p, q) = (self.local(a), self.local(b));
        let (mut enter, mut leave) = ((f64::NEG_INFINITY, 0), (f64::INFINITY, 0));
        for axis in (0..3).filter(|&axis| q[axis] != p[axis]) {
            let at = |side: f64| (side * self.half[axis] - p[axis]) / (q[axis] - p[axis]);
            let (t0, t1) = (at(-1.0), at(1.0));
            enter = if t0.min(t1) > enter.0 { (t0.min(t1), axis) } else { enter };
            leave = if t0.max(t1) < leave.0 { (t0.max(t1), axis) } else { leave };
        }
        if enter.0 <= 0.0 || leave.0 >= 1.0 {
            return Passage::Opaque;
        }
        if enter.1 != leave.1 {
            return Passage::OtherFaces;
        }
        let face = Face::ALL[2 * enter.1 + usize::from(q[enter.1] < p[enter.1])];
        Passage::Through { face, enter: enter.0, leave: leave.0 }
    }
}

/// How a segment passes a box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Passage {
    /// Outside, or touching it in a point.
    Beside,
    /// In at a face and out at the opposite one, at these parts of the way.
    Through { face: Face, enter: f64, leave: f64 },
    /// In at a face and out at another that is not the opposite one.
    OtherFaces,
    /// It begins or ends in the box.
    Opaque,
}
