//! One case: trace it, match its paths with the reference, measure the differences.

use std::f64::consts::PI;

use magnetar_scene::ResolvedScene;
use nalgebra::Vector3;

use super::case::Case;
use super::judge::{Verdict, judge, not_compared};
use super::names::BoxMode;
use super::reference::ReferencePath;
use super::unmatched::Unmatched;
use crate::{Interactions, Path, TraceError, Tracer};

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

/// The same for paths of several interactions, whose errors add up; 99 % of the coefficients are inside [`TOLERANCE`].
pub const TOLERANCE_SEVERAL: PathErrors = PathErrors { coefficient: 2e-3, delay: 1e-6, angle: 1e-3, vertex: 2e-3 };

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
            coefficient: (path.coefficient - reference.coefficient).norm_sqr().sqrt() / free_space,
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
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CaseComparison {
    /// Number of paths in the export.
    pub reference_paths: usize,
    /// The paths that both sides have, in the export's order.
    pub matched: Vec<PathComparison>,
    /// The others, by the objects they meet.
    pub unmatched: Unmatched<String>,
    /// Why the case could not be traced at all; all its paths are missing then.
    pub untraced: Option<TraceError>,
}

/// Traces a case at the export's frequency and compares the paths, matched by the objects they meet.
#[must_use]
pub fn compare_case(case: &Case, frequency_hz: f64) -> CaseComparison {
    let mut comparison = CaseComparison { reference_paths: case.paths.len(), ..CaseComparison::default() };
    let ResolvedScene { room, surfaces, boxes } = &case.scene;
    let tracer =
        Tracer::new(*room, surfaces, boxes, frequency_hz).and_then(|tracer| tracer.with_options(case.options()));
    let traced = tracer.and_then(|tracer| Ok((tracer.trace(&case.tx, &case.rx)?, tracer)));
    let (mut paths, tracer) = match traced {
        Ok(traced) => traced,
        Err(error) => {
            comparison.unmatched.missing = case.paths.iter().map(|path| case.names.path(&path.interactions)).collect();
            comparison.untraced = Some(error);
            return comparison;
        }
    };
    // A crossing counts as an interaction for the export's depth, and not for our order.
    paths.retain(|path| path.interactions().len() <= case.max_depth);
    for reference in &case.paths {
        let met = &reference.interactions;
        match paths.iter().find(|path| case.names.same_objects(path.interactions(), met)) {
            _ if not_compared(case, met).is_some() => comparison.put_aside(case, &tracer, met, true),
            Some(path) => {
                let errors = PathErrors::between(path, reference, tracer.wavelength());
                comparison.matched.push(PathComparison { object: case.names.path(met), errors });
            }
            None => comparison.put_aside(case, &tracer, met, true),
        }
    }
    for path in &paths {
        let met = path.interactions();
        if !case.paths.iter().any(|reference| case.names.same_objects(&reference.interactions, met)) {
            comparison.put_aside(case, &tracer, met, false);
        }
    }
    comparison
}

impl CaseComparison {
    /// Notes a path that only one side has, or that is not compared.
    fn put_aside(&mut self, case: &Case, tracer: &Tracer, met: &Interactions, in_export: bool) {
        let name = case.names.path(met);
        let verdict = match not_compared(case, met) {
            Some(reason) => Verdict::LeftOut(reason),
            // First order among opaque boxes is decided exactly.
            None if case.names.mode == BoxMode::Opaque && case.max_depth == 1 => Verdict::Different,
            None => judge(case, tracer.world(), met),
        };
        match verdict {
            Verdict::LeftOut(reason) => self.unmatched.left_out.push((name, reason)),
            Verdict::Ambiguous => self.unmatched.ambiguous.push(name),
            Verdict::Different if in_export => self.unmatched.missing.push(name),
            Verdict::Different => self.unmatched.extra.push(name),
        }
    }
}

/// Angle between two directions, radians; precise for small angles, where an arc cosine is not.
fn angle_between(u: &Vector3<f64>, v: &Vector3<f64>) -> f64 {
    libm::atan2(u.cross(v).norm(), u.dot(v))
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
