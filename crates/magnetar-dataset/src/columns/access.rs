//! Columns of a table or a struct, found by name and checked for their type.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, StringArray, StructArray};
use arrow::datatypes::{ArrowPrimitiveType, Fields, Float64Type};

use super::error::ColumnError;

/// The columns of a batch, or the members of a struct column.
pub(crate) struct NamedColumns<'a> {
    /// The struct's name and a dot.
    prefix: String,
    fields: &'a Fields,
    arrays: &'a [ArrayRef],
    /// The struct, if it may be null.
    parent: Option<&'a StructArray>,
}

impl<'a> NamedColumns<'a> {
    /// Those of a batch.
    pub(crate) fn of_batch(batch: &'a RecordBatch) -> Self {
        Self { prefix: String::new(), fields: batch.schema_ref().fields(), arrays: batch.columns(), parent: None }
    }

    fn of_struct(name: String, column: &'a StructArray) -> Self {
        let parent = (column.null_count() > 0).then_some(column);
        Self { prefix: name + ".", fields: column.fields(), arrays: column.columns(), parent }
    }

    /// The column of that name, if there is one.
    pub(crate) fn find(&self, name: &str) -> Option<&'a ArrayRef> {
        self.fields.iter().position(|field| field.name() == name).and_then(|i| self.arrays.get(i))
    }

    fn full_name(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    fn wrong_type(&self, name: &str, found: &ArrayRef, expected: impl Into<String>) -> ColumnError {
        let found = found.data_type().to_string();
        ColumnError::Type { column: self.full_name(name), found, expected: expected.into() }
    }

    fn nullable(&self, name: &str) -> Result<&'a ArrayRef, ColumnError> {
        self.find(name).ok_or_else(|| ColumnError::Missing { column: self.full_name(name) })
    }

    /// A column that is null only where its struct is.
    fn array(&self, name: &str) -> Result<&'a ArrayRef, ColumnError> {
        let array = self.nullable(name)?;
        let null = |row: usize| array.is_null(row) && self.parent.is_none_or(|parent| parent.is_valid(row));
        if array.null_count() > 0 && (0..array.len()).any(null) {
            return Err(ColumnError::Null { column: self.full_name(name) });
        }
        Ok(array)
    }

    /// Numbers.
    pub(super) fn numbers<T: ArrowPrimitiveType>(&self, name: &str) -> Result<&'a [T::Native], ColumnError> {
        let array = self.array(name)?;
        let typed = array.as_primitive_opt::<T>();
        Ok(typed.ok_or_else(|| self.wrong_type(name, array, T::DATA_TYPE.to_string()))?.values())
    }

    /// Several columns of numbers.
    pub(super) fn floats<const N: usize>(&self, names: [&str; N]) -> Result<[&'a [f64]; N], ColumnError> {
        let mut columns = [&[][..]; N];
        for (slot, name) in columns.iter_mut().zip(names) {
            *slot = self.numbers::<Float64Type>(name)?;
        }
        Ok(columns)
    }

    /// Yes or no.
    pub(super) fn booleans(&self, name: &str) -> Result<&'a BooleanArray, ColumnError> {
        let array = self.array(name)?;
        array.as_boolean_opt().ok_or_else(|| self.wrong_type(name, array, "Boolean"))
    }

    /// Text.
    pub(super) fn text(&self, name: &str) -> Result<&'a StringArray, ColumnError> {
        let array = self.array(name)?;
        array.as_string_opt().ok_or_else(|| self.wrong_type(name, array, "Utf8"))
    }

    /// Text that may be null.
    pub(super) fn nullable_text(&self, name: &str) -> Result<&'a StringArray, ColumnError> {
        let array = self.nullable(name)?;
        array.as_string_opt().ok_or_else(|| self.wrong_type(name, array, "Utf8"))
    }

    /// The members of a struct.
    pub(super) fn members(&self, name: &str) -> Result<NamedColumns<'a>, ColumnError> {
        let array = self.array(name)?;
        let column = array.as_struct_opt().ok_or_else(|| self.wrong_type(name, array, "Struct"))?;
        Ok(Self::of_struct(self.full_name(name), column))
    }

    /// A struct that may be null, and its members.
    pub(super) fn nullable_members(&self, name: &str) -> Result<(&'a StructArray, NamedColumns<'a>), ColumnError> {
        let array = self.nullable(name)?;
        let column = array.as_struct_opt().ok_or_else(|| self.wrong_type(name, array, "Struct"))?;
        Ok((column, Self::of_struct(self.full_name(name), column)))
    }

    /// Where each list begins among the items (and the last one ends), and the items' members.
    pub(super) fn lists_of_structs(&self, name: &str) -> Result<(&'a [i32], NamedColumns<'a>), ColumnError> {
        let array = self.array(name)?;
        let wrong = || self.wrong_type(name, array, "List(Struct)");
        let list = array.as_list_opt::<i32>().ok_or_else(wrong)?;
        let items = list.values().as_struct_opt().ok_or_else(wrong)?;
        Ok((list.value_offsets(), Self::of_struct(self.full_name(name), items)))
    }

    /// Lists of one length, their items end to end, and that length.
    fn fixed_lists(&self, name: &str) -> Result<(&'a ArrayRef, usize), ColumnError> {
        let array = self.array(name)?;
        let wrong = || self.wrong_type(name, array, "FixedSizeList");
        let list = array.as_fixed_size_list_opt().ok_or_else(wrong)?;
        let length = usize::try_from(list.value_length()).unwrap_or(0);
        if list.values().len() != list.len() * length {
            return Err(wrong());
        }
        if list.values().null_count() > 0 {
            return Err(ColumnError::Null { column: self.full_name(name) });
        }
        Ok((list.values(), length))
    }

    /// Lists of one length of numbers, end to end, and that length.
    pub(super) fn fixed_floats(&self, name: &str) -> Result<(&'a [f64], usize), ColumnError> {
        let (items, length) = self.fixed_lists(name)?;
        let typed = items.as_primitive_opt::<Float64Type>();
        Ok((typed.ok_or_else(|| self.wrong_type(name, items, "Float64"))?.values(), length))
    }

    /// Lists of `length` numbers, end to end.
    pub(super) fn floats_of_length(&self, name: &str, length: usize) -> Result<&'a [f64], ColumnError> {
        let (items, found) = self.fixed_floats(name)?;
        if found == length {
            return Ok(items);
        }
        let (found, expected) = (format!("{found} numbers per row"), format!("{length}"));
        Err(ColumnError::Type { column: self.full_name(name), found, expected })
    }

    /// Lists of one length of yes or no, end to end, and that length.
    pub(super) fn fixed_booleans(&self, name: &str) -> Result<(&'a BooleanArray, usize), ColumnError> {
        let (items, length) = self.fixed_lists(name)?;
        Ok((items.as_boolean_opt().ok_or_else(|| self.wrong_type(name, items, "Boolean"))?, length))
    }

    /// Lists of one length of any type, end to end, and that length.
    pub(super) fn fixed_items(&self, name: &str) -> Result<(&'a ArrayRef, usize), ColumnError> {
        self.fixed_lists(name)
    }
}
