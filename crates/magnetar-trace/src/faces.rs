//! Which faces of boxes may reflect to a fixed RX, for TX that all stand at one height.
//!
//! Seen from the RX's image behind a face, the face is a window: a TX that it reflects from stands in the window's beam. In
//! the plane of the TX that is a piece of the plane whose bounds are worked out once.

use nalgebra::Point3;

use crate::flat_bounds::FlatBounds;
use crate::{Block, World};

/// The faces, with where in the plane a TX must stand for each to reflect.
#[derive(Debug, Clone)]
pub(crate) struct Faces {
    /// Of every TX, metres.
    pub(crate) tx_height: f64,
    /// Box and axis of the box's own frame, in this order.
    faces: Vec<(usize, usize)>,
    regions: FlatBounds,
}

impl Faces {
    /// Of all boxes that may reflect; `rx_local` is the RX in each box's own frame.
    pub(crate) fn new(world: &World, rx_local: &[[f64; 3]], tx_height: f64) -> Self {
        let room = world.room();
        // Further than from any point of the room to any other.
        let far = 2.0 * (room.max - room.min).norm() + 1.0;
        let (mut faces, mut corners) = (Vec::new(), Vec::new());
        for (index, (block, rx)) in world.blocks().iter().zip(rx_local).enumerate() {
            for axis in 0..3 {
                let tx_z = tx_height - block.center.z;
                let window = if axis == 2 { above(block, rx, tx_z) } else { beside(block, axis, rx, tx_z, far) };
                if let Some(points) = window {
                    faces.push((index, axis));
                    corners.push(bounds(block, points, tx_height));
                }
            }
        }
        let mut regions = FlatBounds::default();
        regions.rebuild(corners.iter());
        Self { tx_height, faces, regions }
    }

    /// Gives box and axis of each face to `visit` that may reflect from a TX.
    #[inline]
    pub(crate) fn each_over(&self, tx: &Point3<f64>, visit: &mut dyn FnMut(usize, usize)) {
        self.regions.find(tx, tx, |face| {
            let (index, axis) = self.faces[face];
            visit(index, axis);
            false
        });
    }
}

/// The corners, in the box's own frame, of where a TX must stand for the top or the bottom to reflect: the face as seen
/// from the RX's image, at the height of the TX.
fn above(block: &Block, rx: &[f64; 3], tx_z: f64) -> Option<[[f64; 2]; 4]> {
    let side = rx[2].signum();
    let (tx_height, rx_height) = (tx_z * side - block.half[2], rx[2] * side - block.half[2]);
    if tx_height <= 0.0 || rx_height <= 0.0 {
        return None;
    }
    // A reflection point divides the way from TX to RX in the ratio of the heights.
    let reach = (tx_height + rx_height) / rx_height;
    let [hx, hy, _] = block.half;
    let corners = [[-hx, -hy], [-hx, hy], [hx, -hy], [hx, hy]];
    Some(corners.map(|[x, y]| [rx[0] + (x - rx[0]) * reach, rx[1] + (y - rx[1]) * reach]))
}

/// The same for a vertical face: its two edges, and as far as a room reaches behind them.
fn beside(block: &Block, axis: usize, rx: &[f64; 3], tx_z: f64, far: f64) -> Option<[[f64; 2]; 4]> {
    const TOUCHING: f64 = 1e-6;
    let side = rx[axis].signum();
    let height = rx[axis] * side - block.half[axis];
    // The reflection point lies between the heights of the two.
    let (low, high) = (rx[2].min(tx_z), rx[2].max(tx_z));
    if height <= 0.0 || low > block.half[2] + TOUCHING || high < -block.half[2] - TOUCHING {
        return None;
    }
    let along = 1 - axis;
    let stretch = far / height;
    let point = |edge: f64, stretch: f64| {
        let mut point = [0.0; 2];
        // The image lies as far behind the face as the RX before it.
        point[axis] = side * (block.half[axis] + height * stretch);
        point[along] = edge + (edge - rx[along]) * stretch;
        point
    };
    let half = block.half[along];
    Some([point(-half, 0.0), point(half, 0.0), point(-half, stretch), point(half, stretch)])
}

/// Bounds along the global axes of points of a box's own frame, at any height.
fn bounds(block: &Block, points: [[f64; 2]; 4], tx_height: f64) -> [Point3<f64>; 2] {
    let mut low = Point3::new(f64::INFINITY, f64::INFINITY, tx_height);
    let mut high = Point3::new(f64::NEG_INFINITY, f64::NEG_INFINITY, tx_height);
    for [x, y] in points {
        let point = block.center + block.global_direction([x, y, 0.0]);
        for axis in 0..2 {
            low[axis] = low[axis].min(point[axis]);
            high[axis] = high[axis].max(point[axis]);
        }
    }
    [low, high]
}
