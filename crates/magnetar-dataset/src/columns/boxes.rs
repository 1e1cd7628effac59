//! The boxes of a recipe's scene as they stand in the row's room: `boxes`.

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Field, FieldRef, Fields};
use arrow::error::ArrowError;
use magnetar_scene::BoxShape;
use nalgebra::{Point3, Vector3};

use super::arrays::{floats, lists_of_structs, push_all};
use super::describe::{field, list};
use super::{ColumnError, ColumnGroup, GroupReader, GroupWriter, NamedColumns, ValueError};
use crate::record::Record;
use crate::schema::{Shape, WITH_BOXES};

const BOXES: &str = "boxes";
const NUMBERS: [&str; 7] = ["x", "y", "z", "width", "thickness", "height", "yaw"];

/// Datasets whose recipe has a scene have them.
pub(super) struct BoxColumns;

struct Writer {
    /// Where the list of each row ends; 0 first.
    ends: Vec<i32>,
    numbers: [Vec<f64>; NUMBERS.len()],
}

struct Reader<'a> {
    ends: &'a [i32],
    numbers: [&'a [f64]; NUMBERS.len()],
}

impl ColumnGroup for BoxColumns {
    fn fields(&self, shape: &Shape) -> Vec<Field> {
        if !shape.scene || shape.version < WITH_BOXES {
            return Vec::new();
        }
        let [x, y, z, width, thickness, height, yaw] = NUMBERS;
        let number = |name, unit, frame, what| field(name, DataType::Float64, unit, frame, what);
        let members = Fields::from(vec![
            number(x, "m", "global", "centre"),
            number(y, "m", "global", "centre"),
            number(z, "m", "global", "centre"),
            number(width, "m", "box-local x", "full size"),
            number(thickness, "m", "box-local y", "full size"),
            number(height, "m", "z", "full size"),
            number(yaw, "rad", "global", "of the box-local x axis, counter-clockwise from +x"),
        ]);
        let what = "the boxes of the recipe's scene, in its order, as they stand in this room";
        vec![field(BOXES, list(DataType::Struct(members)), "", "global", what)]
    }

    fn writer(&self, _: &Shape, _: usize) -> Box<dyn GroupWriter> {
        Box::new(Writer { ends: vec![0], numbers: Default::default() })
    }

    fn reader<'a>(&self, columns: &NamedColumns<'a>) -> Result<Option<Box<dyn GroupReader + 'a>>, ColumnError> {
        if columns.find(BOXES).is_none() {
            return Ok(None);
        }
        let (ends, members) = columns.lists_of_structs(BOXES)?;
        Ok(Some(Box::new(Reader { ends, numbers: members.floats(NUMBERS)? })))
    }
}

impl GroupWriter for Writer {
    fn push(&mut self, record: &Record) {
        for BoxShape { center, size, yaw } in &record.boxes {
            push_all(&mut self.numbers, [center.x, center.y, center.z, size.x, size.y, size.z, *yaw]);
        }
        self.ends.push(i32::try_from(self.numbers[0].len()).unwrap_or(i32::MAX));
    }

    fn finish(self: Box<Self>, fields: &[FieldRef]) -> Result<Vec<ArrayRef>, ArrowError> {
        Ok(vec![lists_of_structs(&fields[0], self.ends, self.numbers.map(floats).into())?])
    }
}

impl GroupReader for Reader<'_> {
    fn read(&self, row: usize, record: &mut Record) -> Result<(), ValueError> {
        let place = |i: i32| usize::try_from(i).unwrap_or(0);
        record.boxes.clear();
        for i in place(self.ends[row])..place(self.ends[row + 1]) {
            let [x, y, z, width, thickness, height, yaw] = self.numbers.map(|column| column[i]);
            let (center, size) = (Point3::new(x, y, z), Vector3::new(width, thickness, height));
            record.boxes.push(BoxShape { center, size, yaw });
        }
        Ok(())
    }
}
