//! What decides a dataset's columns: the version of the schema and the recipe's choices.

use std::sync::Arc;

use arrow::datatypes::Schema;

use crate::columns;
use crate::recipe::{Csi, Recipe};

/// Version of the columns; it changes when a column does.
pub const SCHEMA_VERSION: u32 = 1;

/// What decides the columns' types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Frequency bins of an observation.
    pub bins: usize,
    /// Arrivals kept (K).
    pub keep: usize,
    /// How observations are stored.
    pub csi: Csi,
    /// Whether rows replay a measurement campaign.
    pub replay: bool,
}

impl Shape {
    /// The shape a recipe asks for.
    #[must_use]
    pub fn of(recipe: &Recipe) -> Self {
        Self { bins: recipe.band.bins, keep: recipe.sre.keep, csi: recipe.store.csi, replay: recipe.replay.is_some() }
    }

    /// Numbers in one stored observation: bins x channels x (re, im).
    #[must_use]
    pub fn csi_len(&self) -> usize {
        self.bins * 4
    }

    /// The schema of a shard.
    #[must_use]
    pub fn schema(&self) -> Arc<Schema> {
        columns::schema(self)
    }
}
