//! Fields that say what they are.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field};

/// A field that says its unit, its frame and what it is.
pub(super) fn field(name: &str, data_type: DataType, unit: &str, frame: &str, description: &str) -> Field {
    let metadata = [("unit", unit), ("frame", frame), ("description", description)]
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(key, text)| (key.to_owned(), text.to_owned()))
        .collect::<HashMap<_, _>>();
    Field::new(name, data_type, false).with_metadata(metadata)
}

/// Exactly `length` items.
pub(super) fn fixed_list(item: DataType, length: usize) -> DataType {
    let length = i32::try_from(length).unwrap_or(i32::MAX);
    DataType::FixedSizeList(Arc::new(Field::new("item", item, false)), length)
}

/// Any number of items.
pub(super) fn list(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("item", item, false)))
}
