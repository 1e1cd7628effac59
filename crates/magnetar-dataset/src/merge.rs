//! Slices of a dataset, made anywhere, put together.

use std::io;
use std::path::{Path, PathBuf};

use magnetar_files::{
    AtomicFile, FolderLock, InputFile, create_folder, file_size, is_in_store, move_file, place, sync_folder,
};

use crate::dataset::Dataset;
use crate::error::DatasetError;
use crate::folder::{Presence, existing, prepare, refuse_foreign_files};
use crate::manifest::{Manifest, ShardInfo};
use crate::recorder::{Recorder, write_card};
use crate::shard::Hashing;

/// A part of a dataset, by its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// It stays as it is; its shards are hashed on their way.
    Copied(PathBuf),
    /// It is used up: its shards are given new names, and only their sizes are compared. For parts that were just made on the
    /// file system of the whole; from elsewhere they are copied.
    Moved(PathBuf),
}

/// What a merge did.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// Shards copied or moved.
    pub shards: u64,
    /// The manifest of the whole.
    pub manifest: Manifest,
}

/// Copies the shards of `parts` into `out`, which may already hold some of them, and writes the manifest and the
/// card of the whole. Every shard is hashed on its way. `progress` is called with 1 after every shard of the parts.
///
/// # Errors
/// If the parts are not of one dataset, a shard is damaged, or `out` cannot be written.
pub fn merge(parts: &[PathBuf], out: &Path, progress: &dyn Fn(u64)) -> Result<Merged, DatasetError> {
    gather(&parts.iter().cloned().map(Part::Copied).collect::<Vec<_>>(), out, progress)
}

/// As [`merge`], of parts that may be used up.
///
/// # Errors
/// As [`merge`].
pub fn gather(parts: &[Part], out: &Path, progress: &dyn Fn(u64)) -> Result<Merged, DatasetError> {
    let (mut sources, mut bring): (Vec<Dataset>, Vec<Bring>) = (Vec::new(), Vec::new());
    for part in parts {
        let (folder, how): (_, Bring) = match part {
            Part::Copied(folder) => (folder, copy),
            Part::Moved(folder) => (folder, take),
        };
        sources.push(Dataset::open(folder)?);
        bring.push(how);
    }
    let out = &*place(out)?;
    create_folder(out).map_err(DatasetError::io(out))?;
    let _lock = FolderLock::acquire(out).map_err(DatasetError::io(out))?;
    let mut recorder = Recorder::new(out, true)?;
    let before = existing(out)?;
    if before.is_some() {
        sources.insert(0, Dataset::open(out)?);
        bring.insert(0, copy);
    }
    let Some(first) = sources.first() else {
        return Err(DatasetError::NothingToMerge);
    };
    let mut whole = Manifest::new(first.recipe(), first.manifest().seed);
    whole.version.clone_from(&first.manifest().version);
    whole.schema_version = first.manifest().schema_version;
    whole.generator_version = first.manifest().generator_version;
    whole.processor_class.clone_from(&first.manifest().processor_class);
    whole.backend.clone_from(&first.manifest().backend);
    for source in &sources {
        let differences = whole.differences(source.manifest());
        if !differences.is_empty() {
            let list = differences.join("\n  ");
            let problem = format!("is part of another dataset; they differ in (first, this):\n  {list}");
            return Err(DatasetError::invalid(source.folder(), problem));
        }
    }
    add_splits(&mut whole, &sources)?;
    refuse_foreign_files(out, &whole)?;
    prepare(out, &whole, before.as_ref())?;
    if first.folder() != out {
        // The manifest comes first: a merge that was stopped leaves the beginning of this dataset, not nobody's files.
        recorder.write(&mut whole)?;
    }
    let presence = Presence::new(out);
    let mut copied = 0;
    for (n, (source, bring)) in sources.iter().zip(bring).enumerate() {
        let is_part = n > 0 || before.is_none();
        for (name, split) in &source.manifest().splits {
            for shard in &split.shards {
                if is_part {
                    progress(1);
                }
                let known = whole.splits[name].shard(shard.number);
                let from = shard.file(source.folder(), name);
                if let Some(known) = known {
                    if !known.is_same_file(shard) {
                        let problem = "two parts hold different versions of this shard; run magnetar verify on both";
                        return Err(DatasetError::invalid(&from, problem));
                    }
                    continue;
                }
                if source.folder() == out {
                    if !presence.is_whole(name, shard)? {
                        return Err(DatasetError::invalid(&from, DAMAGED));
                    }
                } else {
                    bring(&from, &Manifest::shard_path(out, name, shard.number), shard)?;
                    copied += 1;
                }
                whole.add(name, shard.clone());
            }
        }
    }
    if parts.iter().any(|part| matches!(part, Part::Moved(_))) {
        // The manifest tells only of names that last.
        for inside in whole.splits.keys().map(|name| out.join(name)) {
            sync_folder(&inside).map_err(DatasetError::io(&inside))?;
        }
    }
    recorder.write(&mut whole)?;
    write_card(out, &whole)?;
    Ok(Merged { shards: copied, manifest: whole })
}

/// The splits of all parts, in the recipe's order, without shards yet.
fn add_splits(whole: &mut Manifest, sources: &[Dataset]) -> Result<(), DatasetError> {
    for name in whole.recipe.splits.keys().cloned().collect::<Vec<_>>() {
        let found = sources.iter().filter_map(|source| Some((source, source.manifest().splits.get(&name)?)));
        for (source, split) in found {
            let known = whole.splits.entry(name.clone()).or_insert_with(|| {
                let mut empty = split.clone();
                empty.shards.clear();
                empty
            });
            if known.rows != split.rows {
                let problem = format!(
                    "split {name} is planned for {} rows, that of another part for {}; make all with the same limit",
                    split.rows, known.rows
                );
                return Err(DatasetError::invalid(source.folder(), problem));
            }
        }
    }
    Ok(())
}

const DAMAGED: &str = "its size or SHA-256 is not the manifest's; generate this part again";

/// Brings a recorded shard to its place in the whole.
type Bring = fn(&Path, &Path, &ShardInfo) -> Result<(), DatasetError>;

/// Gives a shard its new name; copies it where that is not possible.
fn take(from: &Path, to: &Path, shard: &ShardInfo) -> Result<(), DatasetError> {
    if is_in_store(from) || is_in_store(to) {
        return copy(from, to, shard);
    }
    if file_size(from).map_err(DatasetError::io(from))? != shard.bytes {
        return Err(DatasetError::invalid(from, DAMAGED));
    }
    match move_file(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => copy(from, to, shard),
        moved => moved.map_err(DatasetError::io(to)),
    }
}

fn copy(from: &Path, to: &Path, shard: &ShardInfo) -> Result<(), DatasetError> {
    let mut source = InputFile::open(from).map_err(DatasetError::io(from))?.reader();
    let file = AtomicFile::create(to).map_err(DatasetError::io(to))?;
    let mut file = Hashing::new(file);
    io::copy(&mut source, &mut file).map_err(DatasetError::io(to))?;
    let (bytes, sha256, file) = file.finish();
    if bytes != shard.bytes || sha256 != shard.sha256 {
        return Err(DatasetError::invalid(from, DAMAGED));
    }
    file.commit_version().map_err(DatasetError::io(to))
}
