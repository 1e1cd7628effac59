//! The world of magnetar: rooms, boxes, materials, antenna patterns and poses; files in, checked values out.
//!
//! SI units and radians inside; degrees only in files and on screens, with the unit in the name. The global frame
//! has z up; headings run counter-clockwise from +x in [-pi, pi).

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests compare with the platform's functions"))]

mod angle;
mod block;
mod error;
mod material;
mod material_file;
mod material_library;
pub mod occupancy_map;
mod pattern;
mod pose;
mod room;
mod scene;
mod scene_file;
mod shipped;
mod slab;
mod text;

#[cfg(test)]
mod material_tests;
#[cfg(test)]
mod mutation_tests;
#[cfg(test)]
mod scene_tests;

pub use angle::wrap;
pub use block::BoxShape;
pub use error::{Place, SceneError};
pub use material::{Material, MaterialRange};
pub use material_library::MaterialLibrary;
pub use pattern::{AntennaPattern, Cut, PatternInfo, synthetic_vivaldi, synthetic_vivaldi_gain_db};
pub use pose::Pose;
pub use room::{Face, Room};
pub use scene::{Layer, MAX_BOXES, MAX_COORDINATE, ResolvedScene, Scene, SceneBox};
pub use slab::Slab;

/// Speed of light in vacuum, m/s (exact by definition of the metre).
pub const SPEED_OF_LIGHT: f64 = 299_792_458.0;

/// Vacuum permittivity, F/m (CODATA 2022).
pub const VACUUM_PERMITTIVITY: f64 = 8.854_187_818_8e-12;
