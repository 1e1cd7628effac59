//! One case: trace it, match its paths with the reference, measure the differences.

use std::f64::consts::PI;

use nalgebra::Vector3;

use super::export::{Case, ReferencePath};
use crate::{Path, TraceError, Tracer};

/// How far a traced path is from its reference, or how far it may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathErrors {
    /// `|a - a_ref|` over the free-space coefficient `lambda / (4 pi c tau)` at the reference delay.
    pub coefficient: f64,
    /// `|tau - tau_ref| / tau_ref`.
    pub delay: f64,
    /// The larger of the angles between the directions of departure and between those of arrival, radians. Unlike a
    /// difference of azimuths it means the same everywhere, also for near-vertical directions.
    pub angle: f64,
    /// The largest distance of two vertices that belong together, metres; 0 for the direct path.
    pub vertex: f64,
}

/// What Sionna RT's float32 arithmetic allows: it nudges the image point by up to 9e-5 m before it finds the vertex, and
/// its complex square root cancels for low-loss materials, both independent of the size of the coefficient.
pub const TOLERANCE: PathErrors = PathErrors { coefficient: 1e-4, delay: 1e-6, angle: 1e-4, vertex: 2e-4 };

impl PathErrors {
    /// Whether every error is inside `tolerance` (an error that is not a number is not).
    #[must_use]
    pub fn within(&self, tolerance: &Self) -> bool {
        self.coefficient <= tolerance.coefficient
            && self.delay <= tolerance.delay
            && self.angle <= tolerance.angle
            && self.vertex <= tolerance.vertex
    }

    fn between(path: &Path, reference: &ReferencePath, wavelength: f64) -> Self {
        let length = reference.delay * magnetar_scene::SPEED_OF_LIGHT;
        let free_space = wavelength / (4.0 * PI * length);
        let vertices = path.interactions().vertices().zip(reference.interactions.vertices());
        let vertex = vertices.map(|(ours, theirs)| (ours - theirs).norm()).fold(0.0, f64::max);
        Self {
            coefficient: (path.coefficient - reference.coefficient).norm() / free_space,
            delay: (path.delay() - reference.delay).abs() / reference.delay,
            angle: angle_between(&path.geometry.departure, &reference.departure.unit())
                .max(angle_between(&path.geometry.arrival, &reference.arrival.unit())),
            vertex,
        }
    }
}

/// A path that both sides have.
#[derive(Debug, Clone, PartialEq)]
pub struct PathComparison {
    /// Its name: the objects it meets, as the export names them.
    pub object: String,
    /// How far apart the two are.
    pub errors: PathErrors,
}

/// What came of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseComparison {
    /// Number of paths in the export.
    pub reference_paths: usize,
    /// The paths that both sides have, in the export's order.
    pub matched: Vec<PathComparison>,
    /// Objects of paths that the export has and the tracer has not.
    pub missing: Vec<String>,
    /// Objects of paths that the tracer has and the export has not.
    pub extra: Vec<String>,
    /// Why the case could not be traced at all; all its paths are missing then.
    pub untraced: Option<TraceError>,
}

/// Traces a case at the export's frequency and compares the paths, matched by the object they meet.
#[must_use]
pub fn compare_case(case: &Case, frequency_hz: f64) -> CaseComparison {
    let traced = Tracer::new(case.room, &case.surfaces, &case.boxes, frequency_hz)
        .and_then(|tracer| Ok((tracer.trace(&case.tx, &case.rx)?, tracer.wavelength())));
    let (paths, wavelength, untraced) = match traced {
        Ok((paths, wavelength)) => (paths, wavelength, None),
        Err(error) => (Vec::new(), 0.0, Some(error)),
    };
    let mut comparison = CaseComparison {
        reference_paths: case.paths.len(),
        matched: Vec::with_capacity(case.paths.len()),
        missing: Vec::new(),
        extra: Vec::new(),
        untraced,
    };
    for reference in &case.paths {
        let object = case.path_name(&reference.interactions);
        match paths.iter().find(|path| path.interactions().same_surfaces(&reference.interactions)) {
            Some(path) => {
                let errors = PathErrors::between(path, reference, wavelength);
                comparison.matched.push(PathComparison { object, errors });
            }
            None => comparison.missing.push(object),
        }
    }
    for path in &paths {
        let met = path.interactions();
        if !case.paths.iter().any(|reference| reference.interactions.same_surfaces(met)) {
            comparison.extra.push(case.path_name(met));
        }
    }
    comparison
}

/// Angle between two directions, radians; precise for small angles, where an arc cosine is not.
fn angle_between(u: &Vector3<f64>, v: &Vector3<f64>) -> f64 {
    u.cross(v).norm().atan2(u.dot(v))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_angles_are_measured_precisely() {
        let u = Vector3::new(1.0, 0.0, 0.0);
        for angle in [1e-9, 1e-4, 1.0, PI - 1e-9] {
            let v = Vector3::new(f64::cos(angle), 0.0, f64::sin(angle));
            assert!((angle_between(&u, &v) - angle).abs() < 1e-15 * (1.0 + 10.0 * angle));
        }
    }

    #[test]
    fn an_error_that_is_not_a_number_is_outside() {
        assert!(TOLERANCE.within(&TOLERANCE));
        assert!(!PathErrors { angle: f64::NAN, ..TOLERANCE }.within(&TOLERANCE));
        assert!(!PathErrors { delay: 1.1e-6, ..TOLERANCE }.within(&TOLERANCE));
    }
}
