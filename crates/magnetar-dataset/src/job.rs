//! A job: which shards to make, where; checked before any work.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use magnetar_signal::SynthesisBackend;

use crate::error::Error;
use crate::manifest::{MANIFEST, Manifest, SplitManifest, shard_name};
use crate::recipe::Recipe;
use crate::shard::{ShardPlan, is_whole};

/// Which shards of a split to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Slice {
    /// All of them.
    #[default]
    All,
    /// The `part`-th (from 1) of `parts` runs of shards that differ in length by at most one.
    Part {
        /// From 1 to `parts`.
        part: u64,
        /// How many parts.
        parts: u64,
    },
    /// Shards `first` to `last`, `last` excluded.
    Shards {
        /// The first.
        first: u64,
        /// One past the last.
        last: u64,
    },
}

/// What to generate.
#[derive(Debug, Clone)]
pub struct Job {
    /// The recipe.
    pub recipe: Arc<Recipe>,
    /// The seed.
    pub seed: u64,
    /// The dataset's folder.
    pub out: PathBuf,
    /// Splits by name; empty for all of the recipe's.
    pub splits: Vec<String>,
    /// Only the first so many samples (sets, where views share a layout) of each split.
    pub limit: Option<u64>,
    /// Which shards of each split.
    pub slice: Slice,
    /// Worker threads; 0 for one a core.
    pub threads: usize,
    /// What synthesises the observations; `None` for the worker threads themselves.
    pub backend: Option<Arc<dyn SynthesisBackend>>,
}

/// A shard to make, by position of its split in the manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pending {
    pub split: String,
    pub number: u64,
    pub start: u64,
    pub rows: u64,
}

impl Pending {
    pub(crate) fn plan(&self) -> ShardPlan<'_> {
        ShardPlan { split: &self.split, number: self.number, start: self.start, rows: self.rows }
    }
}

/// A checked job: the folder is writable and locked, and holds nothing that does not belong.
#[derive(Debug)]
pub struct Plan {
    pub(crate) job: Job,
    pub(crate) manifest: Manifest,
    pub(crate) pending: Vec<Pending>,
    /// Holds the folder's lock until the job is done.
    pub(crate) _lock: Option<File>,
    kept: u64,
}

impl Plan {
    /// Checks a job and the folder, and finds what is missing. Shards that are there are hashed.
    ///
    /// # Errors
    /// A wrong request, an unwritable folder, or a folder that holds another dataset: then it says how they differ.
    pub fn new(job: Job) -> Result<Self, Error> {
        job.recipe.check()?;
        let mut manifest = Manifest::new(&job.recipe, job.seed);
        if let Some(backend) = &job.backend {
            manifest.backend = backend.name().to_owned();
        }
        let mut asked = Vec::new();
        let names: Vec<String> =
            if job.splits.is_empty() { job.recipe.splits.keys().cloned().collect() } else { job.splits.clone() };
        for name in names {
            let split = job.recipe.split(&name)?;
            let sets = job.limit.map_or(split.sets(), |limit| limit.min(split.sets()));
            if sets == 0 {
                return Err(Error::Request("--limit 0 leaves nothing to generate; give at least 1".into()));
            }
            let rows = sets * u64::from(split.views);
            asked.extend(shards(&job, &name, rows)?);
            manifest.splits.insert(name, SplitManifest { rows, views: split.views, shards: Vec::new() });
        }
        fs::create_dir_all(&job.out).map_err(Error::io(&job.out))?;
        let lock = lock(&job.out)?;
        if let Some(before) = existing(&job.out)? {
            adopt(&mut manifest, &before, &job.out)?;
        }
        remove_strangers(&job.out, &manifest)?;
        let mut plan = Self { job, manifest, pending: Vec::new(), _lock: lock, kept: 0 };
        plan.find_missing(asked)?;
        Ok(plan)
    }

    /// Rows to make.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.pending.iter().map(|shard| shard.rows).sum()
    }

    /// Shards to make.
    #[must_use]
    pub fn shards(&self) -> usize {
        self.pending.len()
    }

    /// Rows that were asked for and are there already.
    #[must_use]
    pub fn kept_rows(&self) -> u64 {
        self.kept
    }

    /// Bytes that are free where the dataset goes, if the system tells.
    #[must_use]
    pub fn available_bytes(&self) -> Option<u64> {
        #[cfg(unix)]
        {
            let found = rustix::fs::statvfs(&self.job.out).ok()?;
            Some(found.f_bavail.saturating_mul(found.f_frsize))
        }
        #[cfg(not(unix))]
        None
    }

    /// Splits and the rows to make of each.
    #[must_use]
    pub fn rows_by_split(&self) -> Vec<(String, u64)> {
        let mut splits: Vec<(String, u64)> = Vec::new();
        for shard in &self.pending {
            match splits.last_mut() {
                Some((name, rows)) if *name == shard.split => *rows += shard.rows,
                _ => splits.push((shard.split.clone(), shard.rows)),
            }
        }
        splits
    }

    /// Keeps the asked shards that are whole, forgets those that are not.
    fn find_missing(&mut self, asked: Vec<Pending>) -> Result<(), Error> {
        for shard in asked {
            let known = self.manifest.splits.get(&shard.split).and_then(|split| {
                split.shards.iter().find(|info| info.number == shard.number && info.rows == shard.rows).cloned()
            });
            let path = Manifest::shard_path(&self.job.out, &shard.split, shard.number);
            if known.is_some_and(|info| is_whole(&path, &info)) {
                self.kept += shard.rows;
            } else {
                if let Some(split) = self.manifest.splits.get_mut(&shard.split) {
                    split.shards.retain(|info| info.number != shard.number);
                }
                self.pending.push(shard);
            }
        }
        // The folders and the manifest come first: a shard without a manifest is nobody's.
        for split in self.manifest.splits.keys() {
            let folder = self.job.out.join(split);
            fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
        }
        self.manifest.write(&self.job.out)
    }
}

/// The shards a job asks of one split.
fn shards(job: &Job, split: &str, rows: u64) -> Result<Vec<Pending>, Error> {
    let shard_rows = u64::from(job.recipe.store.shard_rows);
    let count = rows.div_ceil(shard_rows);
    let range = match job.slice {
        Slice::All => 0..count,
        Slice::Part { part, parts } => {
            if part == 0 || part > parts {
                return Err(Error::Request(format!("--part {part}/{parts}: expected I/N with I from 1 to N")));
            }
            let edge = |i: u64| u64::try_from(u128::from(count) * u128::from(i) / u128::from(parts)).unwrap_or(count);
            edge(part - 1)..edge(part)
        }
        Slice::Shards { first, last } => {
            if first >= last || last > count {
                return Err(Error::Request(format!(
                    "--shards {first}..{last}: split {split} has shards 0..{count} of {shard_rows} rows"
                )));
            }
            first..last
        }
    };
    Ok(range
        .map(|number| {
            let start = number * shard_rows;
            Pending { split: split.to_owned(), number, start, rows: shard_rows.min(rows - start) }
        })
        .collect())
}

/// One writer a folder. The lock is the folder's own, so that nothing is left behind.
///
/// # Errors
/// If another process writes there.
pub fn lock(folder: &Path) -> Result<Option<File>, Error> {
    // Only Unix opens folders as files; elsewhere there is no lock.
    let Ok(file) = File::open(folder) else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(fs::TryLockError::WouldBlock) => {
            Err(Error::invalid(folder, "another magnetar is writing here; wait for it, or choose another folder"))
        }
        // Some network file systems know no locks.
        Err(fs::TryLockError::Error(_)) => Ok(None),
    }
}

/// The manifest that is there, if any; refuses a folder with Parquet files but no manifest.
pub(crate) fn existing(folder: &Path) -> Result<Option<Manifest>, Error> {
    let mut parquet = false;
    for entry in fs::read_dir(folder).map_err(Error::io(folder))? {
        let path = entry.map_err(Error::io(folder))?.path();
        parquet |= path.extension().is_some_and(|e| e == "parquet") || has_parquet(&path);
    }
    match (folder.join(MANIFEST).exists(), parquet) {
        (true, true) => Manifest::read(folder).map(Some),
        // A run that was stopped before its first shard binds nobody.
        (true, false) => {
            Ok(Manifest::read(folder).ok().filter(|before| before.splits.values().any(|s| !s.shards.is_empty())))
        }
        (false, true) => {
            let problem = "holds Parquet files but no manifest.json; choose another --out, or remove them";
            Err(Error::invalid(folder, problem))
        }
        (false, false) => Ok(None),
    }
}

fn has_parquet(folder: &Path) -> bool {
    fs::read_dir(folder)
        .is_ok_and(|mut entries| entries.any(|e| e.is_ok_and(|e| e.path().extension().is_some_and(|x| x == "parquet"))))
}

/// Takes over what an earlier run of the same dataset left.
fn adopt(manifest: &mut Manifest, before: &Manifest, folder: &Path) -> Result<(), Error> {
    // A dataset that an older program began goes on with that program's columns.
    manifest.schema_version = before.schema_version.min(manifest.schema_version);
    let differences = manifest.differences(before);
    if !differences.is_empty() {
        let list = differences.join("\n  ");
        return Err(Error::invalid(
            folder,
            format!(
                "holds another dataset; choose another --out, or ask for the same. They differ in (asked, found):\n  {list}"
            ),
        ));
    }
    manifest.recipe = before.recipe.clone();
    let asked = std::mem::take(&mut manifest.splits);
    // In the recipe's order, whatever the order of the runs: the same dataset has the same manifest.
    for name in before.recipe.splits.keys() {
        match (asked.get(name), before.splits.get(name)) {
            (None, None) => {}
            (Some(split), None) | (None, Some(split)) => {
                manifest.splits.insert(name.clone(), split.clone());
            }
            (Some(asked), Some(found)) => {
                if found.rows > asked.rows {
                    return Err(Error::invalid(
                        folder,
                        format!(
                            "holds {} rows of split {name}, more than the {} asked for; choose another --out",
                            found.rows, asked.rows
                        ),
                    ));
                }
                let shard_rows = u64::from(before.recipe.store.shard_rows);
                let mut split = asked.clone();
                // A last shard that was cut short by a smaller limit is made again.
                split.shards = found
                    .shards
                    .iter()
                    .filter(|shard| shard.rows == shard_rows.min(asked.rows - shard.start))
                    .cloned()
                    .collect();
                manifest.splits.insert(name.clone(), split);
            }
        }
    }
    Ok(())
}

/// Removes what interrupted runs left, and refuses Parquet files that do not belong.
pub(crate) fn remove_strangers(folder: &Path, manifest: &Manifest) -> Result<(), Error> {
    tidy(folder, |_| false)?;
    for (name, split) in &manifest.splits {
        let count = split.rows.div_ceil(u64::from(manifest.recipe.store.shard_rows));
        let own = |file: &str| {
            let number = file.strip_prefix("part-").and_then(|rest| rest.strip_suffix(".parquet")?.parse::<u64>().ok());
            number.is_some_and(|number| number < count && shard_name(number) == file)
        };
        tidy(&folder.join(name), own)?;
    }
    Ok(())
}

fn tidy(folder: &Path, own: impl Fn(&str) -> bool) -> Result<(), Error> {
    remove_unfinished(folder)?;
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry.map_err(Error::io(folder))?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        if path.extension().is_some_and(|e| e == "parquet") && !own(name) {
            return Err(Error::invalid(&path, "does not belong to this dataset; move it away"));
        }
    }
    Ok(())
}

/// Removes the unfinished files that a killed run left in a folder. The caller holds its lock.
///
/// # Errors
/// If one cannot be removed.
pub fn remove_unfinished(folder: &Path) -> Result<(), Error> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry.map_err(Error::io(folder))?.path();
        let unfinished = path
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|n| n.starts_with(magnetar_files::TEMPORARY_PREFIX));
        if unfinished && path.is_file() {
            fs::remove_file(&path).map_err(Error::io(&path))?;
        }
    }
    Ok(())
}
