//! The hash of a recipe: what decides whether two datasets hold the same rows.

use sha2::{Digest, Sha256};

use super::Recipe;

impl Recipe {
    /// SHA-256 (hex) of everything that changes a row: all but `name`, `description`, `store` and where a scene was read
    /// from. Keys that came later are not written while they have their default, so that older recipes keep their hash.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut value = serde_json::to_value(self).expect("a recipe is plain data with text keys");
        if let Some(object) = value.as_object_mut() {
            for key in ["name", "description", "store", "scene"] {
                object.remove(key);
            }
        }
        let mut canonical = String::new();
        write_canonical(&value, &mut canonical);
        hex(&Sha256::digest(canonical.as_bytes()))
    }
}

/// JSON without spaces and with sorted keys; numbers as serde_json prints them (shortest form that reads back).
fn write_canonical(value: &serde_json::Value, out: &mut String) {
    match value {
        serde_json::Value::Object(object) => {
            let mut keys: Vec<_> = object.keys().collect();
            keys.sort_unstable();
            out.push('{');
            for (i, key) in keys.into_iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                out.push_str(&serde_json::Value::from(key.as_str()).to_string());
                out.push(':');
                write_canonical(&object[key], out);
            }
            out.push('}');
        }
        serde_json::Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        other => out.push_str(&other.to_string()),
    }
}

/// Lower-case hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
