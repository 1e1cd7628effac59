//! Writes an `.npy` array, whole or not at all.

use std::io::{self, Write};
use std::marker::PhantomData;
use std::path::Path;

use super::header::MAX_DIMENSIONS;
use super::{NpyElement, NpyError};
use crate::AtomicFile;

/// NumPy aligns the elements to this many bytes.
const ALIGNMENT: usize = 64;

/// A streaming writer of a C-ordered, little-endian array of known shape. The file appears on `finish`.
#[derive(Debug)]
pub struct NpyWriter<T> {
    output: AtomicFile,
    file: String,
    remaining: usize,
    element: PhantomData<T>,
}

impl<T: NpyElement> NpyWriter<T> {
    /// Starts a file of the given shape (slowest dimension first).
    ///
    /// # Errors
    /// The file cannot be made, or the shape's bytes do not fit 64 bits.
    pub fn create(path: &Path, shape: &[usize]) -> Result<Self, NpyError> {
        let file = path.display().to_string();
        let elements = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
        let fits = |n: &usize| n.checked_mul(size_of::<T>()).is_some() && shape.len() <= MAX_DIMENSIONS;
        let Some(remaining) = elements.filter(fits) else {
            return Err(NpyError::Data { file, problem: format!("the shape {shape:?} is too large for one file") });
        };
        let write_header = || -> io::Result<AtomicFile> {
            let mut output = AtomicFile::create(path)?;
            output.write_all(&header(T::DESCR, shape))?;
            Ok(output)
        };
        match write_header() {
            Ok(output) => Ok(Self { output, file, remaining, element: PhantomData }),
            Err(source) => Err(NpyError::Io { file, source }),
        }
    }

    /// Appends elements in C order.
    ///
    /// # Errors
    /// The file cannot be written, or there are more elements than the shape holds.
    pub fn write(&mut self, elements: &[T]) -> Result<(), NpyError> {
        self.remaining = self.remaining.checked_sub(elements.len()).ok_or_else(|| NpyError::Data {
            file: self.file.clone(),
            problem: "more elements than the shape holds".into(),
        })?;
        let result = if cfg!(target_endian = "little") {
            self.output.write_all(bytemuck::cast_slice(elements))
        } else {
            let half = size_of::<T>() / if T::DTYPE.is_complex() { 2 } else { 1 };
            let bytes: &[u8] = bytemuck::cast_slice(elements);
            bytes.chunks_exact(half).try_for_each(|number| {
                let mut swapped = [0u8; 8];
                swapped[..half].copy_from_slice(number);
                swapped[..half].reverse();
                self.output.write_all(&swapped[..half])
            })
        };
        result.map_err(|source| NpyError::Io { file: self.file.clone(), source })
    }

    /// Syncs the file and gives it its name.
    ///
    /// # Errors
    /// The file cannot be written, or elements are missing.
    pub fn finish(self) -> Result<(), NpyError> {
        let file = self.file;
        if self.remaining != 0 {
            return Err(NpyError::Data { file, problem: format!("{} elements were not written", self.remaining) });
        }
        self.output.commit().map_err(|source| NpyError::Io { file, source })
    }
}

/// Writes a whole array.
///
/// # Errors
/// As `NpyWriter`: also when `elements` are not as many as the shape holds.
pub fn write_npy<T: NpyElement>(path: &Path, shape: &[usize], elements: &[T]) -> Result<(), NpyError> {
    let mut writer = NpyWriter::create(path, shape)?;
    writer.write(elements)?;
    writer.finish()
}

/// Magic, version, length and dictionary, padded so that the elements begin at a multiple of `ALIGNMENT`.
fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let sizes: String = shape.iter().map(|d| format!("{d}, ")).collect();
    let sizes = match shape.len() {
        0 | 1 => sizes.trim_end().to_owned(),
        _ => sizes.trim_end_matches(", ").to_owned(),
    };
    let dictionary = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}");
    // Version 1 has a 16-bit length: far more than MAX_DIMENSIONS sizes of at most 20 digits need.
    let preamble = 10;
    let total = (preamble + dictionary.len() + 1).next_multiple_of(ALIGNMENT);
    let length = u16::try_from(total - preamble).unwrap_or(u16::MAX);
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(length.to_le_bytes());
    bytes.extend(dictionary.bytes());
    bytes.resize(total - 1, b' ');
    bytes.push(b'\n');
    bytes
}
