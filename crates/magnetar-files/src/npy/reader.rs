//! Reads an `.npy` array piece by piece.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::header::{MAX_HEADER, WANTED};
use super::{Dtype, Header, NpyElement, NpyError};
use crate::open_file;

/// Elements decoded at a time: bounds the reader's memory whatever the file says.
const CHUNK: usize = 1024;

/// A streaming reader: the header first, then elements in the file's order on request, in bounded memory.
#[derive(Debug)]
pub struct NpyReader<R> {
    input: R,
    file: String,
    header: Header,
    elements: usize,
    read: usize,
    buffer: Vec<u8>,
}

impl NpyReader<BufReader<File>> {
    /// Opens a file and checks its header and its size.
    ///
    /// # Errors
    /// The file cannot be opened or is a pipe or device, its header is not that of a C-ordered float or complex array, or its size is not
    /// what the header says.
    pub fn open(path: &Path) -> Result<Self, NpyError> {
        Self::open_any_order(path)?.in_c_order()
    }

    /// As [`Self::open`], and arrays in Fortran order, too: [`Header::fortran_order`] says which.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_any_order(path: &Path) -> Result<Self, NpyError> {
        let file = path.display().to_string();
        let io_error = |source| NpyError::Io { file: file.clone(), source };
        if path.is_dir() {
            return Err(NpyError::Data { file, problem: "is a directory; expected an .npy file".into() });
        }
        let input = open_file(path).map_err(io_error)?;
        let length = input.metadata().map_err(io_error)?.len();
        Self::read_header(BufReader::with_capacity(1 << 16, input), file, Some(length))?.of_samples()
    }
}

impl<R: Read> NpyReader<R> {
    /// Reads the header of an array of samples, float or complex, from any input; `file` is the name in errors,
    /// `length` the input's bytes if known.
    ///
    /// # Errors
    /// As `open`.
    pub fn new(input: R, file: String, length: Option<u64>) -> Result<Self, NpyError> {
        Self::read_header(input, file, length)?.of_samples()?.in_c_order()
    }

    /// As `new`, for arrays that may hold whole numbers, or yes and no, too.
    ///
    /// # Errors
    /// As `open`.
    pub fn of_any_numbers(input: R, file: String, length: Option<u64>) -> Result<Self, NpyError> {
        Self::read_header(input, file, length)?.in_c_order()
    }

    fn of_samples(self) -> Result<Self, NpyError> {
        if self.header.dtype.is_integer() {
            let name = self.header.dtype.name();
            return Err(self.data_error(format!("the element type {name}; expected {WANTED}")));
        }
        Ok(self)
    }

    fn in_c_order(self) -> Result<Self, NpyError> {
        if self.header.fortran_order {
            let advice = "the array is in Fortran order; save numpy.ascontiguousarray(array) instead";
            return Err(self.data_error(advice.into()));
        }
        Ok(self)
    }

    fn read_header(mut input: R, file: String, length: Option<u64>) -> Result<Self, NpyError> {
        let mut preamble = [0u8; 8];
        let got =
            read_up_to(&mut input, &mut preamble).map_err(|source| NpyError::Io { file: file.clone(), source })?;
        let fail = |byte: usize, problem: String| NpyError::Header { file: file.clone(), byte, problem };
        if got < preamble.len() || preamble[..6] != *b"\x93NUMPY" {
            return Err(fail(
                0,
                "expected an .npy file, which begins with \\x93NUMPY; save one with numpy.save".into(),
            ));
        }
        let length_bytes = match preamble[6] {
            1 => 2,
            2 | 3 => 4,
            version => return Err(fail(6, format!("format version {version}; versions 1 to 3 are read"))),
        };
        let mut field = [0u8; 4];
        let truncated = |byte| move |_| fail(byte, "the file ends inside the header".into());
        input.read_exact(&mut field[..length_bytes]).map_err(truncated(8))?;
        let header_length = u32::from_le_bytes(field) as usize;
        if header_length > MAX_HEADER {
            return Err(fail(8, format!("a header of {header_length} bytes; at most {MAX_HEADER} are read")));
        }
        let start = preamble.len() + length_bytes;
        let mut text = vec![0u8; header_length];
        input.read_exact(&mut text).map_err(truncated(start))?;
        let header = Header::parse(&text).map_err(|(at, problem)| fail(start + at, problem))?;
        let elements = header
            .elements()
            .ok_or_else(|| fail(start, format!("the shape {:?} does not fit 64 bits", header.shape)))?;
        if let Some(length) = length {
            let expected =
                (elements as u64 * header.dtype.size() as u64).saturating_add((start + header_length) as u64);
            if length != expected {
                return Err(NpyError::Data {
                    file,
                    problem: format!(
                        "the header's shape {:?} of {} needs a file of {expected} bytes, but it has {length}; it was \
                         cut short or damaged",
                        header.shape,
                        header.dtype.name()
                    ),
                });
            }
        }
        Ok(Self { input, file, header, elements, read: 0, buffer: Vec::new() })
    }

    /// What the header says.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Elements not read yet.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.elements - self.read
    }

    /// Reads the next `out.len()` elements, converted to `T`. Complex files are not read into real types.
    ///
    /// # Errors
    /// Fewer elements are left, the file ends early, or `T` cannot hold the file's type.
    pub fn read_into<T: NpyElement>(&mut self, out: &mut [T]) -> Result<(), NpyError> {
        if self.header.dtype.is_complex() && !T::DTYPE.is_complex() {
            let name = self.header.dtype.name();
            return Err(self.data_error(format!("holds {name} where real numbers are expected")));
        }
        if out.len() > self.remaining() {
            let problem = format!("has {} elements left where {} are expected", self.remaining(), out.len());
            return Err(self.data_error(problem));
        }
        let size = self.header.dtype.size();
        for chunk in out.chunks_mut(CHUNK) {
            self.buffer.resize(chunk.len() * size, 0);
            self.input.read_exact(&mut self.buffer).map_err(|source| match source.kind() {
                io::ErrorKind::UnexpectedEof => NpyError::Data {
                    file: self.file.clone(),
                    problem: format!("ends before element {}; it was cut short", self.read + chunk.len()),
                },
                _ => NpyError::Io { file: self.file.clone(), source },
            })?;
            self.read += chunk.len();
            decode(&self.buffer, self.header.dtype, self.header.big_endian, chunk);
        }
        Ok(())
    }

    fn data_error(&self, problem: String) -> NpyError {
        NpyError::Data { file: self.file.clone(), problem }
    }
}

impl<R: Read + Seek> NpyReader<R> {
    /// Goes to an element, counted from 0 in the file's order: the next that is read.
    ///
    /// # Errors
    /// It is beyond the end, or the input cannot be moved.
    pub fn go_to(&mut self, element: usize) -> Result<(), NpyError> {
        if element > self.elements {
            return Err(self.data_error(format!("has {} elements, not {element}", self.elements)));
        }
        let size = self.header.dtype.size();
        // A file's length fits 63 bits, and the header was checked against it.
        let offset = |element: usize| i64::try_from(element * size).unwrap_or(i64::MAX);
        let step = offset(element) - offset(self.read);
        self.input.seek(SeekFrom::Current(step)).map_err(|source| NpyError::Io { file: self.file.clone(), source })?;
        self.read = element;
        Ok(())
    }
}

/// Decodes whole elements; `bytes` holds exactly `out.len()` of them.
fn decode<T: NpyElement>(bytes: &[u8], dtype: Dtype, big_endian: bool, out: &mut [T]) {
    let single = |b: &[u8]| {
        let b = [b[0], b[1], b[2], b[3]];
        f64::from(if big_endian { f32::from_be_bytes(b) } else { f32::from_le_bytes(b) })
    };
    let double = |b: &[u8]| {
        let b = [b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]];
        if big_endian { f64::from_be_bytes(b) } else { f64::from_le_bytes(b) }
    };
    let four = |b: &[u8]| {
        let b = [b[0], b[1], b[2], b[3]];
        if big_endian { u32::from_be_bytes(b) } else { u32::from_le_bytes(b) }
    };
    let eight = |b: &[u8]| {
        let b = [b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]];
        if big_endian { u64::from_be_bytes(b) } else { u64::from_le_bytes(b) }
    };
    for (b, o) in bytes.chunks_exact(dtype.size()).zip(out) {
        *o = match dtype {
            Dtype::Float32 => T::from_parts(single(b), 0.0),
            Dtype::Float64 => T::from_parts(double(b), 0.0),
            Dtype::Complex64 => T::from_parts(single(b), single(&b[4..])),
            Dtype::Complex128 => T::from_parts(double(b), double(&b[8..])),
            Dtype::Bool | Dtype::UInt8 => T::from_parts(f64::from(b[0]), 0.0),
            Dtype::Int32 => T::from_parts(f64::from(four(b).cast_signed()), 0.0),
            Dtype::UInt32 => T::from_parts(f64::from(four(b)), 0.0),
            Dtype::Int64 => T::from_parts(eight(b).cast_signed() as f64, 0.0),
            Dtype::UInt64 => T::from_parts(eight(b) as f64, 0.0),
        };
    }
}

/// Fills as much of `buffer` as the input has.
fn read_up_to(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < buffer.len() {
        match input.read(&mut buffer[got..]) {
            Ok(0) => break,
            Ok(n) => got += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(got)
}
