//! A reference path: one path as an export gives it, checked.

use std::f64::consts::{PI, TAU};

use magnetar_scene::SPEED_OF_LIGHT;
use nalgebra::Vector3;
use num_complex::Complex64;

use super::case::{LONGEST_M, in_range};
use super::error::{Problem, excerpt};
use super::names::{BoxMode, ObjectNames};
use super::schema::{RawInteraction, RawInteractionKind, RawKind, RawPath, Version};
use crate::{Interaction, InteractionKind, Interactions, MAX_INTERACTIONS, Surface};

/// float32 rounds pi up, and some tools wrap azimuths to [0, 2 pi).
const ANGLE_SLACK: f64 = 1e-6;

/// A direction as Sionna RT gives it, global frame, radians.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Direction {
    /// Zenith angle, 0 is up.
    pub theta: f64,
    /// Azimuth, counter-clockwise from +x.
    pub phi: f64,
}

impl Direction {
    /// The unit vector.
    #[must_use]
    pub fn unit(&self) -> Vector3<f64> {
        let (sin_theta, cos_theta) = libm::sincos(self.theta);
        let (sin_phi, cos_phi) = libm::sincos(self.phi);
        Vector3::new(sin_theta * cos_phi, sin_theta * sin_phi, cos_theta)
    }
}

/// A path as the export gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReferencePath {
    /// What it meets, from TX to RX; box numbers as in [`super::Case::scene`]. Where waves go through boxes, a box is one
    /// sheet: the face named here then means nothing.
    pub interactions: Interactions,
    /// Propagation delay, seconds.
    pub delay: f64,
    /// Passband coefficient between vertically polarised isotropic antennas.
    pub coefficient: Complex64,
    /// Direction leaving the TX.
    pub departure: Direction,
    /// Direction from the RX back towards the last vertex (or the TX).
    pub arrival: Direction,
}

/// Checks a path of either schema.
pub(super) fn check_path(raw: &RawPath, version: Version, names: &ObjectNames) -> Result<ReferencePath, Problem> {
    let interactions = match (&raw.interactions, &raw.kind, &raw.object, &raw.vertices) {
        (Some(list), None, None, None) if version == Version::V2 => listed(list, names)?,
        (None, Some(kind), Some(object), Some(vertices)) if version == Version::V1 => {
            first_order(*kind, object, vertices, names)?
        }
        _ if version == Version::V2 => {
            return Err(Problem::new(
                "interactions",
                "is missing; a path of sionna-box-v2 has it and no type, object, vertices",
            ));
        }
        _ => {
            let message = "or `object` or `vertices` is missing; a path of sionna-box-v1 has them and no interactions";
            return Err(Problem::new("type", message));
        }
    };
    if !(raw.tau > 0.0 && raw.tau * SPEED_OF_LIGHT <= 4.0 * LONGEST_M) {
        return Err(Problem::new("tau", format!("{} is not a delay; expected seconds, above 0", raw.tau)));
    }
    if let Some(part) = raw.a.iter().find(|part| !(-1e6..=1e6).contains(*part)) {
        return Err(Problem::new("a", format!("{part} is out of range; expected [re, im], linear scale")));
    }
    Ok(ReferencePath {
        interactions,
        delay: raw.tau,
        coefficient: Complex64::new(raw.a[0], raw.a[1]),
        departure: direction("theta_t", raw.theta_t, "phi_t", raw.phi_t)?,
        arrival: direction("theta_r", raw.theta_r, "phi_r", raw.phi_r)?,
    })
}

/// The interactions of a path of schema 2.
fn listed(list: &[RawInteraction], names: &ObjectNames) -> Result<Interactions, Problem> {
    let mut met = Vec::with_capacity(list.len());
    for (i, raw) in list.iter().enumerate() {
        let outer = format!("interactions[{i}]");
        let refuse = |key: &str, message: String| Problem::new(format!("{outer}.{key}"), message);
        let surface = names.surface(&raw.object).map_err(|message| refuse("object", message))?;
        let surface =
            surface.ok_or_else(|| refuse("object", "LOS is no object; a LOS path has no interactions".into()))?;
        let kind = match raw.kind {
            RawInteractionKind::Reflection => InteractionKind::Reflection,
            RawInteractionKind::Transmission if names.mode == BoxMode::Opaque => {
                return Err(refuse("type", "`transmission` goes with mode `through` alone".into()));
            }
            RawInteractionKind::Transmission => InteractionKind::Transmission,
        };
        if kind == InteractionKind::Transmission && matches!(surface, Surface::Room(_)) {
            return Err(refuse("object", "the room's surfaces are opaque; waves go through boxes alone".into()));
        }
        in_range(&format!("{outer}.vertex"), &raw.vertex)?;
        met.push(Interaction { surface, kind, vertex: raw.vertex.into() });
    }
    Interactions::new(&met).ok_or_else(|| {
        let message = format!("the list has {} items; at most {MAX_INTERACTIONS} are read", list.len());
        Problem::new("interactions", message)
    })
}

/// The interactions of a path of schema 1.
fn first_order(
    kind: RawKind,
    object: &str,
    vertices: &[[f64; 3]],
    names: &ObjectNames,
) -> Result<Interactions, Problem> {
    let surface = names.surface(object).map_err(|message| Problem::new("object", message))?;
    if surface.is_none() != (kind == RawKind::Los) {
        let message = format!("{} does not go with this type; `LOS` goes with `LOS` alone", excerpt(object));
        return Err(Problem::new("object", message));
    }
    match (surface, vertices) {
        (None, []) => Ok(Interactions::NONE),
        (None, _) => Err(Problem::new("vertices", "a LOS path has none; expected []")),
        (Some(surface), [vertex]) => {
            in_range("vertices[0]", vertex)?;
            Ok(Interactions::single(Interaction::reflection(surface, (*vertex).into())))
        }
        (Some(_), list) => {
            let message = format!(
                "a first-order specular path has one vertex, not {}; export with max_depth = 1, or as sionna-box-v2",
                list.len()
            );
            Err(Problem::new("vertices", message))
        }
    }
}

fn direction(theta_key: &str, theta: f64, phi_key: &str, phi: f64) -> Result<Direction, Problem> {
    if !(-ANGLE_SLACK..=PI + ANGLE_SLACK).contains(&theta) {
        let message = format!("{theta} is not a zenith angle; expected radians in [0, pi]");
        return Err(Problem::new(theta_key, message));
    }
    if !(-PI - ANGLE_SLACK..=TAU + ANGLE_SLACK).contains(&phi) {
        let message = format!("{phi} is not an azimuth; expected radians in [-pi, pi]");
        return Err(Problem::new(phi_key, message));
    }
    Ok(Direction { theta, phi })
}
