//! Checksums of a shard's parts: the manifest has the CRC-32 of every column chunk and of the footer, and whoever reads a
//! part compares it first.

use std::io;
use std::ops::Range;
use std::path::Path;

use crc32fast::Hasher;
use magnetar_files::InputFile;
use parquet::file::metadata::ParquetMetaData;
use serde::{Deserialize, Serialize};

use crate::columns::leaf_name;
use crate::error::DatasetError;
use crate::manifest::ShardInfo;

/// Hexadecimal digits of one checksum.
const DIGITS: usize = 8;

/// Bytes read at a time.
const BUFFER: usize = 1 << 18;

/// The checksums of a shard: CRC-32 as in gzip and in Parquet's pages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WrittenChecksums", into = "WrittenChecksums")]
pub struct Checksums {
    /// Size of all that follows the last column chunk: page indexes, the description of the file, its end mark. Bytes.
    pub footer_bytes: u64,
    /// Of the column chunks in the order of the file: row group by row group, in each the leaves of the schema.
    pub chunks: Vec<u32>,
    /// Of the footer.
    pub footer: u32,
}

/// Checksums as they stand in a manifest.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenChecksums {
    footer_bytes: u64,
    /// Eight digits for each column chunk, then those of the footer.
    crc32: String,
}

impl From<Checksums> for WrittenChecksums {
    fn from(checksums: Checksums) -> Self {
        let all = checksums.chunks.iter().chain([&checksums.footer]);
        Self { footer_bytes: checksums.footer_bytes, crc32: all.map(|sum| format!("{sum:08x}")).collect() }
    }
}

impl TryFrom<WrittenChecksums> for Checksums {
    type Error = &'static str;

    fn try_from(written: WrittenChecksums) -> Result<Self, Self::Error> {
        let sum = |digits: &[u8]| {
            let text =
                std::str::from_utf8(digits).ok().filter(|text| text.len() == DIGITS && !text.starts_with('+'))?;
            u32::from_str_radix(text, 16).ok()
        };
        let sums: Option<Vec<u32>> = written.crc32.as_bytes().chunks(DIGITS).map(sum).collect();
        let mut chunks = sums.ok_or("crc32 is not eight hexadecimal digits for each checksum")?;
        let footer = chunks.pop().ok_or("crc32 is empty")?;
        Ok(Self { footer_bytes: written.footer_bytes, chunks, footer })
    }
}

/// Compares size and footer of a shard with what its manifest recorded, before anything of it is believed.
///
/// # Errors
/// If they differ, or the file cannot be read. A shard of an older dataset, without checksums, passes.
pub(crate) fn check_footer(file: &InputFile, path: &Path, shard: &ShardInfo) -> Result<(), DatasetError> {
    let Some(checksums) = &shard.checksums else { return Ok(()) };
    let bytes = file.bytes();
    if bytes != shard.bytes {
        return Err(DatasetError::damaged(path, format!("it has {bytes} bytes, {} were written", shard.bytes)));
    }
    let start = bytes.saturating_sub(checksums.footer_bytes);
    compare(file, path, "the footer", start..bytes, checksums.footer)
}

/// Compares the column chunks of some leaves of a shard with what its manifest recorded, before they are decoded. The
/// footer has been compared.
///
/// # Errors
/// Names the first column that differs, or the file cannot be read.
pub(crate) fn check_columns(
    file: &InputFile,
    path: &Path,
    shard: &ShardInfo,
    metadata: &ParquetMetaData,
    leaves: &[usize],
) -> Result<(), DatasetError> {
    let Some(checksums) = &shard.checksums else { return Ok(()) };
    let expected = metadata.num_row_groups() * metadata.file_metadata().schema_descr().num_columns();
    if checksums.chunks.len() != expected {
        let problem =
            format!("the manifest has checksums of {} column chunks, it has {expected}", checksums.chunks.len());
        return Err(DatasetError::damaged(path, problem));
    }
    let parts =
        metadata.row_groups().iter().flat_map(|group| leaves.iter().filter_map(|&leaf| group.columns().get(leaf)));
    let parts = parts.map(|chunk| chunk.byte_range()).map(|(start, length)| start..start.saturating_add(length));
    file.prepare(parts.collect()).map_err(DatasetError::io(path))?;
    let mut group_sums = checksums.chunks.as_slice();
    for group in metadata.row_groups() {
        let (sums, rest) = group_sums.split_at(group.num_columns().min(group_sums.len()));
        group_sums = rest;
        for (chunk, sum) in leaves.iter().filter_map(|&leaf| group.columns().get(leaf).zip(sums.get(leaf))) {
            let (start, length) = chunk.byte_range();
            let name = format!("column {}", leaf_name(chunk.column_path().parts()));
            compare(file, path, &name, start..start.saturating_add(length), *sum)?;
        }
    }
    Ok(())
}

fn compare(file: &InputFile, path: &Path, part: &str, range: Range<u64>, expected: u32) -> Result<(), DatasetError> {
    let found = crc32_of(file, range).map_err(DatasetError::io(path))?;
    if found == expected {
        return Ok(());
    }
    Err(DatasetError::damaged(path, format!("{part} has the checksum {found:08x}, {expected:08x} was written")))
}

/// The CRC-32 of a part of a file, read in flat memory.
///
/// # Errors
/// If it cannot be read or ends before the part does.
fn crc32_of(file: &InputFile, part: Range<u64>) -> io::Result<u32> {
    let mut left = part.end.saturating_sub(part.start);
    let mut buffer = vec![0; usize::try_from(left).unwrap_or(BUFFER).min(BUFFER)];
    let mut sum = Hasher::new();
    let mut at = part.start;
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(BUFFER).min(BUFFER);
        let count = match file.read_at(&mut buffer[..most], at) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            result => result?,
        };
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        sum.update(&buffer[..count]);
        at += count as u64;
        left -= count as u64;
    }
    Ok(sum.finalize())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn checksums_read_back_and_others_are_refused() {
        let checksums = Checksums { footer_bytes: 7, chunks: vec![0, 0xdead_beef], footer: 0x10 };
        let text = serde_json::to_string(&checksums).unwrap();
        assert_eq!(text, r#"{"footer_bytes":7,"crc32":"00000000deadbeef00000010"}"#);
        assert_eq!(serde_json::from_str::<Checksums>(&text).unwrap(), checksums);
        for wrong in ["", "1234567", "123456789", "+2345678", "1234567g", "1234567é"] {
            let text = format!(r#"{{"footer_bytes":7,"crc32":"{wrong}"}}"#);
            assert!(serde_json::from_str::<Checksums>(&text).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_checksum_is_that_of_gzip_and_of_the_part_alone() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"-123456789-").unwrap();
        let file = InputFile::of(file).unwrap();
        // The check value of CRC-32/ISO-HDLC.
        assert_eq!(crc32_of(&file, 1..10).unwrap(), 0xcbf4_3926);
        assert_eq!(crc32_of(&file, 3..3).unwrap(), 0);
        assert!(crc32_of(&file, 3..12).is_err());
        let long: Vec<u8> = (0..BUFFER + 12_345).map(|i| (i % 251) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&long).unwrap();
        let file = InputFile::of(file).unwrap();
        assert_eq!(crc32_of(&file, 0..long.len() as u64).unwrap(), crc32fast::hash(&long));
    }
}
