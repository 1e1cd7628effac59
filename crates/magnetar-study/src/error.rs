//! What can go wrong in a study.

use std::io;
use std::path::{Path, PathBuf};

use magnetar_dataset::{DrawError, RecipeError, Record};
use magnetar_files::BoundedReadError;
use magnetar_posterior::PosteriorError;

use crate::scorers::VolumeFileError;

/// Anything that stops a study.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// The dataset or its recipe cannot be used.
    #[error(transparent)]
    Dataset(#[from] magnetar_dataset::DatasetError),
    /// A scorer cannot be made or used.
    #[error(transparent)]
    Posterior(#[from] PosteriorError),
    /// A row could not be scored.
    #[error("row {index}: {source}")]
    Row {
        /// Its index.
        index: u64,
        /// Why.
        source: PosteriorError,
    },
    /// Rows that were scored together could not be.
    #[error("rows {first} to {last}: {source}")]
    Rows {
        /// Index of the first.
        first: u64,
        /// Index of the last.
        last: u64,
        /// Why.
        source: PosteriorError,
    },
    /// A point of a sweep could not be measured.
    #[error("point {number} ({label}): {source}")]
    Point {
        /// Its number.
        number: usize,
        /// `axis = value` of all axes.
        label: String,
        /// Why.
        source: Box<Self>,
    },
    /// A checkpoint of a fit cannot be used.
    #[error("{}: no checkpoint of this fit: {reason}; remove it to begin anew", path.display())]
    FitCheckpoint {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A dataset has too few rows for an audit.
    #[error("an audit needs at least two rows; `magnetar generate` makes them")]
    NothingToAudit,
    /// A row's world cannot be traced.
    #[error("row {index}: {source}")]
    CalibrationRow {
        /// Its index.
        index: u64,
        /// Why.
        source: magnetar_trace::TraceError,
    },
    /// There is no such number to hold.
    #[error("no {name:?} to hold; there are {known}")]
    UnknownOffset {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Too few rows for a calibration.
    #[error("{rows} rows are too few to calibrate with; measure at least {least}, in several places and headings")]
    NothingToCalibrate {
        /// Rows there are.
        rows: usize,
        /// Rows that are needed.
        least: usize,
    },
    /// There is no such scorer.
    #[error(
        "no scorer {name:?}; there are {}, and files of volumes that end in .parquet or .npy",
        names.join(", ")
    )]
    UnknownScorer {
        /// The name asked for.
        name: String,
        /// The names there are.
        names: Vec<String>,
    },
    /// A file of volumes cannot be used.
    #[error(transparent)]
    Volumes(#[from] VolumeFileError),
    /// A file of volumes was given where rows are made anew.
    #[error("{name}: a sweep makes its own rows, for which no file holds volumes; give a scorer by name")]
    VolumesOfSweep {
        /// The file.
        name: String,
    },
    /// A part of a sweep that has no point.
    #[error("points {first}..{end}: expected a part of 0..{count}, as the sweep has {count} points")]
    NoPoints {
        /// The first.
        first: usize,
        /// One after the last.
        end: usize,
        /// How many there are.
        count: usize,
    },
    /// An axis is named like a column of the sweep's table.
    #[error("axis {axis:?}: the table has a column of that name; give the axis another")]
    AxisName {
        /// The axis.
        axis: String,
    },
    /// Reading or writing failed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file cannot be read whole.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: BoundedReadError,
    },
    /// A file is not what it should be.
    #[error("{}: {source}", path.display())]
    File {
        /// The file, with a line where that is known.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The worker threads could not be started.
    #[error("cannot start {threads} threads: {source}")]
    Threads {
        /// How many.
        threads: usize,
        /// Why.
        source: rayon::ThreadPoolBuildError,
    },
}

impl From<RecipeError> for StudyError {
    fn from(error: RecipeError) -> Self {
        Self::Dataset(error.into())
    }
}

impl From<DrawError> for StudyError {
    fn from(error: DrawError) -> Self {
        Self::Dataset(error.into())
    }
}

impl StudyError {
    /// A fault of one row.
    pub(crate) fn at(record: &Record) -> impl Fn(PosteriorError) -> Self {
        let index = record.index;
        move |source| Self::Row { index, source }
    }

    /// An input or output error at a path.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.to_owned(), source }
    }

    /// A file that cannot be read whole.
    pub(crate) fn read(path: &Path) -> impl FnOnce(BoundedReadError) -> Self + '_ {
        move |source| Self::Read { path: path.to_owned(), source }
    }

    /// Something wrong with a file.
    pub(crate) fn file(path: &Path, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::File { path: path.to_owned(), source: source.into() }
    }
}
