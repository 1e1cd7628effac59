//! A recipe for reading: every value with its unit, its meaning and whose it is.

use serde::Serialize;
use toml::Value;

use super::keys::Origin;
use super::load::SHIPPED;
use super::reasons::reason;
use super::{Key, Recipe};

/// One value of a resolved recipe.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// Dotted path.
    pub key: String,
    /// The value, in JSON's types.
    pub value: serde_json::Value,
    /// Unit, empty where it has none.
    pub unit: &'static str,
    /// `paper`, `ours`, or `changed` if it is neither recipe paper's value nor that of the shipped recipe of this name.
    pub origin: &'static str,
    /// Why it is not recipe paper's, where a shipped recipe says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it means.
    pub meaning: &'static str,
    /// What it may be: type and range.
    pub expected: String,
}

impl Recipe {
    /// Every value, in the order of the key table.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        let paper = Self::paper();
        let named = SHIPPED.iter().find(|(name, _)| *name == self.name && *name != paper.name);
        let named = named.and_then(|(name, text)| Some((Self::load(name, &[]).ok()?, *text)));
        let mut entries = Vec::new();
        flatten("", &Value::Table(self.to_table()), &mut |path, value| {
            if let Some(key) = Key::find(path) {
                let (origin, reason) = match &named {
                    _ if paper.get(path).as_ref() == Some(value) => (key.origin.label(), None),
                    Some((shipped, text)) if shipped.get(path).as_ref() == Some(value) => match reason(text, path) {
                        // What recipe paper has otherwise, and for a reason, is ours.
                        Some(reason) => (Origin::Ours.label(), Some(reason)),
                        None => (key.origin.label(), None),
                    },
                    _ => ("changed", None),
                };
                let value = serde_json::to_value(value).unwrap_or_default();
                let (unit, meaning, expected) = (key.unit, key.meaning, key.expectation());
                entries.push(Entry { key: path.to_owned(), value, unit, origin, reason, meaning, expected });
            }
        });
        entries
    }

    /// The recipe as a TOML file that loads again.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut table = self.to_table();
        table.remove("files");
        table.remove(super::scene::SCENE_TEXT);
        toml::to_string(&table).expect("a recipe is plain data with text keys")
    }
}

/// The keys whose values differ, with both values: `key: first, second`.
#[must_use]
pub fn differences(first: &Recipe, second: &Recipe) -> Vec<String> {
    let mut values: indexmap::IndexMap<String, [Option<String>; 2]> = indexmap::IndexMap::new();
    for (i, recipe) in [first, second].into_iter().enumerate() {
        flatten("", &Value::Table(recipe.to_table()), &mut |path, value| {
            let shown = if path == super::scene::SCENE_TEXT { digest(value) } else { value.to_string() };
            values.entry(path.to_owned()).or_default()[i] = Some(shown);
        });
    }
    values
        .into_iter()
        .filter(|(_, [a, b])| a != b)
        .map(|(key, [a, b])| {
            format!("{key}: {}, {}", a.as_deref().unwrap_or("absent"), b.as_deref().unwrap_or("absent"))
        })
        .collect()
}

/// A long text's SHA-256, in short.
fn digest(text: &Value) -> String {
    use sha2::{Digest, Sha256};
    format!("SHA-256 {:.16}", super::hex(&Sha256::digest(text.to_string())))
}

fn flatten(prefix: &str, value: &Value, leaf: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Table(table) if Key::find(prefix).is_none() => {
            for (name, inner) in table {
                let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                flatten(&path, inner, leaf);
            }
        }
        other => leaf(prefix, other),
    }
}
