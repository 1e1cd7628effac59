//! What lies in a dataset's folder, and what of it belongs there.

use std::path::Path;

use magnetar_files::{list_folder, replacement_path};

use crate::error::Error;
use crate::manifest::{MANIFEST, Manifest, shard_name};

/// The manifest that is there, if any; refuses a folder with Parquet files but no manifest.
pub(crate) fn existing(folder: &Path) -> Result<Option<Manifest>, Error> {
    let mut parquet = false;
    for path in list_folder(folder).map_err(Error::io(folder))? {
        parquet |= is_parquet(&path) || path.is_dir() && has_parquet(&path)?;
    }
    match (folder.join(MANIFEST).exists(), parquet) {
        (true, true) => Manifest::read(folder).map(Some),
        // A run that was stopped before its first shard binds nobody.
        (true, false) => {
            Ok(Manifest::read(folder).ok().filter(|before| before.splits.values().any(|s| !s.shards.is_empty())))
        }
        (false, true) => {
            let problem = "holds Parquet files but no manifest.json; choose another folder, or remove them";
            Err(Error::invalid(folder, problem))
        }
        (false, false) => Ok(None),
    }
}

fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "parquet")
}

fn has_parquet(folder: &Path) -> Result<bool, Error> {
    Ok(list_folder(folder).map_err(Error::io(folder))?.iter().any(|path| is_parquet(path)))
}

/// Refuses Parquet files that do not belong to the dataset.
pub(crate) fn refuse_foreign_files(folder: &Path, manifest: &Manifest) -> Result<(), Error> {
    refuse_in(folder, |_| false)?;
    for (name, split) in &manifest.splits {
        let count = split.rows.div_ceil(u64::from(manifest.recipe.store.shard_rows));
        let folder = folder.join(name);
        if folder.is_dir() {
            refuse_in(&folder, |file| shard_number(file).is_some_and(|number| number < count))?;
        }
    }
    Ok(())
}

fn refuse_in(folder: &Path, own: impl Fn(&str) -> bool) -> Result<(), Error> {
    for path in list_folder(folder).map_err(Error::io(folder))? {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        if is_parquet(&path) && !own(name) {
            return Err(Error::invalid(&path, "does not belong to this dataset; move it away"));
        }
    }
    Ok(())
}

/// The number in a shard's file name.
pub(crate) fn shard_number(file: &str) -> Option<u64> {
    let number = file.strip_prefix("part-")?.strip_suffix(".parquet")?.parse().ok()?;
    (shard_name(number) == file).then_some(number)
}

/// Makes the folders of a dataset and removes what killed runs left in them: unfinished files, and replacements of
/// shards that the manifest `recorded` there, if any, does not name. The caller holds the folder's lock.
pub(crate) fn prepare(folder: &Path, manifest: &Manifest, recorded: Option<&Manifest>) -> Result<(), Error> {
    magnetar_files::remove_unfinished(folder).map_err(Error::io(folder))?;
    for (name, split) in &manifest.splits {
        let inside = folder.join(name);
        magnetar_files::create_folder(&inside).map_err(Error::io(&inside))?;
        magnetar_files::remove_unfinished(&inside).map_err(Error::io(&inside))?;
        let known = recorded.and_then(|manifest| manifest.splits.get(name)).map_or(&[][..], |split| &split.shards);
        for number in 0..split.rows.div_ceil(u64::from(manifest.recipe.store.shard_rows)) {
            let path = Manifest::shard_path(folder, name, number);
            let replacement = replacement_path(&path);
            if !replacement.exists() {
                continue;
            }
            let committed = known.iter().find(|shard| shard.number == number);
            if committed.is_some_and(|shard| shard.file(folder, name) == replacement) {
                magnetar_files::rename_file(&replacement, &path).map_err(Error::io(&path))?;
            } else {
                magnetar_files::remove_file(&replacement).map_err(Error::io(&replacement))?;
            }
        }
    }
    Ok(())
}
