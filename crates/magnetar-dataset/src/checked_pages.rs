//! Pages on their way into a shard: each data page gets its CRC-32 into its header, and the column chunk they make up has
//! its own.
//!
//! The `parquet` crate reads the checksum of a page but writes none. It does let a page wait in a store of ours until its
//! column is complete, as two blobs, header and data; there the checksum is put in. That makes the header longer than the
//! crate's books say, so they are set right when the column is closed.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use crc32fast::Hasher;
use parquet::arrow::arrow_writer::{PageKey, PageStore, PageStoreArgs, PageStoreFactory};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;

/// What is known of a column chunk while it is written.
#[derive(Debug, Default)]
struct Chunk {
    /// By how many bytes the header of each data page has grown.
    growth: Vec<i32>,
    /// Of what went into the file so far.
    sum: Hasher,
}

/// Column chunks while they are written, in the order of the file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chunks(Arc<Mutex<Vec<Chunk>>>);

impl Chunks {
    /// The checksums of the chunks written so far.
    pub(crate) fn checksums(&self) -> Vec<u32> {
        let chunks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        chunks.iter().map(|chunk| chunk.sum.clone().finalize()).collect()
    }

    /// Records the checksum of a chunk that was written otherwise.
    pub(crate) fn set_checksum(&self, column: usize, sum: Hasher) {
        let mut chunks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(chunk) = chunks.get_mut(column) {
            chunk.sum = sum;
        }
    }

    /// Sets the books of a closed column right: sizes and places with the headers as they are.
    ///
    /// # Errors
    /// If the books are not those of this column.
    pub(crate) fn correct(&self, column: usize, close: &mut ColumnCloseResult) -> Result<(), ParquetError> {
        let chunks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let growth = chunks.get(column).map_or(&[][..], |chunk| &chunk.growth);
        let total: i64 = growth.iter().map(|bytes| i64::from(*bytes)).sum();
        close.bytes_written = close.bytes_written.saturating_add_signed(total);
        let (compressed, uncompressed) = (close.metadata.compressed_size(), close.metadata.uncompressed_size());
        close.metadata = close
            .metadata
            .clone()
            .into_builder()
            .set_total_compressed_size(compressed + total)
            .set_total_uncompressed_size(uncompressed + total)
            .build()?;
        let Some(index) = &mut close.offset_index else { return Ok(()) };
        if index.page_locations.len() != growth.len() {
            let (pages, known) = (growth.len(), index.page_locations.len());
            return Err(ParquetError::General(format!("{pages} pages in column {column}, the index has {known}")));
        }
        let mut before = 0;
        for (location, bytes) in index.page_locations.iter_mut().zip(growth) {
            location.offset += before;
            location.compressed_page_size += bytes;
            before += i64::from(*bytes);
        }
        Ok(())
    }
}

impl PageStoreFactory for Chunks {
    fn create(&self, _: &PageStoreArgs<'_>) -> Result<Box<dyn PageStore>, ParquetError> {
        let mut chunks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        chunks.push(Chunk::default());
        Ok(Box::new(CheckedPages { blobs: Vec::new(), chunk: chunks.len() - 1, chunks: Arc::clone(&self.0) }))
    }
}

/// The pages of one column chunk: headers and data by turns. They are taken in the order of the file.
struct CheckedPages {
    blobs: Vec<Bytes>,
    chunk: usize,
    chunks: Arc<Mutex<Vec<Chunk>>>,
}

impl CheckedPages {
    fn with_chunk(&self, change: impl FnOnce(&mut Chunk)) {
        let mut chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(chunk) = chunks.get_mut(self.chunk) {
            change(chunk);
        }
    }
}

impl PageStore for CheckedPages {
    fn put(&mut self, value: Bytes) -> Result<PageKey, ParquetError> {
        let number = self.blobs.len();
        if number % 2 == 1
            && let Some(header) = self.blobs.last_mut()
            && let Some(longer) = header_with_checksum(header, crc32fast::hash(&value))
        {
            let growth = i32::try_from(longer.len() - header.len()).unwrap_or(0);
            *header = Bytes::from(longer);
            self.with_chunk(|chunk| chunk.growth.push(growth));
        }
        self.blobs.push(value);
        Ok(PageKey::new(number as u64))
    }

    fn take(&mut self, key: PageKey) -> Result<Bytes, ParquetError> {
        let blob = usize::try_from(key.get()).ok().and_then(|number| self.blobs.get_mut(number));
        let bytes = std::mem::take(blob.ok_or_else(|| ParquetError::General(format!("no blob {}", key.get())))?);
        self.with_chunk(|chunk| chunk.sum.update(&bytes));
        Ok(bytes)
    }

    fn memory_size(&self) -> usize {
        self.blobs.iter().map(Bytes::len).sum()
    }
}

/// A field of type i32 whose number is one more than that of the field before, in Thrift's compact protocol.
const NEXT_I32: u8 = 0x15;
/// A field of type struct whose number is two more.
const SECOND_NEXT_STRUCT: u8 = 0x2c;
/// A field of type struct whose number is one more.
const NEXT_STRUCT: u8 = 0x1c;

/// A data page's header (type, two sizes, what is special to the type) with the checksum between sizes and the rest; `None`
/// for a dictionary page's: its length is in books that cannot be corrected.
fn header_with_checksum(header: &[u8], checksum: u32) -> Option<Vec<u8>> {
    let mut end = 0;
    for field in 0..3 {
        let value = header.get(end..)?.strip_prefix(&[NEXT_I32])?;
        if field == 0 && value.first() != Some(&0) {
            return None;
        }
        end += 2 + value.iter().position(|byte| byte & 0x80 == 0)?;
    }
    let rest = header[end..].strip_prefix(&[SECOND_NEXT_STRUCT])?;
    let mut longer = header[..end].to_vec();
    longer.push(NEXT_I32);
    let signed = checksum.cast_signed();
    let mut zigzag = ((signed << 1) ^ (signed >> 31)).cast_unsigned();
    while zigzag >= 0x80 {
        longer.push((zigzag & 0x7f) as u8 | 0x80);
        zigzag >>= 7;
    }
    longer.push(zigzag as u8);
    longer.push(NEXT_STRUCT);
    longer.extend_from_slice(rest);
    Some(longer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_stands_between_the_sizes_and_the_rest() {
        // Type 0, sizes 150 and 1; a struct.
        let header = [0x15, 0, 0x15, 0xac, 0x02, 0x15, 0x02, 0x2c, 0x15, 0x08, 0, 0];
        let expected = [0x15, 0, 0x15, 0xac, 0x02, 0x15, 0x02, 0x15, 0x01, 0x1c, 0x15, 0x08, 0, 0];
        assert_eq!(header_with_checksum(&header, u32::MAX).unwrap(), expected);
        assert_eq!(header_with_checksum(&header, 0x8000_0000).unwrap().len(), header.len() + 6);
        let dictionary = [0x15, 4, 0x15, 0xac, 0x02, 0x15, 0x02, 0x4c, 0];
        assert_eq!(header_with_checksum(&dictionary, 1), None);
        for length in 0..8 {
            assert_eq!(header_with_checksum(&header[..length], 1), None);
        }
    }
}
