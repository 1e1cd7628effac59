//! What is wrong with a setting, by its key.

use std::fmt;

/// A setting outside its range: the key as it stands in a recipe, the value found and what was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {value}: expected {expected}")]
pub struct ConfigError {
    /// Dotted key, such as `band.bins`.
    pub key: &'static str,
    /// The value found.
    pub value: String,
    /// What would have been right.
    pub expected: String,
}

impl ConfigError {
    /// `Ok` when `valid`, else the error that names the key.
    pub(crate) fn require(
        valid: bool,
        key: &'static str,
        value: impl fmt::Display,
        expected: impl fmt::Display,
    ) -> Result<(), Self> {
        if valid { Ok(()) } else { Err(Self { key, value: value.to_string(), expected: expected.to_string() }) }
    }
}
