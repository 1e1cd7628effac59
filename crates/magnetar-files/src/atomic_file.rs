//! A file that appears whole or not at all.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::folder::folder_of;
use crate::operation::{self, OutputFile};
use crate::place::{is_in_store, place};
use crate::store::StoreFile;
use crate::temporary::Temporary;

/// Writes to a temporary name beside the target; `commit` syncs and renames it. Dropped before that, it leaves nothing;
/// what a killed process left is removed by the next one that writes the same target.
///
/// An object of a store waits in memory, or in a file without a name, and is put by `commit`.
#[derive(Debug)]
pub struct AtomicFile(Kind);

#[derive(Debug)]
enum Kind {
    File { writer: BufWriter<OutputFile>, temporary: Temporary, target: PathBuf },
    Object(StoreFile),
}

impl AtomicFile {
    /// Opens a temporary file in the target's directory.
    ///
    /// # Errors
    /// The directory does not exist or cannot be written, or the target is there and is no regular file: renaming
    /// would replace a device such as `/dev/null` for everybody.
    pub fn create(target: &Path) -> io::Result<Self> {
        let target = &*place(target)?;
        if is_in_store(target) {
            return Ok(Self(Kind::Object(StoreFile::create(target)?)));
        }
        if let Ok(found) = std::fs::metadata(target) {
            if found.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            if !found.is_file() {
                let problem = "a device or pipe, which cannot be written whole or not at all; give a regular file";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
            }
        }
        if target.file_name().is_none() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let (file, temporary) = Temporary::create(target).map_err(without_temporary_name)?;
        let output = OutputFile::new(file, temporary.path());
        let writer = BufWriter::with_capacity(1 << 16, output);
        Ok(Self(Kind::File { writer, temporary, target: target.to_owned() }))
    }

    /// Writes a file whole.
    ///
    /// # Errors
    /// As [`Self::create`] and [`Self::commit`].
    pub fn write(target: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = Self::create(target)?;
        file.write_all(bytes)?;
        file.commit()
    }

    /// Makes the file's content durable and gives it its name.
    ///
    /// # Errors
    /// Writing, syncing or renaming failed, and the target is unchanged; or the folder could not be synced, and the
    /// target is whole but a loss of power may bring back what it was before.
    pub fn commit(self) -> io::Result<()> {
        let (writer, temporary, target) = match self.0 {
            Kind::File { writer, temporary, target } => (writer, temporary, target),
            Kind::Object(object) => return object.commit(),
        };
        // Open, and so locked, until it has its name.
        let output = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        operation::sync(&output.file, &target)?;
        temporary.persist(&target)?;
        operation::sync_folder(folder_of(&target))
    }

    /// Gives the file its name, whole for every process of this machine but not yet durable: somebody else sees to that. An
    /// object of a store is put as by [`Self::commit_version`].
    ///
    /// # Errors
    /// Writing or renaming failed, and the target is unchanged.
    pub fn commit_name(self) -> io::Result<()> {
        match self.0 {
            Kind::Object(object) => object.commit_version(),
            Kind::File { writer, temporary, target } => {
                let _open = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
                temporary.persist(&target)
            }
        }
    }

    /// As [`Self::commit`], for a file that others may write at the same time. Of an object that two put, one wins; if what
    /// is there has the same bytes, this is done, too, and if not, it is replaced unless somebody else replaces it.
    ///
    /// # Errors
    /// As [`Self::commit`].
    pub fn commit_version(self) -> io::Result<()> {
        match self.0 {
            Kind::Object(object) => object.commit_version(),
            file @ Kind::File { .. } => Self(file).commit(),
        }
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Kind::File { writer, .. } => writer.write(bytes),
            Kind::Object(object) => object.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Kind::File { writer, .. } => writer.flush(),
            Kind::Object(object) => object.flush(),
        }
    }
}

/// Why no temporary file could be made, without its name.
fn without_temporary_name(error: io::Error) -> io::Error {
    let problem = match error.kind() {
        io::ErrorKind::NotFound => "its folder does not exist",
        io::ErrorKind::PermissionDenied => "its folder may not be written",
        _ => return error,
    };
    io::Error::new(error.kind(), problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::temporary_path;

    #[test]
    fn nothing_appears_before_commit() {
        for commit in [AtomicFile::commit, AtomicFile::commit_name] {
            let (directory, target) = temporary_path("out.bin");
            let mut file = AtomicFile::create(&target).unwrap();
            file.write_all(b"whole").unwrap();
            assert!(!target.exists());
            commit(file).unwrap();
            assert_eq!(std::fs::read(&target).unwrap(), b"whole");

            let mut abandoned = AtomicFile::create(&target).unwrap();
            abandoned.write_all(b"half").unwrap();
            drop(abandoned);
            assert_eq!(std::fs::read(&target).unwrap(), b"whole");
            assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
        }
    }

    #[test]
    fn errors_do_not_show_the_temporary_name() {
        let directory = tempfile::tempdir().unwrap();
        let error = AtomicFile::create(&directory.path().join("nowhere/out.bin")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert_eq!(error.to_string(), "its folder does not exist");
    }

    #[test]
    #[cfg(unix)]
    fn what_is_no_regular_file_is_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let error = AtomicFile::create(directory.path()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
        // A link to a device stands for the device: replacing it would be as wrong.
        let target = directory.path().join("null.npy");
        std::os::unix::fs::symlink("/dev/null", &target).unwrap();
        let error = AtomicFile::create(&target).unwrap_err();
        assert!(error.to_string().contains("give a regular file"), "{error}");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
