//! The field between vertically polarised isotropic antennas.

use nalgebra::Vector3;
use num_complex::Complex64;

use crate::SlabCoefficients;

/// Weights of the TE and TM slab coefficients of a path with one interaction: directions `k1` before and `k2` after it, at
/// a surface with this unit normal.
#[must_use]
#[inline]
pub(crate) fn polarisation_weights(k1: &Vector3<f64>, k2: &Vector3<f64>, normal: &Vector3<f64>) -> (f64, f64) {
    let s = te_direction(k1, normal);
    let (v1, v2) = (vertical(k1), vertical(k2));
    (v2.dot(&s) * s.dot(&v1), v2.dot(&k2.cross(&s)) * k1.cross(&s).dot(&v1))
}

/// The unit vector orthogonal to the plane of incidence.
#[inline]
pub(crate) fn te_direction(k: &Vector3<f64>, normal: &Vector3<f64>) -> Vector3<f64> {
    let across = k.cross(normal);
    let square = across.norm_squared();
    // At normal incidence every s orthogonal to k gives the same coefficient.
    if square < 1e-12 { any_orthogonal(k) } else { across / square.sqrt() }
}

/// The field of a vertically polarised antenna in direction k: the unit vector of growing zenith angle.
#[inline]
pub(crate) fn vertical(k: &Vector3<f64>) -> Vector3<f64> {
    let horizontal = (k.x * k.x + k.y * k.y).sqrt();
    if horizontal == 0.0 {
        return Vector3::new(k.z, 0.0, 0.0);
    }
    let ratio = k.z / horizontal;
    Vector3::new(ratio * k.x, ratio * k.y, -horizontal)
}

fn any_orthogonal(k: &Vector3<f64>) -> Vector3<f64> {
    let helper = if k.z.abs() < 0.9 { Vector3::z() } else { Vector3::x() };
    k.cross(&helper).normalize()
}

/// A field carried along a path: its parts along two unit vectors orthogonal to the direction and to each other.
pub(crate) struct Field {
    /// Complex amplitudes along `s` and `p`.
    parts: [Complex64; 2],
    s: Vector3<f64>,
    p: Vector3<f64>,
}

impl Field {
    /// What a vertically polarised isotropic antenna sends in direction k.
    pub(crate) fn from_vertical_antenna(k: &Vector3<f64>) -> Self {
        let s = vertical(k);
        Self { parts: [Complex64::ONE, Complex64::ZERO], s, p: k.cross(&s) }
    }

    /// The field after an interaction: its parts across and in the plane of incidence, each with its coefficient, along
    /// the direction that follows.
    pub(crate) fn meet(
        &self,
        before: &Vector3<f64>,
        after: &Vector3<f64>,
        normal: &Vector3<f64>,
        coefficients: &SlabCoefficients,
    ) -> Self {
        let s = te_direction(before, normal);
        let p = before.cross(&s);
        let parts = [coefficients.te * self.along(&s), coefficients.tm * self.along(&p)];
        Self { parts, s, p: after.cross(&s) }
    }

    /// What a vertically polarised isotropic antenna hears of it; k is the direction of propagation.
    pub(crate) fn at_vertical_antenna(&self, k: &Vector3<f64>) -> Complex64 {
        self.along(&vertical(k))
    }

    fn along(&self, unit: &Vector3<f64>) -> Complex64 {
        self.parts[0] * self.s.dot(unit) + self.parts[1] * self.p.dot(unit)
    }
}
