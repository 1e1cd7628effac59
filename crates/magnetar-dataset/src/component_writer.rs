//! Estimated components as a table: one row per component, as Parquet, JSON lines or CSV.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, RecordBatch, UInt32Array, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema};
use magnetar_files::AtomicFile;
use magnetar_signal::sre::Component;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

/// Rows gathered before they are handed to Parquet.
const BATCH: usize = 8192;

/// Columns of numbers, after `observation` and `rank`; the last stands only in wideband tables.
const NUMBERS: [&str; 6] = ["aoa_rad", "phase_rad", "delay_s", "raw_snr_db", "snr_db", "alias_confidence"];

/// What went wrong with a table.
#[derive(Debug, thiserror::Error)]
pub enum ComponentWriterError {
    /// The ending of the name is that of no known format.
    #[error("{0}: expected a name that ends in .parquet, .jsonl or .csv")]
    Format(String),
    /// The file cannot be written.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// Parquet refused.
    #[error("{file}: {source}")]
    Parquet {
        /// The file.
        file: String,
        /// Why.
        source: ParquetError,
    },
}

enum Output {
    Parquet { writer: Box<ArrowWriter<AtomicFile>>, rows: UnwrittenRows },
    Json(AtomicFile),
    Csv(AtomicFile),
}

#[derive(Default)]
struct UnwrittenRows {
    observation: Vec<u64>,
    rank: Vec<u32>,
    numbers: [Vec<f64>; NUMBERS.len()],
}

/// Writes components in the order given; the file appears on [`Self::finish`].
pub struct ComponentWriter {
    output: Output,
    file: String,
    columns: usize,
}

impl ComponentWriter {
    /// Starts a table whose format follows from the ending of the name. With `confidence` it has a last column
    /// `alias_confidence`.
    ///
    /// # Errors
    /// The ending is unknown or the file cannot be made.
    pub fn create(path: &Path, confidence: bool) -> Result<Self, ComponentWriterError> {
        let file = path.display().to_string();
        let columns = if confidence { NUMBERS.len() } else { NUMBERS.len() - 1 };
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
        if !["parquet", "jsonl", "csv"].contains(&ending.as_str()) {
            return Err(ComponentWriterError::Format(file));
        }
        let io_error = |source| ComponentWriterError::Io { file: file.clone(), source };
        let mut target = AtomicFile::create(path).map_err(io_error)?;
        let output = match ending.as_str() {
            "parquet" => {
                let properties =
                    WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
                let writer = ArrowWriter::try_new(target, schema(columns), Some(properties))
                    .map_err(|source| ComponentWriterError::Parquet { file: file.clone(), source })?;
                Output::Parquet { writer: Box::new(writer), rows: UnwrittenRows::default() }
            }
            "csv" => {
                writeln!(target, "observation,rank,{}", NUMBERS[..columns].join(",")).map_err(io_error)?;
                Output::Csv(target)
            }
            _ => Output::Json(target),
        };
        Ok(Self { output, file, columns })
    }

    /// Appends one component of observation number `observation`; rank 0 is the strongest.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&mut self, observation: u64, rank: u32, c: &Component) -> Result<(), ComponentWriterError> {
        let a = &c.arrival;
        let numbers = [a.aoa_rad, a.phase_rad, a.delay_s, a.raw_snr_db, a.snr_db, c.alias_confidence];
        let numbers = &numbers[..self.columns];
        let io_error = |file: &str, source| ComponentWriterError::Io { file: file.to_owned(), source };
        match &mut self.output {
            Output::Csv(file) => csv_row(file, observation, rank, numbers).map_err(|e| io_error(&self.file, e)),
            Output::Json(file) => json_row(file, observation, rank, numbers).map_err(|e| io_error(&self.file, e)),
            Output::Parquet { writer, rows } => {
                rows.observation.push(observation);
                rows.rank.push(rank);
                for (column, &x) in rows.numbers.iter_mut().zip(numbers) {
                    column.push(x);
                }
                if rows.rank.len() < BATCH {
                    return Ok(());
                }
                rows.flush(writer, self.columns)
                    .map_err(|source| ComponentWriterError::Parquet { file: self.file.clone(), source })
            }
        }
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(self) -> Result<(), ComponentWriterError> {
        let file = self.file;
        let target = match self.output {
            Output::Csv(target) | Output::Json(target) => Ok(target),
            Output::Parquet { mut writer, mut rows } => {
                rows.flush(&mut writer, self.columns).and_then(|()| writer.into_inner())
            }
        };
        let target = target.map_err(|source| ComponentWriterError::Parquet { file: file.clone(), source })?;
        target.commit().map_err(|source| ComponentWriterError::Io { file, source })
    }
}

impl UnwrittenRows {
    fn flush(&mut self, writer: &mut ArrowWriter<AtomicFile>, columns: usize) -> Result<(), ParquetError> {
        let rows = std::mem::take(self);
        let mut arrays: Vec<ArrayRef> =
            vec![Arc::new(UInt64Array::from(rows.observation)), Arc::new(UInt32Array::from(rows.rank))];
        let numbers = rows.numbers.into_iter().take(columns);
        arrays.extend(numbers.map(|x| Arc::new(Float64Array::from(x)) as ArrayRef));
        writer.write(&RecordBatch::try_new(schema(columns), arrays)?)
    }
}

fn schema(columns: usize) -> Arc<Schema> {
    let mut fields =
        vec![Field::new("observation", DataType::UInt64, false), Field::new("rank", DataType::UInt32, false)];
    fields.extend(NUMBERS[..columns].iter().map(|&name| Field::new(name, DataType::Float64, false)));
    Arc::new(Schema::new(fields))
}

/// Numbers are written with the fewest digits that read back as the same number.
fn csv_row(file: &mut impl Write, observation: u64, rank: u32, numbers: &[f64]) -> io::Result<()> {
    write!(file, "{observation},{rank}")?;
    numbers.iter().try_for_each(|x| write!(file, ",{x:?}"))?;
    writeln!(file)
}

fn json_row(file: &mut impl Write, observation: u64, rank: u32, numbers: &[f64]) -> io::Result<()> {
    write!(file, "{{\"observation\":{observation},\"rank\":{rank}")?;
    NUMBERS.iter().zip(numbers).try_for_each(|(name, x)| write!(file, ",\"{name}\":{x:?}"))?;
    writeln!(file, "}}")
}
