//! A point of a sweep, and what was measured there.

use std::sync::Arc;

use indexmap::IndexMap;
use magnetar_dataset::recipe::hex;
use magnetar_dataset::{GENERATOR_VERSION, Recipe};
use magnetar_signal::PROCESSOR_CLASS;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::axis::{Axis, Setting};
use super::definition::Definition;
use super::measure::Metric;
use crate::StudyError;

/// A point: one recipe.
#[derive(Debug, Clone)]
pub struct Point {
    /// Its number within the sweep.
    pub number: usize,
    /// The value of each axis.
    pub settings: Vec<Setting>,
    /// The base recipe with those values.
    pub recipe: Arc<Recipe>,
}

impl Point {
    /// `axis = value` of all axes.
    #[must_use]
    pub fn label(&self, axes: &[Axis]) -> String {
        let pairs = axes.iter().zip(&self.settings).map(|(axis, setting)| format!("{} = {}", axis.name, setting.label));
        pairs.collect::<Vec<_>>().join(", ")
    }

    /// An error, with the point it belongs to.
    pub(super) fn fault(&self, axes: &[Axis], error: StudyError) -> StudyError {
        StudyError::Point { number: self.number, label: self.label(axes), source: Box::new(error) }
    }

    /// SHA-256 (hex) of everything that a point's result depends on.
    pub(super) fn hash(&self, sweep: &Definition, metrics: &str) -> String {
        let mut hash = Sha256::new();
        for part in [
            "magnetar sweep point v1",
            env!("CARGO_PKG_VERSION"),
            &GENERATOR_VERSION.to_string(),
            PROCESSOR_CLASS,
            &self.recipe.hash(),
            &sweep.split,
            &sweep.seed.to_string(),
            &sweep.rows.to_string(),
            metrics,
        ] {
            hash.update(part.as_bytes());
            hash.update(b"\0");
        }
        hex(&hash.finalize())
    }
}

/// What was measured at a point; a file of its own, named by the hash of what it depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointResult {
    /// Hash of all that the result depends on.
    pub hash: String,
    /// Rows measured.
    pub rows: u64,
    /// The metrics, in the same order at every point.
    pub metrics: Vec<Metric>,
    /// Values row by row of the metrics that are means over rows, for differences between points.
    pub by_row: IndexMap<String, Vec<f64>>,
    /// The point's recipe.
    pub recipe: Recipe,
}

impl PointResult {
    /// A metric by name.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.name == name)
    }
}
