//! Reads export files, plain or gzip.

use std::collections::{BTreeMap, HashSet};
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use magnetar_files::npz::ZIP_MAGIC;
use magnetar_files::{BoundedReadError, read_bytes};
use serde::de::IgnoredAny;
use serde_json::error::Category;
use serde_path_to_error::Segment;

use super::arrays;
use super::case::Case;
use super::error::{ExportError, Problem, excerpt};
use super::export::{Export, check_top};
use super::schema::{RawExport, RawIds, RawSchema, TOP_LEVEL_KEYS, Version};

/// The schema of first-order paths.
pub const SCHEMA: &str = "sionna-box-v1";

/// The schema of paths of several interactions.
pub const SCHEMA_V2: &str = "sionna-box-v2";

/// The most JSON text that is read of one file, bytes: a small gzip file can unpack to anything, and what is read takes
/// a few times as much memory. The public cases have 2 MB at most.
pub const MAX_BYTES: u64 = 64 << 20;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Reads and checks an export file, plain, gzip or npz (told apart by the first bytes, not by the name).
pub fn read_export(file: &Path) -> Result<Export, ExportError> {
    let bytes = read_bytes(file, MAX_BYTES).map_err(|error| match error {
        BoundedReadError::Io(source) => ExportError::Read { file: file.to_owned(), source },
        _ => ExportError::TooLarge { file: file.to_owned(), limit: MAX_BYTES },
    })?;
    parse_export(file, &bytes)
}

/// Checks an export in memory, plain, gzip or npz; `file` is its name in errors.
pub fn parse_export(file: &Path, bytes: &[u8]) -> Result<Export, ExportError> {
    if bytes.starts_with(&ZIP_MAGIC) {
        parse_json(file, &arrays::document(file, bytes, MAX_BYTES)?)
    } else if bytes.starts_with(&GZIP_MAGIC) {
        parse_json(file, &unpack(file, bytes, MAX_BYTES)?)
    } else {
        parse_json(file, bytes)
    }
}

fn unpack(file: &Path, bytes: &[u8], limit: u64) -> Result<Vec<u8>, ExportError> {
    let mut json = Vec::new();
    MultiGzDecoder::new(bytes)
        .take(limit + 1)
        .read_to_end(&mut json)
        .map_err(|source| ExportError::Gzip { file: file.to_owned(), source })?;
    if json.len() as u64 > limit {
        return Err(ExportError::TooLarge { file: file.to_owned(), limit });
    }
    Ok(json)
}

fn parse_json(file: &Path, json: &[u8]) -> Result<Export, ExportError> {
    if json.len() as u64 > MAX_BYTES {
        return Err(ExportError::TooLarge { file: file.to_owned(), limit: MAX_BYTES });
    }
    if json.iter().all(u8::is_ascii_whitespace) {
        return Err(ExportError::Empty { file: file.to_owned() });
    }
    let top = |problem| ExportError::Top { file: file.to_owned(), problem };
    let version = check_schema(json).map_err(top)?;

    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let raw: RawExport = serde_path_to_error::deserialize(&mut deserializer)
        .map_err(|error| json_error(file, json, &error))
        .and_then(|raw| match deserializer.end() {
            Ok(()) => Ok(raw),
            Err(error) => Err(ExportError::Json {
                file: file.to_owned(),
                place: String::new(),
                message: error.to_string(),
                hint: "; expected one JSON object and nothing after it",
            }),
        })?;
    check_top(&raw).map_err(top)?;

    let frequency_hz = raw.frequency_hz;
    let mut ids = HashSet::new();
    let mut cases = Vec::with_capacity(raw.cases.len());
    for (index, case) in raw.cases.into_iter().enumerate() {
        let id = case.id.clone();
        let refuse = |problem| ExportError::Case { file: file.to_owned(), case: excerpt(&id), index, problem };
        if id.is_empty() {
            return Err(refuse(Problem::new("id", "is empty; expected a name of its own for every case")));
        }
        if !ids.insert(id.clone()) {
            return Err(refuse(Problem::new("id", "is the id of an earlier case too; expected a name of its own")));
        }
        cases.push(Case::check(case, version).map_err(refuse)?);
    }
    Ok(Export { frequency_hz, cases, warnings: unknown_keys(json) })
}

/// Another schema is reported as such, whatever else it holds. Broken JSON is left to the full parser, which knows more.
fn check_schema(json: &[u8]) -> Result<Version, Problem> {
    let Ok(raw) = serde_json::from_slice::<RawSchema>(json) else { return Ok(Version::V1) };
    let expected = format!("expected \"{SCHEMA}\" or \"{SCHEMA_V2}\"");
    match raw.schema {
        Some(serde_json::Value::String(name)) if name == SCHEMA => Ok(Version::V1),
        Some(serde_json::Value::String(name)) if name == SCHEMA_V2 => Ok(Version::V2),
        Some(other) => Err(Problem::new("schema", format!("is {}; {expected}", excerpt(&other.to_string())))),
        None => Err(Problem::new("schema", format!("is missing; {expected}"))),
    }
}

fn unknown_keys(json: &[u8]) -> Vec<String> {
    const MOST_WARNINGS: usize = 20;
    let keys: BTreeMap<String, IgnoredAny> = serde_json::from_slice(json).unwrap_or_default();
    keys.keys()
        .filter(|key| !TOP_LEVEL_KEYS.contains(&key.as_str()))
        .take(MOST_WARNINGS)
        .map(|key| format!("unknown key `{}` at the top level is ignored", excerpt(key)))
        .collect()
}

fn json_error(file: &Path, json: &[u8], error: &serde_path_to_error::Error<serde_json::Error>) -> ExportError {
    let path = error.path().to_string();
    let mut place = if path == "." { String::new() } else { excerpt(&path) };
    if let Some(id) = case_id(json, error.path()) {
        place = format!("case {}, {place}", excerpt(&id));
    }
    let hint = match error.inner().classify() {
        Category::Syntax if place.is_empty() => {
            "; expected a JSON object of schema sionna-box-v1 or sionna-box-v2, plain or gzip"
        }
        Category::Syntax => "; expected JSON, which has no NaN and no Infinity",
        Category::Eof => "; the file is cut off, copy or export it again",
        Category::Data | Category::Io => "; the schema is described in docs/sionna.md",
    };
    ExportError::Json { file: file.to_owned(), place, message: error.inner().to_string(), hint }
}

/// The id of the case an error lies in, if the ids can be read.
fn case_id(json: &[u8], path: &serde_path_to_error::Path) -> Option<String> {
    let mut segments = path.iter();
    let index = match (segments.next()?, segments.next()?) {
        (Segment::Map { key }, Segment::Seq { index }) if key == "cases" => *index,
        _ => return None,
    };
    let ids: RawIds = serde_json::from_slice(json).ok()?;
    ids.cases.into_iter().nth(index).map(|case| case.id).filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn a_small_file_that_unpacks_to_much_is_refused() {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&vec![b' '; 100_000]).unwrap();
        let packed = packed.finish().unwrap();
        assert!(packed.len() < 1000);
        let error = unpack(Path::new("bomb.json.gz"), &packed, 99_999).unwrap_err();
        assert!(matches!(error, ExportError::TooLarge { limit: 99_999, .. }), "{error}");
        assert_eq!(unpack(Path::new("bomb.json.gz"), &packed, 100_000).unwrap().len(), 100_000);
    }
}
