//! Exact radio paths between two points of a scene: line of sight, specular reflections up to third order, and straight
//! passages through boxes.
//!
//! By default surfaces are opaque and paths of first order: nothing is transmitted, so a path exists where its straight
//! legs are free. Coefficients are those of Sionna RT for vertically polarised isotropic antennas, with the single-layer
//! slab of ITU-R P.2040.

mod beam;
mod block;
mod error;
mod interaction;
mod options;
mod path;
mod polarisation;
pub mod sionna;
mod slab_response;
mod specular;
mod tracer;
mod visibility;
mod world;

pub use block::Block;
pub use error::{Device, TraceError};
pub use interaction::{Interaction, InteractionKind, Interactions, MAX_INTERACTIONS, Surface};
pub use options::{LeftOut, MAX_ORDER, TraceOptions};
pub use path::{Path, PathGeometry, PathKind, azimuth, elevation};
pub use slab_response::{SlabCoefficients, SlabResponse};
pub use tracer::Tracer;
pub use world::{Receiver, World};
