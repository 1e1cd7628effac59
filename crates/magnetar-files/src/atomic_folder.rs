//! A folder of files that belong together: all of them appear, or none.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::folder::{create_folder, folder_of, list_folder};
use crate::operation;
use crate::place::{is_in_store, place};
use crate::temporary::TEMPORARY_PREFIX;

/// A folder made under a temporary name beside its target. `commit` gives it the target's name in one step, in place of
/// an older folder of the same kind. Dropped before that, it leaves nothing; what a killed process left is removed by
/// the next one that writes the same target.
#[derive(Debug)]
pub struct AtomicFolder {
    /// Open, and so locked, until the folder has its name.
    _lock: File,
    path: PathBuf,
    target: PathBuf,
    committed: bool,
}

impl AtomicFolder {
    /// Makes the temporary folder. `is_member` says which file names belong to such a set: a target that holds anything
    /// else is refused, for it would be lost.
    ///
    /// # Errors
    /// The target cannot be replaced, another process is writing it, or the folder cannot be made.
    pub fn create(target: &Path, is_member: impl Fn(&str) -> bool) -> io::Result<Self> {
        let target = place(target)?;
        if is_in_store(&target) {
            let problem = "stores have no folders that are replaced in one step; give a folder of this machine";
            return Err(io::Error::new(io::ErrorKind::Unsupported, problem));
        }
        let target = std::path::absolute(target)?;
        if target.exists() {
            for path in list_folder(&target)? {
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                let known = is_member(name) || name.starts_with(TEMPORARY_PREFIX);
                if !known || !path.is_file() {
                    let problem = format!("holds {name:?}, which would be lost; give a folder of its own");
                    return Err(io::Error::new(io::ErrorKind::AlreadyExists, problem));
                }
            }
        }
        let above = folder_of(&target);
        create_folder(above)?;
        let mut name = OsString::from(TEMPORARY_PREFIX);
        name.push(target.file_name().ok_or(io::ErrorKind::InvalidInput)?);
        let path = above.join(name);
        if path.is_dir() {
            let left = lock(&path)?;
            remove_folder(&path)?;
            drop(left);
        }
        operation::make_folder(&path)?;
        Ok(Self { _lock: lock(&path)?, path, target, committed: false })
    }

    /// Where the files are written.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the folder its name. The files in it are durable already, as [`crate::AtomicFile`] makes them.
    ///
    /// # Errors
    /// Renaming failed, and the target is unchanged; or the folder above could not be synced, and the target is whole
    /// but a loss of power may bring back what it was before.
    pub fn commit(mut self) -> io::Result<()> {
        let above = folder_of(&self.target).to_owned();
        if self.target.exists() {
            operation::exchange(&self.path, &self.target)?;
            self.committed = true;
            operation::sync_folder(&above)?;
            // The older set, under the temporary name now.
            return remove_folder(&self.path);
        }
        operation::rename(&self.path, &self.target)?;
        self.committed = true;
        operation::sync_folder(&above)
    }
}

impl Drop for AtomicFolder {
    fn drop(&mut self) {
        if !self.committed {
            // What cannot be removed now is removed by the next who writes the same target.
            let _ = remove_folder(&self.path);
        }
    }
}

fn lock(folder: &Path) -> io::Result<File> {
    let file = File::open(folder)?;
    match file.try_lock() {
        Err(fs::TryLockError::WouldBlock) => {
            Err(io::Error::new(io::ErrorKind::ResourceBusy, "another magnetar is writing it; wait for it"))
        }
        // Some network file systems know no locks.
        _ => Ok(file),
    }
}

/// Removes a folder of files, and of folders of files.
fn remove_folder(folder: &Path) -> io::Result<()> {
    for path in list_folder(folder)? {
        if path.is_dir() && !path.is_symlink() {
            remove_folder(&path)?;
        } else {
            crate::remove_file(&path)?;
        }
    }
    operation::remove_folder(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AtomicFile;

    fn write(target: &Path, text: &str) -> io::Result<AtomicFolder> {
        let folder = AtomicFolder::create(target, |name| ["a", "b"].contains(&name))?;
        for name in ["a", "b"] {
            AtomicFile::write(&folder.path().join(name), text.as_bytes())?;
        }
        Ok(folder)
    }

    fn texts(target: &Path) -> Vec<String> {
        list_folder(target).unwrap().iter().map(|path| fs::read_to_string(path).unwrap()).collect()
    }

    #[test]
    fn a_set_appears_whole_or_not_at_all() {
        let above = tempfile::tempdir().unwrap();
        let target = above.path().join("set");
        write(&target, "old").unwrap().commit().unwrap();
        let newer = write(&target, "new").unwrap();
        assert_eq!(texts(&target), ["old", "old"]);
        newer.commit().unwrap();
        assert_eq!(texts(&target), ["new", "new"]);
        drop(write(&target, "dropped").unwrap());
        assert_eq!(texts(&target), ["new", "new"]);
        assert_eq!(list_folder(above.path()).unwrap(), std::slice::from_ref(&target));
        fs::write(target.join("mine"), "").unwrap();
        assert!(write(&target, "no").unwrap_err().to_string().contains("\"mine\""));
    }

    #[test]
    fn only_one_process_writes_a_set_and_what_a_killed_one_left_is_removed() {
        let above = tempfile::tempdir().unwrap();
        let target = above.path().join("set");
        let living = write(&target, "living").unwrap();
        assert_eq!(write(&target, "other").unwrap_err().kind(), io::ErrorKind::ResourceBusy);
        drop(living);
        fs::create_dir(above.path().join(".magnetar-set")).unwrap();
        fs::write(above.path().join(".magnetar-set/a"), "half").unwrap();
        write(&target, "whole").unwrap().commit().unwrap();
        assert_eq!(texts(&target), ["whole", "whole"]);
        assert_eq!(list_folder(above.path()).unwrap(), [target]);
    }
}
