//! Where the devices are: `tx`, `rx`.

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Field, FieldRef, Fields};
use arrow::error::ArrowError;

use super::arrays::{floats, push_all, structs, with_room};
use super::describe::field;
use super::members::{POSE, pose, pose_fields, pose_numbers};
use super::{ColumnError, ColumnGroup, GroupReader, GroupWriter, NamedColumns, ValueError};
use crate::record::Record;
use crate::schema::Shape;

/// Every dataset has them.
pub(super) struct PoseColumns;

struct Writer {
    tx: [Vec<f64>; POSE.len()],
    rx: [Vec<f64>; POSE.len()],
}

struct Reader<'a> {
    tx: [&'a [f64]; POSE.len()],
    rx: [&'a [f64]; POSE.len()],
}

impl ColumnGroup for PoseColumns {
    fn fields(&self, _: &Shape) -> Vec<Field> {
        let members = Fields::from(pose_fields());
        let pose = |name, what| field(name, DataType::Struct(members.clone()), "", "global", what);
        vec![pose("tx", "TX pose"), pose("rx", "RX pose")]
    }

    fn writer(&self, _: &Shape, rows: usize) -> Box<dyn GroupWriter> {
        Box::new(Writer { tx: with_room(rows), rx: with_room(rows) })
    }

    fn reader<'a>(&self, columns: &NamedColumns<'a>) -> Result<Option<Box<dyn GroupReader + 'a>>, ColumnError> {
        let (tx, rx) = (columns.members("tx")?.floats(POSE)?, columns.members("rx")?.floats(POSE)?);
        Ok(Some(Box::new(Reader { tx, rx })))
    }
}

impl GroupWriter for Writer {
    fn push(&mut self, record: &Record) {
        for (columns, pose) in [(&mut self.tx, &record.tx), (&mut self.rx, &record.rx)] {
            push_all(columns, pose_numbers(pose));
        }
    }

    fn finish(self: Box<Self>, fields: &[FieldRef]) -> Result<Vec<ArrayRef>, ArrowError> {
        Ok(vec![
            structs(&fields[0], self.tx.map(floats).into(), None)?,
            structs(&fields[1], self.rx.map(floats).into(), None)?,
        ])
    }
}

impl GroupReader for Reader<'_> {
    fn read(&self, row: usize, record: &mut Record) -> Result<(), ValueError> {
        record.tx = pose(self.tx.map(|column| column[row]));
        record.rx = pose(self.rx.map(|column| column[row]));
        Ok(())
    }
}
