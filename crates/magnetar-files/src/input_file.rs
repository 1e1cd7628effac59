//! A file or object that is read at any place, by several readers at once.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::bounded_read::open_file;
use crate::place::is_in_store;
use crate::store::RemoteFile;

/// What a reader of a whole file asks for at once.
const AHEAD: u64 = 1 << 24;

/// Parts of a file with no more than this many bytes between them are asked for as one.
const GAP: u64 = 1 << 18;

/// A file of this machine, or an object of a store, open for reading.
#[derive(Debug, Clone)]
pub struct InputFile(Source);

#[derive(Debug, Clone)]
enum Source {
    File { file: Arc<File>, bytes: u64 },
    Object(Arc<RemoteFile>),
}

impl InputFile {
    /// Opens a regular file, or an object.
    ///
    /// # Errors
    /// If it cannot be opened or is no regular file.
    pub fn open(path: &Path) -> io::Result<Self> {
        if is_in_store(path) {
            return Ok(Self(Source::Object(RemoteFile::open(path)?)));
        }
        Self::of(open_file(path)?)
    }

    /// An open file.
    ///
    /// # Errors
    /// If the system does not tell its size.
    pub fn of(file: File) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        Ok(Self(Source::File { file: Arc::new(file), bytes }))
    }

    /// Its size when it was opened, bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match &self.0 {
            Source::File { bytes, .. } => *bytes,
            Source::Object(object) => object.len(),
        }
    }

    /// Reads some bytes at a place; 0 at the end.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        match &self.0 {
            Source::File { file, .. } => read_at(file, buffer, at),
            Source::Object(object) => object.read_at(buffer, at),
        }
    }

    /// Says which parts are going to be read, so that an object's are fetched in few requests; does nothing to a file.
    ///
    /// # Errors
    /// If they cannot be fetched.
    pub fn prepare(&self, mut parts: Vec<Range<u64>>) -> io::Result<()> {
        let Source::Object(object) = &self.0 else { return Ok(()) };
        parts.sort_unstable_by_key(|part| part.start);
        parts.dedup_by(|next, before| {
            let joins = next.start <= before.end.saturating_add(GAP);
            if joins {
                before.end = before.end.max(next.end);
            }
            joins
        });
        parts.into_iter().try_for_each(|part| object.prepare(part))
    }

    /// A reader of the whole.
    #[must_use]
    pub fn reader(&self) -> InputReader {
        InputReader { file: self.clone(), at: 0, asked: 0 }
    }
}

/// Reads a file from its start to its end.
#[derive(Debug)]
pub struct InputReader {
    file: InputFile,
    at: u64,
    /// Where what was asked for ends.
    asked: u64,
}

impl Read for InputReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.asked {
            self.asked = self.at + AHEAD;
            let next = self.at..self.asked;
            self.file.prepare(vec![next])?;
        }
        let count = self.file.read_at(buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

#[cfg(unix)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, at)
}

#[cfg(windows)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, at)
}

/// As many bytes as there are from a place on, or as the buffer takes.
#[cfg(feature = "cloud")]
pub(crate) fn read_fully_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match read_at(file, &mut buffer[filled..], at + filled as u64)? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

#[cfg(all(unix, feature = "cloud"))]
pub(crate) fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(all(windows, feature = "cloud"))]
pub(crate) fn write_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_write(file, bytes, at)?;
        (bytes, at) = (&bytes[count..], at + count as u64);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::temporary_path;

    #[test]
    fn readers_of_one_file_do_not_disturb_each_other() {
        let (_folder, path) = temporary_path("file");
        std::fs::write(&path, b"0123456789").unwrap();
        let input = InputFile::open(&path).unwrap();
        let mut pair = [0; 2];
        for (at, expected) in [(0, b"01"), (5, b"56"), (2, b"23"), (7, b"78")] {
            assert_eq!(input.read_at(&mut pair, at).unwrap(), 2);
            assert_eq!(&pair, expected);
        }
        assert_eq!((input.bytes(), input.read_at(&mut pair, 10).unwrap()), (10, 0));
        let mut all = String::new();
        input.reader().read_to_string(&mut all).unwrap();
        assert_eq!(all, "0123456789");
    }
}
