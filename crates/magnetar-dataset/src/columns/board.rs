//! The reflector board: `board`, null without one.

use arrow::array::{Array, ArrayRef, StringArray, StructArray};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::{DataType, Field, FieldRef, Fields};
use arrow::error::ArrowError;

use super::arrays::{floats, push_all, structs, text, with_room};
use super::describe::field;
use super::members::{BOX, box_fields, box_numbers, box_shape};
use super::{ColumnError, ColumnGroup, GroupReader, GroupWriter, NamedColumns, ValueError};
use crate::layout::Board;
use crate::placement::Region;
use crate::record::Record;
use crate::schema::Shape;

/// What the yaw of a board is.
pub(super) const BOARD_YAW: &str = "of the board-local x axis, counter-clockwise from +x, in [-pi/2, pi/2)";

/// Every dataset has it.
pub(super) struct BoardColumns;

struct Writer {
    numbers: [Vec<f64>; BOX.len()],
    region: Vec<&'static str>,
    present: Vec<bool>,
}

struct Reader<'a> {
    board: &'a StructArray,
    numbers: [&'a [f64]; BOX.len()],
    region: &'a StringArray,
}

impl ColumnGroup for BoardColumns {
    fn fields(&self, _: &Shape) -> Vec<Field> {
        let mut members = box_fields("board-local", BOARD_YAW);
        let regions = "across, beside, behind_tx, behind_rx or free";
        members.push(field("region", DataType::Utf8, "name", "link-relative", regions));
        let board = DataType::Struct(Fields::from(members));
        let board = field("board", board, "", "global", "the reflector board; null without one");
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
        let (numbers, region) = (members.floats(BOX)?, members.text("region")?);
        Ok(Some(Box::new(Reader { board, numbers, region })))
    }
}

impl GroupWriter for Writer {
    fn push(&mut self, record: &Record) {
        let numbers = record.layout.board.map_or([0.0; BOX.len()], |board| box_numbers(&board.shape));
        push_all(&mut self.numbers, numbers);
        self.region.push(record.layout.board.map_or("", |board| board.region.label()));
        self.present.push(record.layout.board.is_some());
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
            record.layout.board = None;
            return Ok(());
        }
        let region = self.region.value(row);
        let region = Region::from_label(region)
            .ok_or_else(|| ValueError::new("board", format!("region {region:?} is unknown")))?;
        let shape = box_shape(self.numbers.map(|column| column[row]));
        record.layout.board = Some(Board { shape, region });
        Ok(())
    }
}
