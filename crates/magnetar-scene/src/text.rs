//! Reading small text files without trusting them.

use std::path::Path;

use magnetar_files::BoundedReadError;
use serde::de::DeserializeOwned;

use crate::error::{Place, SceneError};

/// Reads a UTF-8 text file of at most `limit` bytes.
pub(crate) fn read(path: &Path, kind: &'static str, limit: u64) -> Result<String, SceneError> {
    magnetar_files::read_text(path, limit).map_err(|error| refused(path, kind, error))
}

/// Reads a file of at most `limit` bytes.
pub(crate) fn read_bytes(path: &Path, kind: &'static str, limit: u64) -> Result<Vec<u8>, SceneError> {
    magnetar_files::read_bytes(path, limit).map_err(|error| refused(path, kind, error))
}

fn refused(path: &Path, kind: &'static str, error: BoundedReadError) -> SceneError {
    let origin = path.display().to_string();
    match error {
        BoundedReadError::Io(source) => SceneError::Read { path: origin, source },
        BoundedReadError::TooLarge { limit } => SceneError::TooLarge { origin, kind, limit },
        BoundedReadError::NotText { line } => {
            let place = Place::new(&origin).at_line(line);
            SceneError::malformed(place, "not UTF-8 text", format!("plain text, as {kind} files are"))
        }
    }
}

/// The line, counted from 1, of a byte offset.
pub(crate) fn line_at(bytes: &[u8], offset: usize) -> usize {
    1 + bytes.iter().take(offset).filter(|&&byte| byte == b'\n').count()
}

/// Parses TOML; the error names the line.
pub(crate) fn parse_toml<T: DeserializeOwned>(text: &str, origin: &str) -> Result<T, SceneError> {
    toml::from_str(text).map_err(|error| {
        let mut place = Place::new(origin);
        if let Some(span) = error.span() {
            place = place.at_line(line_at(text.as_bytes(), span.start));
        }
        // Parser messages may span lines and quote the whole value: one bounded line is enough.
        let problem: String = error.message().replace('\n', ", ").chars().take(400).collect();
        SceneError::Syntax { place, problem }
    })
}

/// Shortens a piece of foreign text for an error message.
pub(crate) fn excerpt(text: &str) -> String {
    let short: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().nth(40).is_some() { format!("{short}...") } else { short }
}

/// Whether a name is fit for materials: letters, digits, `_`, `-`, `.`, at most 64 of them.
pub(crate) fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
}
