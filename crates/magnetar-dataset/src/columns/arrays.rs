//! Arrays from plain vectors, typed as a field says.

use std::sync::Arc;

use arrow::array::{ArrayRef, FixedSizeListArray, Float64Array, ListArray, StringArray, StructArray};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Field};
use arrow::error::ArrowError;

/// Appends one value to each of `N` columns.
pub(super) fn push_all<const N: usize>(columns: &mut [Vec<f64>; N], values: [f64; N]) {
    for (column, value) in columns.iter_mut().zip(values) {
        column.push(value);
    }
}

/// `N` empty columns with room for `rows` values each.
pub(super) fn with_room<const N: usize>(rows: usize) -> [Vec<f64>; N] {
    std::array::from_fn(|_| Vec::with_capacity(rows))
}

/// A column of numbers.
pub(super) fn floats(values: Vec<f64>) -> ArrayRef {
    Arc::new(Float64Array::from(values))
}

/// A column of text.
pub(super) fn text(values: impl IntoIterator<Item = impl AsRef<str>>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

/// A column of structs with the members that the field names.
pub(super) fn structs(
    field: &Field,
    members: Vec<ArrayRef>,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ArrowError> {
    match field.data_type() {
        DataType::Struct(fields) => Ok(Arc::new(StructArray::try_new(fields.clone(), members, nulls)?)),
        other => Err(mismatch(field, other)),
    }
}

/// A column of lists of the field's length, their items end to end.
pub(super) fn fixed_lists(field: &Field, items: ArrayRef) -> Result<ArrayRef, ArrowError> {
    match field.data_type() {
        DataType::FixedSizeList(item, length) => {
            Ok(Arc::new(FixedSizeListArray::try_new(Arc::clone(item), *length, items, None)?))
        }
        other => Err(mismatch(field, other)),
    }
}

/// A column of lists of structs: `ends` starts with 0 and holds where each list ends among the structs.
pub(super) fn lists_of_structs(field: &Field, ends: Vec<i32>, members: Vec<ArrayRef>) -> Result<ArrayRef, ArrowError> {
    match field.data_type() {
        DataType::List(item) => {
            let items = structs(item, members, None)?;
            let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
            Ok(Arc::new(ListArray::try_new(Arc::clone(item), offsets, items, None)?))
        }
        other => Err(mismatch(field, other)),
    }
}

fn mismatch(field: &Field, found: &DataType) -> ArrowError {
    ArrowError::SchemaError(format!("column {} cannot be of type {found}", field.name()))
}
