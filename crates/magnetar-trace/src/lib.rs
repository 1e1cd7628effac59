//! Exact radio paths between two points of a scene: line of sight, specular reflections up to third order, and straight
//! passages through boxes.
//!
//! By default surfaces are opaque and paths of first order: nothing is transmitted, so a path exists where its straight
//! legs are free. Coefficients are those of Sionna RT for vertically polarised isotropic antennas, with the single-layer
//! slab of ITU-R P.2040.
//!
//! ```
//! use magnetar_scene::{MaterialLibrary, Scene};
//! use magnetar_trace::Tracer;
//! use nalgebra::Point3;
//!
//! let carrier_hz = 10e9;
//! let world = Scene::load("lab_middle")?.resolve(&MaterialLibrary::shipped(), carrier_hz)?;
//! let tracer = Tracer::new(world.room, &world.surfaces, &world.boxes, carrier_hz)?;
//! let (tx, rx) = (Point3::new(0.98, 2.28, 1.08), Point3::new(1.0, -1.0, 1.08));
//! for path in tracer.trace(&tx, &rx)? {
//!     let gain_db = 20.0 * path.coefficient.norm().log10();
//!     println!("{:<10} {:6.2} ns {gain_db:7.1} dB", path.interactions().to_string(), 1e9 * path.delay());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests compare with the platform's functions"))]

mod beam;
mod block;
mod error;
mod faces;
mod flat_bounds;
mod interaction;
mod lattice;
mod options;
mod path;
mod path_batch;
mod polarisation;
mod processor;
mod response;
pub mod sionna;
mod slab_batch;
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
pub use processor::{PROCESSOR_CLASS, VECTORS_VARIABLE, has_avx2};
pub use slab_response::{SlabCoefficients, SlabResponse};
pub use tracer::Tracer;
pub use world::{FixedReceiver, World};
