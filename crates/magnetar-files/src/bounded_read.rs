//! Reading small files without trusting them: at most so many bytes, whatever the file says of itself.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::place::{is_in_store, place};
use crate::store;

/// Why a small file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum BoundedReadError {
    /// The system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// There is more than was expected.
    #[error("it is larger than {limit} bytes")]
    TooLarge {
        /// The most that is read, bytes.
        limit: u64,
    },
    /// It is not text.
    #[error("line {line} is not UTF-8 text")]
    NotText {
        /// Where, counted from 1.
        line: usize,
    },
}

/// Opens a regular file for reading; an object of a store is fetched into a file without a name. A pipe or device is refused before it is opened: that could wait for ever.
///
/// # Errors
/// If it cannot be opened or is no regular file.
pub fn open_file(path: &Path) -> io::Result<File> {
    let path = &*place(path)?;
    if is_in_store(path) {
        return store::fetch(path);
    }
    let found = std::fs::metadata(path)?;
    if found.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a pipe or device; expected a regular file"));
    }
    File::open(path)
}

/// Reads a file of at most `limit` bytes.
///
/// # Errors
/// If it cannot be read, is no regular file, or holds more.
pub fn read_bytes(path: &Path, limit: u64) -> Result<Vec<u8>, BoundedReadError> {
    if is_in_store(path) {
        return store::read(path, limit);
    }
    let file = open_file(path)?;
    let length = file.metadata()?.len();
    if length > limit {
        return Err(BoundedReadError::TooLarge { limit });
    }
    // The length is only what the file says of itself: it may grow while it is read, and some systems' files say 0. One
    // byte more than allowed tells a file at the limit from one beyond it.
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(BoundedReadError::TooLarge { limit }) } else { Ok(bytes) }
}

/// Reads a UTF-8 text file of at most `limit` bytes.
///
/// # Errors
/// If it cannot be read, holds more, or is not text.
pub fn read_text(path: &Path, limit: u64) -> Result<String, BoundedReadError> {
    String::from_utf8(read_bytes(path, limit)?).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        BoundedReadError::NotText { line: 1 + valid.iter().filter(|byte| **byte == b'\n').count() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::temporary_path;

    #[test]
    fn a_file_at_the_limit_is_read_and_one_beyond_it_is_not() {
        let (directory, path) = temporary_path("text");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(read_text(&path, 5).unwrap(), "12345");
        assert!(matches!(read_text(&path, 4), Err(BoundedReadError::TooLarge { limit: 4 })));
        assert!(matches!(read_bytes(directory.path(), 4), Err(BoundedReadError::Io(_))));
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_without_a_writer_is_refused_at_once() {
        let (directory, path) = temporary_path("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let error = read_bytes(&path, 100).unwrap_err().to_string();
        assert!(error.contains("expected a regular file"), "{error}");
        assert!(open_file(directory.path()).is_err());
    }

    #[test]
    fn what_is_not_text_is_reported_with_its_line() {
        let (_directory, path) = temporary_path("text");
        std::fs::write(&path, b"a\nb\n\xff").unwrap();
        assert!(matches!(read_text(&path, 100), Err(BoundedReadError::NotText { line: 3 })));
    }
}
