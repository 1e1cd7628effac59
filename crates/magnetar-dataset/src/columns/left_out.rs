//! Paths that were found and left out where waves go through boxes: `left_out`.

use std::sync::Arc;

use arrow::array::{ArrayRef, UInt32Array};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, UInt32Type};
use arrow::error::ArrowError;
use magnetar_trace::LeftOut;

use super::arrays::structs;
use super::describe::field;
use super::{ColumnError, ColumnGroup, GroupReader, GroupWriter, NamedColumns, ValueError};
use crate::record::Record;
use crate::schema::{Shape, WITH_LEFT_OUT};

const LEFT_OUT: &str = "left_out";

/// Datasets with transmission have them.
pub(super) struct LeftOutColumns;

#[derive(Default)]
struct Writer {
    other_faces: Vec<u32>,
    too_long: Vec<u32>,
}

struct Reader<'a> {
    other_faces: &'a [u32],
    too_long: &'a [u32],
}

impl ColumnGroup for LeftOutColumns {
    fn fields(&self, shape: &Shape) -> Vec<Field> {
        if !shape.transmission || shape.version < WITH_LEFT_OUT {
            return Vec::new();
        }
        let count = |name, what| field(name, DataType::UInt32, "paths", "", what);
        let members = Fields::from(vec![
            count("other_faces", "enter a box at one face and leave it at another than the opposite one: opaque"),
            count("too_long", "meet more surfaces than a path may hold"),
        ]);
        vec![field(LEFT_OUT, DataType::Struct(members), "", "", "paths that were found and left out")]
    }

    fn writer(&self, _: &Shape, _: usize) -> Box<dyn GroupWriter> {
        Box::new(Writer::default())
    }

    fn reader<'a>(&self, columns: &NamedColumns<'a>) -> Result<Option<Box<dyn GroupReader + 'a>>, ColumnError> {
        if columns.find(LEFT_OUT).is_none() {
            return Ok(None);
        }
        let members = columns.members(LEFT_OUT)?;
        Ok(Some(Box::new(Reader {
            other_faces: members.numbers::<UInt32Type>("other_faces")?,
            too_long: members.numbers::<UInt32Type>("too_long")?,
        })))
    }
}

impl GroupWriter for Writer {
    fn push(&mut self, record: &Record) {
        let count = |paths: usize| u32::try_from(paths).unwrap_or(u32::MAX);
        let left_out = record.left_out.unwrap_or_default();
        self.other_faces.push(count(left_out.other_faces));
        self.too_long.push(count(left_out.too_long));
    }

    fn finish(self: Box<Self>, fields: &[FieldRef]) -> Result<Vec<ArrayRef>, ArrowError> {
        let members: Vec<ArrayRef> =
            vec![Arc::new(UInt32Array::from(self.other_faces)), Arc::new(UInt32Array::from(self.too_long))];
        Ok(vec![structs(&fields[0], members, None)?])
    }
}

impl GroupReader for Reader<'_> {
    fn read(&self, row: usize, record: &mut Record) -> Result<(), ValueError> {
        let (other_faces, too_long) = (self.other_faces[row] as usize, self.too_long[row] as usize);
        record.left_out = Some(LeftOut { other_faces, too_long });
        Ok(())
    }
}
