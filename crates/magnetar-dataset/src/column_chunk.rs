//! A column chunk: pages that were written, and what Parquet's footer says of them.

use std::io::{self, Read};
use std::sync::Arc;

use crc32fast::Hasher;
use parquet::basic::{Compression as Codec, Encoding};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, OffsetIndexBuilder};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescPtr;

use crate::frame::Frame;
use crate::page_encoding::{PageSize, data_page_header, dictionary_page_header};

/// A chunk, what the footer says of it, and its CRC-32.
pub(crate) type WrittenChunk = (ColumnChunk, ColumnCloseResult, u32);

/// Bytes of a plane that are looked at to tell whether it compresses.
const SAMPLE: usize = 4096;
/// A plane whose bytes hold more than this many bits each is stored as it is.
const MOST_BITS: f64 = 7.6;

/// A page before compression.
pub(crate) struct Page<'a> {
    /// Levels and values.
    pub(crate) bytes: &'a [u8],
    /// If the values are split into byte planes: where they start, and how long a plane is.
    pub(crate) planes: Option<(usize, usize)>,
}

impl Page<'_> {
    /// What readers of the file find: in a frame of zstd, or as it is. Of byte planes only those are compressed that get
    /// smaller: signs and exponents do, mantissas of noise do not; any reader takes the raw blocks of a frame for what they are.
    fn compress(&self, frame: Option<&mut Frame>, to: &mut Vec<u8>) -> io::Result<()> {
        let Some(frame) = frame else {
            to.extend_from_slice(self.bytes);
            return Ok(());
        };
        let raw = self.planes.map_or(0, |(head, plane)| {
            // Mantissas come before exponents: from the first plane that compresses on, all are.
            let planes = self.bytes[head..].chunks_exact(plane.max(1));
            head + plane * planes.take_while(|plane| !compresses(plane)).count()
        });
        let (raw, compressed) = self.bytes.split_at(raw);
        frame.append(raw, compressed, to)
    }
}

/// Whether a plane's bytes are uneven enough for compression to pay, by a sample of them.
fn compresses(plane: &[u8]) -> bool {
    let sample = &plane[..plane.len().min(SAMPLE)];
    let mut counts = [0u32; 256];
    for byte in sample {
        counts[usize::from(*byte)] += 1;
    }
    let count = sample.len().max(1) as f64;
    let bits = |n: &u32| if *n == 0 { 0.0 } else { f64::from(*n) / count * libm::log2(count / f64::from(*n)) };
    counts.iter().map(bits).sum::<f64>() < MOST_BITS
}

/// The data pages of a chunk, one after the other, and the books about them.
pub(crate) struct DataPages {
    pages: Vec<u8>,
    index: OffsetIndexBuilder,
    rows: usize,
    values: usize,
    uncompressed: usize,
    /// A page after compression; kept for its room.
    compressed: Vec<u8>,
}

impl DataPages {
    /// None yet; `pages` is room for them.
    pub(crate) fn new(mut pages: Vec<u8>) -> Self {
        pages.clear();
        let index = OffsetIndexBuilder::new();
        Self { pages, index, rows: 0, values: 0, uncompressed: 0, compressed: Vec::new() }
    }

    /// Adds a page of so many rows and values (levels, where there are any).
    ///
    /// # Errors
    /// If zstd fails.
    pub(crate) fn add(
        &mut self,
        page: &Page<'_>,
        frame: Option<&mut Frame>,
        (rows, values): (usize, usize),
        encoding: Encoding,
    ) -> io::Result<()> {
        self.compressed.clear();
        page.compress(frame, &mut self.compressed)?;
        let sizes = sizes(page.bytes, &self.compressed);
        let header = data_page_header(&sizes, values, encoding);
        let start = self.pages.len();
        self.pages.extend_from_slice(&header);
        self.pages.extend_from_slice(&self.compressed);
        let size = self.pages.len() - start;
        self.index.append_offset_and_size(start as i64, i32::try_from(size).unwrap_or(i32::MAX));
        self.index.append_row_count(rows as i64);
        self.rows += rows;
        self.values += values;
        self.uncompressed += header.len() + page.bytes.len();
        Ok(())
    }

    /// The chunk, what the footer says of it, and its CRC-32.
    ///
    /// # Errors
    /// If zstd fails, or the footer cannot say it.
    pub(crate) fn close(self, about: ChunkAbout<'_>) -> Result<WrittenChunk, ParquetError> {
        let mut first = Vec::new();
        let mut uncompressed = self.uncompressed;
        let compressed_with = about.frame.is_some();
        if let Some((entries, bytes)) = about.dictionary {
            let mut compressed = Vec::new();
            Page { bytes, planes: None }.compress(about.frame, &mut compressed)?;
            first = dictionary_page_header(&sizes(bytes, &compressed), entries);
            uncompressed += first.len() + bytes.len();
            first.extend_from_slice(&compressed);
        }
        let mut index = self.index.build();
        index.page_locations.iter_mut().for_each(|page| page.offset += first.len() as i64);
        let chunk = ColumnChunk { parts: Arc::new([first, self.pages]) };
        let mut metadata = ColumnChunkMetaData::builder(about.column)
            .set_compression(if compressed_with { Codec::ZSTD(Default::default()) } else { Codec::UNCOMPRESSED })
            .set_encodings(about.encodings)
            .set_total_compressed_size(chunk.len() as i64)
            .set_total_uncompressed_size(uncompressed as i64)
            .set_num_values(self.values as i64)
            .set_dictionary_page_offset(about.dictionary.map(|_| 0))
            .set_data_page_offset(chunk.parts[0].len() as i64);
        if let Some(statistics) = about.statistics {
            metadata = metadata.set_statistics(statistics);
        }
        let close = ColumnCloseResult {
            bytes_written: chunk.len(),
            rows_written: self.rows as u64,
            metadata: metadata.build()?,
            bloom_filter: None,
            column_index: None,
            offset_index: Some(index),
        };
        let mut sum = Hasher::new();
        chunk.parts.iter().for_each(|part| sum.update(part));
        Ok((chunk, close, sum.finalize()))
    }
}

fn sizes(uncompressed: &[u8], compressed: &[u8]) -> PageSize {
    let checksum = crc32fast::hash(compressed);
    PageSize { uncompressed: uncompressed.len(), compressed: compressed.len(), checksum }
}

/// What a chunk's footer says beyond its pages.
pub(crate) struct ChunkAbout<'a> {
    pub(crate) column: ColumnDescPtr,
    pub(crate) encodings: Vec<Encoding>,
    pub(crate) statistics: Option<Statistics>,
    /// The number of entries of its dictionary, and these.
    pub(crate) dictionary: Option<(usize, &'a [u8])>,
    pub(crate) frame: Option<&'a mut Frame>,
}

/// A written chunk, to be read once from its start.
pub(crate) struct ColumnChunk {
    /// The dictionary page, if there is one, and the data pages.
    parts: Arc<[Vec<u8>; 2]>,
}

impl ColumnChunk {
    /// The room its pages took.
    pub(crate) fn into_room(self) -> Vec<u8> {
        Arc::try_unwrap(self.parts).map_or_else(|_| Vec::new(), |[_, pages]| pages)
    }
}

/// Reads a chunk part by part.
pub(crate) struct ColumnChunkReader {
    parts: Arc<[Vec<u8>; 2]>,
    part: usize,
    at: usize,
}

impl Length for ColumnChunk {
    fn len(&self) -> u64 {
        self.parts.iter().map(|part| part.len() as u64).sum()
    }
}

impl ChunkReader for ColumnChunk {
    type T = ColumnChunkReader;

    fn get_read(&self, start: u64) -> Result<ColumnChunkReader, ParquetError> {
        match start {
            0 => Ok(ColumnChunkReader { parts: Arc::clone(&self.parts), part: 0, at: 0 }),
            _ => Err(ParquetError::General("a new chunk is read from its start".into())),
        }
    }

    fn get_bytes(&self, _: u64, _: usize) -> Result<bytes::Bytes, ParquetError> {
        Err(ParquetError::General("a new chunk is read as a stream".into()))
    }
}

impl Read for ColumnChunkReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(part) = self.parts.get(self.part) {
            let left = &part[self.at..];
            if left.is_empty() {
                (self.part, self.at) = (self.part + 1, 0);
                continue;
            }
            let count = left.len().min(buffer.len());
            buffer[..count].copy_from_slice(&left[..count]);
            self.at += count;
            return Ok(count);
        }
        Ok(0)
    }
}
