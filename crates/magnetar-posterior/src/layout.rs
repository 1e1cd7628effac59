//! What a receiver knows of the world: the room and the boxes in it.

use magnetar_scene::{BoxShape, Room};
use magnetar_trace::World;
use nalgebra::Point3;

/// Room bounds and boxes (the reflector board, if there is one).
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    /// The room.
    pub room: Room,
    /// The boxes standing in it.
    pub boxes: Vec<BoxShape>,
}

impl Layout {
    /// Made ready for tracing.
    #[must_use]
    pub fn world(&self) -> World {
        World::new(self.room, self.boxes.iter().copied())
    }

    /// b_LOS: whether the planar segment between two points (x, y in metres) misses every box's footprint.
    #[must_use]
    pub fn planar_los(&self, a: [f64; 2], b: [f64; 2]) -> bool {
        self.boxes.iter().all(|block| !crosses_footprint(block, a, b))
    }
}

/// Whether a planar segment meets a box's footprint: clipped against its two pairs of sides (slab test).
fn crosses_footprint(block: &BoxShape, a: [f64; 2], b: [f64; 2]) -> bool {
    let start = block.local_from_global(&Point3::new(a[0], a[1], 0.0));
    let end = block.local_from_global(&Point3::new(b[0], b[1], 0.0));
    let (mut enter, mut leave) = (0.0f64, 1.0f64);
    for axis in 0..2 {
        let half = block.size[axis] / 2.0;
        let (from, step) = (start[axis], end[axis] - start[axis]);
        if step == 0.0 {
            if from.abs() > half {
                return false;
            }
            continue;
        }
        let (t0, t1) = ((-half - from) / step, (half - from) / step);
        enter = enter.max(t0.min(t1));
        leave = leave.min(t0.max(t1));
    }
    enter <= leave
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    fn layout(yaw: f64) -> Layout {
        let board = BoxShape { center: Point3::new(1.0, 1.0, 1.08), size: Vector3::new(1.0, 0.033, 1.27), yaw };
        Layout { room: crate::testing::room(), boxes: vec![board] }
    }

    #[test]
    fn the_board_blocks_across_and_not_beside() {
        let l = layout(0.0);
        assert!(!l.planar_los([1.0, 0.0], [1.0, 2.0]));
        assert!(l.planar_los([1.6, 0.0], [1.6, 2.0]));
        assert!(l.planar_los([0.0, 0.5], [2.0, 0.5]));
        assert!(!l.planar_los([0.0, 1.0], [2.0, 1.0]));
        assert!(l.planar_los([1.0, 0.0], [1.0, 0.5]));
    }

    #[test]
    fn yaw_turns_the_footprint() {
        let l = layout(std::f64::consts::FRAC_PI_2);
        assert!(l.planar_los([1.2, 0.0], [1.2, 2.0]));
        assert!(!l.planar_los([0.0, 1.2], [2.0, 1.2]));
    }
}
