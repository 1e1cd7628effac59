//! The bounds of many boxes side by side, eight in a group: which of them a segment may meet.
//!
//! A few comparisons for every box are faster than a walk down a tree as long as the boxes are not many hundreds.

use nalgebra::Point3;

/// Boxes in a group.
const LANES: usize = 8;

/// Bounds are rounded to single precision, outwards by this part of one plus their size, metres: more than rounding takes.
const SLACK: f64 = 1e-6;

/// Bounds of boxes along the global axes, numbered in the order they were given.
#[derive(Debug, Clone, Default)]
pub(crate) struct FlatBounds {
    groups: Vec<Group>,
}

/// Eight boxes: lower and upper bounds along each axis, metres.
#[derive(Debug, Clone, Copy)]
struct Group {
    low: [[f32; LANES]; 3],
    high: [[f32; LANES]; 3],
}

impl Group {
    /// Bounds that nothing meets.
    const EMPTY: Self = Self { low: [[f32::INFINITY; LANES]; 3], high: [[f32::NEG_INFINITY; LANES]; 3] };
}

impl FlatBounds {
    /// Takes over new bounds (lower and upper corners, metres), keeping the memory of the old ones.
    pub(crate) fn rebuild<'a>(&mut self, corners: impl Iterator<Item = &'a [Point3<f64>; 2]>) {
        self.groups.clear();
        for (number, [low, high]) in corners.enumerate() {
            let lane = number % LANES;
            if lane == 0 {
                self.groups.push(Group::EMPTY);
            }
            if let Some(group) = self.groups.last_mut() {
                for axis in 0..3 {
                    group.low[axis][lane] = below(low[axis]);
                    group.high[axis][lane] = above(high[axis]);
                }
            }
        }
    }

    /// The first box, in order, whose bounds the segment between two points may meet and of which `hit` is true.
    #[inline]
    pub(crate) fn find(&self, a: &Point3<f64>, b: &Point3<f64>, mut hit: impl FnMut(usize) -> bool) -> Option<usize> {
        let low: [f32; 3] = std::array::from_fn(|axis| below(a[axis].min(b[axis])));
        let high: [f32; 3] = std::array::from_fn(|axis| above(a[axis].max(b[axis])));
        for (number, group) in self.groups.iter().enumerate() {
            let mut meets = [1u8; LANES];
            for axis in 0..3 {
                let sides = group.low[axis].iter().zip(&group.high[axis]);
                for (meets, (group_low, group_high)) in meets.iter_mut().zip(sides) {
                    *meets &= u8::from(high[axis] >= *group_low) & u8::from(*group_high >= low[axis]);
                }
            }
            let mut left = u64::from_le_bytes(meets);
            while left != 0 {
                let lane = left.trailing_zeros() as usize / 8;
                left &= left - 1;
                let index = number * LANES + lane;
                if group.may_cross(lane, a, b) && hit(index) {
                    return Some(index);
                }
            }
        }
        None
    }
}

impl Group {
    /// False only if one of the projections onto the planes of the axes shows the segment's line beside the bounds.
    #[inline]
    fn may_cross(&self, lane: usize, a: &Point3<f64>, b: &Point3<f64>) -> bool {
        let step = b - a;
        // Twice the centre, seen from the start, and twice the half sizes.
        let side = |axis: usize| (f64::from(self.low[axis][lane]), f64::from(self.high[axis][lane]));
        let center: [f64; 3] = std::array::from_fn(|axis| side(axis).0 + side(axis).1 - 2.0 * a[axis]);
        let size: [f64; 3] = std::array::from_fn(|axis| side(axis).1 - side(axis).0);
        [(0, 1), (0, 2), (1, 2)].into_iter().all(|(i, j)| {
            let across = center[i] * step[j] - center[j] * step[i];
            let reach = size[i] * step[j].abs() + size[j] * step[i].abs();
            // What is not a number passes.
            across.abs() <= reach || across.is_nan() || reach.is_nan()
        })
    }
}

/// A number of single precision below `x`.
#[inline]
fn below(x: f64) -> f32 {
    (x - SLACK * (1.0 + x.abs())) as f32
}

/// A number of single precision above `x`.
#[inline]
fn above(x: f64) -> f32 {
    (x + SLACK * (1.0 + x.abs())) as f32
}

#[cfg(test)]
mod tests {
    use magnetar_scene::BoxShape;
    use nalgebra::Vector3;
    use proptest::prelude::*;

    use super::*;
    use crate::Block;

    proptest! {
        /// No box that stands between two points is left out, and they come in order.
        #[test]
        fn blocking_boxes_are_found(
            boxes in prop::collection::vec((-5.0f64..5.0, -5.0f64..5.0, 0.0f64..3.0, -3.0f64..3.0, 0.01f64..1.5), 0..40),
            a in (-5.0f64..5.0, -5.0f64..5.0, 0.0f64..3.0), b in (-5.0f64..5.0, -5.0f64..5.0, 0.0f64..3.0), level: bool,
        ) {
            let a = Point3::new(a.0, a.1, a.2);
            let b = Point3::new(b.0, b.1, if level { a.z } else { b.2 });
            let blocks: Vec<Block> = boxes.iter().map(|&(x, y, z, yaw, size)| Block::new(&BoxShape {
                center: Point3::new(x, y, z), size: Vector3::new(size, 0.3 * size, 0.7 * size), yaw,
            })).collect();
            let corners: Vec<_> = blocks.iter().map(crate::visibility::corners).collect();
            let mut bounds = FlatBounds::default();
            bounds.rebuild(corners.iter());
            let mut visited = Vec::new();
            prop_assert_eq!(bounds.find(&a, &b, |i| { visited.push(i); false }), None);
            prop_assert!(visited.is_sorted() && visited.iter().all(|i| *i < blocks.len()));
            for (i, block) in blocks.iter().enumerate() {
                prop_assert!(!block.blocks(&a, &b) || visited.contains(&i), "{i}");
            }
            prop_assert_eq!(bounds.find(&a, &b, |i| blocks[i].blocks(&a, &b)), blocks.iter().position(|x| x.blocks(&a, &b)));
        }
    }
}
