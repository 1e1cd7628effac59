//! Opening the dataset that a command was given.

use std::io;
use std::path::Path;

use anyhow::bail;
use magnetar_dataset::{Columns, Dataset, DatasetError, Record};
use magnetar_files::{file_size, is_folder, is_in_store};
use magnetar_study::sweep::SWEEP_MANIFEST;

/// One row of a split; where there is none of that number, says which there are.
pub fn read_row(dataset: &Dataset, split: &str, row: u64, columns: Columns) -> anyhow::Result<Record> {
    let rows = dataset.split(split)?.present_rows();
    dataset.read_row(split, row, columns).map_err(|error| match row >= rows {
        true => anyhow::anyhow!("{error}; its rows are 0 to {}", rows.saturating_sub(1)),
        false => error.into(),
    })
}

/// Opens a dataset's folder; of a sweep's folder says what can be done with that.
///
/// # Errors
/// If there is no readable dataset.
pub fn open_dataset(folder: impl AsRef<Path>) -> anyhow::Result<Dataset> {
    let folder = folder.as_ref();
    Dataset::open(folder).or_else(|error| {
        // A store that does not answer is not asked again.
        if !matches!(error, DatasetError::Invalid { .. }) {
            return Err(error.into());
        }
        if is_sweep(folder).unwrap_or(false) {
            bail!(
                "{}: the folder of a sweep, not of a dataset; look at its sweep.html, or give one of the datasets in its \
                 points folder (store = true)",
                folder.display()
            );
        }
        if is_folder(&folder.join("points")).unwrap_or(false) {
            bail!("{}: a sweep that is not finished; run the same magnetar sweep command again", folder.display());
        }
        Err(error.into())
    })
}

/// Whether a folder, or a place in a store, is that of a finished sweep.
///
/// # Errors
/// If a store does not answer.
pub fn is_sweep(folder: &Path) -> io::Result<bool> {
    match file_size(&folder.join(SWEEP_MANIFEST)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound && is_in_store(folder) => Err(error),
        found => Ok(found.is_ok()),
    }
}
