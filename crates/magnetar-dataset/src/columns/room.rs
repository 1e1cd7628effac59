//! The room and what its surfaces are made of: `room`, `materials`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, StringArray};
use arrow::datatypes::{DataType, Field, FieldRef, Fields};
use arrow::error::ArrowError;
use magnetar_scene::Room;

use super::arrays::{fixed_lists, floats, structs, text};
use super::describe::{field, fixed_list};
use super::{ColumnError, ColumnGroup, GroupReader, GroupWriter, NamedColumns, ValueError};
use crate::record::{Materials, Record};
use crate::schema::Shape;

/// Numbers that bound a room.
const BOUNDS: usize = 6;

/// Every dataset has them.
pub(super) struct RoomColumns;

struct Writer {
    bounds: Vec<f64>,
    wall: Vec<Arc<str>>,
    ceiling: Vec<Arc<str>>,
    floor: Vec<Arc<str>>,
    board: Vec<Option<Arc<str>>>,
}

struct Reader<'a> {
    bounds: &'a [f64],
    wall: &'a StringArray,
    ceiling: &'a StringArray,
    floor: &'a StringArray,
    board: &'a StringArray,
}

impl ColumnGroup for RoomColumns {
    fn fields(&self, _: &Shape) -> Vec<Field> {
        let name = |name, what| field(name, DataType::Utf8, "name", "", what);
        let materials = Fields::from(vec![
            name("wall", "material of the four walls; -x/+x/-y/+y where a scene's differ"),
            name("ceiling", "material of the ceiling"),
            name("floor", "material of the floor"),
            name("board", "material of the board; null without one").with_nullable(true),
        ]);
        let bounds = fixed_list(DataType::Float64, BOUNDS);
        vec![
            field("room", bounds, "m", "global", "xmin, xmax, ymin, ymax, zmin, zmax"),
            field("materials", DataType::Struct(materials), "name", "", "materials of the surfaces"),
        ]
    }

    fn writer(&self, _: &Shape, rows: usize) -> Box<dyn GroupWriter> {
        Box::new(Writer {
            bounds: Vec::with_capacity(BOUNDS * rows),
            wall: Vec::with_capacity(rows),
            ceiling: Vec::with_capacity(rows),
            floor: Vec::with_capacity(rows),
            board: Vec::with_capacity(rows),
        })
    }

    fn reader<'a>(&self, columns: &NamedColumns<'a>) -> Result<Option<Box<dyn GroupReader + 'a>>, ColumnError> {
        let materials = columns.members("materials")?;
        Ok(Some(Box::new(Reader {
            bounds: columns.floats_of_length("room", BOUNDS)?,
            wall: materials.text("wall")?,
            ceiling: materials.text("ceiling")?,
            floor: materials.text("floor")?,
            board: materials.nullable_text("board")?,
        })))
    }
}

impl GroupWriter for Writer {
    fn push(&mut self, record: &Record) {
        self.bounds.extend(record.layout.room.bounds());
        let materials = &record.materials;
        self.wall.push(Arc::clone(&materials.wall));
        self.ceiling.push(Arc::clone(&materials.ceiling));
        self.floor.push(Arc::clone(&materials.floor));
        self.board.push(materials.board.clone());
    }

    fn finish(self: Box<Self>, fields: &[FieldRef]) -> Result<Vec<ArrayRef>, ArrowError> {
        let board: ArrayRef = Arc::new(self.board.into_iter().collect::<StringArray>());
        let materials = vec![text(self.wall), text(self.ceiling), text(self.floor), board];
        Ok(vec![fixed_lists(&fields[0], floats(self.bounds))?, structs(&fields[1], materials, None)?])
    }
}

impl GroupReader for Reader<'_> {
    fn read(&self, row: usize, record: &mut Record) -> Result<(), ValueError> {
        let mut bounds = [0.0; BOUNDS];
        bounds.copy_from_slice(&self.bounds[row * BOUNDS..(row + 1) * BOUNDS]);
        record.layout.room =
            Room::from_bounds(bounds).ok_or_else(|| ValueError::new("room", "bounds are not in order"))?;
        let name = |column: &StringArray| Arc::<str>::from(column.value(row));
        record.materials = Materials {
            wall: name(self.wall),
            ceiling: name(self.ceiling),
            floor: name(self.floor),
            board: self.board.is_valid(row).then(|| name(self.board)),
        };
        Ok(())
    }
}
