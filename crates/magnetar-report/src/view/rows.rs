//! Rows of a dataset, one at a time.

use indexmap::IndexMap;
use magnetar_dataset::{Columns, Dataset, Record};
use serde_json::{Value, json};

use super::protocol::RowRequest;
use crate::error::ReportError;

/// A dataset to step through.
pub struct Rows {
    dataset: Dataset,
    /// Rows that are there, by split.
    splits: IndexMap<String, u64>,
    start: Option<RowRequest>,
}

impl Rows {
    /// Over an open dataset.
    #[must_use]
    pub fn new(dataset: Dataset) -> Self {
        let splits =
            dataset.manifest().splits.iter().map(|(name, split)| (name.clone(), split.present_rows())).collect();
        Self { dataset, splits, start: None }
    }

    /// The dataset.
    #[must_use]
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// The same, beginning at a row of a split.
    ///
    /// # Errors
    /// If there is no such split, or no row at all.
    pub fn starting_at(mut self, split: Option<&str>, row: Option<u64>) -> Result<Self, ReportError> {
        let first = self.first()?;
        let split = match split {
            Some(name) => self.dataset.split(name).map(|_| name.to_owned())?,
            None => first.split,
        };
        self.start = Some(RowRequest { split, index: row.unwrap_or(0) });
        Ok(self)
    }

    /// The row to begin with.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn first(&self) -> Result<RowRequest, ReportError> {
        if let Some(start) = &self.start {
            return Ok(start.clone());
        }
        let split = self.dataset.manifest().splits.iter().find(|(_, split)| split.present_rows() > 0);
        let (name, split) = split.ok_or_else(|| ReportError::NoRows(self.dataset.folder().display().to_string()))?;
        let index = split.shards.iter().filter(|shard| shard.rows > 0).map(|shard| shard.start).min().unwrap_or(0);
        Ok(RowRequest { split: name.clone(), index })
    }

    /// One row with everything that is stored of it.
    pub(super) fn read(&self, row: &RowRequest) -> Result<Record, ReportError> {
        Ok(self.dataset.read_row(&row.split, row.index, Columns::All)?)
    }

    /// What the page needs to step: splits with their rows, and the row to begin with.
    pub(super) fn to_json(&self) -> Value {
        json!({ "splits": self.splits, "row": self.first().ok() })
    }
}
