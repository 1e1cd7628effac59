//! Opening the dataset that a command was given.

use std::path::Path;

use anyhow::bail;
use magnetar_dataset::Dataset;
use magnetar_study::sweep::SWEEP_MANIFEST;

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
