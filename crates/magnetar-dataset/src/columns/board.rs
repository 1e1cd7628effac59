//! The reflector board: `board`, null without one.

use arrow::array::{Array, ArrayRef, StringArray, StructArray};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::{DataType, Field, FieldRef, Fields};
use arrow::error::ArrowError;
use magnetar_scene::BoxShape;
use nalgebra::{Point3, Vector3};

use super::arrays::{floats, push_all, structs, text, with_room};
use super::describe::field;
use super::{ColumnError, ColumnGroup, GroupReader, GroupWriter, NamedColumns, ValueError};
use crate::draw::Board;
use crate::placement::Region;
use crate::record::Record;
use crate::schema::Shape;

const NUMBERS: [&str; 7] = ["x", "y", "z", "width", "thickness", "height", "yaw"];

/// Every dataset has it.
pub(super) struct BoardColumns;

struct Writer {
    numbers: [Vec<f64>; NUMBERS.len()],
    region: Vec<&'static str>,
    present: Vec<bool>,
}

struct Reader<'a> {
    board: &'a StructArray,
    numbers: [&'a [f64]; NUMBERS.len()],
    region: &'a StringArray,
}

impl ColumnGroup for BoardColumns {
    fn fields(&self, _: &Shape) -> Vec<Field> {
        let [x, y, z, width, thickness, height, yaw] = NUMBERS;
        let number = |name, unit, frame, what| field(name, DataType::Float64, unit, frame, what);
        let members = Fields::from(vec![
            number(x, "m", "global", "centre"),
            number(y, "m", "global", "centre"),
            number(z, "m", "global", "centre"),
            number(width, "m", "board-local x", "full size"),
            number(thickness, "m", "board-local y", "full size"),
            number(height, "m", "z", "full size"),
            number(yaw, "rad", "global", "of the board-local x axis, counter-clockwise from +x, in [-pi/2, pi/2)"),
            field("region", DataType::Utf8, "name", "link-relative", "across, beside, behind_tx, behind_rx or free"),
        ]);
        let board = field("board", DataType::Struct(members), "", "global", "the reflector board; null without one");
        vec![board.with_nullable(true)]
    }

    fn writer(&self, _: &Shape, rows: usize) -> Box<dyn GroupWriter> {
        Box::new(Writer {
            numbers: with_room(rows),
            region: Vec::with_capacity(rows),
            present: Vec::with_capacity(rows),
        })
    }

    fn reader<'a>(&self, columns: &NamedColumns<'a>) -> Result<Option<Box<dyn GroupReader + 'a>>, ColumnError> {
        let (board, members) = columns.nullable_members("board")?;
        let (numbers, region) = (members.floats(NUMBERS)?, members.text("region")?);
        Ok(Some(Box::new(Reader { board, numbers, region })))
    }
}

impl GroupWriter for Writer {
    fn push(&mut self, record: &Record) {
        let numbers = record.board.map_or([0.0; NUMBERS.len()], |board| {
            let (center, size) = (board.shape.center, board.shape.size);
            [center.x, center.y, center.z, size.x, size.y, size.z, board.shape.yaw]
        });
        push_all(&mut self.numbers, numbers);
        self.region.push(record.board.map_or("", |board| board.region.label()));
        self.present.push(record.board.is_some());
    }

    fn finish(self: Box<Self>, fields: &[FieldRef]) -> Result<Vec<ArrayRef>, ArrowError> {
        let mut members: Vec<ArrayRef> = self.numbers.map(floats).into();
        members.push(text(self.region));
        let present = NullBuffer::new(BooleanBuffer::from(self.present));
        Ok(vec![structs(&fields[0], members, Some(present))?])
    }
}

impl GroupReader for Reader<'_> {
    fn read(&self, row: usize, record: &mut Record) -> Result<(), ValueError> {
        if self.board.is_null(row) {
            record.board = None;
            return Ok(());
        }
        let [x, y, z, width, thickness, height, yaw] = self.numbers.map(|column| column[row]);
        let region = self.region.value(row);
        let region = Region::from_label(region)
            .ok_or_else(|| ValueError::new("board", format!("region {region:?} is unknown")))?;
        let shape = BoxShape { center: Point3::new(x, y, z), size: Vector3::new(width, thickness, height), yaw };
        record.board = Some(Board { shape, region });
        Ok(())
    }
}
