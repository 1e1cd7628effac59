//! The columns of a dataset, by group: one file per group says its fields, how it writes a row and how it reads one.
//!
//! To add a group, write its file and add a line to [`GROUPS`]; a group that older datasets lack gives no reader where its
//! columns are missing, and the record's field stays `None`.

mod access;
mod arrays;
mod arrivals;
mod batch;
mod board;
mod boxes;
mod compatible;
pub(crate) mod csi;
mod describe;
mod error;
mod interactions;
mod left_out;
mod members;
mod outing;
mod paths;
mod pose;
mod replay;
mod reported;
mod rf_chain;
mod room;
mod row_number;
mod values;

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{Field, FieldRef, Schema};
use arrow::error::ArrowError;

pub(crate) use self::access::NamedColumns;
pub(crate) use self::batch::BatchBuilder;
pub(crate) use self::compatible::{check_schema, leaf_name, leaf_names};
pub use self::error::ColumnError;
pub(crate) use self::error::ValueError;
pub(crate) use self::members::wave_numbers;
pub(crate) use self::values::leaves;
use crate::record::Record;
use crate::schema::Shape;

/// All groups, in the order of their columns.
const GROUPS: [&dyn ColumnGroup; 13] = [
    &row_number::RowNumberColumns,
    &room::RoomColumns,
    &boxes::BoxColumns,
    &board::BoardColumns,
    &pose::PoseColumns,
    &rf_chain::RfChainColumns,
    &paths::PathColumns,
    &left_out::LeftOutColumns,
    &arrivals::ArrivalColumns,
    &replay::ReplayColumns,
    &reported::ReportedColumns,
    &outing::OutingColumns,
    &csi::CsiColumns,
];

/// Columns that belong together.
pub(crate) trait ColumnGroup: Sync {
    /// Its fields with unit, frame and meaning; none if datasets of this shape do not have the group.
    fn fields(&self, shape: &Shape) -> Vec<Field>;

    /// What takes rows of this shape in, with room for `rows` of them.
    fn writer(&self, shape: &Shape, rows: usize) -> Box<dyn GroupWriter>;

    /// What gives rows back; `None` if these columns do not hold the group.
    ///
    /// # Errors
    /// If a column is missing that every dataset with this group has, or is of another type.
    fn reader<'a>(&self, columns: &NamedColumns<'a>) -> Result<Option<Box<dyn GroupReader + 'a>>, ColumnError>;
}

/// The columns of a group while they grow row by row.
pub(crate) trait GroupWriter: Send {
    /// Adds a row.
    fn push(&mut self, record: &Record);

    /// The columns, one array for each of the group's fields.
    ///
    /// # Errors
    /// If a row did not have the size that the fields say.
    fn finish(self: Box<Self>, fields: &[FieldRef]) -> Result<Vec<ArrayRef>, ArrowError>;
}

/// The columns of a group of a batch.
pub(crate) trait GroupReader {
    /// Puts a row's part into its record.
    ///
    /// # Errors
    /// If the row holds something that no row of ours can.
    fn read(&self, row: usize, record: &mut Record) -> Result<(), ValueError>;
}

/// The schema of a shard of this shape.
pub(crate) fn schema(shape: &Shape) -> Arc<Schema> {
    Arc::new(Schema::new(GROUPS.iter().flat_map(|group| group.fields(shape)).collect::<Vec<_>>()))
}

/// The rows of a batch, whoever made it.
///
/// # Errors
/// Names the column, and the row where there is one, that is not as it should be.
pub fn records(batch: &RecordBatch) -> Result<Vec<Record>, ColumnError> {
    let columns = NamedColumns::of_batch(batch);
    let mut readers = Vec::with_capacity(GROUPS.len());
    for group in GROUPS {
        readers.extend(group.reader(&columns)?);
    }
    let read = |row: usize| {
        let mut record = Record::blank();
        for reader in &readers {
            reader.read(row, &mut record).map_err(|problem| problem.in_row(record.index))?;
        }
        Ok(record)
    };
    (0..batch.num_rows()).map(read).collect()
}
