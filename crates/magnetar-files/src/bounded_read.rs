//! Reading small files without trusting them: at most so many bytes, whatever the file says of itself.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

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

/// Reads a file of at most `limit` bytes.
///
/// # Errors
/// If it cannot be read or holds more.
pub fn read_bytes(path: &Path, limit: u64) -> Result<Vec<u8>, BoundedReadError> {
    let mut bytes = Vec::new();
    // One byte more than allowed tells a file at the limit from one beyond it, also for pipes, which have no length.
    File::open(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
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

    #[test]
    fn a_file_at_the_limit_is_read_and_one_beyond_it_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("text");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(read_text(&path, 5).unwrap(), "12345");
        assert!(matches!(read_text(&path, 4), Err(BoundedReadError::TooLarge { limit: 4 })));
        assert!(matches!(read_bytes(directory.path(), 4), Err(BoundedReadError::Io(_))));
    }

    #[test]
    fn what_is_not_text_is_reported_with_its_line() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("text");
        std::fs::write(&path, b"a\nb\n\xff").unwrap();
        assert!(matches!(read_text(&path, 100), Err(BoundedReadError::NotText { line: 3 })));
    }
}
