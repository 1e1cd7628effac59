//! A job: which rows to make, and where.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use magnetar_signal::SynthesisBackend;

use crate::error::DatasetError;
use crate::generator::Generator;
use crate::recipe::Recipe;
use crate::shard::ShardPlan;

/// Which shards of a split to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Slice {
    /// All of them.
    #[default]
    All,
    /// The `part`-th (from 1) of `parts` runs of shards that differ in length by at most one.
    Part {
        /// From 1 to `parts`.
        part: u64,
        /// How many parts.
        parts: u64,
    },
    /// Shards `first` to `last`, `last` excluded.
    Shards {
        /// The first.
        first: u64,
        /// One past the last.
        last: u64,
    },
}

/// What to generate.
#[derive(Debug, Clone)]
pub struct Job {
    /// The recipe.
    pub recipe: Arc<Recipe>,
    /// The seed.
    pub seed: u64,
    /// The dataset's folder.
    pub out: PathBuf,
    /// Splits by name; empty for all of the recipe's.
    pub splits: Vec<String>,
    /// Only the first so many samples (sets, where views share a layout) of each split.
    pub limit: Option<u64>,
    /// Which shards of each split.
    pub slice: Slice,
    /// Worker threads; 0 for one per core.
    pub threads: usize,
    /// Whether shards are durable once they have their names, and a stopped run is resumed. A part that is taken over at once
    /// ([`crate::gather`]) need not be: it has no card, and whoever takes it over makes it durable.
    pub durable: bool,
    /// What synthesises the observations; `None` for the worker threads themselves.
    pub backend: Option<Arc<dyn SynthesisBackend>>,
    /// A generator that was made before: it makes the rows if they are those of its recipe, seed and split.
    pub ready: Option<Arc<Generator>>,
}

impl Job {
    /// All rows of all splits of a recipe, made by as many threads as there are cores.
    #[must_use]
    pub fn new(recipe: Arc<Recipe>, seed: u64, out: &Path) -> Self {
        Self {
            recipe,
            seed,
            out: out.to_owned(),
            splits: Vec::new(),
            limit: None,
            slice: Slice::All,
            threads: 0,
            durable: true,
            backend: None,
            ready: None,
        }
    }
}

/// A shard to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pending {
    pub split: String,
    pub number: u64,
    pub start: u64,
    pub rows: u64,
    /// It takes the place of a shorter shard that is there and stays readable until then.
    pub replaces: bool,
}

impl Pending {
    pub(crate) fn plan(&self) -> ShardPlan<'_> {
        ShardPlan { split: &self.split, number: self.number, start: self.start, rows: self.rows }
    }
}

/// The shards a job asks of one split.
pub(crate) fn shards(job: &Job, split: &str, rows: u64) -> Result<Vec<Pending>, DatasetError> {
    let shard_rows = u64::from(job.recipe.store.shard_rows);
    let count = rows.div_ceil(shard_rows);
    let range = match job.slice {
        Slice::All => 0..count,
        Slice::Part { part, parts } => {
            if part == 0 || part > parts {
                return Err(DatasetError::Part { part, parts });
            }
            let edge = |i: u64| u64::try_from(u128::from(count) * u128::from(i) / u128::from(parts)).unwrap_or(count);
            edge(part - 1)..edge(part)
        }
        Slice::Shards { first, last } => {
            if first >= last || last > count {
                return Err(DatasetError::Shards { first, last, split: split.to_owned(), count, shard_rows });
            }
            first..last
        }
    };
    Ok(range
        .map(|number| {
            let start = number * shard_rows;
            Pending { split: split.to_owned(), number, start, rows: shard_rows.min(rows - start), replaces: false }
        })
        .collect())
}
