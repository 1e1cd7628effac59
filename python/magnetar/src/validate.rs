//! The comparison with Sionna RT, from memory.

use std::path::Path;

use magnetar_trace::sionna::{ExportError, parse_export, validate};
use pyo3::prelude::*;

use crate::error::{Class, Failure};
use crate::input;
use crate::run::run;

impl From<ExportError> for Failure {
    fn from(error: ExportError) -> Self {
        Self::of(Class::Dataset, error)
    }
}

/// Compares an export of Sionna RT (JSON, gzip or npz, as bytes) with the tracer: what `magnetar validate --json` prints of
/// one file. `origin` names it in errors.
#[pyfunction]
#[pyo3(signature = (data, origin = "export"))]
pub fn validate_export<'py>(py: Python<'py>, data: &[u8], origin: &str) -> PyResult<Bound<'py, PyAny>> {
    let report = run(py, |_| {
        let export = parse_export(Path::new(origin), data)?;
        let validation = validate(&export);
        let mut report = magnetar::validation_json(&validation, validation.ok());
        report["warnings"] = serde_json::json!(export.warnings);
        Ok(report)
    })?;
    input::from_json(py, &report)
}
