//! What the tracer returns.

use std::cmp::Ordering;
use std::fmt;

use magnetar_scene::SPEED_OF_LIGHT;
use nalgebra::Vector3;
use num_complex::Complex64;

use crate::Interactions;
use crate::polarisation::polarisation_weights;

/// How a path travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PathKind {
    /// Line of sight: no interaction.
    Los,
    /// Specular reflections alone.
    Specular,
    /// Through at least one box.
    Transmitted,
}

impl fmt::Display for PathKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Los => "LOS",
            Self::Specular => "specular",
            Self::Transmitted => "transmitted",
        })
    }
}

/// The geometry of one path, in the global frame, before any material is applied.
///
/// The coefficient of a path with one interaction is `lambda / (4 pi length) * (te R_te + tm R_tm)` with the slab
/// coefficients at `cos_incidence` and [`PathGeometry::weights`]; for the direct path it is `lambda / (4 pi length)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathGeometry {
    /// What it meets, from TX to RX; none for the direct path.
    pub interactions: Interactions,
    /// Total unfolded length, metres.
    pub length: f64,
    /// Cosine of the angle of incidence to the surface normal at the first interaction (1 for the direct path).
    pub cos_incidence: f64,
    /// Unit direction leaving the TX.
    pub departure: Vector3<f64>,
    /// Unit direction from the RX back towards the last vertex (or the TX).
    pub arrival: Vector3<f64>,
}

impl PathGeometry {
    /// The direct path along a step from TX to RX, metres.
    #[must_use]
    pub fn direct(step: &Vector3<f64>) -> Self {
        let length = step.norm();
        let departure = step / length;
        Self { interactions: Interactions::NONE, length, departure, arrival: -departure, cos_incidence: 1.0 }
    }

    /// Weights of the TE and TM slab coefficients of a path with one interaction, between vertically polarised isotropic
    /// antennas; `normal` is the unit normal of the surface met.
    #[must_use]
    #[inline]
    pub fn weights(&self, normal: &Vector3<f64>) -> (f64, f64) {
        polarisation_weights(&self.departure, &-self.arrival, normal)
    }

    /// Whether the path meets nothing.
    #[must_use]
    pub fn is_line_of_sight(&self) -> bool {
        self.interactions.is_empty()
    }

    /// Number of reflections.
    #[must_use]
    pub fn order(&self) -> usize {
        self.interactions.order()
    }

    /// How the path travels.
    #[must_use]
    pub fn kind(&self) -> PathKind {
        match (self.interactions.len(), self.interactions.transmissions()) {
            (0, _) => PathKind::Los,
            (_, 0) => PathKind::Specular,
            _ => PathKind::Transmitted,
        }
    }

    /// The order in which paths are listed: the direct one first, then by length, then by the surfaces met.
    #[must_use]
    pub fn listing_order(&self, other: &Self) -> Ordering {
        let late = other.is_line_of_sight().cmp(&self.is_line_of_sight());
        let surfaces = || self.interactions.surfaces().cmp(other.interactions.surfaces());
        late.then(self.length.total_cmp(&other.length)).then_with(surfaces)
    }
}

/// One radio path between vertically polarised isotropic antennas, in the global frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path {
    /// Where it goes.
    pub geometry: PathGeometry,
    /// Passband coefficient: without the propagation phase `exp(-j 2 pi f tau)`.
    pub coefficient: Complex64,
}

impl Path {
    /// How the path travels.
    #[must_use]
    pub fn kind(&self) -> PathKind {
        self.geometry.kind()
    }

    /// What the path meets, from TX to RX; none for the direct path.
    #[must_use]
    pub fn interactions(&self) -> &Interactions {
        &self.geometry.interactions
    }

    /// Propagation delay, seconds.
    #[must_use]
    pub fn delay(&self) -> f64 {
        self.geometry.length / SPEED_OF_LIGHT
    }
}

/// Azimuth of a direction, radians in [-pi, pi], counter-clockwise from +x.
#[must_use]
pub fn azimuth(direction: &Vector3<f64>) -> f64 {
    libm::atan2(direction.y, direction.x)
}

/// Elevation of a direction above the horizontal plane, radians in [-pi/2, pi/2].
#[must_use]
pub fn elevation(direction: &Vector3<f64>) -> f64 {
    libm::atan2(direction.z, (direction.x * direction.x + direction.y * direction.y).sqrt())
}
