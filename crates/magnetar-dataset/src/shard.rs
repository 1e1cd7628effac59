//! Shards: Parquet files that appear whole or not at all.

use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use crc32fast::Hasher;
use magnetar_files::{AtomicFile, InputFile, file_size, is_in_store, replacement_path};
use parquet::arrow::{ArrowSchemaConverter, add_encoded_arrow_schema_to_metadata};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use sha2::{Digest, Sha256};

use crate::checksum::Checksums;
use crate::columns::BatchBuilder;
use crate::columns::csi::CSI;
use crate::csi_pages::{CsiPages, PageLayout};
use crate::error::DatasetError;
use crate::leaf_pages::{LEAF_PAGE_ROWS, LeafPages};
use crate::manifest::{Manifest, ShardInfo};
use crate::recipe::{self, Compression, hex};
use crate::record::Record;
use crate::schema::Shape;

/// Prefix of our keys in Parquet's key-value metadata.
const PREFIX: &str = "magnetar.";

/// Bytes hashed at a time.
const DIGEST_BUFFER: usize = 1 << 18;

/// A shard to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ShardPlan<'a> {
    /// The split.
    pub split: &'a str,
    /// Its number within the split.
    pub number: u64,
    /// Index of its first row.
    pub start: u64,
    /// Rows.
    pub rows: u64,
}

/// Our key-value metadata of a shard, in a fixed order.
pub(crate) fn key_values(manifest: &Manifest, plan: &ShardPlan<'_>) -> Result<Vec<(String, String)>, DatasetError> {
    let recipe = serde_json::to_string(&manifest.recipe)
        .map_err(|source| DatasetError::RecipeJson { name: manifest.recipe.name.clone(), source })?;
    let stand_in = manifest.stand_in.iter().map(|text| (format!("{PREFIX}stand_in"), text.clone()));
    let measured = manifest.measured.iter().map(|of| (format!("{PREFIX}measured"), of.campaign.clone()));
    Ok([
        ("version", manifest.version.clone()),
        ("schema_version", manifest.schema_version.to_string()),
        ("backend", manifest.backend.clone()),
        ("recipe_hash", manifest.recipe_hash.clone()),
        ("recipe", recipe),
        ("seed", manifest.seed.to_string()),
        ("split", plan.split.to_owned()),
        ("start", plan.start.to_string()),
        ("rows", plan.rows.to_string()),
    ]
    .map(|(key, value)| (format!("{PREFIX}{key}"), value))
    .into_iter()
    .chain(stand_in)
    .chain(measured)
    .collect())
}

/// What the file says of itself, and its schema.
fn properties(manifest: &Manifest, plan: &ShardPlan<'_>) -> Result<WriterProperties, DatasetError> {
    let metadata = key_values(manifest, plan)?.into_iter().map(|(key, value)| KeyValue::new(key, value)).collect();
    let mut properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_created_by(format!("magnetar {}", manifest.version))
        .set_key_value_metadata(Some(metadata))
        .build();
    add_encoded_arrow_schema_to_metadata(&manifest.shape().schema(), &mut properties);
    Ok(properties)
}

/// How pages are compressed and floats laid out: what measured best is the default, see docs/performance.md.
fn storage(manifest: &Manifest) -> (bool, Option<i32>) {
    let store = &manifest.recipe.store;
    let split = store.encoding == recipe::Encoding::ByteStreamSplit;
    (split, (store.compression == Compression::Zstd).then_some(store.compression_level))
}

/// What takes the observations, if there are any.
fn csi_pages(manifest: &Manifest, room: Vec<u8>) -> io::Result<Option<CsiPages>> {
    let (shape, (split, level)) = (manifest.shape(), storage(manifest));
    let width = match shape.csi {
        recipe::Csi::F32 => 4,
        recipe::Csi::F16 => 2,
        recipe::Csi::None => return Ok(None),
    };
    CsiPages::new(PageLayout { row: shape.csi_len(), width, split, level }, room).map(Some)
}

/// Passes bytes on, counting and hashing them.
pub(crate) struct Hashing<W> {
    inner: W,
    hash: Sha256,
    bytes: u64,
    /// Where the footer starts and its checksum so far, once it has started.
    footer: Option<(u64, Hasher)>,
}

impl<W> Hashing<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, hash: Sha256::new(), bytes: 0, footer: None }
    }

    /// What follows is the footer.
    fn start_footer(&mut self) {
        self.footer = Some((self.bytes, Hasher::new()));
    }

    /// Bytes and CRC-32 of the footer so far.
    fn footer(&self) -> (u64, u32) {
        self.footer.as_ref().map_or((0, 0), |(start, sum)| (self.bytes - start, sum.clone().finalize()))
    }

    /// Bytes, SHA-256 (hexadecimal) and where they went.
    pub(crate) fn finish(self) -> (u64, String, W) {
        (self.bytes, hex(&self.hash.finalize()), self.inner)
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(buffer)?;
        self.hash.update(&buffer[..written]);
        self.bytes += written as u64;
        if let Some((_, sum)) = &mut self.footer {
            sum.update(&buffer[..written]);
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// A shard being written. Dropped before `finish`, it leaves nothing.
pub(crate) struct ShardWriter<'a, W: Write + Send> {
    file: SerializedFileWriter<Hashing<W>>,
    /// Rows on their way, without their observations; none to begin with.
    rows: Option<BatchBuilder>,
    leaves: LeafPages,
    csi: Option<CsiPages>,
    /// Of the columns that are not observations.
    shape: Shape,
    plan: ShardPlan<'a>,
    path: PathBuf,
}

impl<'a> ShardWriter<'a, AtomicFile> {
    /// Writes to a file that appears on `finish`; `room` is memory to be used, if there is some to spare.
    pub(crate) fn create(
        path: PathBuf,
        manifest: &Manifest,
        plan: ShardPlan<'a>,
        room: Vec<u8>,
    ) -> Result<Self, DatasetError> {
        let file = AtomicFile::create(&path).map_err(DatasetError::io(&path))?;
        Self::to(file, path, manifest, plan, room)
    }

    /// Makes the file durable, if asked to, and gives it its name. The memory is for the next shard.
    pub(crate) fn finish(self, durable: bool) -> Result<(ShardInfo, Vec<u8>), DatasetError> {
        let path = self.path.clone();
        let (info, file, room) = self.close()?;
        let committed = if durable { file.commit_version() } else { file.commit_name() };
        committed.map_err(DatasetError::io(&path))?;
        Ok((info, room))
    }
}

impl<'a> ShardWriter<'a, io::Sink> {
    /// Writes nowhere, to learn the size.
    pub(crate) fn measuring(manifest: &Manifest, plan: ShardPlan<'a>) -> Result<Self, DatasetError> {
        Self::to(io::sink(), PathBuf::new(), manifest, plan, Vec::new())
    }
}

impl<'a, W: Write + Send> ShardWriter<'a, W> {
    fn to(
        sink: W,
        path: PathBuf,
        manifest: &Manifest,
        plan: ShardPlan<'a>,
        room: Vec<u8>,
    ) -> Result<Self, DatasetError> {
        let properties = Arc::new(properties(manifest, &plan)?);
        let open = || {
            let schema = ArrowSchemaConverter::new().convert(&manifest.shape().schema())?;
            SerializedFileWriter::new(Hashing::new(sink), schema.root_schema_ptr(), properties)
        };
        let file = open().map_err(|e| parquet_error(&path, e))?;
        let (split, level) = storage(manifest);
        let leaves = LeafPages::new(split, level).map_err(DatasetError::io(&path))?;
        let csi = csi_pages(manifest, room).map_err(DatasetError::io(&path))?;
        let shape = Shape { csi: recipe::Csi::None, ..manifest.shape() };
        Ok(Self { file, rows: None, leaves, csi, shape, plan, path })
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, record: &Record) -> Result<(), DatasetError> {
        if let Some(csi) = &mut self.csi {
            csi.push(record.csi.as_deref().unwrap_or_default()).map_err(|e| parquet_error(&self.path, e))?;
        }
        let rows = self.rows.get_or_insert_with(|| BatchBuilder::new(self.shape, room_for(&self.plan)));
        rows.push(record);
        if rows.len() == LEAF_PAGE_ROWS { self.flush() } else { Ok(()) }
    }

    /// Takes the rows on their way in.
    fn flush(&mut self) -> Result<(), DatasetError> {
        let rows = match self.rows.take() {
            Some(rows) => rows,
            // A shard without rows has columns, too.
            None if self.leaves.is_empty() => BatchBuilder::new(self.shape, 0),
            None => return Ok(()),
        };
        let batch = rows.finish().map_err(ParquetError::from);
        batch.and_then(|batch| self.leaves.write(&batch)).map_err(|e| parquet_error(&self.path, e))
    }

    /// Adds rows.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), DatasetError> {
        let mut encode = || {
            let Some(csi) = &mut self.csi else { return self.leaves.write(batch) };
            let place = batch.schema_ref().index_of(CSI)?;
            csi.write(batch.column(place))?;
            let others: Vec<usize> = (0..batch.num_columns()).filter(|column| *column != place).collect();
            self.leaves.write(&batch.project(&others)?)
        };
        encode().map_err(|e| parquet_error(&self.path, e))
    }

    /// Writes the columns as one row group, and the footer. The memory is for the next shard.
    pub(crate) fn close(mut self) -> Result<(ShardInfo, W, Vec<u8>), DatasetError> {
        self.flush()?;
        let mut sums = Vec::new();
        let mut room = Vec::new();
        let append = || {
            let schema = self.file.schema_descr().clone();
            let mut chunks = self.leaves.close(&schema)?;
            if let Some(csi) = self.csi {
                chunks.push(csi.close(schema.column(chunks.len()))?);
            }
            let mut group = self.file.next_row_group()?;
            for (chunk, close, sum) in chunks {
                group.append_column(&chunk, close)?;
                sums.push(sum);
                room = chunk.into_room();
            }
            group.close()
        };
        append().map_err(|e| parquet_error(&self.path, e))?;
        self.file.flush().map_err(DatasetError::io(&self.path))?;
        self.file.inner_mut().start_footer();
        let sink = self.file.into_inner().map_err(|e| parquet_error(&self.path, e))?;
        let (footer_bytes, footer) = sink.footer();
        let checksums = Some(Checksums { footer_bytes, chunks: sums, footer });
        let (bytes, sha256, sink) = sink.finish();
        let ShardPlan { number, start, rows, .. } = self.plan;
        Ok((ShardInfo { number, start, rows, bytes, sha256, checksums }, sink, room))
    }
}

/// Rows that a shard's builder should have room for.
fn room_for(plan: &ShardPlan<'_>) -> usize {
    usize::try_from(plan.rows).unwrap_or(LEAF_PAGE_ROWS).min(LEAF_PAGE_ROWS)
}

/// Parquet wraps the system's errors; a full disk should still be reported as one.
pub(crate) fn parquet_error(path: &Path, error: ParquetError) -> DatasetError {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(source) => DatasetError::Io { path: path.to_owned(), source: *source },
            Err(other) => DatasetError::Parquet { path: path.to_owned(), source: ParquetError::External(other) },
        },
        source => DatasetError::Parquet { path: path.to_owned(), source },
    }
}

impl ShardInfo {
    /// The file of this shard in a dataset's folder: in its place, or still beside it if a run was stopped between
    /// recording a replacement and giving it its name.
    pub(crate) fn file(&self, folder: &Path, split: &str) -> PathBuf {
        let path = Manifest::shard_path(folder, split, self.number);
        let replacement = replacement_path(&path);
        let has_size = |path: &Path| file_size(path).is_ok_and(|bytes| bytes == self.bytes);
        if is_in_store(folder) {
            // Objects are asked for as seldom as will do: two versions of one size are told apart by their checksums.
            return if !has_size(&path) && has_size(&replacement) { replacement } else { path };
        }
        // Two versions of one size are improbable: only then are they told apart by content.
        let waits = has_size(&replacement) && (!has_size(&path) || self.is_content_of(&replacement));
        if waits { replacement } else { path }
    }

    /// Whether another record is one of the same file; an older program may have recorded no checksums.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        let without_checksums = |shard: &Self| Self { checksums: None, ..shard.clone() };
        without_checksums(self) == without_checksums(other)
    }

    /// Whether this shard's file is the one that was recorded.
    pub(crate) fn is_whole(&self, folder: &Path, split: &str) -> bool {
        self.is_content_of(&self.file(folder, split))
    }

    fn is_content_of(&self, path: &Path) -> bool {
        digest(path).is_ok_and(|(bytes, sha256)| bytes == self.bytes && sha256 == self.sha256)
    }
}

/// Size and SHA-256 of a file.
///
/// # Errors
/// If it cannot be read.
pub fn digest(path: &Path) -> io::Result<(u64, String)> {
    digest_of(&InputFile::open(path)?)
}

/// Size and SHA-256 of an open file.
pub(crate) fn digest_of(file: &InputFile) -> io::Result<(u64, String)> {
    let mut sink = Hashing::new(io::sink());
    let mut reader = BufReader::with_capacity(DIGEST_BUFFER, file.reader());
    io::copy(&mut reader, &mut sink)?;
    let (bytes, sha256, _) = sink.finish();
    Ok((bytes, sha256))
}
