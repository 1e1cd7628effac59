//! Pictures and pages of scenes, corpora and posteriors.
//!
//! A small chart core ([`chart`], [`svg`]) draws SVG with one palette ([`palette`]); [`png_from_svg`] renders it with
//! an embedded font. Everything else is made of these.

pub mod chart;
pub mod colormap;
mod error;
pub mod palette;
pub mod plan;
mod png;
pub mod svg;
pub mod ticks;

pub use error::ReportError;
pub use palette::Theme;
pub use png::png_from_svg;
