//! Places for files that tests share.

use std::path::PathBuf;

use tempfile::TempDir;

/// A path of this name in a folder of its own, which is removed with the first value.
pub(crate) fn temporary_path(name: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    (folder, path)
}
