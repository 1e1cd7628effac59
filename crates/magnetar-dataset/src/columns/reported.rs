//! What the receiver believes: `reported_room`, `reported_board`, `reported_rx`.

use arrow::array::{Array, ArrayRef, StructArray};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::{DataType, Field, FieldRef, Fields};
use arrow::error::ArrowError;
use magnetar_scene::Room;

use super::arrays::{fixed_lists, floats, push_all, structs, with_room};
use super::board::BOARD_YAW;
use super::describe::{field, fixed_list};
use super::members::{BOX, POSE, box_fields, box_numbers, box_shape, pose, pose_fields, pose_numbers};
use super::{ColumnError, ColumnGroup, GroupReader, GroupWriter, NamedColumns, ValueError};
use crate::record::Record;
use crate::reported::Reported;
use crate::schema::Shape;

const BOUNDS: usize = 6;

/// Datasets with model errors have them; elsewhere what is reported is the truth.
pub(super) struct ReportedColumns;

struct Writer {
    bounds: Vec<f64>,
    board: [Vec<f64>; BOX.len()],
    present: Vec<bool>,
    rx: [Vec<f64>; POSE.len()],
}

struct Reader<'a> {
    bounds: &'a [f64],
    present: &'a StructArray,
    board: [&'a [f64]; BOX.len()],
    rx: [&'a [f64]; POSE.len()],
}

impl ColumnGroup for ReportedColumns {
    fn fields(&self, shape: &Shape) -> Vec<Field> {
        if !shape.outings {
            return Vec::new();
        }
        let board = Fields::from(box_fields("board-local", BOARD_YAW));
        let pose = Fields::from(pose_fields());
        let bounds = fixed_list(DataType::Float64, BOUNDS);
        let what = "the board as the receiver believes it; null without one";
        vec![
            field("reported_room", bounds, "m", "global", "room bounds as the receiver believes them"),
            field("reported_board", DataType::Struct(board), "", "global", what).with_nullable(true),
            field("reported_rx", DataType::Struct(pose), "", "global", "RX pose as the receiver believes it"),
        ]
    }

    fn writer(&self, _: &Shape, rows: usize) -> Box<dyn GroupWriter> {
        Box::new(Writer {
            bounds: Vec::with_capacity(BOUNDS * rows),
            board: with_room(rows),
            present: Vec::with_capacity(rows),
            rx: with_room(rows),
        })
    }

    fn reader<'a>(&self, columns: &NamedColumns<'a>) -> Result<Option<Box<dyn GroupReader + 'a>>, ColumnError> {
        if columns.find("reported_rx").is_none() {
            return Ok(None);
        }
        let (present, board) = columns.nullable_members("reported_board")?;
        Ok(Some(Box::new(Reader {
            bounds: columns.floats_of_length("reported_room", BOUNDS)?,
            present,
            board: board.floats(BOX)?,
            rx: columns.members("reported_rx")?.floats(POSE)?,
        })))
    }
}

impl GroupWriter for Writer {
    fn push(&mut self, record: &Record) {
        let Reported { room, board, rx } = record.reported();
        self.bounds.extend(room.bounds());
        let numbers = board.map_or([0.0; BOX.len()], |shape| box_numbers(&shape));
        push_all(&mut self.board, numbers);
        self.present.push(board.is_some());
        push_all(&mut self.rx, pose_numbers(&rx));
    }

    fn finish(self: Box<Self>, fields: &[FieldRef]) -> Result<Vec<ArrayRef>, ArrowError> {
        let present = NullBuffer::new(BooleanBuffer::from(self.present));
        Ok(vec![
            fixed_lists(&fields[0], floats(self.bounds))?,
            structs(&fields[1], self.board.map(floats).into(), Some(present))?,
            structs(&fields[2], self.rx.map(floats).into(), None)?,
        ])
    }
}

impl GroupReader for Reader<'_> {
    fn read(&self, row: usize, record: &mut Record) -> Result<(), ValueError> {
        let mut bounds = [0.0; BOUNDS];
        bounds.copy_from_slice(&self.bounds[row * BOUNDS..(row + 1) * BOUNDS]);
        let room =
            Room::from_bounds(bounds).ok_or_else(|| ValueError::new("reported_room", "bounds are not in order"))?;
        let board = self.present.is_valid(row).then(|| box_shape(self.board.map(|column| column[row])));
        let rx = pose(self.rx.map(|column| column[row]));
        record.believed = Some(Reported { room, board, rx });
        Ok(())
    }
}
