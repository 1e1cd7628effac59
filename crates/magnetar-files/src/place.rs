//! Where a file or folder lies: on this machine, or in an object store. Both are named by a `Path`; one that begins with
//! `s3://`, `gs://` or `az://` is the address of something in a store.

use std::io;
use std::path::{Path, PathBuf};

/// Schemes of stores, and what each is.
const STORES: [&str; 4] = ["s3", "gs", "az", MEMORY];

/// A store in the memory of this process, for tests.
pub(crate) const MEMORY: &str = "memory";

/// A name that is no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// A URL of a kind that is not known.
    #[error("{scheme}://: not a kind of place that is known; give a path, file://, s3://, gs:// or az://")]
    Scheme {
        /// The part before `://`.
        scheme: String,
    },
    /// A store without a bucket, or a file's URL without an absolute path.
    #[error("{url}: expected {expected}")]
    Incomplete {
        /// What was given.
        url: String,
        /// What such a URL looks like.
        expected: String,
    },
    /// Credentials, which end up in logs and histories of shells. They are not repeated here.
    #[error(
        "{scheme}://...@{rest}: no credentials in a URL, please; they are taken from the environment (docs/scale.md)"
    )]
    Credentials {
        /// The part before `://`.
        scheme: String,
        /// What follows the credentials.
        rest: String,
    },
    /// This program was built without stores.
    #[error(
        "{url}: this magnetar was built without object stores; build it with `cargo build --release --features full` \
         (or `--features cloud`)"
    )]
    NotBuilt {
        /// What was given.
        url: String,
    },
}

impl From<PlaceError> for io::Error {
    fn from(error: PlaceError) -> Self {
        Self::new(io::ErrorKind::InvalidInput, error)
    }
}

/// Scheme and rest of a URL.
fn url_parts(path: &Path) -> Option<(&str, &str)> {
    let (scheme, rest) = path.to_str()?.split_once("://")?;
    let known = scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    (known && scheme.starts_with(|c: char| c.is_ascii_alphabetic())).then_some((scheme, rest))
}

/// Whether a path is the address of something in an object store, and not of this machine.
#[must_use]
pub fn is_in_store(path: &Path) -> bool {
    url_parts(path).is_some_and(|(scheme, _)| STORES.contains(&scheme))
}

/// A name as it was given, checked: a path of this machine (that of a `file://` URL, or any other as it is), or the address
/// of something in a store, without a slash at its end.
///
/// # Errors
/// A URL that is none of these, or one of a store where this program has none.
pub fn place(path: &Path) -> Result<PathBuf, PlaceError> {
    let Some((scheme, rest)) = url_parts(path) else { return Ok(path.to_owned()) };
    let url = format!("{scheme}://{rest}");
    if scheme == "file" {
        let expected = "file:///absolute/path".to_owned();
        let local = rest.strip_prefix("localhost").unwrap_or(rest);
        let decoded = local.starts_with('/').then(|| percent_decoded(local)).flatten();
        return decoded.map(PathBuf::from).ok_or(PlaceError::Incomplete { url, expected });
    }
    let scheme = scheme.to_owned();
    if !STORES.contains(&scheme.as_str()) {
        return Err(PlaceError::Scheme { scheme });
    }
    let bucket = rest.split('/').next().unwrap_or_default();
    if let Some((_, bucket)) = bucket.rsplit_once('@') {
        return Err(PlaceError::Credentials { scheme, rest: bucket.to_owned() });
    }
    if bucket.is_empty() || rest.contains(['?', '#']) {
        let expected = format!("{scheme}://bucket/prefix");
        // What follows a question mark may be a signature.
        let url = url.split(['?', '#']).next().unwrap_or_default().to_owned();
        return Err(PlaceError::Incomplete { url, expected });
    }
    if cfg!(not(feature = "cloud")) {
        return Err(PlaceError::NotBuilt { url });
    }
    Ok(PathBuf::from(url.trim_end_matches('/')))
}

/// A URL's path with `%20` and the like as the bytes they stand for.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        if first != b'%' {
            bytes.push(first);
            rest = after;
            continue;
        }
        let digits = after.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
        bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = &after[2..];
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(text: &str) -> Result<String, String> {
        place(Path::new(text)).map(|path| path.display().to_string()).map_err(|e| e.to_string())
    }

    #[test]
    fn paths_stay_as_they_are_and_urls_of_files_become_paths() {
        for path in ["data", "/data/", "../a b/%20", "a:b", "s3:/x", "://x", "", "1s://x"] {
            assert_eq!(placed(path).as_deref(), Ok(path));
            assert!(!is_in_store(Path::new(path)), "{path}");
        }
        assert_eq!(placed("file:///data/a%20b").as_deref(), Ok("/data/a b"));
        assert_eq!(placed("file://localhost/data").as_deref(), Ok("/data"));
        for wrong in ["file://data", "file:///a%2", "file:///%ff", "file:///%+1"] {
            assert!(placed(wrong).unwrap_err().contains("file:///absolute/path"), "{wrong}");
        }
        assert!(placed("ftp://x/y").unwrap_err().contains("s3://"));
    }

    #[test]
    fn what_is_no_address_is_refused_without_its_secrets() {
        for url in ["s3://key:secret@bucket/x", "az://secret@bucket", "s3:///x?secret", "gs://b/x?sig=secret", "s3://"]
        {
            let problem = placed(url).unwrap_err();
            assert!(!problem.contains("secret"), "{problem}");
        }
    }

    #[cfg(not(feature = "cloud"))]
    #[test]
    fn without_stores_an_address_says_how_to_get_them() {
        assert!(placed("s3://bucket/x").unwrap_err().contains("--features full"));
    }

    #[cfg(feature = "cloud")]
    #[test]
    fn addresses_in_stores_are_places() {
        assert_eq!(placed("s3://bucket/x/").as_deref(), Ok("s3://bucket/x"));
        assert_eq!(placed("az://container").as_deref(), Ok("az://container"));
        assert!(is_in_store(&Path::new("gs://bucket").join("x")));
    }
}
