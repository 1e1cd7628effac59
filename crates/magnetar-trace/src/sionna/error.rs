//! What can be wrong with an export.

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

/// Why an export cannot be used. Every message names the file, the place and what was expected there.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The file cannot be opened or read.
    #[error("{}: cannot be read: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file starts like gzip, but does not unpack.
    #[error("{}: the gzip data is damaged or cut off ({source}); copy or export the file again", file.display())]
    Gzip {
        /// The file.
        file: PathBuf,
        /// The decoder's reason.
        source: std::io::Error,
    },
    /// The unpacked text is too long.
    #[error("{}: holds more than {limit} bytes of JSON; split it into several files", file.display())]
    TooLarge {
        /// The file.
        file: PathBuf,
        /// The most that is read, bytes.
        limit: u64,
    },
    /// The arrays of an npz file cannot be used.
    #[error("{}: {problem}", file.display())]
    Arrays {
        /// The file.
        file: PathBuf,
        /// What was found and expected.
        problem: String,
    },
    /// There is nothing in it.
    #[error("{}: is empty; expected a JSON object of schema sionna-box-v1 or sionna-box-v2, plain or gzip", file.display())]
    Empty {
        /// The file.
        file: PathBuf,
    },
    /// The JSON text is broken, or a value has the wrong type or name.
    #[error("{}: {}{message}{hint}", file.display(), Place(place))]
    Json {
        /// The file.
        file: PathBuf,
        /// Where in the document, such as `case pub0003, cases[2].paths[1].tau`; may be empty.
        place: String,
        /// What was found and expected, with line and column.
        message: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// A value of the top level cannot be used.
    #[error("{}: {problem}", file.display())]
    Top {
        /// The file.
        file: PathBuf,
        /// The value.
        problem: Problem,
    },
    /// A value of a case cannot be used.
    #[error("{}: case {case} (cases[{index}]): {problem}", file.display())]
    Case {
        /// The file.
        file: PathBuf,
        /// The case's id.
        case: String,
        /// Its position in the list.
        index: usize,
        /// The value.
        problem: Problem,
    },
}

/// A value that cannot be used: its key, and what was expected instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The key inside the object, such as `paths[3].tau`.
    pub key: String,
    /// What was found and expected.
    pub message: String,
}

impl Problem {
    pub(super) fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: key.into(), message: message.into() }
    }

    /// The same problem, seen from the object that holds this one under `outer`.
    pub(super) fn under(mut self, outer: &str) -> Self {
        self.key = format!("{outer}.{}", self.key);
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.message)
    }
}

struct Place<'a>(&'a str);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, "{}: ", self.0) }
    }
}

/// Text of a file for a message: control characters escaped, and cut where it is long.
pub(super) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push_str("...");
    }
    shown
}
