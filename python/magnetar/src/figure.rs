//! Pictures that a notebook shows.

use magnetar_report::{Theme, png_from_svg};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{Failure, Outcome};

/// A picture as SVG. A notebook shows it; `save` writes it.
#[pyclass(frozen, module = "magnetar")]
pub struct Figure {
    svg: String,
}

impl Figure {
    /// A picture of ours.
    pub fn new(svg: String) -> Self {
        Self { svg }
    }
}

#[pymethods]
impl Figure {
    /// The SVG text.
    #[getter]
    fn svg(&self) -> &str {
        &self.svg
    }

    fn _repr_svg_(&self) -> &str {
        &self.svg
    }

    fn __repr__(&self) -> String {
        format!("Figure({} bytes of SVG)", self.svg.len())
    }

    /// The picture as PNG, `scale` pixels per unit of the SVG.
    #[pyo3(signature = (scale = 2.0))]
    fn png<'py>(&self, py: Python<'py>, scale: f32) -> PyResult<Bound<'py, PyBytes>> {
        let png = py.detach(|| png_from_svg(&self.svg, scale).map_err(Failure::from))?;
        Ok(PyBytes::new(py, &png))
    }
}

/// A ground by name.
pub fn theme(name: &str) -> Outcome<Theme> {
    match name {
        "light" => Ok(Theme::Light),
        "dark" => Ok(Theme::Dark),
        _ => Err(Failure::input(format!("theme {name:?}: expected \"light\" or \"dark\""))),
    }
}
