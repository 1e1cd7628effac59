//! The observation: `csi`, an `arrow.fixed_shape_tensor` [bins, 2, 2].

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float16Array, Float32Array, RecordBatch};
use arrow::datatypes::{DataType, Field, FieldRef, Float16Type, Float32Type};
use arrow::error::ArrowError;
use half::f16;
use num_complex::Complex32;

use super::arrays::fixed_lists;
use super::describe::field;
use super::{ColumnError, ColumnGroup, GroupReader, GroupWriter, NamedColumns, ValueError};
use crate::recipe::Csi;
use crate::record::Record;
use crate::schema::Shape;

/// The column's name.
pub(crate) const CSI: &str = "csi";

/// Arrow's keys of an extension type in a field's metadata.
pub(crate) const EXTENSION_TYPE_NAME_KEY: &str = "ARROW:extension:name";
pub(crate) const EXTENSION_TYPE_METADATA_KEY: &str = "ARROW:extension:metadata";

/// Datasets that store observations have it.
pub(super) struct CsiColumns;

struct Writer {
    csi: Csi,
    numbers: Vec<f32>,
}

enum Numbers<'a> {
    Single(&'a [f32]),
    Half(&'a [f16]),
}

struct Reader<'a> {
    numbers: Numbers<'a>,
    /// Numbers of one row.
    length: usize,
}

impl ColumnGroup for CsiColumns {
    fn fields(&self, shape: &Shape) -> Vec<Field> {
        let item = match shape.csi {
            Csi::F32 => DataType::Float32,
            Csi::F16 => DataType::Float16,
            Csi::None => return Vec::new(),
        };
        // Nullable, though never null: readers know the tensor type only over such a list.
        let item = Arc::new(Field::new("item", item, true));
        let length = i32::try_from(shape.csi_len()).unwrap_or(i32::MAX);
        let mut field = field(
            CSI,
            DataType::FixedSizeList(item, length),
            "1 (noise has unit variance)",
            "",
            "observation [bin, channel, (re, im)], noise of unit variance per bin and channel",
        );
        // By hand, because arrow-rs has its own tensor type over lists of non-null items only, and pyarrow over lists
        // of nullable ones only.
        let metadata = field.metadata_mut();
        metadata.insert(EXTENSION_TYPE_NAME_KEY, "arrow.fixed_shape_tensor");
        let tensor = format!("{{\"shape\":[{},2,2],\"dim_names\":[\"bin\",\"channel\",\"re_im\"]}}", shape.bins);
        metadata.insert(EXTENSION_TYPE_METADATA_KEY, tensor);
        vec![field]
    }

    fn writer(&self, shape: &Shape, rows: usize) -> Box<dyn GroupWriter> {
        Box::new(Writer { csi: shape.csi, numbers: Vec::with_capacity(rows * shape.csi_len()) })
    }

    fn reader<'a>(&self, columns: &NamedColumns<'a>) -> Result<Option<Box<dyn GroupReader + 'a>>, ColumnError> {
        if columns.find(CSI).is_none() {
            return Ok(None);
        }
        Ok(Some(Box::new(Reader::new(columns)?)))
    }
}

impl<'a> Reader<'a> {
    fn new(columns: &NamedColumns<'a>) -> Result<Self, ColumnError> {
        let (items, length) = columns.fixed_items(CSI)?;
        let single = items.as_primitive_opt::<Float32Type>().map(|x| Numbers::Single(x.values()));
        let half = || items.as_primitive_opt::<Float16Type>().map(|x| Numbers::Half(x.values()));
        let numbers = single.or_else(half).ok_or_else(|| ColumnError::Type {
            column: CSI.to_owned(),
            found: items.data_type().to_string(),
            expected: "Float32 or Float16".to_owned(),
        })?;
        Ok(Self { numbers, length })
    }

    fn row(&self, row: usize) -> Vec<Complex32> {
        let range = row * self.length..(row + 1) * self.length;
        let pair = |z: [f32; 2]| Complex32::new(z[0], z[1]);
        match self.numbers {
            Numbers::Single(numbers) => numbers[range].as_chunks::<2>().0.iter().map(|z| pair(*z)).collect(),
            Numbers::Half(numbers) => {
                numbers[range].as_chunks::<2>().0.iter().map(|z| pair(z.map(f16::to_f32))).collect()
            }
        }
    }
}

/// The observations of all rows of a batch, if it holds them.
///
/// # Errors
/// If the column is of another type.
pub(crate) fn observations(batch: &RecordBatch) -> Result<Option<Vec<Vec<Complex32>>>, ColumnError> {
    let columns = NamedColumns::of_batch(batch);
    if columns.find(CSI).is_none() {
        return Ok(None);
    }
    let reader = Reader::new(&columns)?;
    Ok(Some((0..batch.num_rows()).map(|row| reader.row(row)).collect()))
}

impl GroupWriter for Writer {
    fn push(&mut self, record: &Record) {
        self.numbers.extend_from_slice(bytemuck::cast_slice(record.csi.as_deref().unwrap_or_default()));
    }

    fn finish(self: Box<Self>, fields: &[FieldRef]) -> Result<Vec<ArrayRef>, ArrowError> {
        let items: ArrayRef = match self.csi {
            Csi::F16 => Arc::new(Float16Array::from_iter_values(self.numbers.iter().map(|x| f16::from_f32(*x)))),
            Csi::F32 | Csi::None => Arc::new(Float32Array::from(self.numbers)),
        };
        Ok(vec![fixed_lists(&fields[0], items)?])
    }
}

impl GroupReader for Reader<'_> {
    fn read(&self, row: usize, record: &mut Record) -> Result<(), ValueError> {
        record.csi = Some(self.row(row));
        Ok(())
    }
}
