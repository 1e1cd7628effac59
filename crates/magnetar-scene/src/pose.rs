//! Where a device stands and which way it faces.

use nalgebra::{Point3, Vector3};

/// A device's position (global frame, metres) and heading (radians, counter-clockwise from +x).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// Antenna position in the global frame, metres.
    pub position: Point3<f64>,
    /// Heading (yaw) in radians, counter-clockwise from +x, in [-pi, pi).
    pub heading: f64,
}

impl Pose {
    /// A pose from coordinates in metres and a heading in radians (wrapped here).
    #[must_use]
    pub fn new(x: f64, y: f64, z: f64, heading: f64) -> Self {
        Self { position: Point3::new(x, y, z), heading: crate::wrap(heading) }
    }

    /// Turns a direction of the global frame into this device's own frame (x along its heading).
    #[must_use]
    pub fn device_from_global(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        let (sin, cos) = libm::sincos(self.heading);
        Vector3::new(cos * direction.x + sin * direction.y, cos * direction.y - sin * direction.x, direction.z)
    }
}
