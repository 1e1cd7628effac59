//! Many posteriors as one Parquet table: one row per posterior.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, FixedSizeListArray, Float32Array, Float64Array, RecordBatch, UInt64Array};
use arrow::datatypes::{DataType, Field, Schema};
use magnetar_dataset::Record;
use magnetar_files::AtomicFile;
use magnetar_posterior::{HpdCurve, Scorer, Support, SupportSize, Target, Volume};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

/// Rows of a batch: some 5 MB of volumes at 18 x 33 x 33.
const BATCH: usize = 64;

/// Numbers of a row besides its index and its lists, with their units.
const NUMBERS: [(&str, &str); 6] = [
    ("mode_x_m", "m"),
    ("mode_y_m", "m"),
    ("mode_heading_rad", "rad"),
    ("mode_mass", "1"),
    ("hpd50_percent", "percent of the candidates"),
    ("hpd90_percent", "percent of the candidates"),
];

/// Key of the split in a table's key-value metadata.
pub(crate) const SPLIT_KEY: &str = "magnetar.split";

/// Where the posteriors of a table come from: written into its key-value metadata.
#[derive(Clone, Copy)]
pub struct PosteriorOrigin<'a> {
    /// The split whose rows were scored.
    pub split: &'a str,
    /// Hash of the dataset's recipe.
    pub recipe_hash: &'a str,
    /// The dataset's seed.
    pub seed: u64,
    /// What scored them.
    pub scorer: &'a dyn Scorer,
}

impl PosteriorOrigin<'_> {
    fn notes(&self) -> Vec<KeyValue> {
        let note = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
        vec![
            note(SPLIT_KEY, self.split.to_owned()),
            note("magnetar.recipe_hash", self.recipe_hash.to_owned()),
            note("magnetar.seed", self.seed.to_string()),
            note("magnetar.scorer", self.scorer.name().to_owned()),
            note("magnetar.scorer_identity", self.scorer.identity()),
            note("magnetar.scorer_knowledge", self.scorer.knowledge().to_string()),
        ]
    }
}

/// D, H and W as the `mass` column's metadata has them: `[D, H, W]`.
pub(crate) fn parse_shape(text: &str) -> Option<SupportSize> {
    let numbers = text.strip_prefix('[')?.strip_suffix(']')?.split(',');
    let numbers: Vec<usize> = numbers.map(|number| number.trim().parse().ok()).collect::<Option<_>>()?;
    let &[headings, rows, columns] = &numbers[..] else { return None };
    Some(SupportSize { headings, rows, columns })
}

/// One row of the table.
#[derive(Debug, Clone)]
pub struct PosteriorRow {
    index: u64,
    numbers: [f64; NUMBERS.len()],
    heading_marginal: Vec<f32>,
    xy_marginal: Vec<f32>,
    mass: Vec<f32>,
}

impl PosteriorRow {
    /// What the table holds of a posterior: its mode, HPD sizes, marginals and volume.
    #[must_use]
    pub fn new(record: &Record, support: &Support, volume: &Volume) -> Self {
        let (d, i, j) = support.place(volume.mode());
        let curve = HpdCurve::new(volume, &support.mask(&record.reported().rx), &Target { voxels: Vec::new() });
        let mass = f64::from(volume.mass()[volume.mode()]);
        let narrow = |values: Vec<f64>| values.into_iter().map(|v| v as f32).collect();
        Self {
            index: record.index,
            numbers: [
                support.xs()[j],
                support.ys()[i],
                magnetar_scene::wrap(support.heading(d)),
                mass,
                100.0 * curve.support[50],
                100.0 * curve.support[90],
            ],
            heading_marginal: narrow(volume.heading_marginal()),
            xy_marginal: narrow(volume.position_marginal()),
            mass: volume.mass().to_vec(),
        }
    }
}

/// Writes posteriors in the order given; the file appears on [`Self::finish`].
pub struct PosteriorTable {
    writer: ArrowWriter<AtomicFile>,
    schema: Arc<Schema>,
    rows: Vec<PosteriorRow>,
}

impl PosteriorTable {
    /// Starts a table for one size of support. The lists are flat: `xy_marginal` [H, W], `mass` [D, H, W].
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn create(path: &Path, size: SupportSize, origin: &PosteriorOrigin<'_>) -> io::Result<Self> {
        let cells = size.rows * size.columns;
        let number = |(name, unit): &(&str, &str)| {
            let metadata = HashMap::from([("unit".to_owned(), (*unit).to_owned())]);
            Field::new(*name, DataType::Float64, false).with_metadata(metadata)
        };
        let list = |name: &str, length: usize, shape: &str| {
            let metadata = [("unit", "1"), ("shape", shape)].map(|(k, v)| (k.to_owned(), v.to_owned()));
            Field::new(name, list_type(length), false).with_metadata(HashMap::from(metadata))
        };
        let mut fields = vec![Field::new("index", DataType::UInt64, false)];
        fields.extend(NUMBERS.iter().map(number));
        fields.push(list("heading_marginal", size.headings, &format!("[{}]", size.headings)));
        fields.push(list("xy_marginal", cells, &format!("[{}, {}]", size.rows, size.columns)));
        let shape = format!("[{}, {}, {}]", size.headings, size.rows, size.columns);
        fields.push(list("mass", size.headings * cells, &shape));
        let schema = Arc::new(Schema::new(fields));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_key_value_metadata(Some(origin.notes()))
            .build();
        let writer =
            ArrowWriter::try_new(AtomicFile::create(path)?, schema.clone(), Some(properties)).map_err(refused)?;
        Ok(Self { writer, schema, rows: Vec::with_capacity(BATCH) })
    }

    /// Appends one row.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&mut self, row: PosteriorRow) -> io::Result<()> {
        self.rows.push(row);
        if self.rows.len() < BATCH { Ok(()) } else { self.flush() }
    }

    /// Writes what is left and gives the file its name.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        self.writer.into_inner().map_err(refused)?.commit()
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut columns: Vec<ArrayRef> =
            vec![Arc::new(UInt64Array::from_iter_values(self.rows.iter().map(|r| r.index)))];
        for n in 0..NUMBERS.len() {
            columns.push(Arc::new(Float64Array::from_iter_values(self.rows.iter().map(|r| r.numbers[n]))));
        }
        columns.push(list_of(self.rows.iter().map(|r| &r.heading_marginal))?);
        columns.push(list_of(self.rows.iter().map(|r| &r.xy_marginal))?);
        columns.push(list_of(self.rows.iter().map(|r| &r.mass))?);
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(io::Error::other)?;
        self.rows.clear();
        self.writer.write(&batch).map_err(refused)?;
        // A row group per batch: memory stays flat however many rows follow.
        self.writer.flush().map_err(refused)
    }
}

fn refused(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

fn list_type(length: usize) -> DataType {
    DataType::FixedSizeList(item(), i32::try_from(length).unwrap_or(i32::MAX))
}

fn item() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Float32, false))
}

fn list_of<'a>(lists: impl Iterator<Item = &'a Vec<f32>>) -> io::Result<ArrayRef> {
    let (mut values, mut length) = (Vec::new(), 0);
    for list in lists {
        length = list.len();
        values.extend_from_slice(list);
    }
    let length = i32::try_from(length).map_err(io::Error::other)?;
    let array = FixedSizeListArray::try_new(item(), length, Arc::new(Float32Array::from(values)), None);
    Ok(Arc::new(array.map_err(io::Error::other)?))
}
