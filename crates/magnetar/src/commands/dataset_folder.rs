//! Opening the dataset that a command was given.

use std::path::Path;

use anyhow::bail;
use magnetar_dataset::{Columns, Dataset, Record};
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
        if folder.join(SWEEP_MANIFEST).exists() {
            bail!(
                "{}: the folder of a sweep, not of a dataset; look at its sweep.html, or give one of the datasets in its \
                 points folder (store = true)",
                folder.display()
            );
        }
        if folder.join("points").is_dir() {
            bail!("{}: a sweep that is not finished; run the same magnetar sweep command again", folder.display());
        }
        Err(error.into())
    })
}
