//! Who writes a dataset's manifest while others may do so, too: in a store nobody holds a lock, so it is replaced only as long
//! as it is what it was, and otherwise what the others recorded is taken in first.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use magnetar_files::{BoundedReadError, Version, is_in_store, read_version, write_version};

use crate::card;
use crate::error::DatasetError;
use crate::manifest::{MANIFEST, MAX_MANIFEST_BYTES, Manifest, write_whole};
use crate::shard_lists::KnownLists;

/// How often a manifest is tried that others change all the time. Each failure is another one's success.
const TURNS: u32 = 200;

/// The longest pause between two turns.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// Writes the manifest of one folder.
#[derive(Debug, Clone)]
pub(crate) struct Recorder {
    folder: PathBuf,
    path: PathBuf,
    /// Lists of shards that are there.
    lists: KnownLists,
    /// What is replaced.
    version: Version,
    /// Whether what was written lasts.
    durable: bool,
}

impl Recorder {
    /// Replaces the manifest that a folder has now, if any; one that is not `durable` is read by other processes of this machine
    /// and gone soon.
    ///
    /// # Errors
    /// If a store does not answer.
    pub(crate) fn new(folder: &Path, durable: bool) -> Result<Self, DatasetError> {
        let path = folder.join(MANIFEST);
        let found = if is_in_store(folder) { read(&path)? } else { None };
        let version = found.map_or_else(|| Version::absent(&path), |(_, version)| version);
        Ok(Self { folder: folder.to_owned(), path, lists: KnownLists::new(), version, durable })
    }

    /// Writes the manifest, with what others have recorded since.
    ///
    /// # Errors
    /// If it cannot be written, or others have recorded another dataset.
    pub(crate) fn write(&mut self, manifest: &mut Manifest) -> Result<(), DatasetError> {
        for turn in 0..TURNS {
            let text = manifest.to_text(&self.folder, &mut self.lists)?;
            let written = write_version(&self.path, text.as_bytes(), &self.version, self.durable);
            if let Some(version) = written.map_err(DatasetError::io(&self.path))? {
                self.version = version;
                return Ok(());
            }
            thread::sleep((Duration::from_millis(5) * turn).min(LONGEST_PAUSE));
            self.version = match read(&self.path)? {
                None => Version::absent(&self.path),
                Some((text, version)) => {
                    let found = Manifest::from_text(&text, self.path.clone())?;
                    manifest.join(&found).map_err(|list| {
                        let problem = "another magnetar has begun another dataset here in the meantime; choose another place. \
                                       They differ in (this, found):";
                        DatasetError::invalid(&self.path, format!("{problem}\n  {list}"))
                    })?;
                    version
                }
            };
        }
        Err(DatasetError::invalid(
            &self.path,
            "other processes keep changing it; wait for them, or choose another place",
        ))
    }
}

/// Text and version of a manifest.
fn read(path: &Path) -> Result<Option<(String, Version)>, DatasetError> {
    let found = read_version(path, MAX_MANIFEST_BYTES).map_err(|error| match error {
        BoundedReadError::Io(source) => DatasetError::io(path)(source),
        other => DatasetError::invalid(path, format!("not a manifest of a magnetar dataset: {other}")),
    })?;
    let text = |bytes| {
        String::from_utf8(bytes).map_err(|_| DatasetError::invalid(path, "not a manifest of a magnetar dataset"))
    };
    found.map(|(bytes, version)| Ok((text(bytes)?, version))).transpose()
}

/// Writes a dataset's card. Where others write, too, the last of them leaves the card of the last manifest.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn write_card(folder: &Path, manifest: &Manifest) -> Result<(), DatasetError> {
    let path = folder.join(card::CARD);
    write_whole(&path, card::card(manifest).as_bytes())?;
    if is_in_store(folder) {
        let mut written = manifest.clone();
        for _ in 0..TURNS {
            let found = Manifest::read(folder)?;
            if found == written {
                break;
            }
            write_whole(&path, card::card(&found).as_bytes())?;
            written = found;
        }
    }
    Ok(())
}
