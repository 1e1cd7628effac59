//! Recipes, and rows drawn from them by their number.

use std::sync::Arc;

use magnetar_dataset::{Generator, SCHEMA_VERSION, Shape};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use rayon::prelude::*;

use crate::error::{Failure, Outcome};
use crate::input;
use crate::rows::Rows;
use crate::run::run;

/// Rows that one thread makes before it asks whether to stop.
const CHUNK_ROWS: u64 = 16;

/// The most rows that one call makes.
const MOST_ROWS: u64 = 1 << 20;

/// How rows are made: every number of the simulator, the draws and the estimator.
#[pyclass(frozen, module = "magnetar")]
pub struct Recipe {
    pub(crate) recipe: Arc<magnetar_dataset::Recipe>,
}

#[pymethods]
impl Recipe {
    /// A shipped recipe by name or a recipe file by path; `overrides` changes single keys, such as
    /// `{"link.reference_snr_db": 40}`.
    #[new]
    #[pyo3(signature = (name_or_path = "paper", overrides = None))]
    fn new(name_or_path: &str, overrides: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut sets = Vec::new();
        for (key, value) in overrides.into_iter().flatten() {
            let key: String =
                key.extract().map_err(|_| Failure::input("overrides: keys are text, such as \"sre.keep\""))?;
            sets.push(format!("{key}={}", toml_value(&value, &key)?));
        }
        let recipe = magnetar_dataset::Recipe::load(name_or_path, &sets).map_err(Failure::from)?;
        Ok(Self { recipe: Arc::new(recipe) })
    }

    /// The names of the shipped recipes.
    #[staticmethod]
    fn names() -> Vec<&'static str> {
        magnetar_dataset::Recipe::shipped().collect()
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.recipe.name
    }

    /// SHA-256 of everything in it that decides rows.
    #[getter]
    fn hash(&self) -> String {
        self.recipe.hash()
    }

    /// Rows of its splits.
    #[getter]
    fn splits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for (name, split) in &self.recipe.splits {
            found.set_item(name, split.rows())?;
        }
        Ok(found)
    }

    /// Arrivals kept of an observation (K).
    #[getter]
    fn keep(&self) -> usize {
        self.recipe.sre.keep
    }

    /// The recipe that `to_json` wrote.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        let recipe = magnetar_dataset::Recipe::from_json(text, "recipe").map_err(Failure::from)?;
        Ok(Self { recipe: Arc::new(recipe) })
    }

    /// Everything in it as JSON, files that it names included by their hash: what a manifest holds.
    fn to_json(&self) -> PyResult<String> {
        Ok(serde_json::to_string(&*self.recipe).map_err(|error| Failure::input(error.to_string()))?)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.get_type::<Self>().getattr("from_json")?, (self.to_json()?,)))
    }

    /// Every value with key, unit, origin, meaning and what it may be, as `magnetar recipe show --json` gives them.
    fn entries<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let entries = serde_json::to_value(self.recipe.entries()).map_err(|e| Failure::input(e.to_string()))?;
        input::from_json(py, &entries)
    }

    /// The text of a recipe file that loads again.
    fn to_toml(&self) -> String {
        self.recipe.to_toml()
    }

    /// Rows `start` to `start + count` of a split, as `magnetar generate` makes them with this seed.
    #[pyo3(signature = (split, start = 0, count = 1, seed = 1))]
    fn sample(&self, py: Python<'_>, split: &str, start: u64, count: u64, seed: u64) -> PyResult<Rows> {
        let known = self.recipe.split(split).map_err(Failure::from)?;
        let end = start.checked_add(count).filter(|end| *end <= known.rows());
        let Some(end) = end else {
            let rows = known.rows();
            let message = format!("rows {start} to {start} + {count}: split {split} has rows 0 to {rows}");
            return Err(Failure::input(message).into());
        };
        if count > MOST_ROWS {
            let message = format!("{count} rows at once; ask for at most {MOST_ROWS}, in several calls");
            return Err(Failure::input(message).into());
        }
        let shape = Shape::of(&self.recipe, SCHEMA_VERSION);
        let batches = run(py, |stop| {
            let generator = Generator::new(&self.recipe, seed, split)?;
            let chunks: Vec<u64> = (start..end).step_by(CHUNK_ROWS as usize).collect();
            (chunks.par_iter())
                .map_init(
                    || generator.rows(),
                    |rows, from| {
                        stop.check()?;
                        Ok(rows.batch(shape, *from, (from + CHUNK_ROWS).min(end))?)
                    },
                )
                .collect::<Outcome<Vec<_>>>()
        })?;
        Ok(Rows::new(shape.schema(), batches, split))
    }

    fn __repr__(&self) -> String {
        format!("Recipe({:?}, hash {})", self.recipe.name, &self.recipe.hash()[..12])
    }
}

/// A value in TOML's syntax.
fn toml_value(value: &Bound<'_, PyAny>, key: &str) -> Outcome<String> {
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(flag.is_true().to_string());
    }
    if let Ok(number) = value.extract::<i64>() {
        return Ok(number.to_string());
    }
    if let Ok(number) = value.extract::<f64>() {
        return Ok(format!("{number:?}"));
    }
    if let Ok(text) = value.extract::<String>() {
        return Ok(serde_json::Value::String(text).to_string());
    }
    let wrong = |_| {
        let kind = value.get_type().to_string();
        Failure::input(format!("overrides: {key} is a {kind}; expected a number, a flag, text, or a list of them"))
    };
    let parts: Vec<Bound<'_, PyAny>> = value.extract().map_err(wrong)?;
    let parts = parts.iter().map(|part| toml_value(part, key)).collect::<Outcome<Vec<_>>>()?;
    Ok(format!("[{}]", parts.join(", ")))
}

impl Recipe {
    /// The recipe that Python holds.
    pub(crate) fn of(held: &Bound<'_, Self>) -> Self {
        Self::shared(Arc::clone(&held.get().recipe))
    }

    /// A recipe that is there already.
    pub(crate) fn shared(recipe: Arc<magnetar_dataset::Recipe>) -> Self {
        Self { recipe }
    }
}
