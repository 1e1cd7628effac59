//! Which row it is: `index`, `set`, `view`.

use std::sync::Arc;

use arrow::array::{ArrayRef, UInt32Array, UInt64Array};
use arrow::datatypes::{DataType, Field, FieldRef, UInt32Type, UInt64Type};
use arrow::error::ArrowError;

use super::describe::field;
use super::{ColumnError, ColumnGroup, GroupReader, GroupWriter, NamedColumns, ValueError};
use crate::record::Record;
use crate::schema::Shape;

/// Every dataset has them.
pub(super) struct RowNumberColumns;

struct Writer {
    index: Vec<u64>,
    set: Vec<u64>,
    view: Vec<u32>,
}

struct Reader<'a> {
    index: &'a [u64],
    set: &'a [u64],
    view: &'a [u32],
}

impl ColumnGroup for RowNumberColumns {
    fn fields(&self, _: &Shape) -> Vec<Field> {
        vec![
            field("index", DataType::UInt64, "row", "", "row number within the split"),
            field("set", DataType::UInt64, "set", "", "number of the set; rows of a set share TX pose and layout"),
            field("view", DataType::UInt32, "view", "", "number of the view within its set"),
        ]
    }

    fn writer(&self, _: &Shape, rows: usize) -> Box<dyn GroupWriter> {
        Box::new(Writer {
            index: Vec::with_capacity(rows),
            set: Vec::with_capacity(rows),
            view: Vec::with_capacity(rows),
        })
    }

    fn reader<'a>(&self, columns: &NamedColumns<'a>) -> Result<Option<Box<dyn GroupReader + 'a>>, ColumnError> {
        Ok(Some(Box::new(Reader {
            index: columns.numbers::<UInt64Type>("index")?,
            set: columns.numbers::<UInt64Type>("set")?,
            view: columns.numbers::<UInt32Type>("view")?,
        })))
    }
}

impl GroupWriter for Writer {
    fn push(&mut self, record: &Record) {
        self.index.push(record.index);
        self.set.push(record.set);
        self.view.push(record.view);
    }

    fn finish(self: Box<Self>, _: &[FieldRef]) -> Result<Vec<ArrayRef>, ArrowError> {
        Ok(vec![
            Arc::new(UInt64Array::from(self.index)),
            Arc::new(UInt64Array::from(self.set)),
            Arc::new(UInt32Array::from(self.view)),
        ])
    }
}

impl GroupReader for Reader<'_> {
    fn read(&self, row: usize, record: &mut Record) -> Result<(), ValueError> {
        record.index = self.index[row];
        record.set = self.set[row];
        record.view = self.view[row];
        Ok(())
    }
}
