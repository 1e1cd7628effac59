//! The names of unfinished files, and who owns them.
//!
//! An unfinished file is locked by the process that writes it. Whoever can take that lock knows that the process is
//! gone, and may remove the file: a killed run leaves nothing for ever, and nobody removes what somebody writes.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::operation;

/// How the names of unfinished files start.
pub const TEMPORARY_PREFIX: &str = ".magnetar-";

/// Processes that may write one target at the same time; the last to finish wins.
const SLOTS: u32 = 8;

/// A target's name longer than this is shortened in the name of its temporary.
const MAX_NAME_BYTES: usize = 200;

/// An unfinished file beside its target. Removed when dropped, unless it has got its final name.
#[derive(Debug)]
pub(crate) struct Temporary {
    path: PathBuf,
    persisted: bool,
}

impl Temporary {
    /// Makes and locks a file for a target, and removes what killed processes left of the same target.
    pub(crate) fn create(target: &Path) -> io::Result<(File, Self)> {
        let names = (0..SLOTS).map(|slot| name(target, slot));
        let mut own = None;
        for path in names {
            if own.is_some() {
                remove_if_stale(&path)?;
            } else {
                own = take(&path)?.map(|file| (file, path));
            }
        }
        // Without working locks nobody can tell who is alive: a name that no other process has.
        let (file, path) = match own {
            Some(found) => found,
            None => {
                let path = name(target, std::process::id().max(SLOTS));
                (operation::create_new(&path)?, path)
            }
        };
        Ok((file, Self { path, persisted: false }))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its final name.
    pub(crate) fn persist(mut self, target: &Path) -> io::Result<()> {
        operation::rename(&self.path, target)?;
        self.persisted = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.persisted {
            // What cannot be removed now is removed by the next who writes the same target.
            let _ = operation::remove_file(&self.path);
        }
    }
}

/// Makes and locks one name; `None` if somebody is writing there.
fn take(path: &Path) -> io::Result<Option<File>> {
    // A few turns: a name may be freed, or its new file removed by somebody's clean-up before it is locked.
    for _ in 0..16 {
        match operation::create_new(path) {
            Ok(file) => match file.try_lock() {
                Ok(()) if is_same(&file, path) => return Ok(Some(file)),
                Ok(()) | Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(_)) => return Ok(Some(file)),
            },
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if !remove_if_stale(path)? {
                    return Ok(None);
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |found: fs::Metadata| (found.dev(), found.ino());
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => identity(open) == identity(named),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_same(_file: &File, _path: &Path) -> bool {
    // An open file cannot be removed there.
    true
}

/// Removes an unfinished file that no living process writes; whether its name is free now.
pub(crate) fn remove_if_stale(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Ok(found) if found.is_file() => {}
        // Not one of ours, or not ours to look at.
        _ => return Ok(false),
    }
    let Ok(file) = File::open(path) else { return Ok(false) };
    if file.try_lock().is_err() || !is_same(&file, path) {
        return Ok(false);
    }
    match operation::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(true),
    }
}

/// The temporary name of a target: hidden, in the same folder.
fn name(target: &Path, slot: u32) -> PathBuf {
    let own = target.file_name().unwrap_or_default();
    let mut name = OsString::from(TEMPORARY_PREFIX);
    if own.len() <= MAX_NAME_BYTES {
        name.push(own);
    } else {
        // FNV-1a: long names that start alike stay apart.
        let hash = own
            .as_encoded_bytes()
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
        name.push(format!("{hash:016x}"));
    }
    // Never the target's own ending: nobody who looks for files of its kind finds an unfinished one.
    name.push(format!(".{slot}"));
    target.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        operation::list(folder).unwrap().iter().map(|p| p.file_name().unwrap().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn what_is_being_written_is_left_alone_and_what_a_killed_run_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.npy");
        let first = Temporary::create(&target).unwrap();
        let second = Temporary::create(&target).unwrap();
        assert_eq!(names(folder.path()), [".magnetar-a.npy.0", ".magnetar-a.npy.1"]);
        assert!(!remove_if_stale(first.1.path()).unwrap());
        // A killed process drops its locks and nothing else.
        let (file, temporary) = second;
        std::mem::forget(temporary);
        drop(file);
        let third = Temporary::create(&target).unwrap();
        assert_eq!(names(folder.path()), [".magnetar-a.npy.0", ".magnetar-a.npy.1"]);
        drop((first, third));
        assert_eq!(names(folder.path()), Vec::<String>::new());
    }

    #[test]
    fn long_names_are_shortened_and_stay_apart() {
        let folder = tempfile::tempdir().unwrap();
        let long = |end: &str| folder.path().join(format!("{}{end}", "x".repeat(250)));
        assert_ne!(name(&long("a"), 0), name(&long("b"), 0));
        Temporary::create(&long("a")).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_way_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        fs::write(&victim, "mine").unwrap();
        std::os::unix::fs::symlink(&victim, folder.path().join(".magnetar-a.0")).unwrap();
        let (_file, temporary) = Temporary::create(&folder.path().join("a")).unwrap();
        assert!(temporary.path().ends_with(".magnetar-a.1"));
        assert_eq!(fs::read(&victim).unwrap(), b"mine");
    }
}
