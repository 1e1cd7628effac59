//! Where an import goes: a folder, which appears when all of it is there, or a place in a store, where shards are put as they
//! are made and the manifest names them in the end.

use std::path::Path;

use magnetar_files::{AtomicFile, AtomicFolder, is_in_store};

use crate::card;
use crate::error::DatasetError;
use crate::folder::{Presence, existing, prepare, refuse_foreign_files};
use crate::manifest::{Manifest, ShardInfo, write_whole};
use crate::recorder::{Recorder, write_card};
use crate::shard::ShardWriter;

/// The place of a dataset that is being imported.
pub(super) enum Destination<'a> {
    /// A folder of this machine.
    Folder { folder: AtomicFolder, out: &'a Path },
    /// A place in a store.
    Store(Box<InStore<'a>>),
}

/// A place in a store, which may hold what an import of the same campaign put there before.
pub(super) struct InStore<'a> {
    out: &'a Path,
    recorder: Recorder,
    before: Option<Manifest>,
    presence: Presence<'a>,
}

impl<'a> Destination<'a> {
    /// Makes a place ready for a dataset without shards yet.
    ///
    /// # Errors
    /// It holds something else, or cannot be written.
    pub(super) fn create(out: &'a Path, manifest: &mut Manifest) -> Result<Self, DatasetError> {
        if is_in_store(out) {
            return Ok(Self::Store(Box::new(InStore::create(out, manifest)?)));
        }
        let folder = AtomicFolder::create(out, |_| false).map_err(DatasetError::io(out))?;
        for name in manifest.splits.keys() {
            let inside = folder.path().join(name);
            magnetar_files::create_folder(&inside).map_err(DatasetError::io(&inside))?;
        }
        Ok(Self::Folder { folder, out })
    }

    /// Where files are written.
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Folder { folder, .. } => folder.path(),
            Self::Store(store) => store.out,
        }
    }

    /// Gives a shard that was made its name.
    pub(super) fn finish(&self, split: &str, shard: ShardWriter<'_, AtomicFile>) -> Result<ShardInfo, DatasetError> {
        match self {
            Self::Folder { .. } => shard.finish(true).map(|(info, _)| info),
            Self::Store(store) => store.finish(split, shard),
        }
    }

    /// Writes the manifest of the whole and the card; a folder appears.
    pub(super) fn commit(self, manifest: &mut Manifest) -> Result<(), DatasetError> {
        match self {
            Self::Folder { folder, out } => {
                manifest.write(folder.path())?;
                write_whole(&folder.path().join(card::CARD), card::card(manifest).as_bytes())?;
                folder.commit().map_err(DatasetError::io(out))
            }
            Self::Store(mut store) => {
                store.recorder.write(manifest)?;
                write_card(store.out, manifest)
            }
        }
    }
}

impl<'a> InStore<'a> {
    fn create(out: &'a Path, manifest: &mut Manifest) -> Result<Self, DatasetError> {
        let mut recorder = Recorder::new(out, true)?;
        let before = existing(out)?;
        if let Some(before) = &before {
            let differences = manifest.differences(before);
            if !differences.is_empty() {
                let list = differences.join("\n  ");
                let problem = "holds another dataset; choose another place, or import the same campaign. They differ in \
                               (asked, found):";
                return Err(DatasetError::invalid(out, format!("{problem}\n  {list}")));
            }
        }
        refuse_foreign_files(out, manifest)?;
        prepare(out, manifest, before.as_ref())?;
        if before.is_none() {
            // A shard without a manifest is nobody's.
            recorder.write(manifest)?;
        }
        Ok(Self { out, recorder, before, presence: Presence::new(out) })
    }

    /// Puts a shard unless it is there.
    fn finish(&self, split: &str, shard: ShardWriter<'_, AtomicFile>) -> Result<ShardInfo, DatasetError> {
        let (info, file, _) = shard.close()?;
        let path = Manifest::shard_path(self.out, split, info.number);
        let recorded = self.before.as_ref().and_then(|before| before.splits.get(split)?.shard(info.number));
        if let Some(recorded) = recorded {
            if !recorded.is_same_file(&info) {
                let problem =
                    "holds other rows of these recordings: the campaign's settings have changed; choose another place";
                return Err(DatasetError::invalid(&path, problem));
            }
            if self.presence.is_whole(split, recorded)? {
                return Ok(info);
            }
        }
        file.commit_version().map_err(DatasetError::io(&path))?;
        Ok(info)
    }
}
