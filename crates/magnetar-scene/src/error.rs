//! What can be wrong with a scene, a material or an antenna pattern, reported so that the user can mend it.

use std::fmt;
use std::io;

/// Where in the input something is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, or the name of a shipped or in-memory thing.
    pub origin: String,
    /// Line in the file, counted from 1.
    pub line: Option<usize>,
    /// The key at fault, such as `box[0].size_m`.
    pub key: Option<String>,
}

impl Place {
    /// A whole file or thing.
    #[must_use]
    pub fn new(origin: &str) -> Self {
        Self { origin: origin.to_owned(), line: None, key: None }
    }

    /// The same place at a line, counted from 1.
    #[must_use]
    pub fn at_line(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }

    /// The same place at a key.
    #[must_use]
    pub fn at_key(mut self, key: impl fmt::Display) -> Self {
        self.key = Some(key.to_string());
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(key) = &self.key {
            write!(f, ": {key}")?;
        }
        Ok(())
    }
}

/// Why a scene, material or antenna pattern was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// The file could not be read.
    #[error("cannot read {path}: {source}; check that it exists and may be read")]
    Read {
        /// The path as given.
        path: String,
        /// The reason of the operating system.
        source: io::Error,
    },
    /// The file is larger than any sensible file of its kind.
    #[error("{origin}: larger than {limit} bytes, the most for a {kind} file; check that this is the right file")]
    TooLarge {
        /// The file.
        origin: String,
        /// What was expected: `scene`, `material` or `antenna pattern`.
        kind: &'static str,
        /// The limit in bytes.
        limit: u64,
    },
    /// Something in the input is not as it must be.
    #[error("{place}: {problem}; expected {expected}")]
    Malformed {
        /// Where.
        place: Place,
        /// What was found.
        problem: String,
        /// What was expected, or what to do.
        expected: String,
    },
    /// The text does not follow the file format.
    #[error("{place}: {problem}")]
    Syntax {
        /// Where.
        place: Place,
        /// The parser's message, which says what it expected.
        problem: String,
    },
    /// A name that nothing shipped or loaded has, and that is no file either.
    #[error("unknown {kind} `{name}`; known are {}; or give the path of a file", .known.join(", "))]
    UnknownName {
        /// `scene` or `antenna pattern`.
        kind: &'static str,
        /// The name asked for.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// A material that neither the scene nor the library has.
    #[error("{place}: unknown material `{name}`; known are {}; define it in the scene or in a material file", .known.join(", "))]
    UnknownMaterial {
        /// Who asked for it.
        place: Place,
        /// The name asked for.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// A material asked for at a frequency outside all its ranges.
    #[error(
        "material `{material}` is not defined at {frequency_ghz} GHz; its ranges are {ranges}; choose a frequency inside one or another material"
    )]
    FrequencyOutOfRange {
        /// The material.
        material: String,
        /// The frequency asked for, GHz.
        frequency_ghz: f64,
        /// The ranges, for reading: `1-100 GHz, 110-330 GHz`.
        ranges: String,
    },
}

impl SceneError {
    /// A `Malformed` error.
    pub(crate) fn malformed(place: Place, problem: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::Malformed { place, problem: problem.into(), expected: expected.into() }
    }
}
