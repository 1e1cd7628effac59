//! The rows of a split as Arrow columns, batch by batch.

use std::borrow::Borrow;

use arrow::array::RecordBatch;

use crate::dataset::{Columns, Dataset};
use crate::error::DatasetError;
use crate::guarded::Batches;
use crate::manifest::ShardInfo;
use crate::record::Record;

/// The rows of a split that are there, in index order, as Arrow columns, a few hundred in memory at a time. After an error
/// the iterator ends. It borrows its dataset, or shares it.
pub struct RowBatches<D> {
    dataset: D,
    split: String,
    columns: Columns,
    shards: std::vec::IntoIter<ShardInfo>,
    batches: Option<Batches>,
    /// Rows of the next shard that are left out.
    skip: u64,
    /// Rows still to come, at most.
    left: u64,
}

impl<D: Borrow<Dataset>> RowBatches<D> {
    /// All rows of a split.
    ///
    /// # Errors
    /// If there is no such split.
    pub fn new(dataset: D, split: &str, columns: Columns) -> Result<Self, DatasetError> {
        let shards = dataset.borrow().split(split)?.shards.clone();
        Ok(Self::of_shards(dataset, split, columns, shards))
    }

    /// The rows of some shards.
    pub(crate) fn of_shards(dataset: D, split: &str, columns: Columns, shards: Vec<ShardInfo>) -> Self {
        let shards = shards.into_iter();
        Self { dataset, split: split.to_owned(), columns, shards, batches: None, skip: 0, left: u64::MAX }
    }

    /// Only those with an index from `start` on, `rows` of them at most. To be called before the first is taken.
    #[must_use]
    pub fn from_row(mut self, start: u64, rows: u64) -> Self {
        let shards: Vec<_> = self.shards.filter(|shard| shard.start + shard.rows > start).collect();
        self.skip = shards.first().map_or(0, |first| start.saturating_sub(first.start));
        (self.shards, self.left) = (shards.into_iter(), rows);
        self
    }

    /// The rows of a batch as records.
    ///
    /// # Errors
    /// Names the column, and the row where there is one, that is not as it should be.
    pub(crate) fn decode(&self, batch: &RecordBatch) -> Result<Vec<Record>, DatasetError> {
        self.dataset.borrow().decode(&self.split, batch)
    }

    /// Ends the iterator.
    pub(crate) fn stop(&mut self) {
        (self.batches, self.left) = (None, 0);
    }

    fn advance(&mut self) -> Result<Option<RecordBatch>, DatasetError> {
        loop {
            if let Some(batch) = self.batches.as_mut().and_then(Iterator::next) {
                return batch.map(Some);
            }
            let Some(shard) = self.shards.next() else { return Ok(None) };
            let dataset = self.dataset.borrow();
            let path = shard.file(dataset.folder(), &self.split);
            let builder = dataset.builder(&self.split, &shard, self.columns)?;
            let skip = std::mem::take(&mut self.skip);
            self.batches = Some(Batches::new(builder, path, &shard, skip, shard.rows - skip)?);
        }
    }
}

impl<D: Borrow<Dataset>> Iterator for RowBatches<D> {
    type Item = Result<RecordBatch, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        match self.advance() {
            Ok(batch) => {
                let batch = batch?;
                let rows = usize::try_from(self.left).unwrap_or(usize::MAX).min(batch.num_rows());
                self.left -= rows as u64;
                Some(Ok(batch.slice(0, rows)))
            }
            Err(error) => {
                self.stop();
                Some(Err(error))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::job::Job;
    use crate::plan::Plan;
    use crate::recipe::Recipe;

    #[test]
    fn rows_from_any_start_are_those_of_the_whole_split() {
        let folder = tempfile::tempdir().unwrap();
        let sets = ["splits.val.no_board=300", "splits.val.board=400", "store.shard_rows=256"].map(String::from);
        let recipe = Recipe::load("paper", &sets).unwrap();
        let splits = vec!["val".to_owned()];
        let job = Job { splits, ..Job::new(Arc::new(recipe), 1, folder.path()) };
        Plan::new(job).unwrap().run(&|_| ()).unwrap();
        let dataset = Arc::new(Dataset::open(folder.path()).unwrap());
        let all: Vec<_> = dataset.records("val", Columns::WithoutCsi).unwrap().map(Result::unwrap).collect();
        assert_eq!(all.len(), 700);
        for (start, rows) in [(0, u64::MAX), (0, 10), (255, 2), (256, 300), (699, 5), (700, 5), (0, 0)] {
            let batches = RowBatches::new(Arc::clone(&dataset), "val", Columns::WithoutCsi).unwrap();
            let batches = batches.from_row(start, rows);
            let found: Vec<_> = batches.flat_map(|batch| crate::columns::records(&batch.unwrap()).unwrap()).collect();
            let end = start.saturating_add(rows).min(700);
            assert_eq!(found, all[start as usize..end as usize], "{start} {rows}");
        }
    }
}
