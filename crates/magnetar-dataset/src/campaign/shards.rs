//! The shards of a split of measured rows while they are written.

use super::destination::Destination;
use crate::columns::BatchBuilder;
use crate::error::DatasetError;
use crate::manifest::Manifest;
use crate::record::Record;
use crate::shard::{ShardPlan, ShardWriter};

/// Rows encoded at a time.
const CHUNK_ROWS: usize = 64;

/// The shards of a split while they are written.
pub(super) struct Shards<'a> {
    destination: &'a Destination<'a>,
    split: &'a str,
    rows: u64,
    shard_rows: u64,
    /// Index of the next row.
    pub(super) next: u64,
    writer: Option<Box<UnfinishedShard>>,
}

struct UnfinishedShard {
    records: Vec<Record>,
    batches: Vec<arrow::array::RecordBatch>,
    plan: (u64, u64, u64),
}

impl<'a> Shards<'a> {
    pub(super) fn new(destination: &'a Destination<'a>, split: &'a str, rows: u64, shard_rows: u64) -> Self {
        Self { destination, split, rows, shard_rows, next: 0, writer: None }
    }

    pub(super) fn push(&mut self, manifest: &mut Manifest, record: &Record) -> Result<(), DatasetError> {
        let number = self.next / self.shard_rows;
        let start = number * self.shard_rows;
        let plan = (number, start, self.shard_rows.min(self.rows - start));
        let open = self
            .writer
            .get_or_insert_with(|| Box::new(UnfinishedShard { records: Vec::new(), batches: Vec::new(), plan }));
        open.records.push(record.clone());
        self.next += 1;
        if open.records.len() == CHUNK_ROWS {
            open.encode(manifest)?;
        }
        if self.next == start + plan.2 {
            self.finish(manifest)?;
        }
        Ok(())
    }

    /// Writes the open shard.
    pub(super) fn finish(&mut self, manifest: &mut Manifest) -> Result<(), DatasetError> {
        let Some(mut open) = self.writer.take() else { return Ok(()) };
        open.encode(manifest)?;
        let (number, start, rows) = open.plan;
        let path = Manifest::shard_path(self.destination.path(), self.split, number);
        let mut writer =
            ShardWriter::create(path, manifest, ShardPlan { split: self.split, number, start, rows }, Vec::new())?;
        for batch in &open.batches {
            writer.write(batch)?;
        }
        manifest.add(self.split, self.destination.finish(self.split, writer)?);
        Ok(())
    }
}

impl UnfinishedShard {
    fn encode(&mut self, manifest: &Manifest) -> Result<(), DatasetError> {
        if self.records.is_empty() {
            return Ok(());
        }
        let mut batch = BatchBuilder::new(manifest.shape(), self.records.len());
        self.records.iter().for_each(|record| batch.push(record));
        let (first, last) = (self.records[0].index, self.records[self.records.len() - 1].index);
        let batch = batch.finish().map_err(|source| DatasetError::Batch { rows: first..last + 1, source })?;
        self.batches.push(batch);
        self.records.clear();
        Ok(())
    }
}
