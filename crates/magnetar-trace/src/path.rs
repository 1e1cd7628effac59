//! What the tracer returns.

use std::fmt;

use magnetar_scene::{Face, SPEED_OF_LIGHT};
use nalgebra::{Point3, Vector3};
use num_complex::Complex64;

/// The surface a path meets on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Surface {
    /// None: the direct path.
    None,
    /// An outer surface of the room.
    Room(Face),
    /// A face (in the box's own frame) of box number `index` of the scene.
    Box {
        /// Position of the box in the scene's list.
        index: u32,
        /// The face in the box's own frame.
        face: Face,
    },
}

/// How a path travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PathKind {
    /// Line of sight.
    Los,
    /// One specular reflection.
    Specular,
}

impl Surface {
    /// The kind of path that meets this surface.
    #[must_use]
    pub fn kind(self) -> PathKind {
        match self {
            Self::None => PathKind::Los,
            _ => PathKind::Specular,
        }
    }
}

impl fmt::Display for PathKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Los => "LOS",
            Self::Specular => "specular",
        })
    }
}

impl fmt::Display for Surface {
    /// `LOS`, `wall:-x`, `floor`, `ceiling`, `box0:+y`, ...
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("LOS"),
            Self::Room(Face::ZMin) => f.write_str("floor"),
            Self::Room(Face::ZMax) => f.write_str("ceiling"),
            Self::Room(face) => write!(f, "wall:{face}"),
            Self::Box { index, face } => write!(f, "box{index}:{face}"),
        }
    }
}

/// The geometry of one path, in the global frame, before any material is applied.
///
/// The coefficient of a reflection is `lambda / (4 pi length) * (te R_te + tm R_tm)` with the slab coefficients at
/// `cos_incidence`; for the direct path it is `lambda / (4 pi length)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathGeometry {
    /// The surface met.
    pub surface: Surface,
    /// Reflection point, metres; the RX position for the direct path, which has none.
    pub vertex: Point3<f64>,
    /// Total unfolded length, metres.
    pub length: f64,
    /// Unit direction leaving the TX.
    pub departure: Vector3<f64>,
    /// Unit direction from the RX back towards the last vertex (or the TX).
    pub arrival: Vector3<f64>,
    /// Cosine of the angle of incidence to the surface normal (1 for the direct path).
    pub cos_incidence: f64,
    /// Weight of the TE slab coefficient between vertically polarised isotropic antennas.
    pub te: f64,
    /// Weight of the TM slab coefficient between vertically polarised isotropic antennas.
    pub tm: f64,
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
    /// Line of sight or specular.
    #[must_use]
    pub fn kind(&self) -> PathKind {
        self.geometry.surface.kind()
    }

    /// Propagation delay, seconds.
    #[must_use]
    pub fn delay(&self) -> f64 {
        self.geometry.length / SPEED_OF_LIGHT
    }

    /// Reflection point, if it has one, metres.
    #[must_use]
    pub fn vertex(&self) -> Option<Point3<f64>> {
        (self.kind() == PathKind::Specular).then_some(self.geometry.vertex)
    }
}

/// Azimuth of a direction, radians in [-pi, pi], counter-clockwise from +x.
#[must_use]
pub fn azimuth(direction: &Vector3<f64>) -> f64 {
    direction.y.atan2(direction.x)
}

/// Elevation of a direction above the horizontal plane, radians in [-pi/2, pi/2].
#[must_use]
pub fn elevation(direction: &Vector3<f64>) -> f64 {
    direction.z.atan2(direction.x.hypot(direction.y))
}
