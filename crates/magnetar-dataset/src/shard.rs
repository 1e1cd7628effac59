//! Shards: Parquet files that appear whole or not at all.

use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use crc32fast::Hasher;
use magnetar_files::{AtomicFile, InputFile, file_size, is_in_store, replacement_path};
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowWriterOptions, compute_leaves};
use parquet::arrow::{ArrowSchemaConverter, ArrowWriter};
use parquet::basic::{Compression as Codec, Encoding, Type, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use sha2::{Digest, Sha256};

use crate::checked_pages::Chunks;
use crate::checksum::Checksums;
use crate::columns::csi::CSI;
use crate::csi_pages::{CsiPages, PageLayout};
use crate::error::Error;
use crate::manifest::{Manifest, ShardInfo};
use crate::recipe::{self, Compression, hex};

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
pub(crate) fn key_values(manifest: &Manifest, plan: &ShardPlan<'_>) -> Result<Vec<(String, String)>, Error> {
    let recipe = serde_json::to_string(&manifest.recipe)
        .map_err(|source| Error::RecipeJson { name: manifest.recipe.name.clone(), source })?;
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

/// Encodings that measured best: see docs/performance.md.
fn properties(path: &Path, manifest: &Manifest, plan: &ShardPlan<'_>) -> Result<WriterProperties, Error> {
    let store = &manifest.recipe.store;
    let codec = match store.compression {
        Compression::None => Codec::UNCOMPRESSED,
        Compression::Zstd => {
            Codec::ZSTD(ZstdLevel::try_new(store.compression_level).map_err(|e| parquet_error(path, e))?)
        }
    };
    let floats = match store.encoding {
        recipe::Encoding::ByteStreamSplit => Encoding::BYTE_STREAM_SPLIT,
        recipe::Encoding::Plain => Encoding::PLAIN,
    };
    let metadata = key_values(manifest, plan)?.into_iter().map(|(key, value)| KeyValue::new(key, value)).collect();
    let mut properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_created_by(format!("magnetar {}", manifest.version))
        .set_compression(codec)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_max_row_group_row_count(Some(usize::try_from(plan.rows).unwrap_or(usize::MAX).max(1)))
        .set_key_value_metadata(Some(metadata));
    let schema = ArrowSchemaConverter::new().convert(&manifest.shape().schema()).map_err(|e| parquet_error(path, e))?;
    for column in schema.columns() {
        let path = column.path().clone();
        match column.physical_type() {
            Type::FLOAT | Type::DOUBLE | Type::FIXED_LEN_BYTE_ARRAY => {
                properties = properties
                    .set_column_dictionary_enabled(path.clone(), false)
                    .set_column_encoding(path.clone(), floats);
            }
            Type::INT32 | Type::INT64 => {
                properties = properties
                    .set_column_dictionary_enabled(path.clone(), false)
                    .set_column_encoding(path.clone(), Encoding::DELTA_BINARY_PACKED);
            }
            _ => {}
        }
        if path.parts().first().is_some_and(|name| name == CSI) {
            // Written by `CsiPages`. Smallest and largest value of a noisy block tell nothing.
            properties = properties.set_column_statistics_enabled(path, EnabledStatistics::None);
        }
    }
    Ok(properties.build())
}

/// What takes the observations, if there are any.
fn csi_pages(manifest: &Manifest) -> io::Result<Option<CsiPages>> {
    let (store, shape) = (&manifest.recipe.store, manifest.shape());
    let width = match shape.csi {
        recipe::Csi::F32 => 4,
        recipe::Csi::F16 => 2,
        recipe::Csi::None => return Ok(None),
    };
    let layout = PageLayout {
        row: shape.csi_len(),
        split: store.encoding == recipe::Encoding::ByteStreamSplit,
        level: (store.compression == Compression::Zstd).then_some(store.compression_level),
    };
    CsiPages::new(layout, width).map(Some)
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
    /// One for each leaf of the schema but the observation, which comes last.
    columns: Vec<ArrowColumnWriter>,
    csi: Option<CsiPages>,
    chunks: Chunks,
    plan: ShardPlan<'a>,
    path: PathBuf,
}

impl<'a> ShardWriter<'a, AtomicFile> {
    /// Writes to a file that appears when the finished shard is committed.
    pub(crate) fn create(path: PathBuf, manifest: &Manifest, plan: ShardPlan<'a>) -> Result<Self, Error> {
        let file = AtomicFile::create(&path).map_err(Error::io(&path))?;
        Self::to(file, path, manifest, plan)
    }

    /// Writes the rest; the file is whole then, but has no name yet.
    pub(crate) fn finish(self) -> Result<FinishedShard, Error> {
        let path = self.path.clone();
        let (info, file) = self.close()?;
        Ok(FinishedShard { info, file, path })
    }
}

/// A shard that is whole. Dropped before `commit`, it leaves nothing.
pub(crate) struct FinishedShard {
    info: ShardInfo,
    file: AtomicFile,
    path: PathBuf,
}

impl FinishedShard {
    /// Makes the file durable and gives it its name.
    pub(crate) fn commit(self) -> Result<ShardInfo, Error> {
        self.file.commit_version().map_err(Error::io(&self.path))?;
        Ok(self.info)
    }
}

impl<'a> ShardWriter<'a, io::Sink> {
    /// Writes nowhere, to learn the size.
    pub(crate) fn measuring(manifest: &Manifest, plan: ShardPlan<'a>) -> Result<Self, Error> {
        Self::to(io::sink(), PathBuf::new(), manifest, plan)
    }
}

impl<'a, W: Write + Send> ShardWriter<'a, W> {
    fn to(sink: W, path: PathBuf, manifest: &Manifest, plan: ShardPlan<'a>) -> Result<Self, Error> {
        let chunks = Chunks::default();
        let options = ArrowWriterOptions::new()
            .with_properties(properties(&path, manifest, &plan)?)
            .with_page_store_factory(Arc::new(chunks.clone()));
        let parts = || {
            let schema = manifest.shape().schema();
            let writer = ArrowWriter::try_new_with_options(Hashing::new(sink), schema, options)?;
            let (file, factory) = writer.into_serialized_writer()?;
            Ok((file, factory.create_column_writers(0)?))
        };
        let (file, mut columns) = parts().map_err(|e| parquet_error(&path, e))?;
        let csi = csi_pages(manifest).map_err(Error::io(&path))?;
        columns.truncate(columns.len() - usize::from(csi.is_some()));
        Ok(Self { file, columns, csi, chunks, plan, path })
    }

    /// Adds rows.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let mut columns = self.columns.iter_mut();
        let mut encode = || {
            for (field, array) in batch.schema_ref().fields().iter().zip(batch.columns()) {
                if let Some(csi) = self.csi.as_mut().filter(|_| field.name() == CSI) {
                    csi.write(array)?;
                    continue;
                }
                for (leaf, column) in compute_leaves(field, array)?.iter().zip(&mut columns) {
                    column.write(leaf)?;
                }
            }
            Ok(())
        };
        encode().map_err(|e| parquet_error(&self.path, e))
    }

    /// Writes the columns as one row group, and the footer.
    pub(crate) fn close(mut self) -> Result<(ShardInfo, W), Error> {
        let append = || {
            let schema = Arc::new(self.file.schema_descr().clone());
            let mut group = self.file.next_row_group()?;
            for (number, column) in self.columns.into_iter().enumerate() {
                let mut chunk = column.close()?;
                self.chunks.correct(number, chunk.close_mut())?;
                chunk.append_to_row_group(&mut group)?;
            }
            if let Some(csi) = self.csi {
                let number = schema.num_columns() - 1;
                let (chunk, close, sum) = csi.close(schema.column(number))?;
                group.append_column(&chunk, close)?;
                self.chunks.set_checksum(number, sum);
            }
            group.close()
        };
        append().map_err(|e| parquet_error(&self.path, e))?;
        self.file.flush().map_err(Error::io(&self.path))?;
        self.file.inner_mut().start_footer();
        let sink = self.file.into_inner().map_err(|e| parquet_error(&self.path, e))?;
        let (footer_bytes, footer) = sink.footer();
        let checksums = Some(Checksums { footer_bytes, chunks: self.chunks.checksums(), footer });
        let (bytes, sha256, sink) = sink.finish();
        let ShardPlan { number, start, rows, .. } = self.plan;
        Ok((ShardInfo { number, start, rows, bytes, sha256, checksums }, sink))
    }
}

/// Parquet wraps the system's errors; a full disk should still be reported as one.
pub(crate) fn parquet_error(path: &Path, error: ParquetError) -> Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(source) => Error::Io { path: path.to_owned(), source: *source },
            Err(other) => Error::Parquet { path: path.to_owned(), source: ParquetError::External(other) },
        },
        source => Error::Parquet { path: path.to_owned(), source },
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
