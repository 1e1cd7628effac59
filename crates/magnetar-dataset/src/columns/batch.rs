//! Rows on their way into a record batch.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use arrow::error::ArrowError;

use super::{GROUPS, GroupWriter, schema};
use crate::record::Record;
use crate::schema::Shape;

/// A record batch that grows row by row.
pub(crate) struct BatchBuilder {
    schema: Arc<Schema>,
    /// The groups that the shape has, each with its number of columns.
    writers: Vec<(usize, Box<dyn GroupWriter>)>,
    rows: usize,
}

impl BatchBuilder {
    /// Room for `rows` rows.
    pub(crate) fn new(shape: Shape, rows: usize) -> Self {
        let columns = GROUPS.iter().map(|group| (group, group.fields(&shape).len())).filter(|(_, count)| *count > 0);
        let writers = columns.map(|(group, count)| (count, group.writer(&shape, rows))).collect();
        Self { schema: schema(&shape), writers, rows: 0 }
    }

    /// Adds a row. Its observation must be there if the shape stores one.
    pub(crate) fn push(&mut self, record: &Record) {
        for (_, writer) in &mut self.writers {
            writer.push(record);
        }
        self.rows += 1;
    }

    /// Rows so far.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// The rows as a batch.
    ///
    /// # Errors
    /// Only if a row's observation had another size than the shape says.
    pub(crate) fn finish(self) -> Result<RecordBatch, ArrowError> {
        let mut columns = Vec::with_capacity(self.schema.fields().len());
        for (count, writer) in self.writers {
            let first = columns.len();
            columns.extend(writer.finish(&self.schema.fields()[first..first + count])?);
        }
        RecordBatch::try_new(self.schema, columns)
    }
}
