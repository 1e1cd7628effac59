//! A Parquet file as an input that is not trusted: no part of it is taken into memory that is longer than the file, or than
//! a bound, whatever its footer, page indexes and page headers say.

use std::io::{self, BufReader, Read};
use std::path::Path;

use bytes::Bytes;
use magnetar_files::InputFile;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

/// The most bytes of a file that are read at once, and the most that one page may become: above the largest page that is
/// written here (64 observations of the most bins in single precision, 64 MiB and their levels).
pub const MAX_PART_BYTES: u64 = 1 << 27;

/// An open Parquet file.
#[derive(Debug, Clone)]
pub struct ParquetInput(InputFile);

impl ParquetInput {
    /// Opens a regular file, or an object of a store.
    ///
    /// # Errors
    /// If it cannot be opened or is no regular file.
    pub fn open(path: &Path) -> io::Result<Self> {
        InputFile::open(path).map(Self)
    }

    /// The file.
    pub(crate) fn file(&self) -> &InputFile {
        &self.0
    }
}

impl Length for ParquetInput {
    fn len(&self) -> u64 {
        self.0.bytes()
    }
}

impl ChunkReader for ParquetInput {
    type T = BufReader<PartReader>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(BufReader::with_capacity(HEADER_BYTES, PartReader { file: self.0.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let left = self.len().saturating_sub(start);
        if length as u64 > left.min(MAX_PART_BYTES) {
            let problem = format!("a part of {length} bytes at {start}, of a file of {} bytes", self.len());
            return Err(ParquetError::EOF(problem));
        }
        let mut bytes = vec![0; length];
        PartReader { file: self.0.clone(), at: start }.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

/// What is read ahead of a page: its header, as a rule.
const HEADER_BYTES: usize = 512;

/// Reads on from a place; others may read the same file in between.
#[derive(Debug)]
pub struct PartReader {
    file: InputFile,
    at: u64,
}

impl Read for PartReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_beyond_the_end_or_the_bound_is_refused_before_it_has_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, b"0123456789").unwrap();
        let input = ParquetInput::open(&path).unwrap();
        assert_eq!(&input.get_bytes(2, 3).unwrap()[..], b"234");
        assert!(input.get_bytes(8, 3).is_err() && input.get_bytes(u64::MAX, 1).is_err());
        assert!(input.get_bytes(0, usize::MAX).unwrap_err().to_string().contains("of 10 bytes"));
        let large = folder.path().join("large");
        std::fs::File::create(&large).unwrap().set_len(MAX_PART_BYTES + 2).unwrap();
        let input = ParquetInput::open(&large).unwrap();
        assert!(input.get_bytes(1, MAX_PART_BYTES as usize + 1).is_err());
    }
}
