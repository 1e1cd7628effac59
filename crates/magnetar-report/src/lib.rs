//! Pictures and pages of scenes, corpora and posteriors.
//!
//! A small chart core ([`chart`], [`svg`]) draws SVG with one palette ([`palette`]); [`png_from_svg`] renders it with
//! an embedded font. Everything else is made of these.

#![allow(clippy::disallowed_methods, reason = "a picture is not data: its last bits may differ by processor")]

pub mod chart;
pub mod colormap;
pub mod corpus;
mod coverage;
mod delay_profile;
mod error;
pub mod figure;
mod link_scorer;
pub mod palette;
pub mod plan;
mod png;
pub mod report;
mod signal_charts;
mod simulator;
pub mod svg;
pub mod sweep;
pub mod ticks;
pub mod view;

pub use coverage::{CoverageLink, CoverageMap};
pub use delay_profile::DelayProfile;
pub use error::ReportError;
pub use link_scorer::{LinkScorer, knowledge_in_words};
pub use palette::Theme;
pub use png::png_from_svg;
pub use signal_charts::{ProfileMark, channel_chart, delay_chart, titled_channel_chart};
pub use simulator::{LinkPath, LinkSettings, SimulatedLink, Simulator};
