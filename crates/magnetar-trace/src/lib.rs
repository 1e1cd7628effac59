//! Exact line-of-sight and first-order specular radio paths between two points of a scene.
//!
//! Surfaces are opaque: nothing is transmitted, so a path exists where its straight legs are free. Coefficients are
//! those of Sionna RT for vertically polarised isotropic antennas, with the single-layer slab of ITU-R P.2040.

mod error;
mod interaction;
mod path;
pub mod sionna;
mod slab_reflection;
mod tracer;
mod visibility;

pub use error::{Device, TraceError};
pub use interaction::{Interaction, InteractionKind, Interactions, MAX_INTERACTIONS, Surface};
pub use path::{Path, PathGeometry, PathKind, azimuth, elevation};
pub use slab_reflection::{Reflection, SlabReflector};
pub use tracer::Tracer;
