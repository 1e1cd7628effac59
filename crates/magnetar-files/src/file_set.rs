//! Files that belong together, in a folder or in a store, one of which is written last and says that the others are whole.

use std::io;
use std::path::{Path, PathBuf};

use crate::atomic_file::AtomicFile;
use crate::atomic_folder::AtomicFolder;
use crate::folder::{list_folder, remove_file};
use crate::place::{is_in_store, place};
use crate::temporary::TEMPORARY_PREFIX;

/// A set of files that is being written. In a folder all of them appear in one step, in place of an older set. A store has no
/// such step: there the last file of an older set is removed before anything of it changes, and that of the new one is put
/// when the others are there. So a set that has its last file is whole; stopped in between, the same command makes it.
#[derive(Debug)]
pub struct FileSet {
    place: Place,
    /// Name of the file that is written last.
    last: &'static str,
}

#[derive(Debug)]
enum Place {
    Folder(AtomicFolder),
    Store { path: PathBuf, older: Vec<PathBuf> },
}

impl FileSet {
    /// Begins a set. A target that holds files of other names than `members` and `last` is refused.
    ///
    /// # Errors
    /// The target cannot be replaced or made, or another process is writing the folder.
    pub fn create(target: &Path, members: &[&str], last: &'static str) -> io::Result<Self> {
        let is_member = |name: &str| members.contains(&name) || name == last;
        let target = place(target)?;
        if !is_in_store(&target) {
            return Ok(Self { place: Place::Folder(AtomicFolder::create(&target, is_member)?), last });
        }
        let older = list_folder(&target)?;
        let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_foreign = |name: &String| !is_member(name) && !name.starts_with(TEMPORARY_PREFIX);
        if let Some(name) = older.iter().map(name).find(is_foreign) {
            let problem = format!("holds {name:?}, which is no file of such a set; give a place of its own");
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, problem));
        }
        Ok(Self { place: Place::Store { path: target, older }, last })
    }

    /// Where the files are written.
    #[must_use]
    pub fn path(&self) -> &Path {
        match &self.place {
            Place::Folder(folder) => folder.path(),
            Place::Store { path, .. } => path,
        }
    }

    /// Before the first file gets its name: in a store the older set ends here, its last file first, then what the new one
    /// has not (`names` are those it has). What has a name in both stays until it is replaced.
    ///
    /// # Errors
    /// The store refused.
    pub fn replace(&self, names: &[&str]) -> io::Result<()> {
        let Place::Store { path, older } = &self.place else { return Ok(()) };
        remove_file(&path.join(self.last))?;
        let stays = |path: &&PathBuf| path.file_name().is_some_and(|name| names.iter().any(|kept| name == *kept));
        older.iter().filter(|path| !stays(path)).try_for_each(|path| remove_file(path))
    }

    /// Writes the last file; a folder gets its name.
    ///
    /// # Errors
    /// It cannot be written, or the folder not be renamed.
    pub fn commit(self, bytes: &[u8]) -> io::Result<()> {
        AtomicFile::write(&self.path().join(self.last), bytes)?;
        match self.place {
            Place::Folder(folder) => folder.commit(),
            Place::Store { .. } => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounded_read::read_text;

    fn write(target: &Path, names: &[&str], text: &str) -> io::Result<()> {
        let set = FileSet::create(target, &["a", "b", "c"], "last")?;
        set.replace(names)?;
        for name in names {
            assert!(!is_in_store(target) || read_text(&target.join("last"), 9).is_err());
            AtomicFile::write(&set.path().join(name), text.as_bytes())?;
        }
        set.commit(text.as_bytes())
    }

    fn holds(target: &Path, names: &[&str], text: &str) {
        let paths: Vec<PathBuf> = names.iter().map(|name| target.join(name)).collect();
        assert_eq!(list_folder(target).unwrap(), paths);
        assert!(paths.iter().all(|path| read_text(path, 9).unwrap() == text));
    }

    fn sets_are_replaced_whole(target: &Path) {
        write(target, &["a", "b"], "old").unwrap();
        holds(target, &["a", "b", "last"], "old");
        // Begun and dropped: the older set stays.
        drop(FileSet::create(target, &["a", "b", "c"], "last").unwrap());
        holds(target, &["a", "b", "last"], "old");
        write(target, &["b", "c"], "new").unwrap();
        holds(target, &["b", "c", "last"], "new");
        AtomicFile::write(&target.join("mine"), b"").unwrap();
        assert!(write(target, &["a"], "no").unwrap_err().to_string().contains("\"mine\""));
    }

    #[test]
    fn a_set_in_a_folder_is_replaced_whole() {
        let above = tempfile::tempdir().unwrap();
        sets_are_replaced_whole(&above.path().join("set"));
    }

    #[cfg(feature = "cloud")]
    #[test]
    fn a_set_in_a_store_is_replaced_whole() {
        sets_are_replaced_whole(Path::new("memory://sets/deep/set"));
    }
}
