//! A file that appears whole or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

/// How the names of unfinished files start.
pub const TEMPORARY_PREFIX: &str = ".magnetar-";

/// Writes to a temporary name beside the target; `commit` syncs and renames it. Dropped before that, it leaves nothing.
#[derive(Debug)]
pub struct AtomicFile {
    // Apart from each other: tempfile's own writer adds the temporary name, which tells a user nothing, to errors.
    writer: BufWriter<File>,
    temporary: TempPath,
    target: PathBuf,
}

impl AtomicFile {
    /// Opens a temporary file in the target's directory.
    ///
    /// # Errors
    /// The directory does not exist or cannot be written, or the target is there and is no regular file: renaming
    /// would replace a device such as `/dev/null` for everybody.
    pub fn create(target: &Path) -> io::Result<Self> {
        if let Ok(found) = std::fs::metadata(target) {
            if found.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            if !found.is_file() {
                let problem = "a device or pipe, which cannot be written whole or not at all; give a regular file";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
            }
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(TEMPORARY_PREFIX);
        #[cfg(unix)]
        {
            // Temporary files are private by default; the result should follow the user's umask like any other file.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let (file, temporary) = builder.tempfile_in(directory(target)).map_err(without_temporary_name)?.into_parts();
        Ok(Self { writer: BufWriter::with_capacity(1 << 16, file), temporary, target: target.to_owned() })
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
    /// Writing, syncing or renaming failed; the target is then unchanged.
    pub fn commit(self) -> io::Result<()> {
        self.writer.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        self.temporary.persist(&self.target).map_err(|e| e.error)?;
        // The rename itself is durable only once the directory is: a failure here loses nothing that was there.
        let _ = File::open(directory(&self.target)).and_then(|d| d.sync_all());
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

fn directory(target: &Path) -> &Path {
    target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
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

    #[test]
    fn nothing_appears_before_commit() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("out.bin");
        let mut file = AtomicFile::create(&target).unwrap();
        file.write_all(b"whole").unwrap();
        assert!(!target.exists());
        file.commit().unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"whole");

        let mut abandoned = AtomicFile::create(&target).unwrap();
        abandoned.write_all(b"half").unwrap();
        drop(abandoned);
        assert_eq!(std::fs::read(&target).unwrap(), b"whole");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn errors_do_not_tell_the_temporary_name() {
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
