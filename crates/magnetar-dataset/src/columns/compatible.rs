//! Whether a file's columns hold all that a dataset's shape asks for; others may stand beside them.

use std::collections::HashSet;

use arrow::datatypes::{DataType, Field, Fields, Schema};

use super::csi::CSI;
use super::{ColumnError, schema};
use crate::schema::Shape;

/// Checks that every column of the shape is there with its type. Order, descriptions and further columns do not matter.
///
/// # Errors
/// Names the first column that is missing or of another type.
pub(crate) fn check_schema(found: &Schema, shape: &Shape) -> Result<(), ColumnError> {
    check_fields("", found.fields(), schema(shape).fields())
}

fn check_fields(prefix: &str, found: &Fields, expected: &Fields) -> Result<(), ColumnError> {
    for expected in expected {
        let name = format!("{prefix}{}", expected.name());
        match found.find(expected.name()) {
            None => return Err(ColumnError::Missing { column: name }),
            Some((_, found)) => check_type(&name, found, expected)?,
        }
    }
    Ok(())
}

fn check_type(name: &str, found: &Field, expected: &Field) -> Result<(), ColumnError> {
    let same = match (found.data_type(), expected.data_type()) {
        (DataType::Struct(found), DataType::Struct(expected)) => {
            return check_fields(&format!("{name}."), found, expected);
        }
        (DataType::List(found), DataType::List(expected)) => return check_type(name, found, expected),
        (DataType::FixedSizeList(found, n), DataType::FixedSizeList(expected, m)) if n == m => {
            return check_type(name, found, expected);
        }
        (found, expected) => found == expected,
    };
    if same {
        return Ok(());
    }
    let (found, expected) = (found.data_type().to_string(), expected.data_type().to_string());
    Err(ColumnError::Type { column: name.to_owned(), found, expected })
}

/// The columns without columns of their own that a shape has, by their full names; those of the observation on request.
pub(crate) fn leaf_names(shape: &Shape, with_csi: bool) -> HashSet<String> {
    let mut names = HashSet::new();
    for field in schema(shape).fields().iter().filter(|field| with_csi || field.name() != CSI) {
        add_leaves(field.name(), field, &mut names);
    }
    names
}

fn add_leaves(name: &str, field: &Field, names: &mut HashSet<String>) {
    match field.data_type() {
        DataType::Struct(members) => {
            for member in members {
                add_leaves(&format!("{name}.{}", member.name()), member, names);
            }
        }
        DataType::List(item) | DataType::FixedSizeList(item, _) => add_leaves(name, item, names),
        _ => {
            names.insert(name.to_owned());
        }
    }
}

/// Full name of a leaf from its path in a Parquet file, which has two levels more for every list.
pub(crate) fn leaf_name(path: &[String]) -> String {
    let mut name = String::new();
    let mut parts = path.iter();
    while let Some(part) = parts.next() {
        if part == "list" {
            parts.next();
            continue;
        }
        if !name.is_empty() {
            name.push('.');
        }
        name.push_str(part);
    }
    name
}
