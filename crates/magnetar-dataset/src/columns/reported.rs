//! What the receiver believes: `reported_room`, `reported_board`, `reported_rx`.

use arrow::array::{Array, ArrayRef, StructArray};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::{DataType, Field, FieldRef, Fields};
use arrow::error::ArrowError;
use magnetar_scene::{BoxShape, Pose, Room};
use nalgebra::{Point3, Vector3};

use super::arrays::{fixed_lists, floats, push_all, structs, with_room};
use super::describe::{field, fixed_list};
use super::{ColumnError, ColumnGroup, GroupReader, GroupWriter, NamedColumns, ValueError};
use crate::record::Record;
use crate::reported::Reported;
use crate::schema::Shape;

const BOUNDS: usize = 6;
const BOARD: [&str; 7] = ["x", "y", "z", "width", "thickness", "height", "yaw"];
const POSE: [&str; 4] = ["x", "y", "z", "heading"];

/// Datasets with model errors have them; elsewhere what is reported is the truth.
pub(super) struct ReportedColumns;

struct Writer {
    bounds: Vec<f64>,
    board: [Vec<f64>; BOARD.len()],
    present: Vec<bool>,
    rx: [Vec<f64>; POSE.len()],
}

struct Reader<'a> {
    bounds: &'a [f64],
    present: &'a StructArray,
    board: [&'a [f64]; BOARD.len()],
    rx: [&'a [f64]; POSE.len()],
}

impl ColumnGroup for ReportedColumns {
    fn fields(&self, shape: &Shape) -> Vec<Field> {
        if !shape.outings {
            return Vec::new();
        }
        let number = |name, unit, frame, what| field(name, DataType::Float64, unit, frame, what);
        let [x, y, z, width, thickness, height, yaw] = BOARD;
        let board = Fields::from(vec![
            number(x, "m", "global", "centre"),
            number(y, "m", "global", "centre"),
            number(z, "m", "global", "centre"),
            number(width, "m", "board-local x", "full size"),
            number(thickness, "m", "board-local y", "full size"),
            number(height, "m", "z", "full size"),
            number(yaw, "rad", "global", "of the board-local x axis, counter-clockwise from +x, in [-pi/2, pi/2)"),
        ]);
        let [x, y, z, heading] = POSE;
        let pose = Fields::from(vec![
            number(x, "m", "global", "antenna position"),
            number(y, "m", "global", "antenna position"),
            number(z, "m", "global", "antenna position"),
            number(heading, "rad", "global", "counter-clockwise from +x, in [-pi, pi)"),
        ]);
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
            board: board.floats(BOARD)?,
            rx: columns.members("reported_rx")?.floats(POSE)?,
        })))
    }
}

impl GroupWriter for Writer {
    fn push(&mut self, record: &Record) {
        let Reported { room, board, rx } = record.reported();
        self.bounds.extend(room.bounds());
        let numbers = board.map_or([0.0; BOARD.len()], |shape| {
            let (center, size) = (shape.center, shape.size);
            [center.x, center.y, center.z, size.x, size.y, size.z, shape.yaw]
        });
        push_all(&mut self.board, numbers);
        self.present.push(board.is_some());
        push_all(&mut self.rx, [rx.position.x, rx.position.y, rx.position.z, rx.heading]);
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
        let board = self.present.is_valid(row).then(|| {
            let [x, y, z, width, thickness, height, yaw] = self.board.map(|column| column[row]);
            BoxShape { center: Point3::new(x, y, z), size: Vector3::new(width, thickness, height), yaw }
        });
        let [x, y, z, heading] = self.rx.map(|column| column[row]);
        let rx = Pose { position: Point3::new(x, y, z), heading };
        record.believed = Some(Reported { room, board, rx });
        Ok(())
    }
}
