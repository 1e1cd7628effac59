//! NumPy's array file format, version 1.0: enough to write f32 arrays, whole or streamed.

use std::io::{self, Write};

/// Writes the rows of a `[rows, shape...]` f32 array one at a time, so that any number needs flat memory.
#[derive(Debug)]
pub struct NpyWriter<W: Write> {
    out: W,
    left: u64,
}

impl<W: Write> NpyWriter<W> {
    /// Writes the header of an array of this shape (C order, little endian).
    ///
    /// # Errors
    /// When writing fails.
    pub fn new(mut out: W, shape: &[usize]) -> io::Result<Self> {
        let sizes: Vec<String> = shape.iter().map(ToString::to_string).collect();
        let comma = if shape.len() == 1 { "," } else { "" };
        let mut header =
            format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}{comma}), }}", sizes.join(", "));
        // Magic, version and length take 10 bytes; the format wants the data aligned to 64.
        let padding = 63 - (10 + header.len()) % 64;
        header.push_str(&" ".repeat(padding));
        header.push('\n');
        out.write_all(b"\x93NUMPY\x01\x00")?;
        let length = u16::try_from(header.len()).map_err(io::Error::other)?;
        out.write_all(&length.to_le_bytes())?;
        out.write_all(header.as_bytes())?;
        Ok(Self { out, left: shape.iter().map(|s| *s as u64).product() })
    }

    /// Appends values.
    ///
    /// # Errors
    /// When writing fails or there are more values than the shape holds.
    pub fn write(&mut self, values: &[f32]) -> io::Result<()> {
        self.left = self
            .left
            .checked_sub(values.len() as u64)
            .ok_or_else(|| io::Error::other("more values than the array's shape holds"))?;
        let mut bytes = Vec::with_capacity(values.len() * 4);
        for v in values {
            bytes.extend_from_slice(&v.to_le_bytes());
        }
        self.out.write_all(&bytes)
    }

    /// Checks that the array is complete and hands the writer back.
    ///
    /// # Errors
    /// When values are missing or flushing fails.
    pub fn finish(mut self) -> io::Result<W> {
        if self.left > 0 {
            return Err(io::Error::other(format!("{} values of the array are missing", self.left)));
        }
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Writes a whole f32 array.
///
/// # Errors
/// When writing fails or the shape does not hold exactly these values.
pub fn write_npy_f32(out: impl Write, shape: &[usize], values: &[f32]) -> io::Result<()> {
    let mut writer = NpyWriter::new(out, shape)?;
    writer.write(values)?;
    writer.finish().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_aligned_and_names_the_shape() {
        let mut bytes = Vec::new();
        write_npy_f32(&mut bytes, &[2, 3], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.5]).unwrap();
        assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
        let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        assert_eq!((10 + length) % 64, 0);
        let header = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
        assert!(header.contains("'shape': (2, 3)") && header.ends_with('\n'), "{header}");
        assert_eq!(bytes.len(), 10 + length + 24);
        assert_eq!(bytes[bytes.len() - 4..], 5.5f32.to_le_bytes());
    }

    #[test]
    fn a_wrong_count_is_refused() {
        assert!(write_npy_f32(Vec::new(), &[3], &[1.0]).is_err());
        assert!(write_npy_f32(Vec::new(), &[1], &[1.0, 2.0]).is_err());
    }
}
