//! A small file that several may change: it is replaced only as long as it is what it was when it was read.

use std::io::{self, Write};
use std::path::Path;

use crate::atomic_file::AtomicFile;
use crate::bounded_read::{BoundedReadError, read_bytes};
use crate::place::is_in_store;
use crate::store;

/// What a file was when it was read or written last. Of a file of this machine nothing is kept: its writers hold the lock of
/// its folder.
#[derive(Debug, Clone)]
pub struct Version(Option<store::Version>);

impl Version {
    /// A file that is not there yet.
    #[must_use]
    pub fn absent(path: &Path) -> Self {
        Self(is_in_store(path).then_some(None))
    }
}

/// The bytes of a file, `limit` at most, and its version; `None` if there is none.
///
/// # Errors
/// If it cannot be read, or holds more.
pub fn read_version(path: &Path, limit: u64) -> Result<Option<(Vec<u8>, Version)>, BoundedReadError> {
    if is_in_store(path) {
        let found = store::read_version(path, limit)?;
        return Ok(found.map(|(bytes, version)| (bytes, Version(Some(version)))));
    }
    match read_bytes(path, limit) {
        Err(BoundedReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(|bytes| Some((bytes, Version(None)))),
    }
}

/// Writes a file whole if it is still of this version; `None` if another process has changed it. One that is not `durable` is
/// for the processes of this machine ([`AtomicFile::commit_name`]); what a store has is durable in any case.
///
/// # Errors
/// If it cannot be written.
pub fn write_version(path: &Path, bytes: &[u8], before: &Version, durable: bool) -> io::Result<Option<Version>> {
    if let Some(version) = &before.0 {
        return Ok(store::swap(path, bytes, version)?.map(|version| Version(Some(version))));
    }
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes)?;
    let written = if durable { file.commit() } else { file.commit_name() };
    written.map(|()| Some(Version(None)))
}
