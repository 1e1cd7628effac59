//! The column chunk of `csi`, page by page, without the detour through repetition and definition levels of every number.
//!
//! Every row has as many numbers as any other, none of them null, so a page's levels are the same few bytes for each of its
//! rows. Its numbers are split into byte planes (`BYTE_STREAM_SPLIT`), and only those are compressed that get smaller: signs
//! and exponents do, mantissas of noise do not. In the page's one zstd frame the others are raw blocks, so any reader takes
//! it for what it is.

use std::io::{self, Read};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Float16Type, Float32Type};
use bytes::Bytes;
use crc32fast::Hasher;
use parquet::basic::{Compression as Codec, Encoding};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, OffsetIndexBuilder};
use parquet::file::reader::{ChunkReader, Length};
use parquet::schema::types::ColumnDescPtr;

use crate::frame::Frame;

/// Rows of a data page of the observation: small pages make single rows cheap to read.
pub(crate) const PAGE_ROWS: usize = 64;

/// Bytes of a plane that are looked at to tell whether it compresses.
const SAMPLE: usize = 4096;
/// A plane whose bytes hold more than this many bits each is stored as it is.
const MOST_BITS: f64 = 7.6;

/// How the numbers are stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageLayout {
    /// Numbers of one row.
    pub(crate) row: usize,
    /// In byte planes, or number by number.
    pub(crate) split: bool,
    /// With zstd at this level, or not compressed.
    pub(crate) level: Option<i32>,
}

/// The column chunk while it is written.
pub(crate) struct CsiPages {
    layout: PageLayout,
    /// Rows that do not fill a page yet, little-endian.
    waiting: Vec<u8>,
    /// Bytes of one number.
    width: usize,
    frame: Option<Frame>,
    /// The page before compression; kept for its room.
    page: Vec<u8>,
    /// Headers and data by turns.
    blobs: Vec<Bytes>,
    index: OffsetIndexBuilder,
    rows: usize,
    bytes: usize,
    uncompressed_bytes: usize,
    sum: Hasher,
}

impl CsiPages {
    /// Without rows.
    ///
    /// # Errors
    /// If zstd does not have the level.
    pub(crate) fn new(layout: PageLayout, width: usize) -> io::Result<Self> {
        Ok(Self {
            layout,
            waiting: Vec::new(),
            width,
            frame: layout.level.map(Frame::new).transpose()?,
            page: Vec::new(),
            blobs: Vec::new(),
            index: OffsetIndexBuilder::new(),
            rows: 0,
            bytes: 0,
            uncompressed_bytes: 0,
            sum: Hasher::new(),
        })
    }

    /// Adds the rows of a column of fixed lists.
    ///
    /// # Errors
    /// If the column holds other numbers, or zstd fails.
    pub(crate) fn write(&mut self, column: &ArrayRef) -> Result<(), ParquetError> {
        let other = |found: &DataType| ParquetError::General(format!("the observation cannot be of type {found}"));
        let list = column.as_fixed_size_list_opt().ok_or_else(|| other(column.data_type()))?;
        let numbers: &[u8] = match list.values().data_type() {
            DataType::Float32 => bytemuck::cast_slice(list.values().as_primitive::<Float32Type>().values()),
            DataType::Float16 => bytemuck::cast_slice(list.values().as_primitive::<Float16Type>().values()),
            found => return Err(other(found)),
        };
        let (page, mut rest) = (PAGE_ROWS * self.layout.row * self.width, numbers);
        while !rest.is_empty() {
            if self.waiting.is_empty() && rest.len() >= page {
                let (full, after) = rest.split_at(page);
                self.add_page(full)?;
                rest = after;
                continue;
            }
            let (taken, after) = rest.split_at(rest.len().min(page - self.waiting.len()));
            self.waiting.extend_from_slice(taken);
            rest = after;
            if self.waiting.len() == page {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ParquetError> {
        let waiting = std::mem::take(&mut self.waiting);
        if !waiting.is_empty() {
            self.add_page(&waiting)?;
        }
        self.waiting = waiting;
        self.waiting.clear();
        Ok(())
    }

    /// Adds a page of whole rows.
    fn add_page(&mut self, numbers: &[u8]) -> Result<(), ParquetError> {
        let values = numbers.len() / self.width;
        let rows = values / self.layout.row;
        self.page.clear();
        levels(rows, self.layout.row, &mut self.page);
        let head = self.page.len();
        if self.layout.split {
            self.page.resize(head + numbers.len(), 0);
            match self.width {
                4 => split::<4>(numbers, &mut self.page[head..]),
                _ => split::<2>(numbers, &mut self.page[head..]),
            }
        } else {
            self.page.extend_from_slice(numbers);
        }
        let data = match &mut self.frame {
            None => self.page.clone(),
            Some(frame) if self.layout.split => {
                // Mantissas come before exponents: from the first plane that compresses on, all are.
                let raw = self.page[head..].chunks_exact(values).take_while(|plane| !compresses(plane)).count();
                let (raw, compressed) = self.page.split_at(head + raw * values);
                frame.make(raw, compressed)?
            }
            Some(frame) => frame.whole(&self.page)?,
        };
        let mut data_sum = Hasher::new();
        data_sum.update(&data);
        let encoding = if self.layout.split { Encoding::BYTE_STREAM_SPLIT } else { Encoding::PLAIN };
        let header = header(self.page.len(), data.len(), values, encoding, data_sum.clone().finalize());
        self.sum.update(&header);
        self.sum.combine(&data_sum);
        let size = header.len() + data.len();
        self.index.append_offset_and_size(self.bytes as i64, i32::try_from(size).unwrap_or(i32::MAX));
        self.index.append_row_count(rows as i64);
        self.bytes += size;
        self.uncompressed_bytes += header.len() + self.page.len();
        self.rows += rows;
        self.blobs.extend([Bytes::from(header), Bytes::from(data)]);
        Ok(())
    }

    /// The chunk, what Parquet's footer says of it, and its CRC-32.
    ///
    /// # Errors
    /// If zstd fails.
    pub(crate) fn close(
        mut self,
        column: ColumnDescPtr,
    ) -> Result<(CsiChunk, ColumnCloseResult, Hasher), ParquetError> {
        self.flush()?;
        let encoding = if self.layout.split { Encoding::BYTE_STREAM_SPLIT } else { Encoding::PLAIN };
        let codec = match self.layout.level {
            None => Codec::UNCOMPRESSED,
            Some(_) => Codec::ZSTD(Default::default()),
        };
        let metadata = ColumnChunkMetaData::builder(column)
            .set_compression(codec)
            .set_encodings(vec![encoding, Encoding::RLE])
            .set_total_compressed_size(self.bytes as i64)
            .set_total_uncompressed_size(self.uncompressed_bytes as i64)
            .set_num_values((self.rows * self.layout.row) as i64)
            .set_data_page_offset(0)
            .build()?;
        let close = ColumnCloseResult {
            bytes_written: self.bytes as u64,
            rows_written: self.rows as u64,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: Some(self.index.build()),
        };
        Ok((CsiChunk { blobs: Arc::new(self.blobs), bytes: self.bytes }, close, self.sum))
    }
}

/// A written chunk, to be read once from its start.
pub(crate) struct CsiChunk {
    blobs: Arc<Vec<Bytes>>,
    bytes: usize,
}

/// Reads a chunk blob by blob.
pub(crate) struct CsiChunkReader {
    blobs: Arc<Vec<Bytes>>,
    blob: usize,
    at: usize,
}

impl Length for CsiChunk {
    fn len(&self) -> u64 {
        self.bytes as u64
    }
}

impl ChunkReader for CsiChunk {
    type T = CsiChunkReader;

    fn get_read(&self, start: u64) -> Result<CsiChunkReader, ParquetError> {
        match start {
            0 => Ok(CsiChunkReader { blobs: Arc::clone(&self.blobs), blob: 0, at: 0 }),
            _ => Err(ParquetError::General("a new chunk is read from its start".into())),
        }
    }

    fn get_bytes(&self, _: u64, _: usize) -> Result<Bytes, ParquetError> {
        Err(ParquetError::General("a new chunk is read as a stream".into()))
    }
}

impl Read for CsiChunkReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(blob) = self.blobs.get(self.blob) {
            let left = &blob[self.at..];
            if left.is_empty() {
                (self.blob, self.at) = (self.blob + 1, 0);
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

/// Repetition and definition levels of rows of lists, as runs (`RLE`), each behind its length.
fn levels(rows: usize, row: usize, page: &mut Vec<u8>) {
    let mut runs = Vec::with_capacity(8);
    // A list's first number starts it, the others go on.
    runs.extend([2, 0]);
    if row > 1 {
        varint(((row - 1) << 1) as u64, &mut runs);
        runs.push(1);
    }
    page.extend_from_slice(&((rows * runs.len()) as u32).to_le_bytes());
    (0..rows).for_each(|_| page.extend_from_slice(&runs));
    // Every list and every number in it is there.
    runs.clear();
    varint(((rows * row) << 1) as u64, &mut runs);
    runs.push(2);
    page.extend_from_slice(&(runs.len() as u32).to_le_bytes());
    page.extend_from_slice(&runs);
}

/// First bytes of all numbers, then their second bytes, and so on.
fn split<const WIDTH: usize>(numbers: &[u8], planes: &mut [u8]) {
    let numbers = numbers.as_chunks::<WIDTH>().0;
    for (byte, plane) in planes.chunks_exact_mut(numbers.len().max(1)).enumerate().take(WIDTH) {
        for (to, number) in plane.iter_mut().zip(numbers) {
            *to = number[byte];
        }
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

/// The header of a data page in Thrift's compact protocol.
fn header(uncompressed: usize, compressed: usize, values: usize, encoding: Encoding, checksum: u32) -> Vec<u8> {
    /// A field of type i32, or struct, whose number is one more than that of the field before.
    const NEXT_I32: u8 = 0x15;
    const NEXT_STRUCT: u8 = 0x1c;
    const END: u8 = 0;
    /// The number of the encoding of levels, `RLE`.
    const RLE: i32 = 3;
    let number = |value: i32, header: &mut Vec<u8>| {
        header.push(NEXT_I32);
        varint(u64::from(((value << 1) ^ (value >> 31)).cast_unsigned()), header);
    };
    let size = |bytes: usize| i32::try_from(bytes).unwrap_or(i32::MAX);
    let mut header = Vec::with_capacity(32);
    for value in [0, size(uncompressed), size(compressed), checksum.cast_signed()] {
        number(value, &mut header);
    }
    header.push(NEXT_STRUCT);
    for value in [size(values), encoding as i32, RLE, RLE] {
        number(value, &mut header);
    }
    header.extend([END, END]);
    header
}

/// Seven bits a byte, the lowest first.
fn varint(mut value: u64, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}
