//! NumPy `.npz` archives: zip files of `.npy` arrays, stored or deflated, read without trusting what they say.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};

use zip::ZipArchive;

use crate::guard;
use crate::npy::{NpyElement, NpyError, NpyReader};

/// How every zip file with content begins.
pub const ZIP_MAGIC: [u8; 4] = *b"PK\x03\x04";

/// More arrays than any of ours have.
const MAX_ARRAYS: usize = 256;

/// The arrays of an archive, by name, still packed as `.npy`.
#[derive(Debug)]
pub struct NpzArchive {
    file: String,
    arrays: BTreeMap<String, Vec<u8>>,
}

/// An array: its shape, slowest dimension first, and its elements in C order.
#[derive(Debug, Clone, PartialEq)]
pub struct NpzArray<T> {
    /// Size of every dimension.
    pub shape: Vec<usize>,
    /// The elements.
    pub elements: Vec<T>,
}

impl NpzArchive {
    /// Unpacks an archive that holds at most `limit` bytes; `file` is its name in errors.
    ///
    /// # Errors
    /// If it is not a zip file, is damaged, holds more, or holds something else than `.npy` files.
    pub fn read(bytes: &[u8], file: &str, limit: u64) -> Result<Self, NpyError> {
        let fail = |problem: String| NpyError::Data { file: file.to_owned(), problem };
        let unpacked = guard(|| unpack(bytes, limit));
        let arrays = unpacked.unwrap_or_else(|e| Err(e.to_string())).map_err(fail)?;
        Ok(Self { file: file.to_owned(), arrays })
    }

    /// The names of its arrays.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.arrays.keys().map(String::as_str)
    }

    /// An array as numbers of one type; `None` if there is none of that name. Whole numbers, and yes and no as 1 and 0,
    /// are converted; complex ones are not read as real ones.
    ///
    /// # Errors
    /// If it is no array of numbers.
    pub fn array<T: NpyElement>(&self, name: &str) -> Result<Option<NpzArray<T>>, NpyError> {
        let Some(bytes) = self.arrays.get(name) else { return Ok(None) };
        let place = format!("{}: {name}", self.file);
        let mut reader = NpyReader::of_any_numbers(&bytes[..], place, Some(bytes.len() as u64))?;
        // The header was checked against the bytes that are here.
        let mut elements = vec![T::from_parts(0.0, 0.0); reader.remaining()];
        reader.read_into(&mut elements)?;
        Ok(Some(NpzArray { shape: reader.header().shape.clone(), elements }))
    }
}

fn unpack(bytes: &[u8], limit: u64) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let damaged = |e: &dyn std::fmt::Display| format!("the zip archive is damaged or of another kind ({e})");
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|e| damaged(&e))?;
    if archive.len() > MAX_ARRAYS {
        return Err(format!("holds {} files; at most {MAX_ARRAYS} arrays are read", archive.len()));
    }
    let mut arrays = BTreeMap::new();
    let mut left = limit;
    for index in 0..archive.len() {
        let packed = archive.by_index(index).map_err(|e| damaged(&e))?;
        let name: String = packed.name().map_err(|e| damaged(&e))?.chars().take(80).collect();
        let Some(array) = name.strip_suffix(".npy").map(str::to_owned) else {
            return Err(format!("holds {name:?}; expected .npy arrays, as numpy.savez writes them"));
        };
        // What an entry says of its size counts for nothing: a small file can unpack to anything.
        let mut content = Vec::new();
        packed.take(left + 1).read_to_end(&mut content).map_err(|e| damaged(&e))?;
        left = left
            .checked_sub(content.len() as u64)
            .ok_or_else(|| format!("unpacks to more than {limit} bytes; split it into several files"))?;
        if arrays.insert(array, content).is_some() {
            return Err(format!("holds {name:?} twice"));
        }
    }
    Ok(arrays)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::write::SimpleFileOptions;
    use zip::{CompressionMethod, ZipWriter};

    use super::*;

    fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.bytes());
        bytes.extend(data);
        bytes
    }

    fn archive(entries: &[(&str, Vec<u8>)], method: CompressionMethod) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in entries {
            writer.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
            writer.write_all(content).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn example(method: CompressionMethod) -> Vec<u8> {
        let whole = npy("<u4", "(2, 1)", &[7, 0, 0, 0, 255, 255, 255, 255]);
        let negative = npy(">i8", "(1,)", &(-5i64).to_be_bytes());
        let yes = npy("|b1", "(3,)", &[1, 0, 1]);
        let real = npy("<f4", "()", &1.5f32.to_le_bytes());
        archive(&[("whole.npy", whole), ("negative.npy", negative), ("yes.npy", yes), ("real.npy", real)], method)
    }

    #[test]
    fn arrays_of_every_kind_are_read_stored_or_deflated() {
        for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
            let bytes = example(method);
            assert!(bytes.starts_with(&ZIP_MAGIC));
            let npz = NpzArchive::read(&bytes, "a.npz", 4096).unwrap();
            assert_eq!(npz.names().collect::<Vec<_>>(), ["negative", "real", "whole", "yes"]);
            let read = |name: &str| npz.array::<f64>(name).unwrap().unwrap();
            assert_eq!(read("whole"), NpzArray { shape: vec![2, 1], elements: vec![7.0, f64::from(u32::MAX)] });
            assert_eq!(read("negative").elements, [-5.0]);
            assert_eq!(read("yes").elements, [1.0, 0.0, 1.0]);
            assert_eq!(read("real").elements, [1.5]);
            assert!(npz.array::<f64>("absent").unwrap().is_none());
        }
    }

    #[test]
    fn what_unpacks_to_much_or_holds_something_else_is_refused() {
        let bomb = archive(&[("a.npy", vec![0; 1 << 20])], CompressionMethod::Deflated);
        assert!(bomb.len() < 2000);
        let error = |bytes: &[u8], limit| NpzArchive::read(bytes, "a.npz", limit).unwrap_err().to_string();
        assert!(error(&bomb, (1 << 20) - 1).contains("unpacks to more than 1048575 bytes"));
        assert!(error(&archive(&[("a.txt", vec![1])], CompressionMethod::Stored), 99).contains("a.txt"));
        let many: Vec<(String, Vec<u8>)> = (0..=MAX_ARRAYS).map(|n| (format!("{n}.npy"), Vec::new())).collect();
        let many: Vec<(&str, Vec<u8>)> = many.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
        assert!(error(&archive(&many, CompressionMethod::Stored), 99).contains("at most 256"));
        assert!(error(b"PK\x03\x04 and nothing else", 99).contains("a.npz: "));
        // An array that says more than it holds.
        let short = archive(&[("a.npy", npy("<f8", "(99999999,)", &[0; 8]))], CompressionMethod::Stored);
        let npz = NpzArchive::read(&short, "a.npz", 4096).unwrap();
        assert!(npz.array::<f64>("a").unwrap_err().to_string().contains("a.npz: a: "));
    }

    #[test]
    fn damage_anywhere_never_panics_and_memory_stays_bounded() {
        for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
            let whole = example(method);
            for at in 0..whole.len() {
                for damaged in [whole[..at].to_vec(), {
                    let mut bytes = whole.clone();
                    bytes[at] ^= 0xff;
                    bytes
                }] {
                    if let Ok(npz) = NpzArchive::read(&damaged, "a.npz", 4096) {
                        for name in npz.names() {
                            let _ = npz.array::<f64>(name);
                        }
                    }
                }
            }
        }
    }
}
