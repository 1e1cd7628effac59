//! Hashes of what decides a scorer's results.

use std::fmt::{self, Write};

use sha2::{Digest, Sha256};

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Hashes what is written to it.
struct HashedText(Sha256);

impl Write for HashedText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text.as_bytes());
        Ok(())
    }
}

/// SHA-256 (hexadecimal) of a value's whole debug text: numbers are written there with all their digits.
pub(crate) fn hash_of(value: &dyn fmt::Debug) -> String {
    let mut text = HashedText(Sha256::new());
    let _ = write!(text, "{value:?}");
    hex(&text.0.finalize())
}
