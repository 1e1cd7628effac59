//! A file of volumes as a scorer: posteriors that were computed elsewhere, judged by our metrics.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use arrow::error::ArrowError;
use magnetar_dataset::{PageError, digest};
use magnetar_files::npy::NpyError;
use magnetar_files::{ReaderPanicked, guard};
use magnetar_posterior::{Knowledge, PosteriorError, RowNumber, ScoreRow, Scorer, SupportSize, Volume};
use parquet::errors::ParquetError;

use super::volume_array::VolumeArray;
use super::volume_table::VolumeTable;

/// Masses of a volume sum to one within this: float32 sums of other tools are not exact.
const SUM_TOLERANCE: f64 = 0.01;

/// Why a file of volumes cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum VolumeFileError {
    /// The system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is not a NumPy array we can read.
    #[error(transparent)]
    Npy(#[from] NpyError),
    /// It is not a Parquet file we can read.
    #[error("{}: {source}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// Why.
        source: ParquetError,
    },
    /// It has pages that are not read.
    #[error("{}: {source}", path.display())]
    Pages {
        /// The file.
        path: PathBuf,
        /// Which page, and why.
        source: PageError,
    },
    /// Its columns cannot be decoded.
    #[error("{}: {source}", path.display())]
    Arrow {
        /// The file.
        path: PathBuf,
        /// Why.
        source: ArrowError,
    },
    /// The Parquet reader panics on it.
    #[error("{}: {source}", path.display())]
    Panicked {
        /// The file.
        path: PathBuf,
        /// That it panicked.
        source: ReaderPanicked,
    },
    /// It holds something else.
    #[error("{}: {problem}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What was expected and what was found.
        problem: String,
    },
    /// It is asked for a row it does not hold.
    #[error("{}: no volume for row {index} of split {split}", path.display())]
    NoRow {
        /// The file.
        path: PathBuf,
        /// The split.
        split: String,
        /// The row.
        index: u64,
    },
    /// A link that is no row of a dataset has no volume in any file.
    #[error("{}: a file of volumes scores the rows of a dataset, not a link that was changed or simulated", path.display())]
    NotARow {
        /// The file.
        path: PathBuf,
    },
    /// One file holds the volumes of one split.
    #[error("{}: holds volumes of split {holds}, not of {asked}", path.display())]
    OtherSplit {
        /// The file.
        path: PathBuf,
        /// The split it belongs to.
        holds: String,
        /// The split asked for.
        asked: String,
    },
}

enum Source {
    Table(VolumeTable),
    Array(VolumeArray),
}

/// Volumes that were computed elsewhere: a Parquet table matched by its column `index`, or a NumPy array
/// `[rows, D, H, W]` whose volume n belongs to row n. They are masses; they are checked and normalised.
pub struct VolumeFile {
    path: PathBuf,
    name: String,
    source: Source,
    /// The split it belongs to: as it says itself, else the first it was used for.
    split: OnceLock<String>,
}

impl VolumeFile {
    /// Opens a file that ends in `.parquet` or `.npy`. Volumes are read when they are asked for.
    ///
    /// # Errors
    /// If it is not there or holds something else.
    pub fn open(path: &Path) -> Result<Self, VolumeFileError> {
        let io = |source| VolumeFileError::Io { path: path.to_owned(), source };
        if !std::fs::metadata(path).map_err(io)?.is_file() {
            return Err(VolumeFileError::Content { path: path.to_owned(), problem: "not a regular file".into() });
        }
        let panicked = |source: ReaderPanicked| VolumeFileError::Panicked { path: path.to_owned(), source };
        let split = OnceLock::new();
        let source = if path.extension().is_some_and(|ending| ending == "parquet") {
            let table = guard(|| VolumeTable::open(path)).map_err(panicked)??;
            if let Some(known) = table.split() {
                let _ = split.set(known.to_owned());
            }
            Source::Table(table)
        } else {
            Source::Array(VolumeArray::open(path)?)
        };
        let name = path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into());
        Ok(Self { path: path.to_owned(), name, source, split })
    }

    fn row<'a>(&self, row: &ScoreRow<'a>) -> Result<RowNumber<'a>, VolumeFileError> {
        let number = row.number.ok_or_else(|| VolumeFileError::NotARow { path: self.path.clone() })?;
        let holds = self.split.get_or_init(|| number.split.to_owned());
        if holds != number.split {
            let asked = number.split.to_owned();
            return Err(VolumeFileError::OtherSplit { path: self.path.clone(), holds: holds.clone(), asked });
        }
        Ok(number)
    }

    fn volumes(&self, rows: &[ScoreRow<'_>]) -> Result<Vec<Vec<f64>>, VolumeFileError> {
        let Some(first) = rows.first() else { return Ok(Vec::new()) };
        let size = first.support.size();
        let numbers = rows.iter().map(|row| self.row(row)).collect::<Result<Vec<_>, _>>()?;
        let indices: Vec<u64> = numbers.iter().map(|number| number.index).collect();
        let (read, shape) = match &self.source {
            Source::Table(table) => {
                let read = guard(|| table.read(&indices, size));
                let read = read.map_err(|source| VolumeFileError::Panicked { path: self.path.clone(), source })?;
                (read?, table.shape())
            }
            Source::Array(array) => (array.read(&indices, size)?, Some(array.shape())),
        };
        if let Some(shape) = shape.filter(|shape| *shape != size) {
            return Err(self.content(format!("holds volumes of {}, expected {}", shown(shape), shown(size))));
        }
        read.into_iter()
            .zip(&numbers)
            .map(|(masses, number)| match masses {
                Some(masses) => self.check(masses, number.index),
                None => Err(VolumeFileError::NoRow {
                    path: self.path.clone(),
                    split: number.split.to_owned(),
                    index: number.index,
                }),
            })
            .collect()
    }

    /// Masses are finite, not negative, and sum to one: scores before a softmax are none of these.
    fn check(&self, masses: Vec<f64>, index: u64) -> Result<Vec<f64>, VolumeFileError> {
        if let Some((n, mass)) = masses.iter().enumerate().find(|(_, mass)| !(mass.is_finite() && **mass >= 0.0)) {
            let problem = format!(
                "row {index}, candidate {n}: {mass} is no mass; expected masses after the softmax, finite and not \
                 negative, not logits"
            );
            return Err(self.content(problem));
        }
        let sum: f64 = masses.iter().sum();
        if (sum - 1.0).abs() > SUM_TOLERANCE {
            let problem = format!("row {index}: its masses sum to {sum}, expected 1; give masses after the softmax");
            return Err(self.content(problem));
        }
        Ok(masses)
    }

    fn content(&self, problem: String) -> VolumeFileError {
        VolumeFileError::Content { path: self.path.clone(), problem }
    }
}

/// A size in words.
pub(super) fn shown(size: SupportSize) -> String {
    format!("{} x {} x {} candidates", size.headings, size.rows, size.columns)
}

impl Scorer for VolumeFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn identity(&self) -> String {
        // A file that can no longer be read has no identity; scoring says why.
        digest(&self.path).map_or_else(|_| String::new(), |(_, sha256)| sha256)
    }

    fn knowledge(&self) -> Knowledge {
        Knowledge::NOT_REPORTED
    }

    fn score(&self, rows: &[ScoreRow<'_>]) -> Result<Vec<Volume>, PosteriorError> {
        let volumes = self.volumes(rows).map_err(|source| PosteriorError::Scorer { source: Box::new(source) })?;
        let finish = |(row, masses): (&ScoreRow<'_>, Vec<f64>)| {
            Volume::from_weights(row.support.size(), &row.support.mask(row.rx), &masses)
        };
        rows.iter().zip(volumes).map(finish).collect()
    }
}
