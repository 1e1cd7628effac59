//! What a sweep is: what its file says once it was checked, and what its manifest says afterwards.

use serde::{Deserialize, Serialize};

use super::axis::Axis;
use super::design::PointDesign;

/// Whether and how rows are scored by the twin posterior.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Posterior {
    /// Not at all.
    #[default]
    None,
    /// By a scorer that knows each point's own recipe.
    Own,
    /// By one scorer that knows the base recipe only: what an unnoticed change costs.
    Base,
}

impl Posterior {
    /// Its word in a sweep file.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Own => "own",
            Self::Base => "base",
        }
    }
}

/// A sweep without its points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// Name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The split.
    pub split: String,
    /// Rows of a point.
    pub rows: u64,
    /// The seed of all draws.
    pub seed: u64,
    /// How points are chosen.
    pub design: PointDesign,
    /// Whether each point's rows are kept as a dataset.
    pub store: bool,
    /// Whether rows are scored.
    pub posterior: Posterior,
    /// The axes.
    pub axes: Vec<Axis>,
}
