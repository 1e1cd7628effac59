//! Exact line-of-sight and first-order specular radio paths between two points of a scene.

mod path;

pub use path::{Path, PathGeometry, PathKind, Surface, azimuth, elevation};
