//! The native module of the Python package: scenes, links, rows, datasets, scorers and streams as Python sees them.
//!
//! Nothing is computed here: arguments are checked, work is handed to the crates on threads of their own with Python's lock
//! released, and results are given back as arrays or Arrow.

#![allow(clippy::disallowed_methods, reason = "what reaches a row is computed in the crates")]
#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands values over")]

mod dataset;
mod error;
mod evaluation;
mod figure;
mod generate;
mod input;
mod metrics;
mod posterior;
mod recipe;
mod rows;
mod run;
mod scene;
mod signal;
mod stream;
mod trace;
mod validate;

use std::ffi::OsString;
use std::process::ExitCode;

use pyo3::prelude::*;

/// Runs the command line on these arguments, the program's name first; gives the exit code.
#[pyfunction]
fn run_cli(arguments: Vec<OsString>) -> u8 {
    u8::from(magnetar::run(arguments) != ExitCode::SUCCESS)
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::dataset::{Dataset, RowsIterator};
    #[pymodule_export]
    use crate::evaluation::{evaluation_of, score_rows};
    #[pymodule_export]
    use crate::figure::Figure;
    #[pymodule_export]
    use crate::generate::{audit_card, gather_parts, make_shards};
    #[pymodule_export]
    use crate::metrics::{Metrics, evaluate};
    #[pymodule_export]
    use crate::posterior::{Scorer, Support, features, fuse, posterior_figure};
    #[pymodule_export]
    use crate::recipe::Recipe;
    #[pymodule_export]
    use crate::rows::Rows;
    #[pymodule_export]
    use crate::run::{set_threads, threads};
    #[pymodule_export]
    use crate::run_cli;
    #[pymodule_export]
    use crate::scene::{Material, Pattern, Scene, materials};
    #[pymodule_export]
    use crate::signal::{estimate, observe};
    #[pymodule_export]
    use crate::stream::{ExposureSource, expose_rows};
    #[pymodule_export]
    use crate::trace::trace;
    #[pymodule_export]
    use crate::validate::validate_export;
}
