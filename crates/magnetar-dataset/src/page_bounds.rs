//! The pages of a Parquet file before they are decoded: what their headers say of their size is bounded, as a few bytes can
//! unpack to any number.
//!
//! The Parquet reader takes memory for as many bytes as a page's header says, up to 2 GiB. So the headers of all pages that
//! will be read are looked through first: Thrift's compact protocol, of which only the sizes matter here.

use std::io;

use parquet::file::metadata::ParquetMetaData;

use crate::columns::leaf_name;
use crate::parquet_input::{MAX_PART_BYTES, ParquetInput};

/// The most values of one page: as many of four bytes fill the largest page.
const MAX_PAGE_VALUES: u64 = MAX_PART_BYTES / 4;

/// Bytes of a header that are looked at first; few headers are longer.
const SHORT_HEADER: usize = 256;

/// The most bytes of a header: it may hold the smallest and the largest value of the page.
const LONG_HEADER: usize = 1 << 16;

/// How deep a header's structures may lie in each other; Parquet's lie three deep.
const MAX_DEPTH: u8 = 8;

/// A page that is not read.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// More bytes or values than a page may have.
    #[error("page {page} of column {column} says that it holds {size} {what}; at most {most} are read")]
    TooLarge {
        /// The column, its groups joined by dots.
        column: String,
        /// The page's number in its column chunk, from 0.
        page: usize,
        /// What is too many of: bytes or values.
        what: &'static str,
        /// How many it says.
        size: i64,
        /// The most that are read.
        most: u64,
    },
    /// A header that cannot be understood, or lies outside its column chunk.
    #[error("page {page} of column {column} has no readable header")]
    Header {
        /// The column, its groups joined by dots.
        column: String,
        /// The page's number in its column chunk, from 0.
        page: usize,
    },
    /// An index of pages that names others than there are.
    #[error("the page index of column {column} does not fit its pages")]
    Index {
        /// The column, its groups joined by dots.
        column: String,
    },
}

/// Looks through the headers of all pages of some leaves of the schema.
///
/// # Errors
/// Names the first page that is too large or cannot be understood.
pub fn check_pages(input: &ParquetInput, metadata: &ParquetMetaData, leaves: &[usize]) -> Result<(), PageError> {
    let mut window = Vec::new();
    let mut pages = Vec::new();
    for (group_number, group) in metadata.row_groups().iter().enumerate() {
        for &leaf in leaves {
            let Some(chunk) = group.columns().get(leaf) else { continue };
            let column = || leaf_name(chunk.column_path().parts());
            let (mut at, length) = chunk.byte_range();
            let end = at.checked_add(length).ok_or_else(|| PageError::Header { column: column(), page: 0 })?;
            pages.clear();
            while at < end {
                let page = pages.len();
                let unreadable = || PageError::Header { column: column(), page };
                let header = read_header(input, at, end, &mut window)?.ok_or_else(unreadable)?;
                let bound = |what, size: i64, most: u64| match u64::try_from(size) {
                    Ok(count) if count <= most => Ok(()),
                    _ => Err(PageError::TooLarge { column: column(), page, what, size, most }),
                };
                bound("bytes", header.uncompressed, MAX_PART_BYTES)?;
                bound("values", header.values, MAX_PAGE_VALUES)?;
                let compressed = u64::try_from(header.compressed).map_err(|_| unreadable())?;
                let next = at + header.bytes as u64 + compressed;
                if next > end {
                    return Err(unreadable());
                }
                pages.push(at..next);
                at = next;
            }
            let index = metadata.page_index().and_then(|index| index.offset_index(group_number, leaf));
            let fits = |offset: i64, size: i32| {
                let (offset, size) = (u64::try_from(offset).ok()?, u64::try_from(size).ok()?);
                let page = pages.binary_search_by_key(&offset, |page| page.start).ok()?;
                Some(offset.checked_add(size)? <= pages[page].end)
            };
            let mut locations = index.iter().flat_map(|index| index.page_locations());
            if !locations.all(|place| fits(place.offset, place.compressed_page_size) == Some(true)) {
                return Err(PageError::Index { column: column() });
            }
        }
    }
    Ok(())
}

/// What a page's header says of sizes; where it says a thing twice, the larger.
#[derive(Debug, Default, PartialEq, Eq)]
struct PageSizes {
    uncompressed: i64,
    compressed: i64,
    values: i64,
    /// Of the header itself.
    bytes: usize,
}

/// The header at a place; `None` if there is none before `end`.
fn read_header(input: &ParquetInput, at: u64, end: u64, window: &mut Vec<u8>) -> io::Result<Option<PageSizes>> {
    for most in [SHORT_HEADER, LONG_HEADER] {
        let bytes = usize::try_from(end - at).unwrap_or(most).min(most);
        window.clear();
        window.resize(bytes, 0);
        let mut filled = 0;
        while filled < bytes {
            match input.file().read_at(&mut window[filled..], at + filled as u64) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(0) => break,
                Ok(count) => filled += count,
            }
        }
        window.truncate(filled);
        let header = Compact { bytes: window, at: 0 }.page_header();
        if header.is_some() || window.len() < most {
            return Ok(header);
        }
    }
    Ok(None)
}

/// Thrift's compact protocol, read just as far as needed.
struct Compact<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Types of the protocol that are named here.
const INTEGER: u8 = 5;
const STRUCT: u8 = 12;

impl Compact<'_> {
    fn page_header(mut self) -> Option<PageSizes> {
        let mut sizes = PageSizes { uncompressed: -1, compressed: -1, ..PageSizes::default() };
        let mut field = 0;
        while let Some(kind) = self.next_field(&mut field)? {
            match (field, kind) {
                (2, INTEGER) => sizes.uncompressed = sizes.uncompressed.max(self.integer()?),
                (3, INTEGER) => {
                    let size = self.integer()?;
                    // Two sizes would be two next pages.
                    if sizes.compressed >= 0 {
                        return None;
                    }
                    sizes.compressed = size;
                }
                // Data page, dictionary page, data page of version 2: the first field of each is the number of values.
                (5 | 7 | 8, STRUCT) => {
                    let mut inner = 0;
                    while let Some(kind) = self.next_field(&mut inner)? {
                        match (inner, kind) {
                            (1, INTEGER) => sizes.values = sizes.values.max(self.integer()?),
                            (1, _) => return None,
                            _ => self.skip(kind, 1)?,
                        }
                    }
                }
                (2 | 3 | 5 | 7 | 8, _) => return None,
                _ => self.skip(kind, 0)?,
            }
        }
        sizes.bytes = self.at;
        (sizes.uncompressed >= 0 && sizes.compressed >= 0).then_some(sizes)
    }

    /// Type of the next field of a structure, whose number is kept; `Some(None)` at the structure's end.
    fn next_field(&mut self, number: &mut i64) -> Option<Option<u8>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(None);
        }
        *number = match byte >> 4 {
            0 => self.integer()?,
            step => *number + i64::from(step),
        };
        // Numbers of fields have 16 bits: one beyond them would be another to a reader that cuts it off.
        i16::try_from(*number).ok()?;
        Some(Some(byte & 0x0f))
    }

    fn skip(&mut self, kind: u8, depth: u8) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match kind {
            // The type is the value.
            1 | 2 => {}
            3 => self.forward(1)?,
            4..=6 => drop(self.varint()?),
            7 => self.forward(8)?,
            8 => {
                let length = usize::try_from(self.varint()?).ok()?;
                self.forward(length)?;
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                self.elements(count, &[head & 0x0f], depth)?;
            }
            11 => {
                let count = self.varint()?;
                if count > 0 {
                    let kinds = self.byte()?;
                    self.elements(count, &[kinds >> 4, kinds & 0x0f], depth)?;
                }
            }
            STRUCT => {
                let mut field = 0;
                while let Some(kind) = self.next_field(&mut field)? {
                    self.skip(kind, depth + 1)?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn elements(&mut self, count: u64, kinds: &[u8], depth: u8) -> Option<()> {
        // Every element takes a byte at least.
        if count > (self.bytes.len() - self.at) as u64 {
            return None;
        }
        for _ in 0..count {
            for &kind in kinds {
                match kind {
                    1 | 2 => self.forward(1)?,
                    _ => self.skip(kind, depth + 1)?,
                }
            }
        }
        Some(())
    }

    fn forward(&mut self, bytes: usize) -> Option<()> {
        self.at = self.at.checked_add(bytes).filter(|at| *at <= self.bytes.len())?;
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// A number of 16, 32 or 64 bits.
    fn integer(&mut self) -> Option<i64> {
        let coded = self.varint()?;
        // Zigzag: the sign is the lowest bit.
        Some((coded >> 1) as i64 ^ -((coded & 1) as i64))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, ListArray, RecordBatch, StringArray};
    use arrow::datatypes::Int32Type;
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
    use parquet::basic::{Compression, ZstdLevel};
    use parquet::file::metadata::PageIndexPolicy;
    use parquet::file::properties::{WriterProperties, WriterVersion};

    use super::*;

    /// Three columns of many small pages.
    fn write(path: &Path, version: WriterVersion, dictionary: bool) {
        let numbers = Int64Array::from_iter_values((0..500).map(|n| n % 7));
        let lists = (0..500).map(|n| Some((0..n % 4).map(Some).collect::<Vec<_>>()));
        let columns: [(&str, ArrayRef); 3] = [
            ("number", Arc::new(numbers)),
            ("list", Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists))),
            ("text", Arc::new(StringArray::from_iter_values((0..500).map(|n| format!("{n:0>90}"))))),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let properties = WriterProperties::builder()
            .set_writer_version(version)
            .set_dictionary_enabled(dictionary)
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_data_page_row_count_limit(40)
            .set_write_batch_size(40)
            .build();
        let mut writer =
            ArrowWriter::try_new(std::fs::File::create(path).unwrap(), batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }

    fn check(path: &Path, policy: PageIndexPolicy) -> Result<(), PageError> {
        let input = ParquetInput::open(path).unwrap();
        let options = ArrowReaderOptions::new().with_page_index_policy(policy);
        let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(input.clone(), options).unwrap();
        check_pages(&input, builder.metadata(), &[0, 1, 2])
    }

    #[test]
    fn pages_of_every_kind_are_understood() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for dictionary in [false, true] {
                write(&path, version, dictionary);
                for policy in [PageIndexPolicy::Skip, PageIndexPolicy::Required] {
                    check(&path, policy).unwrap();
                }
            }
        }
    }

    #[test]
    fn a_page_that_says_it_becomes_two_gibibytes_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        write(&path, WriterVersion::PARQUET_1_0, false);
        let mut bytes = std::fs::read(&path).unwrap();
        // The file's mark, the page's type, then the size unpacked: 2^31 - 1 as a zigzag number of five bytes.
        assert_eq!((&bytes[..4], &bytes[4..7]), (&b"PAR1"[..], &[0x15, 0x00, 0x15][..]));
        let length = 1 + bytes[7..].iter().position(|byte| byte & 0x80 == 0).unwrap();
        bytes.splice(7..7 + length, [0xfe, 0xff, 0xff, 0xff, 0x0f]);
        std::fs::write(&path, &bytes).unwrap();
        let error = check(&path, PageIndexPolicy::Skip).unwrap_err();
        assert!(matches!(&error, PageError::TooLarge { what: "bytes", size: 0x7fff_ffff, page: 0, .. }), "{error}");
        assert!(error.to_string().starts_with("page 0 of column number"), "{error}");
    }

    #[test]
    fn a_header_that_makes_no_sense_is_refused() {
        let header = |bytes: &[u8]| Compact { bytes, at: 0 }.page_header();
        // Type 0, 20 bytes that were 10, 5 values.
        let whole = [0x15, 0x00, 0x15, 0x28, 0x15, 0x14, 0x2c, 0x15, 0x0a, 0x00, 0x00];
        let expected = PageSizes { uncompressed: 20, compressed: 10, values: 5, bytes: whole.len() };
        assert_eq!(header(&whole), Some(expected));
        for cut in 0..whole.len() {
            assert_eq!(header(&whole[..cut]), None, "{cut}");
        }
        // Without a size; with a second compressed size; a size that is no number; a list of more than there is.
        assert_eq!(header(&[0x15, 0x00, 0x15, 0x28, 0x00]), None);
        assert_eq!(header(&[0x15, 0x00, 0x15, 0x28, 0x15, 0x14, 0x05, 0x06, 0x14, 0x00]), None);
        assert_eq!(header(&[0x15, 0x00, 0x1c, 0x00, 0x15, 0x14, 0x00]), None);
        assert_eq!(header(&[0x15, 0x00, 0x15, 0x28, 0x15, 0x14, 0x19, 0xf5, 0xff, 0xff, 0x7f, 0x00]), None);
        assert_eq!(header(&[0xff; 20]), None);
    }
}
