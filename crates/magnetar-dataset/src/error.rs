//! What can go wrong with a dataset.

use std::io;
use std::path::{Path, PathBuf};

use crate::columns::ColumnError;
use crate::draw::DrawError;
use crate::recipe::RecipeError;
use crate::schema::{SCHEMA_VERSION, SchemaVersion};

/// Anything that stops a dataset from being made or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The recipe is wrong.
    #[error("{0}")]
    Recipe(#[from] RecipeError),
    /// A sample could not be drawn.
    #[error("{0}")]
    Draw(#[from] DrawError),
    /// Reading or writing failed.
    #[error("{}: {source}{}", path.display(), advice(source))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{}: {problem}", path.display())]
    Invalid {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// A dataset whose columns this program does not know.
    #[error(
        "{}: schema version {found} cannot be read, this program reads {}.x; use the magnetar that made it, or make it again",
        path.display(),
        SCHEMA_VERSION.major
    )]
    Schema {
        /// The manifest.
        path: PathBuf,
        /// The version it has.
        found: SchemaVersion,
    },
    /// Columns that do not hold what they should.
    #[error("{}: {source}", path.display())]
    Columns {
        /// The file.
        path: PathBuf,
        /// What is wrong with them.
        source: ColumnError,
    },
    /// A request that makes no sense.
    #[error("{0}")]
    Request(String),
}

fn advice(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "; free some space and run the same command again, it finishes what is missing"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => "; choose a folder you may write to",
        _ => "",
    }
}

impl Error {
    /// An input or output error at a path.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.to_owned(), source }
    }

    /// Something wrong with a file.
    pub(crate) fn invalid(path: &Path, problem: impl Into<String>) -> Self {
        Self::Invalid { path: path.to_owned(), problem: problem.into() }
    }
}
