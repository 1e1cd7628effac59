//! What lies in a dataset's folder, and what of it belongs there.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use magnetar_files::{exists, file_sizes, is_folder, is_in_store, list_folder, replacement_path};

use crate::error::DatasetError;
use crate::manifest::{MANIFEST, Manifest, ShardInfo, shard_name};

/// The manifest that is there, if any; refuses a folder with Parquet files but no manifest.
pub(crate) fn existing(folder: &Path) -> Result<Option<Manifest>, DatasetError> {
    let mut parquet = false;
    for path in list_folder(folder).map_err(DatasetError::io(folder))? {
        parquet |= is_parquet(&path) || is_folder(&path).map_err(DatasetError::io(&path))? && has_parquet(&path)?;
    }
    let manifest = folder.join(MANIFEST);
    match (exists(&manifest).map_err(DatasetError::io(&manifest))?, parquet) {
        (true, true) => Manifest::read(folder).map(Some),
        // A run that was stopped before its first shard binds nobody.
        (true, false) => {
            Ok(Manifest::read(folder).ok().filter(|before| before.splits.values().any(|s| !s.shards.is_empty())))
        }
        (false, true) => {
            let problem = "holds Parquet files but no manifest.json; choose another folder, or remove them";
            Err(DatasetError::invalid(folder, problem))
        }
        (false, false) => Ok(None),
    }
}

fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "parquet")
}

fn has_parquet(folder: &Path) -> Result<bool, DatasetError> {
    Ok(list_folder(folder).map_err(DatasetError::io(folder))?.iter().any(|path| is_parquet(path)))
}

/// Refuses Parquet files that do not belong to the dataset.
pub(crate) fn refuse_foreign_files(folder: &Path, manifest: &Manifest) -> Result<(), DatasetError> {
    refuse_in(folder, |_| false)?;
    for (name, split) in &manifest.splits {
        let count = split.rows.div_ceil(u64::from(manifest.recipe.store.shard_rows));
        let folder = folder.join(name);
        if is_folder(&folder).map_err(DatasetError::io(&folder))? {
            refuse_in(&folder, |file| shard_number(file).is_some_and(|number| number < count))?;
        }
    }
    Ok(())
}

fn refuse_in(folder: &Path, own: impl Fn(&str) -> bool) -> Result<(), DatasetError> {
    for path in list_folder(folder).map_err(DatasetError::io(folder))? {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        if is_parquet(&path) && !own(name) {
            return Err(DatasetError::invalid(&path, "does not belong to this dataset; move it away"));
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
pub(crate) fn prepare(folder: &Path, manifest: &Manifest, recorded: Option<&Manifest>) -> Result<(), DatasetError> {
    magnetar_files::remove_unfinished(folder).map_err(DatasetError::io(folder))?;
    for (name, split) in &manifest.splits {
        let inside = folder.join(name);
        magnetar_files::create_folder(&inside).map_err(DatasetError::io(&inside))?;
        let names = magnetar_files::remove_unfinished(&inside).map_err(DatasetError::io(&inside))?;
        let known = recorded.and_then(|manifest| manifest.splits.get(name)).map_or(&[][..], |split| &split.shards);
        let count = split.rows.div_ceil(u64::from(manifest.recipe.store.shard_rows));
        for number in replaced_shards(&names).filter(|number| *number < count) {
            let path = Manifest::shard_path(folder, name, number);
            let replacement = replacement_path(&path);
            let committed = known.iter().find(|shard| shard.number == number);
            if committed.is_some_and(|shard| shard.file(folder, name) == replacement) {
                magnetar_files::rename_file(&replacement, &path).map_err(DatasetError::io(&path))?;
            } else {
                magnetar_files::remove_file(&replacement).map_err(DatasetError::io(&replacement))?;
            }
        }
    }
    Ok(())
}

/// Numbers of the shards that have a replacement among the names of their folder.
fn replaced_shards(names: &[String]) -> impl Iterator<Item = u64> {
    let ending = replacement_path(Path::new("x"));
    let ending = ending.to_string_lossy().trim_start_matches('x').to_owned();
    names.iter().filter_map(move |name| shard_number(name.strip_suffix(&ending)?))
}

/// Which shards of a dataset's folder are whole: by their hash; in a store, where what has a name was put whole, by their size.
pub(crate) struct Presence<'a> {
    folder: &'a Path,
    /// Names and sizes in a store, by split, once they were asked for.
    listed: RefCell<HashMap<String, BTreeMap<String, u64>>>,
}

impl<'a> Presence<'a> {
    /// Of a folder, nothing of which was looked at yet.
    pub(crate) fn new(folder: &'a Path) -> Self {
        Self { folder, listed: RefCell::default() }
    }

    /// Whether a shard is there as it was recorded.
    ///
    /// # Errors
    /// If a store does not answer.
    pub(crate) fn is_whole(&self, split: &str, shard: &ShardInfo) -> Result<bool, DatasetError> {
        if !is_in_store(self.folder) {
            return Ok(shard.is_whole(self.folder, split));
        }
        let mut listed = self.listed.borrow_mut();
        let sizes = match listed.get(split) {
            Some(sizes) => sizes,
            None => {
                let inside = self.folder.join(split);
                let sizes = file_sizes(&inside).map_err(DatasetError::io(&inside))?;
                listed.entry(split.to_owned()).or_insert(sizes)
            }
        };
        let path = Manifest::shard_path(self.folder, split, shard.number);
        let named = |path: &Path| path.file_name().and_then(|name| sizes.get(name.to_str()?).copied());
        Ok(named(&path) == Some(shard.bytes) || named(&replacement_path(&path)) == Some(shard.bytes))
    }
}
