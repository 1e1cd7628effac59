//! Folders: made durably, listed, locked by their one writer, and cleared of what killed runs left.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::operation;
use crate::place::is_in_store;
use crate::store;
use crate::temporary::{TEMPORARY_PREFIX, remove_if_stale};

/// The folder a file lies in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes a folder and the folders above it that are missing; each new name is durable. Stores have no folders: an object's
/// name is enough.
///
/// # Errors
/// One cannot be made, or something else has the name.
pub fn create_folder(path: &Path) -> io::Result<()> {
    create(path, true)
}

/// As [`create_folder`], but the new names are not yet durable: for what is taken from there at once.
///
/// # Errors
/// As [`create_folder`].
pub fn create_passing_folder(path: &Path) -> io::Result<()> {
    create(path, false)
}

fn create(path: &Path, durable: bool) -> io::Result<()> {
    if path.is_dir() || is_in_store(path) {
        return Ok(());
    }
    let above = folder_of(path);
    if above != path {
        create(above, durable)?;
    }
    match operation::make_folder(path) {
        // Another process may have been faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error),
        Ok(()) if durable => operation::sync_folder(above),
        Ok(()) => Ok(()),
    }
}

/// The first of a path and the folders above it that is there.
#[must_use]
pub fn nearest_folder(path: &Path) -> &Path {
    let mut found = path;
    while !found.exists() {
        let above = folder_of(found);
        if above == found {
            break;
        }
        found = above;
    }
    found
}

/// The paths of a folder's entries, sorted.
///
/// # Errors
/// The folder cannot be read.
pub fn list_folder(folder: &Path) -> io::Result<Vec<PathBuf>> {
    if is_in_store(folder) { store::list(folder) } else { operation::list(folder) }
}

/// Whether there is a file or folder of this name.
///
/// # Errors
/// A store does not say.
pub fn exists(path: &Path) -> io::Result<bool> {
    if is_in_store(path) { store::exists(path) } else { Ok(path.exists()) }
}

/// Whether there is a folder of this name; in a store, whether anything is in it.
///
/// # Errors
/// A store does not say.
pub fn is_folder(path: &Path) -> io::Result<bool> {
    if is_in_store(path) { Ok(!store::list(path)?.is_empty()) } else { Ok(path.is_dir()) }
}

/// Size of a file, bytes.
///
/// # Errors
/// There is none, or the system does not say.
pub fn file_size(path: &Path) -> io::Result<u64> {
    if is_in_store(path) { store::size(path) } else { Ok(fs::metadata(path)?.len()) }
}

/// Names and sizes in bytes of all that lies in a folder of a store, in few requests.
///
/// # Errors
/// The store refused.
pub fn file_sizes(folder: &Path) -> io::Result<BTreeMap<String, u64>> {
    store::sizes(folder)
}

/// Gives a whole file another name in its folder, replacing what had it, durably.
///
/// # Errors
/// Renaming or syncing the folder failed.
pub fn rename_file(from: &Path, to: &Path) -> io::Result<()> {
    if is_in_store(to) {
        return store::rename(from, to);
    }
    operation::rename(from, to)?;
    operation::sync_folder(folder_of(to))
}

/// Gives a whole file of this machine a name in another folder of its file system, replacing what had it. The name lasts once
/// that folder is synced: of many files, the folder is synced once.
///
/// # Errors
/// Renaming failed; `CrossesDevices` if the folder is on another file system.
pub fn move_file(from: &Path, to: &Path) -> io::Result<()> {
    operation::rename(from, to)
}

/// Makes the names in a folder last. Those in a store do.
///
/// # Errors
/// The system refused.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    if is_in_store(folder) { Ok(()) } else { operation::sync_folder(folder) }
}

/// Where the next version of a file waits until the manifest that names it is written. It has another ending, so that
/// whoever reads all files of a kind in a folder sees one version.
#[must_use]
pub fn replacement_path(path: &Path) -> PathBuf {
    path.with_added_extension("next")
}

/// Removes a file; one that is not there is no error.
///
/// # Errors
/// The system refused.
pub fn remove_file(path: &Path) -> io::Result<()> {
    if is_in_store(path) {
        return store::remove(path);
    }
    match operation::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes the unfinished files that killed runs left in a folder; those that a living process writes stay. Gives the names of
/// all others.
///
/// # Errors
/// The folder cannot be read, or a file not be removed.
pub fn remove_unfinished(folder: &Path) -> io::Result<Vec<String>> {
    if is_in_store(folder) {
        return store::remove_unfinished(folder);
    }
    let mut others = Vec::new();
    for path in list_folder(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(TEMPORARY_PREFIX) {
            remove_if_stale(&path)?;
        } else {
            others.push(name.into_owned());
        }
    }
    Ok(others)
}

/// Held by the one process that writes into a folder. The lock is the folder's own, so that nothing is left behind. Stores
/// have none: there several processes may write, and whatever two of them write is put under a condition.
#[derive(Debug)]
pub struct FolderLock {
    /// `None` where folders cannot be locked: outside Unix, and on some network file systems.
    _file: Option<File>,
}

impl FolderLock {
    /// Locks a folder that is there.
    ///
    /// # Errors
    /// Another process holds it: `ResourceBusy`.
    pub fn acquire(folder: &Path) -> io::Result<Self> {
        if is_in_store(folder) {
            return Ok(Self { _file: None });
        }
        let Ok(file) = File::open(folder) else { return Ok(Self { _file: None }) };
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: Some(file) }),
            Err(fs::TryLockError::WouldBlock) => {
                let problem = "another magnetar is writing here; wait for it, or choose another folder";
                Err(io::Error::new(io::ErrorKind::ResourceBusy, problem))
            }
            Err(fs::TryLockError::Error(_)) => Ok(Self { _file: None }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AtomicFile;
    use crate::testing::temporary_path;

    #[test]
    fn folders_are_made_with_those_above_and_only_one_process_locks_them() {
        let (above, folder) = temporary_path("a/b/c");
        assert_eq!(nearest_folder(&folder), above.path());
        create_folder(&folder).unwrap();
        create_folder(&folder).unwrap();
        create_passing_folder(&folder.join("d/e")).unwrap();
        assert_eq!(nearest_folder(&folder.join("d/e/f")), folder.join("d/e"));
        let lock = FolderLock::acquire(&folder).unwrap();
        assert_eq!(FolderLock::acquire(&folder).unwrap_err().kind(), io::ErrorKind::ResourceBusy);
        drop(lock);
        FolderLock::acquire(&folder).unwrap();
        fs::write(folder.join("file"), "").unwrap();
        assert!(create_folder(&folder.join("file/below")).is_err());
    }

    #[test]
    fn unfinished_files_of_the_living_stay() {
        let folder = tempfile::tempdir().unwrap();
        let living = AtomicFile::create(&folder.path().join("living")).unwrap();
        fs::write(folder.path().join(".magnetar-left"), "half").unwrap();
        fs::write(folder.path().join("mine"), "whole").unwrap();
        assert_eq!(remove_unfinished(folder.path()).unwrap(), ["mine"]);
        living.commit().unwrap();
        let names: Vec<_> = list_folder(folder.path()).unwrap();
        assert_eq!(names, ["living", "mine"].map(|name| folder.path().join(name)));
    }
}
