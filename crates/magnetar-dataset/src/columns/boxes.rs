//! The boxes of a recipe's scene as they stand in the row's room: `boxes`.

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Field, FieldRef, Fields};
use arrow::error::ArrowError;

use super::arrays::{floats, lists_of_structs, push_all};
use super::describe::{field, list};
use super::members::{BOX, box_fields, box_numbers, box_shape};
use super::{ColumnError, ColumnGroup, GroupReader, GroupWriter, NamedColumns, ValueError};
use crate::record::Record;
use crate::schema::{Shape, WITH_BOXES};

const BOXES: &str = "boxes";

/// Datasets whose recipe has a scene have them.
pub(super) struct BoxColumns;

struct Writer {
    /// Where the list of each row ends; 0 first.
    ends: Vec<i32>,
    numbers: [Vec<f64>; BOX.len()],
}

struct Reader<'a> {
    ends: &'a [i32],
    numbers: [&'a [f64]; BOX.len()],
}

impl ColumnGroup for BoxColumns {
    fn fields(&self, shape: &Shape) -> Vec<Field> {
        if !shape.scene || shape.version < WITH_BOXES {
            return Vec::new();
        }
        let members = Fields::from(box_fields("box-local", "of the box-local x axis, counter-clockwise from +x"));
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
        Ok(Some(Box::new(Reader { ends, numbers: members.floats(BOX)? })))
    }
}

impl GroupWriter for Writer {
    fn push(&mut self, record: &Record) {
        for shape in &record.layout.boxes {
            push_all(&mut self.numbers, box_numbers(shape));
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
        record.layout.boxes.clear();
        for i in place(self.ends[row])..place(self.ends[row + 1]) {
            record.layout.boxes.push(box_shape(self.numbers.map(|column| column[i])));
        }
        Ok(())
    }
}
