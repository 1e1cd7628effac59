//! Rows as Arrow columns: handed over without a copy, or read column by column.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, FixedSizeListArray, PrimitiveArray, RecordBatch, RecordBatchIterator,
    RecordBatchReader, StructArray, UInt64Array, make_array,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Float16Type, Float32Type, Float64Type, Schema, UInt32Type, UInt64Type,
};
use arrow::error::ArrowError;
use arrow::ffi::FFI_ArrowSchema;
use arrow::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use magnetar_dataset::{Record, records_of_batch};
use num_complex::Complex32;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::error::{Class, Failure, Outcome};
use crate::input;

/// Rows of one split. pyarrow, polars, DuckDB and pandas take them through Arrow's PyCapsule interface without a copy.
#[pyclass(frozen, module = "magnetar")]
pub struct Rows {
    schema: Arc<Schema>,
    batches: Vec<RecordBatch>,
    split: String,
}

impl Rows {
    /// Rows in batches of one schema.
    pub(crate) fn new(schema: Arc<Schema>, batches: Vec<RecordBatch>, split: &str) -> Self {
        Self { schema, batches, split: split.to_owned() }
    }

    /// The split they are of.
    pub(crate) fn split(&self) -> &str {
        &self.split
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Typed rows.
    pub(crate) fn records(&self) -> Outcome<Vec<Record>> {
        let mut records = Vec::with_capacity(self.len());
        for batch in &self.batches {
            records.extend(records_of_batch(batch)?);
        }
        Ok(records)
    }

    /// The parts of a column, batch by batch; `board.yaw` is a member of a struct.
    fn parts(&self, name: &str) -> Outcome<Vec<ArrayRef>> {
        let unknown = || {
            let names: Vec<_> = self.schema.fields().iter().map(|field| field.name().as_str()).collect();
            Failure::input(format!("no column {name:?}; there are {} (members as column.member)", names.join(", ")))
        };
        let mut path = name.split('.');
        let first = path.next().unwrap_or_default();
        let mut parts: Vec<ArrayRef> = self
            .batches
            .iter()
            .map(|batch| batch.column_by_name(first).cloned())
            .collect::<Option<_>>()
            .ok_or_else(unknown)?;
        if parts.is_empty() && self.schema.field_with_name(first).is_err() {
            return Err(unknown());
        }
        for member in path {
            parts = parts
                .iter()
                .map(|part| member_of(part.as_struct_opt()?, member))
                .collect::<Option<_>>()
                .ok_or_else(unknown)?;
        }
        Ok(parts)
    }
}

/// A member of a struct, absent where the struct is.
fn member_of(parent: &StructArray, member: &str) -> Option<ArrayRef> {
    let child = parent.column_by_name(member)?;
    match parent.nulls() {
        None => Some(Arc::clone(child)),
        Some(nulls) => without(child, nulls).ok(),
    }
}

/// An array that is absent where these say so, too.
fn without(array: &ArrayRef, nulls: &NullBuffer) -> Outcome<ArrayRef> {
    let data = array.to_data().into_builder().nulls(NullBuffer::union(Some(nulls), array.nulls()));
    data.build().map(make_array).map_err(|error| arrow_failure(&error))
}

/// The numbers under fixed-size lists, and the lists' lengths.
fn unnested(array: &ArrayRef, shape: &mut Vec<usize>) -> Outcome<ArrayRef> {
    let Some(list) = array.as_any().downcast_ref::<FixedSizeListArray>() else { return Ok(Arc::clone(array)) };
    let length = usize::try_from(list.value_length()).unwrap_or(0);
    shape.push(length);
    match list.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => unnested(list.values(), shape),
        Some(nulls) => unnested(&without(list.values(), &nulls.expand(length))?, shape),
    }
}

fn numbers<T: ArrowPrimitiveType, U>(
    parts: &[ArrayRef],
    absent: Option<U>,
    of: impl Fn(T::Native) -> U,
) -> Outcome<Vec<U>>
where
    U: Copy,
{
    let mut values = Vec::new();
    for part in parts {
        let part: &PrimitiveArray<T> = part.as_primitive();
        if part.null_count() == 0 {
            values.extend(part.values().iter().map(|value| of(*value)));
            continue;
        }
        let absent =
            absent.ok_or_else(|| Failure::input("this column has rows without a value; read it with pyarrow"))?;
        values.extend(part.iter().map(|value| value.map_or(absent, &of)));
    }
    Ok(values)
}

fn arrow_failure(error: &ArrowError) -> Failure {
    Failure::Named(Class::Dataset, error.to_string())
}

#[pymethods]
impl Rows {
    /// Rows of anything that speaks Arrow's PyCapsule interface (a pyarrow, polars or DuckDB table of rows of ours).
    #[staticmethod]
    #[pyo3(signature = (table, split = ""))]
    #[allow(unsafe_code, reason = "Arrow's C interface: the capsule's name says what it points to")]
    fn from_arrow(table: &Bound<'_, PyAny>, split: &str) -> PyResult<Self> {
        let wrong = |_| Failure::input("expected an object with __arrow_c_stream__, such as a pyarrow Table");
        let capsule = table.call_method0("__arrow_c_stream__").map_err(wrong)?;
        let capsule = capsule.cast_into::<PyCapsule>().map_err(|error| Failure::input(error.to_string()))?;
        let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
        // SAFETY: a capsule of this name holds such a stream; what is taken from it is marked released there.
        let reader = unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr().cast::<FFI_ArrowArrayStream>()) };
        let reader = reader.map_err(|error| arrow_failure(&error))?;
        let schema = reader.schema();
        let batches = reader.collect::<Result<Vec<_>, _>>().map_err(|error| arrow_failure(&error))?;
        let rows = Self { schema, batches, split: split.to_owned() };
        rows.records()?;
        Ok(rows)
    }

    /// The rows for a consumer of Arrow streams, without a copy.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may leave a requested schema aside.
        let _ = requested_schema;
        let batches: Vec<Result<RecordBatch, ArrowError>> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), c"arrow_array_stream")
    }

    /// The schema for a consumer of Arrow.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref()).map_err(|error| arrow_failure(&error))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    fn __len__(&self) -> usize {
        self.len()
    }

    /// The rows at these places, in their order; a place may be given more than once.
    fn take(&self, py: Python<'_>, places: Vec<u64>) -> PyResult<Self> {
        let rows = self.len() as u64;
        if let Some(place) = places.iter().find(|place| **place >= rows) {
            return Err(Failure::input(format!("place {place}: there are rows 0 to {rows}")).into());
        }
        let whole = py.detach(|| {
            let whole = match &self.batches[..] {
                [one] => one.clone(),
                several => arrow::compute::concat_batches(&self.schema, several)?,
            };
            arrow::compute::take_record_batch(&whole, &UInt64Array::from(places))
        });
        let batch = whole.map_err(|error| arrow_failure(&error))?;
        Ok(Self { schema: Arc::clone(&self.schema), batches: vec![batch], split: self.split.clone() })
    }

    /// The same rows in one piece, which makes `take` fast.
    fn combined(&self, py: Python<'_>) -> PyResult<Self> {
        let whole = py.detach(|| arrow::compute::concat_batches(&self.schema, &self.batches));
        let batch = whole.map_err(|error| arrow_failure(&error))?;
        Ok(Self { schema: Arc::clone(&self.schema), batches: vec![batch], split: self.split.clone() })
    }

    /// The split they are of.
    #[getter(split)]
    fn split_name(&self) -> &str {
        &self.split
    }

    /// The columns' names.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// A column as an array, rows first; a member of a struct as `tx.x`; text as a list. `csi` is complex64 of shape
    /// (rows, bins, 2). What is absent is not-a-number.
    fn numpy<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let parts = self.parts(name)?;
        let mut shape = vec![self.len()];
        let mut flat = Vec::with_capacity(parts.len());
        for part in &parts {
            shape.truncate(1);
            flat.push(unnested(part, &mut shape)?);
        }
        let Some(first) = flat.first() else { return Ok(Vec::<f64>::new().into_pyarray(py).into_any()) };
        match first.data_type() {
            DataType::Float64 => input::shaped(py, numbers::<Float64Type, _>(&flat, Some(f64::NAN), |v| v)?, &shape),
            DataType::Float32 | DataType::Float16 => {
                let values = if *first.data_type() == DataType::Float32 {
                    numbers::<Float32Type, _>(&flat, Some(f32::NAN), |v| v)?
                } else {
                    numbers::<Float16Type, _>(&flat, Some(f32::NAN), |v| v.to_f32())?
                };
                if name != "csi" {
                    return input::shaped(py, values, &shape);
                }
                let pairs = values.as_chunks::<2>().0.iter().map(|[re, im]| Complex32::new(*re, *im)).collect();
                let bins = values.len() / self.len().max(1) / 4;
                input::shaped::<Complex32>(py, pairs, &[self.len(), bins, 2])
            }
            DataType::UInt64 => input::shaped(py, numbers::<UInt64Type, _>(&flat, None, |v| v)?, &shape),
            DataType::UInt32 => input::shaped(py, numbers::<UInt32Type, _>(&flat, None, |v| v)?, &shape),
            DataType::Boolean => {
                let bits = flat.iter().flat_map(|part| {
                    let part: &BooleanArray = part.as_boolean();
                    part.iter().map(|bit| bit.unwrap_or(false)).collect::<Vec<_>>()
                });
                input::shaped(py, bits.collect::<Vec<bool>>(), &shape)
            }
            _ => {
                // Text and dictionaries of text, by Arrow's own display.
                if !matches!(first.data_type(), DataType::Utf8 | DataType::Dictionary(..)) {
                    let message = format!("column {name}: {}; read it with pyarrow or polars", first.data_type());
                    return Err(Failure::input(message).into());
                }
                let mut texts: Vec<Option<String>> = Vec::with_capacity(self.len());
                for part in &flat {
                    let part = arrow::compute::cast(part, &DataType::Utf8).map_err(|error| arrow_failure(&error))?;
                    texts.extend(part.as_string::<i32>().iter().map(|text| text.map(str::to_owned)));
                }
                Ok(texts.into_pyobject(py)?.into_any())
            }
        }
    }

    fn __repr__(&self) -> String {
        format!("Rows({} of split {:?}, {} columns)", self.len(), self.split, self.schema.fields().len())
    }
}
