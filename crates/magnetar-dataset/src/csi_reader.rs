//! The `csi` column of a Parquet file, batch by batch.

use std::path::Path;

use arrow::array::{Array, FixedSizeListArray, Float16Array, Float32Array, RecordBatch};
use arrow::datatypes::{DataType, Field};
use arrow::error::ArrowError;
use magnetar_files::{ReaderPanicked, guard};
use magnetar_signal::Band;
use num_complex::Complex32;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;

use crate::checksum::{check_columns, check_footer};
use crate::columns::csi::{CSI, EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use crate::error::DatasetError;
use crate::manifest::recorded_shard;
use crate::page_bounds::{PageError, check_pages};
use crate::parquet_input::ParquetInput;

/// Numbers of one bin: two channels, real and imaginary part.
const PER_BIN: usize = 4;

/// What is wrong with a file's `csi` column.
#[derive(Debug, thiserror::Error)]
pub enum CsiError {
    /// The system refused.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not readable Parquet.
    #[error("{file}: not a readable Parquet file: {source}")]
    Parquet {
        /// The file.
        file: String,
        /// What the reader says.
        source: ParquetError,
    },
    /// The Parquet reader panics on the file.
    #[error("{file}: not a readable Parquet file: {source}")]
    Panicked {
        /// The file.
        file: String,
        /// That it panicked.
        source: ReaderPanicked,
    },
    /// The file has pages that are not read.
    #[error("{file}: {source}")]
    Pages {
        /// The file.
        file: String,
        /// Which page, and why.
        source: PageError,
    },
    /// Rows that cannot be decoded.
    #[error("{file}: not a readable Parquet file: from row {row} on: {source}")]
    Rows {
        /// The file.
        file: String,
        /// The first of them, from 0.
        row: u64,
        /// What Arrow reports.
        source: ArrowError,
    },
    /// The column is missing or of another kind.
    #[error(
        "{file}: {problem}; expected a column `csi` of type fixed_size_list of float32 or float16, \
         [bins, 2, 2] with real and imaginary part last"
    )]
    Column {
        /// The file.
        file: String,
        /// What was found.
        problem: String,
    },
    /// A shard of a dataset that is damaged, or whose manifest is.
    #[error("{0}")]
    Shard(#[from] Box<DatasetError>),
    /// A row without observation.
    #[error("{file}: row {row} has no observation: its `csi` is null")]
    Null {
        /// The file.
        file: String,
        /// The row, from 0.
        row: u64,
    },
}

/// Reads observations from the `csi` column only, in bounded memory.
pub struct CsiReader {
    reader: ParquetRecordBatchReader,
    file: String,
    bins: usize,
    rows: u64,
    read: u64,
}

impl CsiReader {
    /// Opens a file; batches will have at most `batch_rows` rows. Of a dataset's shard, footer and column are compared
    /// with the checksums of the manifest two folders above.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or has no `csi` column of the right type.
    pub fn open(path: &Path, batch_rows: usize) -> Result<Self, CsiError> {
        let file = path.display().to_string();
        let input = ParquetInput::open(path).map_err(|source| CsiError::Io { file: file.clone(), source })?;
        let panicked = |source: ReaderPanicked| CsiError::Panicked { file: file.clone(), source };
        let damaged = |source: ParquetError| CsiError::Parquet { file: file.clone(), source };
        let shard = recorded_shard(path).map_err(Box::new)?;
        if let Some(shard) = &shard {
            check_footer(input.file(), path, shard).map_err(Box::new)?;
        }
        let builder = guard(|| ParquetRecordBatchReaderBuilder::try_new(input.clone())).map_err(panicked)?;
        let builder = builder.map_err(damaged)?;
        let column = |problem: String| CsiError::Column { file: file.clone(), problem };
        let (index, field) =
            builder.schema().column_with_name(CSI).ok_or_else(|| column("it has no such column".into()))?;
        let width = match field.data_type() {
            DataType::FixedSizeList(item, width)
                if matches!(item.data_type(), DataType::Float32 | DataType::Float16) =>
            {
                usize::try_from(*width).unwrap_or(0)
            }
            other => return Err(column(format!("its `csi` is of type {other}"))),
        };
        if width == 0 || !width.is_multiple_of(PER_BIN) || width > PER_BIN * Band::BINS.max {
            return Err(column(format!("its `csi` has {width} numbers per row")));
        }
        check_tensor(field, width / PER_BIN).map_err(column)?;
        let rows = u64::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
        let mask = ProjectionMask::roots(builder.parquet_schema(), [index]);
        let leaves: Vec<usize> =
            (0..builder.parquet_schema().num_columns()).filter(|&leaf| mask.leaf_included(leaf)).collect();
        if let Some(shard) = &shard {
            let check = || check_columns(input.file(), path, shard, builder.metadata(), &leaves);
            guard(check).map_err(panicked)?.map_err(Box::new)?;
        }
        guard(|| check_pages(&input, builder.metadata(), &leaves))
            .map_err(panicked)?
            .map_err(|source| CsiError::Pages { file: file.clone(), source })?;
        let builder = builder.with_projection(mask).with_batch_size(batch_rows.max(1));
        let reader = guard(|| builder.build()).map_err(panicked)?.map_err(damaged)?;
        Ok(Self { reader, file, bins: width / PER_BIN, rows, read: 0 })
    }

    /// Bins of an observation.
    #[must_use]
    pub fn bins(&self) -> usize {
        self.bins
    }

    /// Observations in the file.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Reads the next batch: `out` is replaced by its observations, `bins` entries each, channel last. Returns the
    /// number of observations, 0 at the end.
    ///
    /// # Errors
    /// The file is damaged, or a row is null.
    pub fn next_batch(&mut self, out: &mut Vec<[Complex32; 2]>) -> Result<usize, CsiError> {
        out.clear();
        loop {
            let batch = guard(|| self.reader.next());
            let batch = batch.map_err(|source| CsiError::Panicked { file: self.file.clone(), source })?;
            let Some(batch) = batch else { return Ok(0) };
            let batch = batch.map_err(|source| CsiError::Rows { file: self.file.clone(), row: self.read, source })?;
            if batch.num_rows() > 0 {
                self.decode(&batch, out)?;
                self.read += batch.num_rows() as u64;
                return Ok(batch.num_rows());
            }
        }
    }

    fn changed_type(&self) -> CsiError {
        CsiError::Column { file: self.file.clone(), problem: "its `csi` changes type".into() }
    }

    fn decode(&self, batch: &RecordBatch, out: &mut Vec<[Complex32; 2]>) -> Result<(), CsiError> {
        let list = batch.column(0).as_any().downcast_ref::<FixedSizeListArray>();
        let list = list.ok_or_else(|| self.changed_type())?;
        if let Some(row) = (0..list.len()).find(|&row| list.is_null(row) || list.value(row).null_count() > 0) {
            return Err(CsiError::Null { file: self.file.clone(), row: self.read + row as u64 });
        }
        let width = self.bins * PER_BIN;
        let start = list.value_offset_at(0);
        let range = start..start + list.len() * width;
        let pair = |x: [f32; PER_BIN]| [Complex32::new(x[0], x[1]), Complex32::new(x[2], x[3])];
        let values = list.values().as_any();
        if let Some(values) = values.downcast_ref::<Float32Array>() {
            let values = &values.values()[range];
            out.extend(values.chunks_exact(PER_BIN).map(|x| pair([x[0], x[1], x[2], x[3]])));
        } else if let Some(values) = values.downcast_ref::<Float16Array>() {
            let values = &values.values()[range];
            out.extend(values.chunks_exact(PER_BIN).map(|x| pair([x[0], x[1], x[2], x[3]].map(f32::from))));
        } else {
            return Err(self.changed_type());
        }
        Ok(())
    }
}

/// A tensor says how its numbers are meant; in any other order they would be read as something else. A plain list says
/// nothing and is believed.
fn check_tensor(field: &Field, bins: usize) -> Result<(), String> {
    #[derive(serde::Deserialize)]
    struct Tensor {
        shape: Vec<usize>,
        permutation: Option<Vec<usize>>,
    }
    let about = |key: &str| field.metadata().get(key).map(String::as_str);
    if about(EXTENSION_TYPE_NAME_KEY) != Some("arrow.fixed_shape_tensor") {
        return Ok(());
    }
    let text = about(EXTENSION_TYPE_METADATA_KEY).unwrap_or_default();
    let tensor: Tensor = serde_json::from_str(text).map_err(|e| format!("its `csi` is a tensor of no shape ({e})"))?;
    if tensor.shape != [bins, 2, 2] {
        return Err(format!("its `csi` is a tensor of shape {:?}", tensor.shape));
    }
    match tensor.permutation {
        Some(order) if order != [0, 1, 2] => Err(format!("its `csi` is a tensor with the axes in the order {order:?}")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int32Array};
    use arrow::datatypes::{Field, Schema};
    use half::f16;
    use parquet::arrow::ArrowWriter;

    use super::*;

    fn write(path: &Path, name: &str, array: ArrayRef) {
        write_tensor(path, name, array, None);
    }

    fn write_tensor(path: &Path, name: &str, array: ArrayRef, tensor: Option<&str>) {
        let mut field = Field::new(name, array.data_type().clone(), true);
        if let Some(tensor) = tensor {
            field.set_metadata(HashMap::from([
                (EXTENSION_TYPE_NAME_KEY.to_owned(), "arrow.fixed_shape_tensor".to_owned()),
                (EXTENSION_TYPE_METADATA_KEY.to_owned(), tensor.to_owned()),
            ]));
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![array]).unwrap();
        let mut writer = ArrowWriter::try_new(std::fs::File::create(path).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }

    fn list(values: ArrayRef, width: i32, null: Option<usize>) -> ArrayRef {
        let rows = values.len() / width as usize;
        let nulls = null.map(|n| (0..rows).map(|i| i != n).collect::<Vec<_>>().into());
        let item = Arc::new(Field::new("item", values.data_type().clone(), true));
        Arc::new(FixedSizeListArray::try_new(item, width, values, nulls).unwrap())
    }

    #[test]
    fn both_precisions_come_back_in_batches() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.parquet");
        let numbers: Vec<f32> = (0..5 * 8 * 4).map(|i| i as f32).collect();
        let halves = Float16Array::from_iter_values(numbers.iter().map(|&x| f16::from_f32(x)));
        for values in [Arc::new(Float32Array::from(numbers.clone())) as ArrayRef, Arc::new(halves)] {
            write(&path, "csi", list(values, 32, None));
            let mut reader = CsiReader::open(&path, 2).unwrap();
            assert_eq!((reader.bins(), reader.rows()), (8, 5));
            let (mut all, mut batch, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
            loop {
                let rows = reader.next_batch(&mut batch).unwrap();
                sizes.push(rows);
                all.extend_from_slice(&batch);
                if rows == 0 {
                    break;
                }
            }
            assert_eq!(sizes, [2, 2, 1, 0]);
            let expected: Vec<_> =
                numbers.chunks_exact(4).map(|x| [Complex32::new(x[0], x[1]), Complex32::new(x[2], x[3])]).collect();
            assert_eq!(all, expected);
        }
    }

    #[test]
    fn other_files_are_refused_by_name() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("b.parquet");
        let refused = |path: &Path| {
            let mut batch = Vec::new();
            CsiReader::open(path, 4).and_then(|mut r| r.next_batch(&mut batch)).map(|_| ()).unwrap_err().to_string()
        };
        assert!(refused(&path).contains("b.parquet"));
        std::fs::write(&path, b"PAR1 not really").unwrap();
        assert!(refused(&path).contains("Parquet"));
        std::fs::write(&path, b"").unwrap();
        assert!(refused(&path).contains("Parquet"));
        write(&path, "other", Arc::new(Int32Array::from(vec![1])));
        assert!(refused(&path).contains("no such column"));
        write(&path, "csi", Arc::new(Int32Array::from(vec![1])));
        assert!(refused(&path).contains("Int32"));
        let zeros = || Arc::new(Float32Array::from(vec![0.0; 12])) as ArrayRef;
        write(&path, "csi", list(zeros(), 6, None));
        assert!(refused(&path).contains("6 numbers"));
        write(&path, "csi", list(zeros(), 4, Some(1)));
        assert!(refused(&path).contains("row 1"));
    }

    #[test]
    fn a_tensor_of_another_shape_is_not_taken_for_ours() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("c.parquet");
        let zeros = || list(Arc::new(Float32Array::from(vec![0.0; 64])), 32, None);
        for (tensor, problem) in [
            (r#"{"shape":[8,2,2]}"#, None),
            (r#"{"shape":[8,2,2],"permutation":[0,1,2]}"#, None),
            (r#"{"shape":[2,8,2]}"#, Some("shape [2, 8, 2]")),
            (r#"{"shape":[8,2,2],"permutation":[1,0,2]}"#, Some("order [1, 0, 2]")),
            ("", Some("no shape")),
        ] {
            write_tensor(&path, "csi", zeros(), Some(tensor));
            match (CsiReader::open(&path, 4), problem) {
                (Ok(reader), None) => assert_eq!(reader.bins(), 8),
                (Err(error), Some(problem)) => assert!(error.to_string().contains(problem), "{error}"),
                (found, _) => panic!("{tensor}: {:?}", found.err()),
            }
        }
    }
}
