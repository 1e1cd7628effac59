//! NumPy `.npy` arrays: a streaming reader that trusts nothing and an atomic writer.
//!
//! The format is that of `numpy.lib.format`, versions 1 to 3: the magic `\x93NUMPY`, a version, a header length and a
//! Python dictionary literal with `descr`, `fortran_order` and `shape`, then the elements.

mod element;
mod header;
mod reader;
mod writer;

use std::io;

pub use element::{Dtype, NpyElement};
pub use header::Header;
pub use reader::NpyReader;
pub use writer::{NpyWriter, write_npy};

/// What went wrong with an `.npy` file, and where.
#[derive(Debug, thiserror::Error)]
pub enum NpyError {
    /// The system refused.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// The header is not one we can read.
    #[error("{file}: byte {byte} of the .npy header: {problem}")]
    Header {
        /// The file.
        file: String,
        /// Position in the file, bytes.
        byte: usize,
        /// What was expected and what to do.
        problem: String,
    },
    /// The elements do not fit the header or the caller.
    #[error("{file}: {problem}")]
    Data {
        /// The file.
        file: String,
        /// What was expected and what to do.
        problem: String,
    },
}

#[cfg(test)]
mod tests;
