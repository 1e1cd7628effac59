//! Volumes in a Parquet table: the columns `index` and `mass` of what `PosteriorTable` writes, or of a table made elsewhere.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use arrow::array::{Array, ArrayRef, AsArray, Float64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, UInt64Type};
use arrow::error::ArrowError;
use magnetar_dataset::{ParquetInput, check_pages};
use magnetar_posterior::SupportSize;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};

use super::volume_file::{VolumeFileError, shown};
use crate::posterior_table::{SPLIT_KEY, parse_shape};

/// Rows of the index read at a time.
const BATCH: usize = 8192;

/// Volumes read at a time.
const VOLUMES: usize = 8;

/// Most places at which reading goes on: each holds a batch of volumes.
const MAX_CURSORS: usize = 16;

/// Most rows of a table: their index is in memory, and a small file can hold the index of very many.
const MAX_ROWS: usize = 1 << 22;

/// A table of volumes; its index is in memory, its volumes are read when asked for.
pub(super) struct VolumeTable {
    path: PathBuf,
    metadata: ArrowReaderMetadata,
    /// Place in the table by row index.
    places: HashMap<u64, usize>,
    shape: Option<SupportSize>,
    split: Option<String>,
    /// Where earlier calls stopped, one for each thread that asks at a time: rows are mostly asked for in the table's order.
    cursors: Mutex<Vec<Cursor>>,
}

/// Goes through the volumes from the first on. Rows before those asked for are read, too: the Parquet reader's own way of skipping
/// never ends where a damaged page has fewer levels than its header says (parquet 60.1).
struct Cursor {
    reader: ParquetRecordBatchReader,
    /// Place of the first volume at hand, and these.
    start: usize,
    volumes: Option<ArrayRef>,
}

impl Cursor {
    /// Place of the first volume that was not read yet.
    fn end(&self) -> usize {
        self.start + self.volumes.as_ref().map_or(0, |volumes| volumes.len())
    }
}

impl VolumeTable {
    pub(super) fn open(path: &Path) -> Result<Self, VolumeFileError> {
        let file = ParquetInput::open(path).map_err(|source| VolumeFileError::Io { path: path.to_owned(), source })?;
        let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())
            .map_err(|source| VolumeFileError::Parquet { path: path.to_owned(), source })?;
        let notes = metadata.metadata().file_metadata().key_value_metadata();
        let split =
            notes.and_then(|notes| notes.iter().find(|note| note.key == SPLIT_KEY)).and_then(|note| note.value.clone());
        let (path_of, places, cursors) = (path.to_owned(), HashMap::new(), Mutex::default());
        let mut table = Self { path: path_of, metadata, places, shape: None, split, cursors };
        table.check_columns()?;
        let schema = table.metadata.parquet_schema();
        let mask = ProjectionMask::columns(schema, ["index", "mass"]);
        let leaves: Vec<usize> = (0..schema.num_columns()).filter(|&leaf| mask.leaf_included(leaf)).collect();
        check_pages(&file, table.metadata.metadata(), &leaves)
            .map_err(|source| VolumeFileError::Pages { path: path.to_owned(), source })?;
        table.read_index()?;
        Ok(table)
    }

    /// The split it says it belongs to.
    pub(super) fn split(&self) -> Option<&str> {
        self.split.as_deref()
    }

    /// D, H and W, where the column says them.
    pub(super) fn shape(&self) -> Option<SupportSize> {
        self.shape
    }

    fn content(&self, problem: String) -> VolumeFileError {
        VolumeFileError::Content { path: self.path.clone(), problem }
    }

    fn arrow(&self, source: ArrowError) -> VolumeFileError {
        VolumeFileError::Arrow { path: self.path.clone(), source }
    }

    fn check_columns(&mut self) -> Result<(), VolumeFileError> {
        let schema = self.metadata.schema();
        for name in ["index", "mass"] {
            if schema.column_with_name(name).is_none() {
                return Err(self.content(format!("has no column {name:?}; expected index and mass")));
            }
        }
        let field = schema.field_with_name("mass").map_err(|e| self.arrow(e))?;
        if !matches!(field.data_type(), DataType::FixedSizeList(..) | DataType::List(_) | DataType::LargeList(_)) {
            return Err(self.content(format!("column mass is {}, expected lists of numbers", field.data_type())));
        }
        self.shape = field.metadata().get("shape").and_then(|text| parse_shape(text));
        Ok(())
    }

    fn reader(&self, column: &str, batch: usize) -> Result<ParquetRecordBatchReader, VolumeFileError> {
        let file =
            ParquetInput::open(&self.path).map_err(|source| VolumeFileError::Io { path: self.path.clone(), source })?;
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone());
        let mask = ProjectionMask::columns(builder.parquet_schema(), [column]);
        let built = builder.with_projection(mask).with_batch_size(batch).build();
        built.map_err(|source| VolumeFileError::Parquet { path: self.path.clone(), source })
    }

    fn read_index(&mut self) -> Result<(), VolumeFileError> {
        let mut place = 0;
        for batch in self.reader("index", BATCH)? {
            let batch = batch.map_err(|e| self.arrow(e))?;
            let column = cast(batch.column(0), &DataType::UInt64).map_err(|e| self.arrow(e))?;
            for index in column.as_primitive::<UInt64Type>() {
                let index = index.ok_or_else(|| self.content(format!("row {place} of the table has no index")))?;
                if place == MAX_ROWS {
                    return Err(self.content(format!("holds more than {MAX_ROWS} volumes")));
                }
                if self.places.insert(index, place).is_some() {
                    return Err(self.content(format!("index {index} is there twice")));
                }
                place += 1;
            }
        }
        Ok(())
    }

    /// The volume of each row; `None` for rows the table does not hold.
    pub(super) fn read(&self, rows: &[u64], size: SupportSize) -> Result<Vec<Option<Vec<f64>>>, VolumeFileError> {
        let mut places: Vec<usize> = rows.iter().filter_map(|row| self.places.get(row).copied()).collect();
        places.sort_unstable();
        places.dedup();
        let Some(&first) = places.first() else { return Ok(vec![None; rows.len()]) };
        let mut cursor = self.take_cursor(first)?;
        let mut by_place: HashMap<usize, Vec<f64>> = HashMap::with_capacity(places.len());
        for place in places {
            let volumes = self.advance(&mut cursor, place)?;
            by_place.insert(place, self.masses(&volumes, place - cursor.start, size)?);
        }
        self.keep_cursor(cursor);
        Ok(rows.iter().map(|row| self.places.get(row).and_then(|place| by_place.get(place).cloned())).collect())
    }

    /// The cursor that has the fewest volumes to read before one at a place. It is kept again only after all went well.
    fn take_cursor(&self, place: usize) -> Result<Cursor, VolumeFileError> {
        let mut cursors = self.cursors.lock().unwrap_or_else(PoisonError::into_inner);
        let before = cursors.iter().enumerate().filter(|(_, cursor)| cursor.start <= place);
        if let Some((nearest, _)) = before.max_by_key(|(_, cursor)| cursor.start) {
            return Ok(cursors.remove(nearest));
        }
        drop(cursors);
        Ok(Cursor { reader: self.reader("mass", VOLUMES)?, start: 0, volumes: None })
    }

    /// Keeps a cursor for later calls; of too many, the one that was not used for longest goes.
    fn keep_cursor(&self, cursor: Cursor) {
        let mut cursors = self.cursors.lock().unwrap_or_else(PoisonError::into_inner);
        cursors.push(cursor);
        if cursors.len() > MAX_CURSORS {
            cursors.remove(0);
        }
    }

    /// The volumes among which the one at a place is.
    fn advance(&self, cursor: &mut Cursor, place: usize) -> Result<ArrayRef, VolumeFileError> {
        loop {
            if let Some(volumes) = cursor.volumes.as_ref().filter(|_| place < cursor.end()) {
                return Ok(volumes.clone());
            }
            let batch =
                cursor.reader.next().ok_or_else(|| self.content("has fewer rows than its footer says".into()))?;
            let batch = batch.map_err(|e| self.arrow(e))?;
            (cursor.start, cursor.volumes) = (cursor.end(), Some(batch.column(0).clone()));
        }
    }

    fn masses(&self, lists: &ArrayRef, n: usize, size: SupportSize) -> Result<Vec<f64>, VolumeFileError> {
        if lists.is_null(n) {
            return Err(self.content(format!("row {n} of a batch has no mass")));
        }
        let values = match lists.data_type() {
            DataType::FixedSizeList(..) => lists.as_fixed_size_list().value(n),
            DataType::List(_) => lists.as_list::<i32>().value(n),
            DataType::LargeList(_) => lists.as_list::<i64>().value(n),
            other => return Err(self.content(format!("column mass is {other}, expected lists of numbers"))),
        };
        if values.len() != size.len() {
            let problem = format!("a volume of {} masses, expected {}", values.len(), shown(size));
            return Err(self.content(problem));
        }
        let values = cast(&values, &DataType::Float64).map_err(|e| self.arrow(e))?;
        let values: &Float64Array = values.as_primitive::<Float64Type>();
        if values.null_count() > 0 {
            return Err(self.content("a volume with a missing mass".into()));
        }
        Ok(values.values().to_vec())
    }
}
