//! Texts that end with their own checksum: by it an older text is told from a damaged one.

use sha2::{Digest, Sha256};

/// A text with its seal: a last line, a comment in Markdown and HTML, with the SHA-256 of what is above it.
#[must_use]
pub fn seal(text: &str) -> String {
    let digest: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{text}<!-- SHA-256 of the text above: {digest} -->\n")
}

/// The text above the seal, if it is whole.
#[must_use]
pub fn unseal(sealed: &str) -> Option<&str> {
    let start = sealed.strip_suffix('\n')?.rfind('\n').map_or(0, |end| end + 1);
    (seal(&sealed[..start]) == sealed).then_some(&sealed[..start])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_bit_breaks_the_seal() {
        let sealed = seal("a\nb\n");
        assert_eq!(unseal(&sealed), Some("a\nb\n"));
        for at in 0..sealed.len() {
            let mut bytes = sealed.clone().into_bytes();
            bytes[at] ^= 1;
            assert!(String::from_utf8(bytes).is_ok_and(|text| unseal(&text).is_none()), "byte {at}");
        }
        assert_eq!((unseal(""), unseal("\n"), unseal("plain")), (None, None, None));
    }
}
