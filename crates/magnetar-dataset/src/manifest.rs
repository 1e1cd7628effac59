//! The manifest: what a dataset is and which shards it has.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use magnetar_files::{AtomicFile, BoundedReadError, read_text};
use magnetar_signal::PROCESSOR_CLASS;
use serde::{Deserialize, Serialize};

use crate::campaign::Measured;
use crate::checksum::Checksums;
use crate::error::DatasetError;
use crate::recipe::{Recipe, differences, is_split_name};
use crate::replay::STAND_IN;
use crate::schema::{SCHEMA_VERSION, SchemaVersion, Shape};
use crate::shard_lists::{KnownLists, ShardList};

/// Name of the manifest in a dataset's folder.
pub const MANIFEST: &str = "manifest.json";

/// The value of a manifest's `format`.
const FORMAT: &str = "magnetar-dataset";

/// The backend whose rows are the same to the bit everywhere; rows of others agree with them within rounding.
pub(crate) const REFERENCE_BACKEND: &str = "cpu";

/// Version of the arithmetic: the same recipe and seed give the same bits as long as this number stays. Version 2 gives
/// them on every processor of a class; version 1, which recorded no number, did not. Version 3 keeps a board's yaw within
/// [-90, 90) degrees and names its faces accordingly; all other values are those of version 2.
pub const GENERATOR_VERSION: u32 = 3;

/// The class of processors that a manifest without one came from.
const UNRECORDED_CLASS: &str = "unrecorded";

/// A manifest larger than this is not one of ours: a quarter of a million shards take less.
pub(crate) const MAX_MANIFEST_BYTES: u64 = 256 << 20;

/// One Parquet file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShardInfo {
    /// Its number within the split; the file is `part-<number>.parquet`.
    pub number: u64,
    /// Index of its first row.
    pub start: u64,
    /// Rows.
    pub rows: u64,
    /// Size of the file, bytes.
    pub bytes: u64,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// Checksums of its parts, compared whenever they are read; older datasets have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksums: Option<Checksums>,
}

/// The state of one split.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SplitManifest {
    /// Rows when complete.
    pub rows: u64,
    /// Rows of a set.
    pub views: u32,
    /// In the file, blocks of shards that have lists of their own; empty here, as reading takes them in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<ShardList>,
    /// The shards there are, by number.
    pub shards: Vec<ShardInfo>,
}

/// The manifest of a dataset. It holds no times and no host names: the same dataset has the same bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// `magnetar-dataset`.
    pub format: String,
    /// Version of magnetar that made it.
    pub version: String,
    /// Version of the columns.
    pub schema_version: SchemaVersion,
    /// Version of the arithmetic that made the rows, see [`GENERATOR_VERSION`].
    #[serde(default = "first_generator_version")]
    pub generator_version: u32,
    /// Class of the processors that made the rows: those of one class give the same bits.
    #[serde(default = "unrecorded_class")]
    pub processor_class: String,
    /// What made the rows: `cpu` or `cuda`.
    pub backend: String,
    /// What the rows stand for, if they are simulated stand-ins for measurements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<String>,
    /// Where the rows come from, if they were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
    /// The recipe's hash.
    pub recipe_hash: String,
    /// The seed.
    pub seed: u64,
    /// The whole recipe.
    pub recipe: Recipe,
    /// The splits there are.
    pub splits: IndexMap<String, SplitManifest>,
}

/// The version alone, whatever else the manifest holds.
#[derive(Deserialize)]
struct Versioned {
    schema_version: SchemaVersion,
}

impl SplitManifest {
    /// Rows that are there.
    #[must_use]
    pub fn present_rows(&self) -> u64 {
        self.shards.iter().map(|shard| shard.rows).sum()
    }

    /// The record of a shard, if it is there.
    #[must_use]
    pub fn shard(&self, number: u64) -> Option<&ShardInfo> {
        let place = self.shards.binary_search_by_key(&number, |shard| shard.number).ok()?;
        self.shards.get(place)
    }

    /// Whether all rows are there.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.present_rows() == self.rows
    }
}

fn first_generator_version() -> u32 {
    1
}

fn unrecorded_class() -> String {
    UNRECORDED_CLASS.into()
}

/// File name of a shard.
#[must_use]
pub fn shard_name(number: u64) -> String {
    format!("part-{number:05}.parquet")
}

impl Manifest {
    /// A dataset without shards.
    #[must_use]
    pub fn new(recipe: &Recipe, seed: u64) -> Self {
        Self {
            format: FORMAT.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            schema_version: SCHEMA_VERSION,
            generator_version: GENERATOR_VERSION,
            processor_class: PROCESSOR_CLASS.into(),
            backend: REFERENCE_BACKEND.into(),
            stand_in: recipe.replay.is_some().then(|| STAND_IN.into()),
            measured: None,
            recipe_hash: recipe.hash(),
            seed,
            recipe: recipe.clone(),
            splits: IndexMap::new(),
        }
    }

    /// What decides the columns' types.
    #[must_use]
    pub fn shape(&self) -> Shape {
        let shape = Shape::of(&self.recipe, self.schema_version);
        Shape { replay: shape.replay || self.measured.is_some(), ..shape }
    }

    /// Reads and checks a dataset's manifest.
    ///
    /// # Errors
    /// If there is none, or it is not one of ours, or it contradicts itself.
    pub fn read(folder: &Path) -> Result<Self, DatasetError> {
        let path = folder.join(MANIFEST);
        let text = read_whole(&path, MAX_MANIFEST_BYTES, "not a manifest of a magnetar dataset")?;
        Self::from_text(&text, path)
    }

    /// Checks the text of a manifest, which lies at a path.
    pub(crate) fn from_text(text: &str, path: PathBuf) -> Result<Self, DatasetError> {
        // The version comes first: what another one holds may not be what is expected below.
        if let Ok(Versioned { schema_version }) = serde_json::from_str(text)
            && !schema_version.is_readable()
        {
            return Err(DatasetError::Schema { path, found: schema_version });
        }
        let mut manifest: Self = serde_json::from_str(text)
            .map_err(|e| DatasetError::invalid(&path, format!("{e}; expected the manifest of a magnetar dataset")))?;
        if let Some(name) = manifest.splits.keys().find(|name| !is_split_name(name)) {
            return Err(DatasetError::invalid(&path, format!("{name:?} is no name of a split")));
        }
        manifest.take_lists_in(path.parent().unwrap_or(Path::new("")))?;
        manifest.check(&path)?;
        Ok(manifest)
    }

    fn check(&self, path: &Path) -> Result<(), DatasetError> {
        let fail = |problem: String| Err(DatasetError::invalid(path, problem));
        if self.format != FORMAT {
            return fail(format!("format is {:?}, expected {FORMAT:?}", self.format));
        }
        let json = serde_json::to_string(&self.recipe).map_err(|e| DatasetError::invalid(path, e))?;
        Recipe::from_json(&json, &path.display().to_string())?;
        if self.stand_in.as_deref() != self.recipe.replay.is_some().then_some(STAND_IN) {
            return fail("stand_in does not belong to the recipe: the manifest was edited".into());
        }
        if self.recipe.hash() != self.recipe_hash {
            return fail("recipe_hash does not belong to the recipe beside it: the manifest was edited".into());
        }
        let shard_rows = u64::from(self.recipe.store.shard_rows);
        for (name, split) in &self.splits {
            let full = self.recipe.split(name)?.rows();
            if !is_split_name(name) || split.rows > full {
                return fail(format!("split {name} has {} rows, more than the recipe's {full}", split.rows));
            }
            for (i, shard) in split.shards.iter().enumerate() {
                let start = shard.number.checked_mul(shard_rows);
                let expected = start.map_or(0, |start| split.rows.saturating_sub(start).min(shard_rows));
                if start != Some(shard.start) || shard.rows != expected || shard.rows == 0 {
                    return fail(format!("split {name}: shard {} has impossible rows", shard.number));
                }
                if i > 0 && split.shards[i - 1].number >= shard.number {
                    return fail(format!("split {name}: shards are not in order at number {}", shard.number));
                }
            }
        }
        Ok(())
    }

    /// Writes it, whole or not at all.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), DatasetError> {
        let path = folder.join(MANIFEST);
        write_whole(&path, self.to_text(folder, &mut KnownLists::new())?.as_bytes())
    }

    /// Its text, to be written into a folder. Lists of shards that are not known to be there are written.
    pub(crate) fn to_text(&self, folder: &Path, known: &mut KnownLists) -> Result<String, DatasetError> {
        let with_lists = self.has_blocks().then(|| self.with_lists(folder, known)).transpose()?;
        let written = with_lists.as_ref().unwrap_or(self);
        let mut text =
            serde_json::to_string_pretty(written).map_err(|e| DatasetError::invalid(&folder.join(MANIFEST), e))?;
        text.push('\n');
        Ok(text)
    }

    /// Takes in what another process has recorded of the same dataset in the meantime; of a shard that both have, this
    /// record stays.
    ///
    /// # Errors
    /// It is another dataset, or of other rows: then it says how they differ.
    pub(crate) fn join(&mut self, other: &Self) -> Result<(), String> {
        let differences = self.differences(other);
        if !differences.is_empty() {
            return Err(differences.join("\n  "));
        }
        let mut own = std::mem::take(&mut self.splits);
        for name in self.recipe.splits.keys() {
            let split = match (own.swap_remove(name), other.splits.get(name)) {
                (None, None) => continue,
                (Some(split), None) => split,
                (None, Some(theirs)) => theirs.clone(),
                (Some(split), Some(theirs)) if split.rows != theirs.rows => {
                    return Err(format!("rows of split {name}: {}, {}", split.rows, theirs.rows));
                }
                (Some(mut split), Some(theirs)) => {
                    split.shards.extend_from_slice(&theirs.shards);
                    // Stable: of two with one number the first is this one's.
                    split.shards.sort_by_key(|shard| shard.number);
                    split.shards.dedup_by_key(|shard| shard.number);
                    split
                }
            };
            self.splits.insert(name.clone(), split);
        }
        Ok(())
    }

    /// How another dataset's recipe, seed or storage differs from this one's; empty if rows and files of both may
    /// lie in one dataset.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut found = Vec::new();
        for (what, a, b) in [
            ("version", &self.version, &other.version),
            ("schema", &self.schema_version.to_string(), &other.schema_version.to_string()),
            ("generator_version", &self.generator_version.to_string(), &other.generator_version.to_string()),
            ("processor_class", &self.processor_class, &other.processor_class),
            ("backend", &self.backend, &other.backend),
            ("seed", &self.seed.to_string(), &other.seed.to_string()),
        ] {
            if a != b {
                found.push(format!("{what}: {a}, {b}"));
            }
        }
        if self.measured != other.measured {
            found.push("measured: other campaigns or files".to_owned());
        }
        let named = |line: &String| !line.starts_with("name: ") && !line.starts_with("description: ");
        found.extend(differences(&self.recipe, &other.recipe).into_iter().filter(named));
        found
    }

    /// Why this program on this processor does not make the same bits of the recipe and seed; `None` if it does.
    #[must_use]
    pub fn not_reproducible(&self) -> Option<String> {
        if let Some(measured) = &self.measured {
            return Some(format!("they were measured ({})", measured.campaign));
        }
        if self.generator_version != GENERATOR_VERSION {
            let theirs = self.generator_version;
            return Some(format!("generator version {theirs} made them, this program has {GENERATOR_VERSION}"));
        }
        (self.processor_class != PROCESSOR_CLASS).then(|| {
            format!("processors of class {} made them, this one is of class {PROCESSOR_CLASS}", self.processor_class)
        })
    }

    /// Path of a shard.
    #[must_use]
    pub fn shard_path(folder: &Path, split: &str, number: u64) -> PathBuf {
        folder.join(split).join(shard_name(number))
    }

    /// Records a finished shard, in order.
    pub(crate) fn add(&mut self, split: &str, shard: ShardInfo) {
        if let Some(split) = self.splits.get_mut(split) {
            let place = split.shards.partition_point(|other| other.number < shard.number);
            match split.shards.get_mut(place) {
                Some(other) if other.number == shard.number => *other = shard,
                _ => split.shards.insert(place, shard),
            }
        }
    }
}

/// What a dataset's manifest recorded of a file, if the file is one of its shards: the manifest lies two folders above.
///
/// # Errors
/// If there is the manifest of a dataset and it cannot be read.
pub(crate) fn recorded_shard(path: &Path) -> Result<Option<ShardInfo>, DatasetError> {
    #[derive(Deserialize)]
    struct Formatted {
        format: String,
    }
    let Ok(path) = path.canonicalize() else { return Ok(None) };
    let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    let Some((split_folder, folder)) = path.parent().and_then(|split| Some((split, split.parent()?))) else {
        return Ok(None);
    };
    let manifest = match Manifest::read(folder) {
        Ok(manifest) => manifest,
        Err(error) => {
            // Other programs have manifests, too.
            let text = read_text(&folder.join(MANIFEST), MAX_MANIFEST_BYTES).unwrap_or_default();
            let ours = serde_json::from_str::<Formatted>(&text).is_ok_and(|found| found.format == FORMAT);
            return if ours { Err(error) } else { Ok(None) };
        }
    };
    let (split, file) = (name(split_folder).unwrap_or_default(), name(&path).unwrap_or_default());
    let shards = manifest.splits.get(&split).map_or(&[][..], |split| &split.shards);
    let is_file_of =
        |shard: &&ShardInfo| file.starts_with(&shard_name(shard.number)) && shard.file(folder, &split) == path;
    Ok(shards.iter().find(is_file_of).cloned())
}

/// Writes a small file to a temporary name, syncs and renames it.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), DatasetError> {
    AtomicFile::write(path, bytes).map_err(DatasetError::io(path))
}

/// Reads a text file of at most `limit` bytes; `expected` says what it should be where it is something else.
pub(crate) fn read_whole(path: &Path, limit: u64, expected: &str) -> Result<String, DatasetError> {
    read_text(path, limit).map_err(|error| match error {
        BoundedReadError::Io(source) => DatasetError::io(path)(source),
        other => DatasetError::invalid(path, format!("{expected}: {other}")),
    })
}
