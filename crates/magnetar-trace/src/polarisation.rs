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

/// A field carried along a path: its parts along `s` and along `k x s`, all three of them orthogonal unit vectors.
pub(crate) struct Field {
    parts: [Complex64; 2],
    k: Vector3<f64>,
    s: Vector3<f64>,
}

impl Field {
    /// What a vertically polarised isotropic antenna sends in direction k.
    #[inline]
    pub(crate) fn from_vertical_antenna(k: &Vector3<f64>) -> Self {
        Self { parts: [Complex64::ONE, Complex64::ZERO], k: *k, s: vertical(k) }
    }

    /// The field after an interaction: its parts across and in the plane of incidence, each with its coefficient, along
    /// the direction that follows.
    #[inline]
    pub(crate) fn meet(&self, after: &Vector3<f64>, normal: &Vector3<f64>, coefficients: &SlabCoefficients) -> Self {
        let across = self.k.cross(normal);
        let square = across.norm_squared();
        // One division; at normal incidence as `te_direction`.
        let s = if square < 1e-12 { any_orthogonal(&self.k) } else { across * (1.0 / square.sqrt()) };
        let [across, within] = self.turned_to(&s);
        Self { parts: [coefficients.te * across, coefficients.tm * within], k: *after, s }
    }

    /// What a vertically polarised isotropic antenna hears of it.
    #[inline]
    pub(crate) fn at_vertical_antenna(&self) -> Complex64 {
        self.turned_to(&vertical(&self.k))[0]
    }

    /// The direction of propagation.
    #[inline]
    pub(crate) fn direction(&self) -> &Vector3<f64> {
        &self.k
    }

    /// Its parts along another unit vector `u` orthogonal to k, and along `k x u`: the first pair turned about k.
    #[inline]
    fn turned_to(&self, u: &Vector3<f64>) -> [Complex64; 2] {
        let (cos, sin) = (self.s.dot(u), self.k.cross(&self.s).dot(u));
        [self.parts[0] * cos + self.parts[1] * sin, self.parts[1] * cos - self.parts[0] * sin]
    }
}
