//! Where the devices are: `tx`, `rx`.

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Field, FieldRef, Fields};
use arrow::error::ArrowError;
use magnetar_scene::Pose;
use nalgebra::Point3;

use super::arrays::{floats, push_all, structs, with_room};
use super::describe::field;
use super::{ColumnError, ColumnGroup, GroupReader, GroupWriter, NamedColumns, ValueError};
use crate::record::Record;
use crate::schema::Shape;

const NUMBERS: [&str; 4] = ["x", "y", "z", "heading"];

/// Every dataset has them.
pub(super) struct PoseColumns;

struct Writer {
    tx: [Vec<f64>; NUMBERS.len()],
    rx: [Vec<f64>; NUMBERS.len()],
}

struct Reader<'a> {
    tx: [&'a [f64]; NUMBERS.len()],
    rx: [&'a [f64]; NUMBERS.len()],
}

impl ColumnGroup for PoseColumns {
    fn fields(&self, _: &Shape) -> Vec<Field> {
        let [x, y, z, heading] = NUMBERS;
        let number = |name, unit, what| field(name, DataType::Float64, unit, "global", what);
        let members = Fields::from(vec![
            number(x, "m", "antenna position"),
            number(y, "m", "antenna position"),
            number(z, "m", "antenna position"),
            number(heading, "rad", "counter-clockwise from +x, in [-pi, pi)"),
        ]);
        let pose = |name, what| field(name, DataType::Struct(members.clone()), "", "global", what);
        vec![pose("tx", "TX pose"), pose("rx", "RX pose")]
    }

    fn writer(&self, _: &Shape, rows: usize) -> Box<dyn GroupWriter> {
        Box::new(Writer { tx: with_room(rows), rx: with_room(rows) })
    }

    fn reader<'a>(&self, columns: &NamedColumns<'a>) -> Result<Option<Box<dyn GroupReader + 'a>>, ColumnError> {
        let (tx, rx) = (columns.members("tx")?.floats(NUMBERS)?, columns.members("rx")?.floats(NUMBERS)?);
        Ok(Some(Box::new(Reader { tx, rx })))
    }
}

impl GroupWriter for Writer {
    fn push(&mut self, record: &Record) {
        for (columns, pose) in [(&mut self.tx, &record.tx), (&mut self.rx, &record.rx)] {
            push_all(columns, [pose.position.x, pose.position.y, pose.position.z, pose.heading]);
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
        let pose = |columns: &[&[f64]; NUMBERS.len()]| {
            let [x, y, z, heading] = columns.map(|column| column[row]);
            Pose { position: Point3::new(x, y, z), heading }
        };
        record.tx = pose(&self.tx);
        record.rx = pose(&self.rx);
        Ok(())
    }
}
