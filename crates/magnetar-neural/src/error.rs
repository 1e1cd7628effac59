//! What can go wrong, reported so that a user can act.

use std::path::PathBuf;

use magnetar_files::BoundedReadError;
use magnetar_posterior::PosteriorError;
use magnetar_study::StudyError;

use crate::Design;

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
pub enum NeuralError {
    /// No design has this name.
    #[error("no design {name:?}; there are {}", Design::ALL.map(Design::name).join(", "))]
    UnknownDesign {
        /// The name.
        name: String,
    },
    /// Widths no network can be made of.
    #[error("widths: {problem}")]
    Widths {
        /// What is wrong with them.
        problem: String,
    },
    /// A model file cannot be read whole.
    #[error("{place}: {source}")]
    Read {
        /// The file.
        place: String,
        /// Why.
        source: BoundedReadError,
    },
    /// A file is no model.
    #[error("{place}: no model of magnetar: {problem}")]
    Model {
        /// The file.
        place: String,
        /// What was expected and what was found.
        problem: String,
    },
    /// A file cannot be written.
    #[error("{}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The rows to score have another number of arrivals than the model.
    #[error(
        "the model takes {expected} arrivals per row, the row keeps {got}: score rows of an estimator that keeps {expected}"
    )]
    Arrivals {
        /// K of the model.
        expected: usize,
        /// K of the row.
        got: usize,
    },
    /// A score is not a number.
    #[error("the model gives a score of {score} for candidate {index}: its weights are of no use for this row")]
    Score {
        /// Flat index of the candidate.
        index: usize,
        /// The score.
        score: f32,
    },
    /// The twin could not be made or used.
    #[error(transparent)]
    Posterior(#[from] PosteriorError),
    /// Rows could not be made or read.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// The request makes no sense.
    #[error("{problem}")]
    Request {
        /// What is wrong, and what to do.
        problem: String,
    },
    /// Training went wrong.
    #[error("step {step} of {steps}: {problem}")]
    Trouble {
        /// The step.
        step: u64,
        /// Of how many.
        steps: u64,
        /// What happened, and what to do.
        problem: String,
    },
}

impl From<NeuralError> for PosteriorError {
    fn from(error: NeuralError) -> Self {
        match error {
            NeuralError::Posterior(error) => error,
            error => Self::Scorer { source: Box::new(error) },
        }
    }
}
