//! Files for parsers that read by path.

use std::fs;
use std::path::{Path, PathBuf};

/// A folder of this process.
pub struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    /// Makes a folder of this name where `run.sh` wants it, or among the system's temporary files.
    ///
    /// # Panics
    /// If it cannot be made: without it there is nothing to fuzz.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let parent = std::env::var_os("MAGNETAR_FUZZ_SCRATCH").map_or_else(std::env::temp_dir, PathBuf::from);
        let folder = parent.join(format!("magnetar-fuzz-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a scratch folder");
        Self { folder }
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a file, its folders included, and gives its path.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.join(name);
        if let Some(parent) = path.parent().filter(|parent| *parent != self.folder) {
            fs::create_dir_all(parent).expect("a scratch folder");
        }
        fs::write(&path, bytes).expect("a scratch file");
        path
    }
}
