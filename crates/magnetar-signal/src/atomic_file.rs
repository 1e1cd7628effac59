//! A file that appears whole or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Writes to a temporary name beside the target; `commit` syncs and renames it. Dropped before that, it leaves nothing.
#[derive(Debug)]
pub struct AtomicFile {
    writer: BufWriter<NamedTempFile>,
    target: PathBuf,
}

impl AtomicFile {
    /// Opens a temporary file in the target's directory.
    ///
    /// # Errors
    /// The directory does not exist or cannot be written.
    pub fn create(target: &Path) -> io::Result<Self> {
        let directory = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".magnetar-");
        #[cfg(unix)]
        {
            // Temporary files are private by default; the result should follow the user's umask like any other file.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(directory)?;
        Ok(Self { writer: BufWriter::with_capacity(1 << 16, file), target: target.to_owned() })
    }

    /// Makes the file's content durable and gives it its name.
    ///
    /// # Errors
    /// Writing, syncing or renaming failed; the target is then unchanged.
    pub fn commit(self) -> io::Result<()> {
        let file = self.writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        file.persist(&self.target).map_err(|e| e.error)?;
        // The rename itself is durable only once the directory is: a failure here loses nothing that was there.
        if let Some(directory) = self.target.parent().filter(|d| !d.as_os_str().is_empty()) {
            let _ = File::open(directory).and_then(|d| d.sync_all());
        }
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
}
