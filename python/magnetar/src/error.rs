//! Failures on their way to Python: named classes of `magnetar.errors`, with the text that the command line prints.

use std::error::Error as StdError;

use magnetar_dataset::RecipeError;
use magnetar_posterior::PosteriorError;
use magnetar_study::StudyError;
use magnetar_trace::TraceError;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// A class of `magnetar.errors`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// An argument of the wrong shape, type or value.
    Input,
    /// A scene, a material or a pattern.
    Scene,
    /// A recipe.
    Recipe,
    /// A link that cannot be traced.
    Trace,
    /// A radio, or observations that cannot be estimated.
    Signal,
    /// A dataset on disk.
    Dataset,
    /// A scorer, a support or a posterior.
    Posterior,
    /// Worker threads, pictures.
    Other,
}

impl Class {
    fn name(self) -> &'static str {
        match self {
            Self::Input => "InputError",
            Self::Scene => "SceneError",
            Self::Recipe => "RecipeError",
            Self::Trace => "TraceError",
            Self::Signal => "SignalError",
            Self::Dataset => "DatasetError",
            Self::Posterior => "PosteriorError",
            Self::Other => "MagnetarError",
        }
    }
}

/// Why a call failed.
#[derive(Debug)]
pub enum Failure {
    /// An error of ours.
    Named(Class, String),
    /// One that Python raised.
    Python(PyErr),
    /// The caller asked to stop, such as with Ctrl-C.
    Stopped,
}

/// What most calls return.
pub type Outcome<T> = Result<T, Failure>;

impl Failure {
    /// An error of a library, in the words of the command line.
    pub fn of(class: Class, error: impl StdError + Send + Sync + 'static) -> Self {
        Self::Named(class, magnetar::message_of(&anyhow::Error::new(error)))
    }

    /// A wrong argument.
    pub fn input(message: impl Into<String>) -> Self {
        Self::Named(Class::Input, message.into())
    }
}

macro_rules! named {
    ($($error:ty => $class:ident),+ $(,)?) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::of(Class::$class, error)
            }
        })+
    };
}

named! {
    magnetar_scene::SceneError => Scene,
    RecipeError => Recipe,
    TraceError => Trace,
    magnetar_signal::RadioError => Signal,
    magnetar_signal::ConfigError => Signal,
    magnetar_signal::ReceiverError => Signal,
    magnetar_signal::sre::SreError => Signal,
    PosteriorError => Posterior,
    magnetar_dataset::ColumnError => Dataset,
    magnetar_report::ReportError => Other,
}

impl From<magnetar_dataset::DatasetError> for Failure {
    fn from(error: magnetar_dataset::DatasetError) -> Self {
        match error {
            magnetar_dataset::DatasetError::Recipe(error) => error.into(),
            other => Self::of(Class::Dataset, other),
        }
    }
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Self {
        match error {
            StudyError::Dataset(error) => error.into(),
            other => Self::of(Class::Posterior, other),
        }
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Python(error) => error,
            Failure::Stopped => pyo3::exceptions::PyKeyboardInterrupt::new_err(()),
            Failure::Named(class, message) => Python::attach(|py| match class_of(py, class.name()) {
                Ok(class) => PyErr::from_type(class, message),
                Err(error) => error,
            }),
        }
    }
}

fn class_of<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    Ok(py.import("magnetar.errors")?.getattr(name)?.cast_into::<PyType>()?)
}
