//! The header of an `.npy` file: a small Python dictionary literal, read without trusting it.

use super::Dtype;

/// Longest header accepted, bytes; NumPy's own for a plain array is 128.
pub(super) const MAX_HEADER: usize = 65_536;
/// Most dimensions accepted (NumPy 2 allows 64).
pub(super) const MAX_DIMENSIONS: usize = 64;

/// The element types that arrays of samples may have.
pub(super) const WANTED: &str = "'<c8', '<c16', '<f4' or '<f8' (or big-endian); convert with array.astype('complex64')";

/// What a header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Element type.
    pub dtype: Dtype,
    /// Whether the elements are stored big-endian.
    pub big_endian: bool,
    /// Size of every dimension, in the order of the indices.
    pub shape: Vec<usize>,
    /// Whether the first index runs fastest through the file, not the last one.
    pub fortran_order: bool,
}

impl Header {
    /// Number of elements, or `None` if it, or its bytes, do not fit 64 bits.
    #[must_use]
    pub fn elements(&self) -> Option<usize> {
        let elements = self.shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d))?;
        elements.checked_mul(self.dtype.size()).map(|_| elements)
    }

    /// Parses the dictionary; an error is the offset in `text` and what was expected there.
    pub(super) fn parse(text: &[u8]) -> Result<Self, (usize, String)> {
        let mut cursor = Cursor { text, at: 0 };
        cursor.expect(b'{')?;
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        loop {
            if cursor.take(b'}') {
                break;
            }
            let start = cursor.skip_space();
            let key = cursor.string()?;
            cursor.expect(b':')?;
            let repeated = match key.as_str() {
                "descr" => descr.replace(cursor.dtype()?).is_some(),
                "fortran_order" => fortran.replace(cursor.boolean()?).is_some(),
                "shape" => shape.replace(cursor.shape()?).is_some(),
                _ => {
                    return Err((start, format!("unknown key {key:?}; expected 'descr', 'fortran_order' and 'shape'")));
                }
            };
            if repeated {
                return Err((start, format!("the key {key:?} stands twice")));
            }
            if !cursor.take(b',') {
                cursor.expect(b'}')?;
                break;
            }
        }
        let end = cursor.skip_space();
        if end != text.len() {
            return Err((end, "expected nothing but spaces after the dictionary".into()));
        }
        let missing = |key: &str| (end, format!("the key '{key}' is missing"));
        let (dtype, big_endian) = descr.ok_or_else(|| missing("descr"))?;
        let fortran_order = fortran.ok_or_else(|| missing("fortran_order"))?;
        Ok(Self { dtype, big_endian, shape: shape.ok_or_else(|| missing("shape"))?, fortran_order })
    }
}

/// A place in the header's text.
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

type Parsed<T> = Result<T, (usize, String)>;

impl Cursor<'_> {
    fn skip_space(&mut self) -> usize {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.at
    }

    fn take(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Parsed<()> {
        if self.take(byte) { Ok(()) } else { Err((self.at, format!("expected {:?}", char::from(byte)))) }
    }

    /// A quoted string without escapes: the only kind NumPy writes for plain arrays.
    fn string(&mut self) -> Parsed<String> {
        let start = self.skip_space();
        let quote = match self.text.get(start) {
            Some(&q @ (b'\'' | b'"')) => q,
            _ => return Err((start, "expected a quoted string".into())),
        };
        let rest = &self.text[start + 1..];
        let length = rest.iter().take(64).position(|&b| b == quote);
        let Some(length) = length else { return Err((start, "expected a quoted string of at most 63 bytes".into())) };
        self.at = start + length + 2;
        let bytes = &rest[..length];
        if bytes.contains(&b'\\') || !bytes.is_ascii() {
            return Err((start, "expected a string of plain ASCII".into()));
        }
        Ok(bytes.iter().map(|&b| char::from(b)).collect())
    }

    fn dtype(&mut self) -> Parsed<(Dtype, bool)> {
        let start = self.skip_space();
        if self.text.get(start) == Some(&b'[') {
            return Err((start, format!("a structured type; expected {WANTED}")));
        }
        let descr = self.string()?;
        let (order, code) = descr.split_at_checked(1).unwrap_or(("", ""));
        match (order, Dtype::from_code(code)) {
            ("<", Some(dtype)) => Ok((dtype, false)),
            (">", Some(dtype)) => Ok((dtype, true)),
            ("|", Some(dtype)) if dtype.size() == 1 => Ok((dtype, false)),
            _ => Err((start, format!("the element type {descr:?}; expected {WANTED}"))),
        }
    }

    fn boolean(&mut self) -> Parsed<bool> {
        let start = self.skip_space();
        for (word, value) in [(&b"True"[..], true), (b"False", false)] {
            if self.text[start..].starts_with(word) {
                self.at = start + word.len();
                return Ok(value);
            }
        }
        Err((start, "expected True or False".into()))
    }

    fn shape(&mut self) -> Parsed<Vec<usize>> {
        self.expect(b'(')?;
        let mut shape = Vec::new();
        while !self.take(b')') {
            let start = self.skip_space();
            if shape.len() == MAX_DIMENSIONS {
                return Err((start, format!("more than {MAX_DIMENSIONS} dimensions")));
            }
            let digits = self.text[start..].iter().take_while(|b| b.is_ascii_digit()).count();
            let number = std::str::from_utf8(&self.text[start..start + digits]).ok().and_then(|t| t.parse().ok());
            let Some(number) = number else { return Err((start, "expected a size that fits 64 bits".into())) };
            shape.push(number);
            self.at = start + digits;
            if !self.take(b',') {
                // (5) is a number in Python, not a tuple, but some writers mean a shape by it.
                self.expect(b')')?;
                break;
            }
        }
        Ok(shape)
    }
}
