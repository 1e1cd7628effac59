//! Reading small text files without trusting them.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::error::{Error, Place};

/// Reads a UTF-8 text file of at most `limit` bytes.
pub(crate) fn read(path: &Path, kind: &'static str, limit: u64) -> Result<String, Error> {
    String::from_utf8(read_bytes(path, kind, limit)?).map_err(|error| {
        let line = line_at(error.as_bytes(), error.utf8_error().valid_up_to());
        let place = Place::new(&path.display().to_string()).at_line(line);
        Error::malformed(place, "not UTF-8 text", format!("plain text, as {kind} files are"))
    })
}

/// Reads a file of at most `limit` bytes.
pub(crate) fn read_bytes(path: &Path, kind: &'static str, limit: u64) -> Result<Vec<u8>, Error> {
    let origin = path.display().to_string();
    let unreadable = |source| Error::Read { path: origin.clone(), source };
    let file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    // One byte more than allowed tells a file at the limit from one beyond it, also for pipes, which have no length.
    file.take(limit + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > limit {
        return Err(Error::TooLarge { origin, kind, limit });
    }
    Ok(bytes)
}

/// The line, counted from 1, of a byte offset.
pub(crate) fn line_at(bytes: &[u8], offset: usize) -> usize {
    1 + bytes.iter().take(offset).filter(|&&byte| byte == b'\n').count()
}

/// Parses TOML; the error names the line.
pub(crate) fn parse_toml<T: DeserializeOwned>(text: &str, origin: &str) -> Result<T, Error> {
    toml::from_str(text).map_err(|error| {
        let mut place = Place::new(origin);
        if let Some(span) = error.span() {
            place = place.at_line(line_at(text.as_bytes(), span.start));
        }
        // Parser messages may span lines and quote the whole value: one bounded line is enough.
        let problem: String = error.message().replace('\n', ", ").chars().take(400).collect();
        Error::Syntax { place, problem }
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
