//! The column chunk of `csi`, page by page, straight from the rows' numbers.
//!
//! Every row has as many numbers as any other, none of them null, so a page's levels are the same few bytes for each of its
//! rows. Its numbers are split into byte planes (`BYTE_STREAM_SPLIT`) as they come.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Float16Type, Float32Type};
use half::f16;
use half::slice::HalfFloatSliceExt;
use num_complex::Complex32;
use parquet::basic::Encoding;
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescPtr;

use crate::column_chunk::{ChunkAbout, DataPages, Page, WrittenChunk};
use crate::frame::Frame;
use crate::page_encoding::{split_planes, varint};

/// Rows of a data page of the observation: small pages make single rows cheap to read.
pub(crate) const PAGE_ROWS: usize = 64;

/// How the numbers are stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageLayout {
    /// Numbers of one row.
    pub(crate) row: usize,
    /// Bytes of one number: 4, or 2.
    pub(crate) width: usize,
    /// In byte planes, or number by number.
    pub(crate) split: bool,
    /// With zstd at this level, or not compressed.
    pub(crate) level: Option<i32>,
}

/// The column chunk while it is written.
pub(crate) struct CsiPages {
    layout: PageLayout,
    frame: Option<Frame>,
    /// A page before compression: the levels of a full one, and then its numbers.
    page: Vec<u8>,
    /// Bytes of these levels.
    head: usize,
    /// Rows on the page so far.
    rows: usize,
    pages: DataPages,
    /// One row of narrow numbers.
    narrow: Vec<f16>,
}

impl CsiPages {
    /// Without rows; `room` is memory for what will be written.
    ///
    /// # Errors
    /// If zstd does not have the level.
    pub(crate) fn new(layout: PageLayout, room: Vec<u8>) -> std::io::Result<Self> {
        let mut page = Vec::new();
        levels(PAGE_ROWS, layout.row, &mut page);
        let head = page.len();
        page.resize(head + PAGE_ROWS * layout.row * layout.width, 0);
        let narrow = vec![f16::ZERO; if layout.width == size_of::<f16>() { layout.row } else { 0 }];
        let frame = layout.level.map(Frame::new).transpose()?;
        Ok(Self { layout, frame, page, head, rows: 0, pages: DataPages::new(room), narrow })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// If it has another number of bins, or zstd fails.
    pub(crate) fn push(&mut self, csi: &[Complex32]) -> Result<(), ParquetError> {
        let numbers: &[f32] = bytemuck::cast_slice(csi);
        if numbers.len() != self.layout.row {
            let (found, expected) = (numbers.len(), self.layout.row);
            return Err(ParquetError::General(format!("an observation has {found} numbers, others have {expected}")));
        }
        if self.narrow.is_empty() {
            return self.push_bytes(bytemuck::cast_slice(numbers));
        }
        let mut narrow = std::mem::take(&mut self.narrow);
        narrow.convert_from_f32_slice(numbers);
        let pushed = self.push_bytes(bytemuck::cast_slice(&narrow));
        self.narrow = narrow;
        pushed
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
        numbers.chunks_exact(self.layout.row * self.layout.width).try_for_each(|row| self.push_bytes(row))
    }

    /// Adds a row of numbers as they are stored, little-endian.
    fn push_bytes(&mut self, row: &[u8]) -> Result<(), ParquetError> {
        let PageLayout { row: numbers, width, split, .. } = self.layout;
        let values = &mut self.page[self.head..];
        if split {
            split_planes(width, row, values, PAGE_ROWS * numbers, self.rows * numbers);
        } else {
            values[self.rows * row.len()..][..row.len()].copy_from_slice(row);
        }
        self.rows += 1;
        if self.rows == PAGE_ROWS { self.flush() } else { Ok(()) }
    }

    /// Writes the page, full or not.
    fn flush(&mut self) -> Result<(), ParquetError> {
        let PageLayout { row, width, .. } = self.layout;
        let encoding = self.encoding();
        let rows = std::mem::take(&mut self.rows);
        let (planes, plane) = if self.layout.split { (width, rows * row) } else { (1, rows * row * width) };
        let shorter: Vec<u8>;
        let (bytes, head) = if rows == PAGE_ROWS {
            (&self.page, self.head)
        } else if rows == 0 {
            return Ok(());
        } else {
            let mut page = Vec::new();
            levels(rows, row, &mut page);
            let head = page.len();
            let full = plane / rows * PAGE_ROWS;
            self.page[self.head..].chunks_exact(full).take(planes).for_each(|all| page.extend(&all[..plane]));
            shorter = page;
            (&shorter, head)
        };
        let page = Page { bytes, planes: self.layout.split.then_some((head, plane)) };
        self.pages.add(&page, self.frame.as_mut(), (rows, rows * row), encoding)?;
        Ok(())
    }

    fn encoding(&self) -> Encoding {
        if self.layout.split { Encoding::BYTE_STREAM_SPLIT } else { Encoding::PLAIN }
    }

    /// The chunk.
    ///
    /// # Errors
    /// If zstd fails.
    pub(crate) fn close(mut self, column: ColumnDescPtr) -> Result<WrittenChunk, ParquetError> {
        self.flush()?;
        let encodings = vec![self.encoding(), Encoding::RLE];
        let frame = self.frame.as_mut();
        self.pages.close(ChunkAbout { column, encodings, statistics: None, dictionary: None, frame })
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
