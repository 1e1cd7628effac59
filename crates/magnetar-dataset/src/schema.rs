//! What decides a dataset's columns: the version of the schema and the recipe's choices.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::Schema;
use serde::{Deserialize, Serialize};

use crate::columns;
use crate::recipe::{Csi, Recipe};

/// Version of the columns that this program writes.
pub const SCHEMA_VERSION: SchemaVersion = SchemaVersion { major: 1, minor: 3 };

/// The first version whose paths list their interactions.
pub(crate) const WITH_INTERACTIONS: SchemaVersion = SchemaVersion { major: 1, minor: 1 };

/// The first version that counts paths left out.
pub(crate) const WITH_LEFT_OUT: SchemaVersion = SchemaVersion { major: 1, minor: 2 };

/// The first version whose rows hold the boxes of a recipe's scene.
pub(crate) const WITH_BOXES: SchemaVersion = SchemaVersion { major: 1, minor: 2 };

/// The first version whose rows may belong to outings.
pub(crate) const WITH_OUTINGS: SchemaVersion = SchemaVersion { major: 1, minor: 3 };

/// A version of the columns. A minor step adds columns, and programs that know an older minor leave them aside; a major
/// step changes or removes some.
///
/// Written as `major.minor`, or as `major` alone where the minor is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "WrittenVersion", into = "WrittenVersion")]
pub struct SchemaVersion {
    /// Columns mean the same in all versions of one major.
    pub major: u32,
    /// Counts the additions since.
    pub minor: u32,
}

/// A version as it stands in a manifest: a number without a minor, text with one.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum WrittenVersion {
    Major(u32),
    Text(String),
}

impl SchemaVersion {
    /// Whether this program reads datasets of that version.
    #[must_use]
    pub fn is_readable(self) -> bool {
        self.major == SCHEMA_VERSION.major
    }
}

impl fmt::Display for SchemaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.minor {
            0 => write!(f, "{}", self.major),
            minor => write!(f, "{}.{minor}", self.major),
        }
    }
}

impl From<SchemaVersion> for WrittenVersion {
    fn from(version: SchemaVersion) -> Self {
        if version.minor == 0 { Self::Major(version.major) } else { Self::Text(version.to_string()) }
    }
}

impl TryFrom<WrittenVersion> for SchemaVersion {
    type Error = String;

    fn try_from(written: WrittenVersion) -> Result<Self, String> {
        let text = match written {
            WrittenVersion::Major(major) => return Ok(Self { major, minor: 0 }),
            WrittenVersion::Text(text) => text,
        };
        let parts = text.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        let (major, minor) = parts.ok_or_else(|| format!("schema_version {text:?} is not MAJOR.MINOR"))?;
        Ok(Self { major, minor })
    }
}

/// What decides the columns' types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Frequency bins of an observation.
    pub bins: usize,
    /// Arrivals kept (K).
    pub keep: usize,
    /// How observations are stored.
    pub csi: Csi,
    /// Whether rows replay a measurement campaign.
    pub replay: bool,
    /// Whether waves go through boxes, and paths left out are counted.
    pub transmission: bool,
    /// Whether rooms are those of a recipe's scene.
    pub scene: bool,
    /// Whether rows belong to outings and hold what the receiver believes.
    pub outings: bool,
    /// Version of the columns, at most [`SCHEMA_VERSION`].
    pub version: SchemaVersion,
}

impl Shape {
    /// The shape a recipe asks for, in columns of a version; those newer than this program's are left aside.
    #[must_use]
    pub fn of(recipe: &Recipe, version: SchemaVersion) -> Self {
        Self {
            bins: recipe.band.bins,
            keep: recipe.sre.keep,
            csi: recipe.store.csi,
            replay: recipe.replay.is_some(),
            scene: recipe.scene.is_some(),
            transmission: recipe.propagation.transmission,
            outings: recipe.has_outings() && version >= WITH_OUTINGS,
            version: version.min(SCHEMA_VERSION),
        }
    }

    /// Numbers in one stored observation: bins x channels x (re, im).
    #[must_use]
    pub fn csi_len(&self) -> usize {
        self.bins * 4
    }

    /// The schema of a shard.
    #[must_use]
    pub fn schema(&self) -> Arc<Schema> {
        columns::schema(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_read_back_and_those_of_another_major_are_not_ours() {
        for (text, version) in [("1", (1, 0)), ("\"1.1\"", (1, 1)), ("\"12.30\"", (12, 30))] {
            let read: SchemaVersion = serde_json::from_str(text).unwrap();
            assert_eq!((read.major, read.minor), version);
            assert_eq!(serde_json::to_string(&read).unwrap(), text);
        }
        for text in ["-1", "\"1\"", "\"1.x\"", "\"1.2.3\"", "null"] {
            assert!(serde_json::from_str::<SchemaVersion>(text).is_err(), "{text}");
        }
        let SchemaVersion { major, minor } = SCHEMA_VERSION;
        assert!(SchemaVersion { major, minor: minor + 1 }.is_readable());
        assert!(SchemaVersion { major, minor: 0 }.is_readable());
        assert!(!SchemaVersion { major: major + 1, minor: 0 }.is_readable());
    }
}
