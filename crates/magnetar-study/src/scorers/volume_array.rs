//! Volumes in a NumPy array.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use magnetar_files::npy::NpyReader;
use magnetar_posterior::SupportSize;

use super::volume_file::VolumeFileError;

/// A NumPy array `[rows, D, H, W]` of float32 or float64.
pub(super) struct VolumeArray {
    reader: Mutex<NpyReader<BufReader<File>>>,
    rows: usize,
    shape: SupportSize,
}

impl VolumeArray {
    pub(super) fn open(path: &Path) -> Result<Self, VolumeFileError> {
        let reader = NpyReader::open(path)?;
        let header = reader.header();
        let content = |problem: String| VolumeFileError::Content { path: PathBuf::from(path), problem };
        let &[rows, headings, across, columns] = &header.shape[..] else {
            return Err(content(format!("its shape is {:?}, expected [rows, D, H, W]", header.shape)));
        };
        if header.dtype.is_complex() {
            return Err(content(format!("holds {}, expected float32 or float64", header.dtype.name())));
        }
        Ok(Self { reader: Mutex::new(reader), rows, shape: SupportSize { headings, rows: across, columns } })
    }

    /// D, H and W.
    pub(super) fn shape(&self) -> SupportSize {
        self.shape
    }

    /// The volume of each row, by its place in the array; `None` beyond its end, nothing at all of another size.
    pub(super) fn read(&self, rows: &[u64], size: SupportSize) -> Result<Vec<Option<Vec<f64>>>, VolumeFileError> {
        if size != self.shape {
            return Ok(Vec::new());
        }
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let mut volumes = Vec::with_capacity(rows.len());
        for row in rows {
            let Some(row) = usize::try_from(*row).ok().filter(|row| *row < self.rows) else {
                volumes.push(None);
                continue;
            };
            let mut masses = vec![0.0; size.len()];
            reader.go_to(row * size.len())?;
            reader.read_into(&mut masses)?;
            volumes.push(Some(masses));
        }
        Ok(volumes)
    }
}
