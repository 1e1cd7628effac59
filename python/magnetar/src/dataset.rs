//! Datasets on disk and in object stores.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use magnetar_dataset::{Columns, RowBatches, VerifyOptions, verify};
use magnetar_files::is_in_store;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Failure, Outcome};
use crate::input;
use crate::recipe::Recipe;
use crate::rows::Rows;
use crate::run::run;

/// A dataset on disk, or in an object store.
#[pyclass(frozen, module = "magnetar")]
pub struct Dataset {
    pub(crate) dataset: Arc<magnetar_dataset::Dataset>,
}

fn columns(csi: bool) -> Columns {
    if csi { Columns::All } else { Columns::WithoutCsi }
}

#[pymethods]
impl Dataset {
    /// Opens a dataset by its folder, or by its address in an object store (`s3://bucket/prefix`).
    #[new]
    fn new(folder: PathBuf) -> PyResult<Self> {
        let dataset = magnetar::open_dataset(&folder)
            .map_err(|error| Failure::Named(crate::error::Class::Dataset, magnetar::message_of(&error)))?;
        Ok(Self { dataset: Arc::new(dataset) })
    }

    /// Its folder; a string if it is in an object store, as a path would not keep the address.
    #[getter]
    fn folder<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let folder = self.dataset.folder();
        match folder.to_str() {
            Some(address) if is_in_store(folder) => Ok(address.into_pyobject(py)?.into_any()),
            _ => Ok(folder.into_pyobject(py)?.into_any()),
        }
    }

    /// Its recipe.
    #[getter]
    fn recipe(&self) -> Recipe {
        Recipe::shared(Arc::new(self.dataset.recipe().clone()))
    }

    /// Its seed.
    #[getter]
    fn seed(&self) -> u64 {
        self.dataset.manifest().seed
    }

    /// Rows that are there, by split.
    #[getter]
    fn splits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for (name, split) in &self.dataset.manifest().splits {
            found.set_item(name, split.present_rows())?;
        }
        Ok(found)
    }

    /// Rows of a split with an index from `start` on, `count` of them at most.
    #[pyo3(signature = (split, start = 0, count = None, csi = true))]
    fn rows(&self, py: Python<'_>, split: &str, start: u64, count: Option<u64>, csi: bool) -> PyResult<Rows> {
        let batches = self.row_batches(split, csi)?.from_row(start, count.unwrap_or(u64::MAX));
        let found = run(py, |stop| {
            let mut found = Vec::new();
            for batch in batches {
                stop.check()?;
                found.push(batch?);
            }
            Ok(found)
        })?;
        let schema = match found.first() {
            Some(batch) => batch.schema(),
            None => self.dataset.manifest().shape().schema(),
        };
        Ok(Rows::new(schema, found, split))
    }

    /// The rows of a split, a few hundred at a time, in index order.
    #[pyo3(signature = (split, csi = true))]
    fn batches(&self, split: &str, csi: bool) -> PyResult<RowsIterator> {
        let batches = self.row_batches(split, csi)?;
        Ok(RowsIterator { batches: Mutex::new(Some(batches)), split: split.to_owned() })
    }

    /// Checks hashes, counts, schema and ranges, and makes `sample` rows of each split again: what
    /// `magnetar verify --json` prints.
    #[pyo3(signature = (sample = 64, seed = 0, partial = false))]
    fn verify<'py>(&self, py: Python<'py>, sample: u64, seed: u64, partial: bool) -> PyResult<Bound<'py, PyAny>> {
        let options = VerifyOptions { sample, seed, partial };
        let folder = self.dataset.folder();
        let found = run(py, |stop| stop.around(|progress| Ok(verify(folder, options, progress)?)))?;
        let found = serde_json::to_value(&found).map_err(|error| Failure::input(error.to_string()))?;
        input::from_json(py, &found)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
        Ok((py.get_type::<Self>().into_any(), (self.folder(py)?,)))
    }

    fn __repr__(&self) -> String {
        let rows: u64 = self.dataset.manifest().splits.values().map(|split| split.present_rows()).sum();
        format!("Dataset({:?}, {rows} rows of recipe {:?})", self.dataset.folder(), self.dataset.recipe().name)
    }
}

impl Dataset {
    fn row_batches(&self, split: &str, csi: bool) -> Outcome<RowBatches<Arc<magnetar_dataset::Dataset>>> {
        Ok(RowBatches::new(Arc::clone(&self.dataset), split, columns(csi))?)
    }
}

/// The rows of a split, batch by batch.
#[pyclass(frozen, module = "magnetar")]
pub struct RowsIterator {
    batches: Mutex<Option<RowBatches<Arc<magnetar_dataset::Dataset>>>>,
    split: String,
}

#[pymethods]
impl RowsIterator {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Rows>> {
        let next = py.detach(|| {
            let mut held = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
            held.as_mut().and_then(Iterator::next)
        });
        let Some(batch) = next else { return Ok(None) };
        let batch = batch.map_err(Failure::from)?;
        Ok(Some(Rows::new(batch.schema(), vec![batch], &self.split)))
    }
}
