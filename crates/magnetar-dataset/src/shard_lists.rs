//! The second level of a large dataset's manifest: where a split has many shards, the records of every full block of them lie
//! in a file of their own beside the shards, and the manifest has its name and hash. So the manifest, which is written again
//! and again while shards are made, stays small.
//!
//! Which blocks those are follows from the shards alone, and what is in them never changes: however a dataset came about,
//! its manifest has the same bytes.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use magnetar_files::{AtomicFile, exists};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::DatasetError;
use crate::manifest::{Manifest, ShardInfo, read_whole};
use crate::recipe::hex;

/// Shards of a block; a few here in tests, so that they have some.
const BLOCK: u64 = if cfg!(test) { 8 } else { 10_000 };

/// A larger file is not a list of ours: ten thousand records take a tenth.
const MAX_LIST_BYTES: u64 = 64 << 20;

/// A block of shards whose records lie in a file of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShardList {
    /// Number of the first shard; the file is `shards-<number>.json` in the split's folder.
    pub first: u64,
    /// Shards.
    pub count: u64,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
}

/// Lists that were written, by split and first shard: a block that is full stays as it is.
pub(crate) type KnownLists = HashMap<(String, u64), ShardList>;

fn list_path(folder: &Path, split: &str, first: u64) -> PathBuf {
    folder.join(split).join(format!("shards-{first:05}.json"))
}

impl Manifest {
    /// Moves full blocks of shards into files and names them instead; those that are not `known` to be there are written.
    pub(crate) fn with_lists(&self, folder: &Path, known: &mut KnownLists) -> Result<Self, DatasetError> {
        let mut manifest = self.clone();
        let shard_rows = u64::from(self.recipe.store.shard_rows);
        for (name, split) in &mut manifest.splits {
            let shards = std::mem::take(&mut split.shards);
            let mut rest = shards.as_slice();
            while let Some(first) = rest.first() {
                // All of the block, and each of full length: that of a cut one changes when the dataset grows.
                let end = rest.partition_point(|shard| shard.number < first.number / BLOCK * BLOCK + BLOCK);
                let (block, after) = rest.split_at(end);
                rest = after;
                let full = block.len() as u64 == BLOCK && block.iter().all(|shard| shard.rows == shard_rows);
                if !full {
                    split.shards.extend_from_slice(block);
                    continue;
                }
                let key = (name.clone(), first.number);
                if !known.contains_key(&key) {
                    known.insert(key.clone(), write_list(folder, name, block)?);
                }
                split.lists.extend(known.get(&key).cloned());
            }
        }
        Ok(manifest)
    }

    /// Whether [`Self::with_lists`] changes anything: as good as never.
    pub(crate) fn has_blocks(&self) -> bool {
        self.splits.values().any(|split| split.shards.len() as u64 >= BLOCK)
    }

    /// Takes the shards of named blocks back in.
    pub(crate) fn take_lists_in(&mut self, folder: &Path) -> Result<(), DatasetError> {
        for (name, split) in &mut self.splits {
            if split.lists.is_empty() {
                continue;
            }
            let mut shards = Vec::new();
            for list in std::mem::take(&mut split.lists) {
                shards.extend(read_list(folder, name, &list)?);
            }
            shards.append(&mut split.shards);
            shards.sort_by_key(|shard| shard.number);
            split.shards = shards;
        }
        Ok(())
    }
}

fn write_list(folder: &Path, split: &str, block: &[ShardInfo]) -> Result<ShardList, DatasetError> {
    let first = block.first().map_or(0, |shard| shard.number);
    let path = list_path(folder, split, first);
    let mut text = serde_json::to_string_pretty(block).map_err(|e| DatasetError::invalid(&path, e))?;
    text.push('\n');
    let list = ShardList { first, count: block.len() as u64, sha256: hex(&Sha256::digest(&text)) };
    let there = exists(&path).map_err(DatasetError::io(&path))? && read_list(folder, split, &list).is_ok();
    if !there {
        let mut file = AtomicFile::create(&path).map_err(DatasetError::io(&path))?;
        file.write_all(text.as_bytes()).and_then(|()| file.commit_version()).map_err(DatasetError::io(&path))?;
    }
    Ok(list)
}

fn read_list(folder: &Path, split: &str, list: &ShardList) -> Result<Vec<ShardInfo>, DatasetError> {
    let path = list_path(folder, split, list.first);
    let text = read_whole(&path, MAX_LIST_BYTES, "not a list of shards of a magnetar dataset")?;
    if hex(&Sha256::digest(&text)) != list.sha256 {
        let problem = "damaged: its SHA-256 is not the manifest's; bring back a copy, or make the dataset again";
        return Err(DatasetError::invalid(&path, problem));
    }
    let shards: Vec<ShardInfo> = serde_json::from_str(&text)
        .map_err(|e| DatasetError::invalid(&path, format!("{e}; expected a list of shards of a magnetar dataset")))?;
    if shards.len() as u64 != list.count || shards.first().map(|shard| shard.number) != Some(list.first) {
        return Err(DatasetError::invalid(&path, "does not hold the shards that the manifest says"));
    }
    Ok(shards)
}
