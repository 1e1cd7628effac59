//! The values of a table as bytes, column by column, free of how a file stores them: what "the same to the bit" means.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Field, Float16Type, Float32Type, Float64Type, UInt32Type, UInt64Type};

use super::error::ColumnError;

/// One column without columns of its own: numbers, text, or which structs are there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// Its name, that of its struct before it.
    pub(crate) name: String,
    /// Its values in row order, numbers little-endian, text with its length before it. Where its struct is null, nothing.
    pub(crate) bytes: Vec<u8>,
}

/// The leaves of a batch, in the order of its columns.
///
/// # Errors
/// If a column is of a type that no column of ours has.
pub(crate) fn leaves(batch: &RecordBatch) -> Result<Vec<Leaf>, ColumnError> {
    let mut found = Vec::new();
    let rows: Vec<usize> = (0..batch.num_rows()).collect();
    for (field, array) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        gather(field.name(), field, array, &rows, &mut found)?;
    }
    Ok(found)
}

/// Adds the leaves of a column's `rows`.
fn gather(
    name: &str,
    field: &Field,
    array: &dyn Array,
    rows: &[usize],
    found: &mut Vec<Leaf>,
) -> Result<(), ColumnError> {
    let present: Vec<usize>;
    let mut rows = rows;
    if field.is_nullable() {
        let bytes = rows.iter().map(|row| u8::from(array.is_valid(*row))).collect();
        found.push(Leaf { name: format!("{name} (present)"), bytes });
        present = rows.iter().copied().filter(|row| array.is_valid(*row)).collect();
        rows = &present;
    }
    match array.data_type() {
        DataType::Struct(fields) => {
            let members = array.as_struct();
            for (field, member) in fields.iter().zip(members.columns()) {
                gather(&format!("{name}.{}", field.name()), field, member, rows, found)?;
            }
            return Ok(());
        }
        DataType::List(item) => {
            let list = array.as_list::<i32>();
            let place = |i: i32| usize::try_from(i).unwrap_or(0);
            let ranges = rows.iter().map(|row| {
                let ends = &list.value_offsets()[*row..];
                place(ends[0])..place(ends[1])
            });
            let lengths = ranges.clone().flat_map(|range| (range.len() as u64).to_le_bytes()).collect();
            found.push(Leaf { name: format!("{name} (length)"), bytes: lengths });
            let items: Vec<usize> = ranges.flatten().collect();
            return gather(name, item, list.values(), &items, found);
        }
        DataType::FixedSizeList(item, length) => {
            let list = array.as_fixed_size_list();
            let length = usize::try_from(*length).unwrap_or(0);
            let items: Vec<usize> = rows.iter().flat_map(|row| row * length..(row + 1) * length).collect();
            return gather(name, &item.as_ref().clone().with_nullable(false), list.values(), &items, found);
        }
        _ => {}
    }
    found.push(Leaf { name: name.to_owned(), bytes: bytes(name, array, rows)? });
    Ok(())
}

fn bytes(name: &str, array: &dyn Array, rows: &[usize]) -> Result<Vec<u8>, ColumnError> {
    macro_rules! numbers {
        ($type:ty) => {{
            let values = array.as_primitive::<$type>().values();
            rows.iter().flat_map(|row| values[*row].to_le_bytes()).collect()
        }};
    }
    Ok(match array.data_type() {
        DataType::UInt32 => numbers!(UInt32Type),
        DataType::UInt64 => numbers!(UInt64Type),
        DataType::Float16 => numbers!(Float16Type),
        DataType::Float32 => numbers!(Float32Type),
        DataType::Float64 => numbers!(Float64Type),
        DataType::Boolean => rows.iter().map(|row| u8::from(array.as_boolean().value(*row))).collect(),
        DataType::Utf8 => {
            let values = array.as_string::<i32>();
            let text = |row: &usize| values.value(*row);
            rows.iter()
                .flat_map(|row| [&(text(row).len() as u64).to_le_bytes(), text(row).as_bytes()].concat())
                .collect()
        }
        other => {
            let expected = "numbers, text or yes and no".to_owned();
            return Err(ColumnError::Type { column: name.to_owned(), found: other.to_string(), expected });
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Float64Array, StructArray};
    use arrow::buffer::NullBuffer;
    use arrow::datatypes::{Fields, Schema};

    use super::*;

    fn board(x: [f64; 2], description: &str) -> RecordBatch {
        let about = [("description".to_owned(), description.to_owned())];
        let fields = Fields::from(vec![Field::new("x", DataType::Float64, false).with_metadata(about)]);
        let members: Vec<ArrayRef> = vec![Arc::new(Float64Array::from(x.to_vec()))];
        let array = StructArray::new(fields.clone(), members, Some(NullBuffer::from(vec![false, true])));
        let schema = Schema::new(vec![Field::new("board", DataType::Struct(fields), true)]);
        RecordBatch::try_new(Arc::new(schema), vec![Arc::new(array)]).unwrap()
    }

    #[test]
    fn bits_count_and_neither_descriptions_nor_what_lies_below_a_null() {
        let values = |x, description| leaves(&board(x, description)).unwrap();
        assert_eq!(values([1.0, 2.0], "centre"), values([7.0, 2.0], "middle"));
        assert_ne!(values([1.0, 0.0], "centre"), values([1.0, -0.0], "centre"));
        let names: Vec<String> = values([1.0, 2.0], "").into_iter().map(|leaf| leaf.name).collect();
        assert_eq!(names, ["board (present)", "board.x"]);
    }
}
