//! Reflections off the room's own surfaces alone: the lattice of images of a box room.
//!
//! Every image of the RX in the room's planes belongs to one path. The straight line from the TX to the image, folded back
//! at each plane it crosses, is that path: the order of the crossings along the line is the order of the reflections, so
//! none of the other orders of the same planes has to be tried.

use magnetar_scene::{Face, Room};
use nalgebra::{Point3, Vector3};

use crate::MAX_ORDER;

/// A path off the room's surfaces, whatever stands in the room.
pub(crate) struct FoldedPath {
    /// The surfaces, from TX to RX; as many as the path's order.
    pub(crate) faces: [Face; MAX_ORDER],
    /// Where it meets them, metres.
    pub(crate) vertices: [Point3<f64>; MAX_ORDER],
    /// From the TX to the image of the RX, metres.
    pub(crate) first: Vector3<f64>,
    /// The same, folded: along the last leg.
    pub(crate) last: Vector3<f64>,
}

/// Gives the path of every image of this order to `visit`.
pub(crate) fn each_path(
    room: &Room,
    tx: &Point3<f64>,
    rx: &Point3<f64>,
    order: usize,
    mut visit: impl FnMut(&FoldedPath),
) {
    for x in 0..=order {
        for y in 0..=order - x {
            let counts = [x, y, order - x - y];
            for sides in 0..8usize {
                // An axis without a crossing has no side.
                if (0..3).all(|axis| counts[axis] > 0 || sides >> axis & 1 == 0) {
                    visit(&fold(room, tx, rx, counts, [0, 1, 2].map(|axis| sides >> axis & 1 == 1)));
                }
            }
        }
    }
}

/// The path that crosses so many planes of each axis, that of the upper bound first where `upward` says so; the planes of
/// an axis take turns.
#[inline]
fn fold(room: &Room, tx: &Point3<f64>, rx: &Point3<f64>, counts: [usize; 3], upward: [bool; 3]) -> FoldedPath {
    let mut first = rx - tx;
    // Where on the line, as a part of its length, the next plane of each axis is crossed, and how far apart they are.
    let (mut next, mut apart) = ([f64::INFINITY; 3], [0.0; 3]);
    for axis in 0..3 {
        if counts[axis] > 0 {
            let width = room.max[axis] - room.min[axis];
            let (from_tx, from_rx) = if upward[axis] {
                (room.max[axis] - tx[axis], room.max[axis] - rx[axis])
            } else {
                (tx[axis] - room.min[axis], rx[axis] - room.min[axis])
            };
            let between = (counts[axis] - 1) as f64 * width;
            // An even number of reflections leaves the RX as it is, an odd one mirrors it.
            let last = if counts[axis].is_multiple_of(2) { width - from_rx } else { from_rx };
            let step = from_tx + between + last;
            first[axis] = if upward[axis] { step } else { -step };
            (next[axis], apart[axis]) = (from_tx / step, width / step);
        }
    }
    let order: usize = counts.iter().sum();
    let (faces, vertices) = ([Face::XMin; MAX_ORDER], [*tx; MAX_ORDER]);
    let mut path = FoldedPath { faces, vertices, first, last: first };
    let (mut left, mut at, mut travelled) = (counts, *tx, 0.0);
    for n in 0..order {
        // The first axis where two planes are met at once.
        let met = if next[0] <= next[1] && next[0] <= next[2] { 0 } else { 1 + usize::from(next[2] < next[1]) };
        at += path.last * (next[met] - travelled);
        travelled = next[met];
        let at_max = path.last[met] > 0.0;
        at[met] = if at_max { room.max[met] } else { room.min[met] };
        (path.faces[n], path.vertices[n]) = (Face::ALL[2 * met + usize::from(at_max)], at);
        path.last[met] = -path.last[met];
        left[met] -= 1;
        next[met] = if left[met] > 0 { next[met] + apart[met] } else { f64::INFINITY };
    }
    path
}
