//! What can go wrong with a dataset.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use arrow::error::ArrowError;
use magnetar_files::{PlaceError, ReaderPanicked};
use magnetar_signal::BackendError;
use magnetar_signal::sre::SreError;
use magnetar_trace::TraceError;
use parquet::errors::ParquetError;
use rayon::ThreadPoolBuildError;

use crate::columns::ColumnError;
use crate::draw::DrawError;
use crate::page_bounds::PageError;
use crate::recipe::RecipeError;
use crate::schema::{SCHEMA_VERSION, SchemaVersion};

/// Anything that stops a dataset from being made or read.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// The recipe is wrong.
    #[error("{0}")]
    Recipe(#[from] RecipeError),
    /// A sample could not be drawn.
    #[error("{0}")]
    Draw(#[from] DrawError),
    /// Neither a path nor the address of anything in a store.
    #[error("{0}")]
    Place(#[from] PlaceError),
    /// Reading or writing failed.
    #[error("{}: {source}{}", path.display(), advice(source))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("{}: {source}", path.display())]
    Invalid {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A shard that is no longer what was written.
    #[error("{}: damaged: {problem}; the same generate (or merge) command makes this file anew", path.display())]
    Damaged {
        /// The shard.
        path: PathBuf,
        /// Which part of it, and how it shows.
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
    /// A file that Parquet cannot read or write.
    #[error("{}: {source}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What Parquet reports.
        source: ParquetError,
    },
    /// A file that the Parquet reader panics on.
    #[error("{}: {source}", path.display())]
    Panicked {
        /// The file.
        path: PathBuf,
        /// That it panicked.
        source: ReaderPanicked,
    },
    /// A file with pages that are not read.
    #[error("{}: {source}", path.display())]
    Pages {
        /// The file.
        path: PathBuf,
        /// Which page, and why.
        source: PageError,
    },
    /// Rows that cannot be decoded.
    #[error("{}: from row {row} on: {source}", path.display())]
    Rows {
        /// The shard, or the split's folder.
        path: PathBuf,
        /// The first row's number within its split.
        row: u64,
        /// What Arrow reports.
        source: ArrowError,
    },
    /// Rows that do not fit their columns.
    #[error("rows {}..{}: {source}", rows.start, rows.end)]
    Batch {
        /// The rows' numbers within their split.
        rows: Range<u64>,
        /// What Arrow reports.
        source: ArrowError,
    },
    /// A row whose scene cannot be traced.
    #[error("row {row}: {source}")]
    Trace {
        /// The row's number within its split.
        row: u64,
        /// What the tracer reports.
        source: TraceError,
    },
    /// A row whose arrivals cannot be estimated.
    #[error("row {row}: {source}")]
    Estimation {
        /// The row's number within its split.
        row: u64,
        /// What the estimator reports.
        source: SreError,
    },
    /// Rows whose signals a backend could not make.
    #[error("rows {}..{}: {source}", rows.start, rows.end)]
    Backend {
        /// The rows' numbers within their split.
        rows: Range<u64>,
        /// What the backend reports.
        source: BackendError,
    },
    /// Worker threads that do not start.
    #[error("cannot start {threads} threads: {source}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// What the system reports.
        source: ThreadPoolBuildError,
    },
    /// A recipe that cannot be written as JSON.
    #[error("recipe {name:?} cannot be written as JSON: {source}")]
    RecipeJson {
        /// The recipe's name.
        name: String,
        /// What the writer reports.
        source: serde_json::Error,
    },
    /// A part that is not one of as many as there are.
    #[error("part {part} of {parts}: expected a part from 1 to {parts}")]
    Part {
        /// The part asked for, from 1.
        part: u64,
        /// How many there are.
        parts: u64,
    },
    /// Shards that a split does not have.
    #[error("shards {first}..{last}: split {split} has shards 0..{count} of {shard_rows} rows")]
    Shards {
        /// The first asked for.
        first: u64,
        /// One past the last asked for.
        last: u64,
        /// The split.
        split: String,
        /// How many shards it has.
        count: u64,
        /// Rows of each.
        shard_rows: u64,
    },
    /// A limit of no samples.
    #[error("a limit of 0 leaves nothing to generate; give at least 1")]
    NothingToGenerate,
    /// A merge of no parts.
    #[error("nothing to merge; give the folders of the parts")]
    NothingToMerge,
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

impl DatasetError {
    /// An input or output error at a path.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.to_owned(), source }
    }

    /// Something wrong with a file.
    pub(crate) fn invalid(path: &Path, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Invalid { path: path.to_owned(), source: source.into() }
    }

    /// A Parquet reader that panicked.
    pub(crate) fn panicked(path: &Path) -> impl FnOnce(ReaderPanicked) -> Self + '_ {
        move |source| Self::Panicked { path: path.to_owned(), source }
    }

    /// A shard that is no longer what was written.
    pub(crate) fn damaged(path: &Path, problem: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), problem: problem.into() }
    }
}
