//! A dataset made by many processes: shards made in this one, and parts put together.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use magnetar_dataset::{Generator, Job, Part, Plan, Slice, gather};
use magnetar_study::audit_onto_card;
use pyo3::prelude::*;

use crate::error::Outcome;
use crate::recipe::Recipe;
use crate::run::run;

/// What the last call made its rows with: the next task of the same dataset begins with its first row.
static LAST: Mutex<Option<Arc<Generator>>> = Mutex::new(None);

fn generator(recipe: &Arc<magnetar_dataset::Recipe>, seed: u64, split: &str) -> Outcome<Arc<Generator>> {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(ready) = last.as_ref().filter(|ready| ready.makes(recipe, seed, split)) {
        return Ok(Arc::clone(ready));
    }
    let made = Arc::new(Generator::new(recipe, seed, split)?);
    *last = Some(Arc::clone(&made));
    Ok(made)
}

/// Makes shards `first` to `last` (excluded) of a split on one thread, as `magnetar generate --shards` does; `limit` counts
/// samples of the split. `out` is a folder, or a place in an object store, where any number of tasks may write. A part that is
/// not `durable` has no card, and whoever takes it over has its shards written to the disk.
#[pyfunction]
#[pyo3(signature = (recipe, split, shards, out, *, limit = None, seed = 1, durable = true))]
#[allow(clippy::too_many_arguments, reason = "named ones")]
pub fn make_shards(
    py: Python<'_>,
    recipe: &Bound<'_, Recipe>,
    split: String,
    shards: (u64, u64),
    out: PathBuf,
    limit: Option<u64>,
    seed: u64,
    durable: bool,
) -> PyResult<()> {
    let (first, last) = shards;
    let recipe = &recipe.get().recipe;
    run(py, |stop| {
        let ready = Some(generator(recipe, seed, &split)?);
        let job = Job {
            splits: vec![split],
            limit,
            slice: Slice::Shards { first, last },
            threads: 1,
            durable,
            ready,
            ..Job::new(Arc::clone(recipe), seed, &out)
        };
        stop.around(|progress| Ok(Plan::new(job)?.run(progress)?))
    })?;
    Ok(())
}

/// Puts parts together in a folder, to the byte what `magnetar merge` makes of them: those that are `copied` are hashed on
/// their way, those that are `moved`, which were made on the folder's own file system, are used up.
#[pyfunction]
#[pyo3(signature = (out, *, copied, moved))]
pub fn gather_parts(py: Python<'_>, out: PathBuf, copied: Vec<PathBuf>, moved: Vec<PathBuf>) -> PyResult<()> {
    let parts: Vec<Part> = copied.into_iter().map(Part::Copied).chain(moved.into_iter().map(Part::Moved)).collect();
    run(py, |stop| {
        stop.around(|progress| Ok(gather(&parts, &out, progress)?))?;
        Ok(audit_onto_card(&out)?)
    })?;
    Ok(())
}

/// Audits a dataset and puts the figures on its card, the last thing that `magnetar generate` does.
#[pyfunction]
pub fn audit_card(py: Python<'_>, folder: PathBuf) -> PyResult<()> {
    Ok(run(py, |_| Ok(audit_onto_card(&folder)?))?)
}
