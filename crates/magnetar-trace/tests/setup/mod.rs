//! The room, links and boxes of the law tests, and a second opinion on what stands in the way.

use std::f64::consts::PI;

use magnetar_scene::{BoxShape, Room};
use nalgebra::{Point3, Vector3};
use parry3d_f64::math::Vector;
use parry3d_f64::query::{Ray, RayCast};
use parry3d_f64::shape::Cuboid;
use proptest::prelude::*;

/// The carrier, Hz.
pub const F: f64 = 10e9;
/// The room, x, y, z from and to, metres.
pub const BOUNDS: [f64; 6] = [-1.403, 4.270, -6.060, 3.000, 0.0, 3.050];

pub fn room() -> Room {
    Room::from_bounds(BOUNDS).unwrap()
}

/// A point of the room, off its surfaces.
pub fn point() -> impl Strategy<Value = Point3<f64>> {
    let inside = |a: usize| BOUNDS[2 * a] + 0.05..BOUNDS[2 * a + 1] - 0.05;
    (inside(0), inside(1), inside(2)).prop_map(|(x, y, z)| Point3::new(x, y, z))
}

/// A turned box, its sides at least `smallest` long.
pub fn block(smallest: [f64; 3]) -> impl Strategy<Value = BoxShape> {
    let [w, t, h] = smallest;
    (point(), w..1.5, t..0.5, h..2.0, -PI..PI).prop_map(|(center, w, t, h, yaw)| BoxShape {
        center,
        size: Vector3::new(w, t, h),
        yaw,
    })
}

/// Two points that are apart.
pub fn link() -> impl Strategy<Value = (Point3<f64>, Point3<f64>)> {
    (point(), point()).prop_filter("apart", |(a, b)| (a - b).norm() > 0.05)
}

/// Boxes, and a link whose ends stand in the open.
pub fn world_of(
    block: impl Strategy<Value = BoxShape>,
    count: impl Into<prop::collection::SizeRange>,
) -> impl Strategy<Value = (Vec<BoxShape>, Point3<f64>, Point3<f64>)> {
    (prop::collection::vec(block, count), link()).prop_map(|(mut boxes, (tx, rx))| {
        boxes.retain(|b| !b.contains(&tx) && !b.contains(&rx));
        (boxes, tx, rx)
    })
}

/// Whether no box but the excepted ones stands between two points, by parry's own ray casts.
pub fn is_free(boxes: &[BoxShape], a: &Point3<f64>, b: &Point3<f64>, except: &[Option<usize>]) -> bool {
    boxes.iter().enumerate().all(|(i, shape)| {
        let (p, q) = (shape.local_from_global(a), shape.local_from_global(b));
        let cuboid = Cuboid::new(Vector::new(shape.size.x / 2.0, shape.size.y / 2.0, shape.size.z / 2.0));
        let ray = Ray::new(Vector::new(p.x, p.y, p.z), Vector::new(q.x - p.x, q.y - p.y, q.z - p.z));
        except.contains(&Some(i)) || cuboid.cast_local_ray(&ray, 1.0, true).is_none()
    })
}
