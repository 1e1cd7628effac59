//! The beam that a face of a box lets through, for pruning.

use nalgebra::{Point3, Vector3};

use crate::Block;

/// All points seen from an apex through a rectangle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beam {
    apex: Point3<f64>,
    /// Corners of the rectangle, in turn.
    corners: [Point3<f64>; 4],
}

/// The half-spaces a beam is the intersection of: `normal . p >= offset`.
pub(crate) struct BeamPlanes([(Vector3<f64>, f64); 5]);

impl Beam {
    /// The beam from an image through the face on a side (1 or -1) of an axis of a box.
    pub(crate) fn through_face(apex: &Point3<f64>, block: &Block, axis: usize, side: f64) -> Self {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let corners = [(1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (-1.0, 1.0)].map(|(a, b)| {
            let mut local = [0.0; 3];
            (local[axis], local[u], local[v]) = (side * block.half[axis], a * block.half[u], b * block.half[v]);
            block.center + block.global_direction(local)
        });
        Self { apex: *apex, corners }
    }

    /// The beam in a mirror.
    pub(crate) fn mirrored(&self, image: impl Fn(&Point3<f64>) -> Point3<f64>) -> Self {
        Self { apex: image(&self.apex), corners: self.corners.each_ref().map(image) }
    }

    /// The planes through the apex and the sides of the rectangle, and that of the rectangle, looking into the beam.
    pub(crate) fn planes(&self) -> BeamPlanes {
        let [a, b, c, d] = &self.corners;
        let middle = nalgebra::center(a, c);
        let towards = |normal: Vector3<f64>, through: &Point3<f64>, inside: &Point3<f64>| {
            let normal = if normal.dot(&(inside - through)) < 0.0 { -normal } else { normal };
            (normal, normal.dot(&through.coords))
        };
        let side =
            |p: &Point3<f64>, q: &Point3<f64>| towards((p - self.apex).cross(&(q - self.apex)), &self.apex, &middle);
        let front = towards((b - a).cross(&(d - a)), a, &(middle + (middle - self.apex)));
        BeamPlanes([side(a, b), side(b, c), side(c, d), side(d, a), front])
    }
}

impl BeamPlanes {
    /// False only if a box of this centre and half size, along the global axes, surely lies outside.
    #[inline]
    pub(crate) fn may_hold(&self, center: &Vector3<f64>, half: &Vector3<f64>) -> bool {
        self.0.iter().all(|(normal, offset)| {
            let reach = normal.abs().dot(half);
            // The slack covers rounding for normals and coordinates of any room's size.
            normal.dot(center) + reach >= offset - 1e-9 * (1.0 + offset.abs() + reach)
        })
    }
}
