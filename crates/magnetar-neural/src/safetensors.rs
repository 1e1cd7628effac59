//! Files of named arrays in the safetensors format: eight bytes with the length of a JSON header, the header, the values.
//!
//! Written and read here for arrays of single precision only. What is read is checked before anything is believed: the
//! header's length, every array's shape against its bytes, and that the bytes fill the file without gaps.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::Array;

/// The largest header, bytes: names, shapes and metadata.
const MAX_HEADER_BYTES: u64 = 1 << 20;

/// The most axes an array may have.
const MAX_AXES: usize = 8;

/// Key of the metadata in a header.
const METADATA: &str = "__metadata__";

/// Named arrays and what is said of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TensorFile {
    /// Texts by key.
    pub(crate) metadata: BTreeMap<String, String>,
    /// Arrays by name.
    pub(crate) arrays: BTreeMap<String, Array>,
}

impl TensorFile {
    /// The bytes of the file: arrays in the order of their names.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut header = Map::new();
        header.insert(METADATA.into(), json!(self.metadata));
        let mut end = 0;
        for (name, array) in &self.arrays {
            let begin = end;
            end += 4 * array.values().len();
            header.insert(name.clone(), json!({"dtype": "F32", "shape": array.shape(), "data_offsets": [begin, end]}));
        }
        let mut header = Value::Object(header).to_string().into_bytes();
        // Values begin at a multiple of eight bytes; spaces fill the header, as the format has it.
        header.resize(header.len().next_multiple_of(8), b' ');
        let mut bytes = Vec::with_capacity(8 + header.len() + end);
        bytes.extend((header.len() as u64).to_le_bytes());
        bytes.extend(header);
        self.arrays.values().flat_map(Array::values).for_each(|value| bytes.extend(value.to_le_bytes()));
        bytes
    }

    /// Reads a file's bytes.
    ///
    /// # Errors
    /// What was expected and what was found.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let (length, rest) = bytes.split_first_chunk::<8>().ok_or("it ends within its first 8 bytes")?;
        let length = u64::from_le_bytes(*length);
        if length > MAX_HEADER_BYTES {
            return Err(format!("expected a safetensors file with a header of {MAX_HEADER_BYTES} bytes at most"));
        }
        let length = usize::try_from(length).map_err(|e| e.to_string())?;
        let (header, values) = rest.split_at_checked(length).ok_or("it ends within its header")?;
        let header: Map<String, Value> =
            serde_json::from_slice(header).map_err(|e| format!("its header is no JSON object: {e}"))?;
        let mut file = Self { metadata: BTreeMap::new(), arrays: BTreeMap::new() };
        let mut spans = Vec::with_capacity(header.len());
        for (name, entry) in header {
            if name == METADATA {
                file.metadata = serde_json::from_value(entry).map_err(|e| format!("{METADATA}: {e}"))?;
                continue;
            }
            let (shape, begin, end) = span(&entry).map_err(|problem| format!("{name}: {problem}"))?;
            let part = values.get(begin..end).ok_or_else(|| format!("{name}: the file ends before its values do"))?;
            let numbers = part.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
            spans.push((begin, end));
            file.arrays.insert(name, Array::new(&shape, numbers));
        }
        spans.sort_unstable();
        let end = spans.iter().try_fold(0, |at, (begin, end)| (*begin == at).then_some(*end));
        if end != Some(values.len()) {
            return Err("the values of its arrays do not follow each other to the end of the file".into());
        }
        Ok(file)
    }
}

/// Shape of an array and where its bytes begin and end.
fn span(entry: &Value) -> Result<(Vec<usize>, usize, usize), String> {
    let dtype = entry.get("dtype").and_then(Value::as_str).unwrap_or_default();
    if dtype != "F32" {
        return Err(format!("expected values of dtype F32, got {dtype:?}"));
    }
    let numbers = |key: &str| -> Result<Vec<usize>, String> {
        let list = entry.get(key).and_then(Value::as_array).ok_or_else(|| format!("it has no {key}"))?;
        let number = |v: &Value| v.as_u64().and_then(|n| usize::try_from(n).ok());
        list.iter().map(number).collect::<Option<_>>().ok_or_else(|| format!("{key}: expected whole numbers"))
    };
    let (shape, offsets) = (numbers("shape")?, numbers("data_offsets")?);
    let count = shape.iter().try_fold(1usize, |count, axis| count.checked_mul(*axis));
    match (<[usize; 2]>::try_from(offsets.as_slice()), count.and_then(|count| count.checked_mul(4))) {
        (Ok([begin, end]), Some(bytes)) if shape.len() <= MAX_AXES && begin <= end && end - begin == bytes => {
            Ok((shape, begin, end))
        }
        _ => Err(format!("shape {shape:?} does not go with data_offsets {offsets:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> TensorFile {
        let metadata = [("about".to_owned(), "a \"test\"".to_owned())].into();
        let arrays = [
            ("a".to_owned(), Array::new(&[2, 3], vec![1.0, -2.0, 3.5, 0.0, 1e-30, 7.0])),
            ("b".to_owned(), Array::new(&[0], vec![])),
            ("c".to_owned(), Array::new(&[1], vec![9.0])),
        ];
        TensorFile { metadata, arrays: arrays.into() }
    }

    #[test]
    fn it_is_read_as_it_was_written_and_values_are_aligned() {
        let bytes = file().to_bytes();
        assert_eq!(TensorFile::from_bytes(&bytes).unwrap(), file());
        assert_eq!(u64::from_le_bytes(bytes[..8].try_into().unwrap()) % 8, 0);
        assert_eq!(bytes[bytes.len() - 4..], 9f32.to_le_bytes());
    }

    #[test]
    fn what_is_cut_off_or_changed_is_refused_or_read_but_never_panics() {
        let bytes = file().to_bytes();
        for cut in 0..bytes.len() {
            assert!(TensorFile::from_bytes(&bytes[..cut]).is_err(), "{cut}");
        }
        for n in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[n] ^= 1 << bit;
                let _ = TensorFile::from_bytes(&changed);
            }
        }
    }

    #[test]
    fn shapes_that_lie_are_refused_without_being_believed() {
        let text = |header: &str, values: usize| {
            [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &vec![0u8; values]].concat()
        };
        for (header, values) in [
            (r#"{"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}}"#, 0),
            (r#"{"a":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,8]}}"#, 8),
            (r#"{"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}"#, 8),
            (r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}"#, 4),
            (r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#, 8),
            (r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#, 8),
            (
                r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#,
                4,
            ),
            (r#"{"a":3}"#, 0),
            ("[]", 0),
        ] {
            assert!(TensorFile::from_bytes(&text(header, values)).is_err(), "{header}");
        }
        assert!(TensorFile::from_bytes(&u64::MAX.to_le_bytes()).unwrap_err().contains("header"));
    }
}
