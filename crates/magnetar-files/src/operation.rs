//! The one layer under all writing: every change of the file system is one of these operations, so that a test build
//! (feature `fault-injection`) can make the n-th of them fail or stop the process there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[cfg(feature = "fault-injection")]
use crate::fault;

/// What is about to happen, in the words of `MAGNETAR_FAULT_LOG`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    #[cfg_attr(not(feature = "fault-injection"), allow(dead_code, reason = "a plain build just writes"))]
    Write,
    Sync,
    Rename,
    Remove,
    MakeFolder,
    SyncFolder,
    List,
}

/// Where a test build may fail or stop instead of going on.
#[cfg(not(feature = "fault-injection"))]
#[allow(clippy::unnecessary_wraps, reason = "a build with faults can fail here")]
fn about_to(_operation: Operation, _path: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(feature = "fault-injection")]
use fault::about_to;

/// Makes a file that must not be there yet, for writing.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    about_to(Operation::Create, path)?;
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Gives a file its final name, replacing what had it.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    about_to(Operation::Rename, to)?;
    fs::rename(from, to)
}

/// Exchanges two folders of one file system in one step.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub(crate) fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    about_to(Operation::Rename, b)?;
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
}

/// Where folders cannot be exchanged, an older one stands in the way.
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub(crate) fn exchange(_a: &Path, _b: &Path) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "an older folder is there; move it away first"))
}

/// Makes a file's content durable.
pub(crate) fn sync(file: &File, path: &Path) -> io::Result<()> {
    about_to(Operation::Sync, path)?;
    file.sync_all()
}

/// Removes a file.
pub(crate) fn remove_file(path: &Path) -> io::Result<()> {
    about_to(Operation::Remove, path)?;
    fs::remove_file(path)
}

/// Makes one folder, whose parent must be there.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    about_to(Operation::MakeFolder, path)?;
    fs::create_dir(path)
}

/// Removes an empty folder.
pub(crate) fn remove_folder(path: &Path) -> io::Result<()> {
    about_to(Operation::Remove, path)?;
    fs::remove_dir(path)
}

/// The paths of a folder's entries, sorted.
pub(crate) fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    about_to(Operation::List, folder)?;
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort_unstable();
    Ok(paths)
}

/// Makes the names in a folder durable. File systems that cannot sync folders are taken as they are.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    about_to(Operation::SyncFolder, folder)?;
    // Only Unix opens folders as files.
    if cfg!(not(unix)) {
        return Ok(());
    }
    match File::open(folder)?.sync_all() {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        result => result,
    }
}

/// A file whose writes are operations of this layer.
#[derive(Debug)]
pub(crate) struct OutputFile {
    pub(crate) file: File,
    #[cfg(feature = "fault-injection")]
    pub(crate) path: PathBuf,
}

impl OutputFile {
    #[cfg_attr(not(feature = "fault-injection"), allow(unused_variables, reason = "faults name the file"))]
    pub(crate) fn new(file: File, path: &Path) -> Self {
        Self {
            file,
            #[cfg(feature = "fault-injection")]
            path: path.to_owned(),
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(feature = "fault-injection")]
        fault::before_write(&mut self.file, &self.path, bytes)?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
