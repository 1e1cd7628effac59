//! Closed boxes that stand in a room, such as the glass reflector board.

use nalgebra::{Point3, Vector3};

/// The shape of a box turned about the vertical axis. Its local x axis is `(cos yaw, sin yaw, 0)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoxShape {
    /// Centre in the global frame, metres.
    pub center: Point3<f64>,
    /// Full size along the local axes (width, thickness, height), metres.
    pub size: Vector3<f64>,
    /// Yaw in radians, counter-clockwise from +x.
    pub yaw: f64,
}

impl BoxShape {
    /// A global point in the box's own frame (origin at the centre).
    #[must_use]
    pub fn local_from_global(&self, point: &Point3<f64>) -> Point3<f64> {
        let (sin, cos) = libm::sincos(self.yaw);
        let d = point - self.center;
        Point3::new(cos * d.x + sin * d.y, cos * d.y - sin * d.x, d.z)
    }

    /// A point of the box's own frame in the global frame.
    #[must_use]
    pub fn global_from_local(&self, point: &Point3<f64>) -> Point3<f64> {
        let (sin, cos) = libm::sincos(self.yaw);
        self.center + Vector3::new(cos * point.x - sin * point.y, sin * point.x + cos * point.y, point.z)
    }

    /// The four corners of its footprint in the global x-y plane, counter-clockwise.
    #[must_use]
    pub fn footprint(&self) -> [[f64; 2]; 4] {
        let (hx, hy) = (self.size.x / 2.0, self.size.y / 2.0);
        [[-hx, -hy], [hx, -hy], [hx, hy], [-hx, hy]].map(|[x, y]| {
            let corner = self.global_from_local(&Point3::new(x, y, 0.0));
            [corner.x, corner.y]
        })
    }

    /// Whether a global point lies strictly inside.
    #[must_use]
    pub fn contains(&self, point: &Point3<f64>) -> bool {
        let p = self.local_from_global(point);
        (0..3).all(|axis| p[axis].abs() < self.size[axis] / 2.0)
    }
}
