//! A plan: a job checked against what is there. Planning writes nothing.

use std::path::Path;

use magnetar_files::{FolderLock, create_folder, create_passing_folder, is_in_store, nearest_folder, place};

use crate::error::DatasetError;
use crate::folder::{Presence, existing, prepare, refuse_foreign_files};
use crate::job::{Job, Pending, shards};
use crate::manifest::{Manifest, SplitManifest};
use crate::recorder::Recorder;

/// A checked job: what is there and fits is kept, what is missing is to be made.
#[derive(Debug)]
pub struct Plan {
    pub(crate) job: Job,
    /// The dataset as planned, with the shards that are there.
    pub(crate) manifest: Manifest,
    pub(crate) pending: Vec<Pending>,
    /// What the folder held when the plan was made.
    before: Option<Manifest>,
    /// Held from the planning on if the folder was there.
    lock: Option<FolderLock>,
    /// Who writes the manifest over the one that was there when the plan was made.
    pub(crate) recorder: Recorder,
    kept: u64,
    /// Splits whose shards are fewer than the parts they are cut into, so that this part has none: name and shards.
    empty: Vec<(String, u64)>,
}

impl Plan {
    /// Checks a job and the folder, and finds what is missing. Shards that are there are hashed. Nothing is written.
    ///
    /// # Errors
    /// A wrong request, an unwritable folder, or a folder that holds another dataset: then it says how they differ.
    pub fn new(mut job: Job) -> Result<Self, DatasetError> {
        job.recipe.check()?;
        job.out = place(&job.out)?;
        let mut manifest = Manifest::new(&job.recipe, job.seed);
        if let Some(backend) = &job.backend {
            manifest.backend = backend.name().to_owned();
        }
        for name in &job.splits {
            job.recipe.split(name)?;
        }
        let (mut asked, mut empty) = (Vec::new(), Vec::new());
        // In the recipe's order and each once, however they were named.
        for (name, split) in
            job.recipe.splits.iter().filter(|(name, _)| job.splits.is_empty() || job.splits.contains(name))
        {
            let sets = job.limit.map_or(split.sets(), |limit| limit.min(split.sets()));
            if sets == 0 {
                return Err(DatasetError::NothingToGenerate);
            }
            let rows = sets * u64::from(split.views);
            let own = shards(&job, name, rows)?;
            if own.is_empty() {
                empty.push((name.clone(), rows.div_ceil(u64::from(job.recipe.store.shard_rows))));
            }
            asked.extend(own);
            manifest
                .splits
                .insert(name.clone(), SplitManifest { rows, views: split.views, ..SplitManifest::default() });
        }
        check_writable(&job.out)?;
        // What is there already stays readable, whoever asked for what.
        let recorder = Recorder::new(&job.out, job.durable || job.out.exists())?;
        let mut plan = Self { job, manifest, pending: Vec::new(), before: None, lock: None, recorder, kept: 0, empty };
        if is_in_store(&plan.job.out) || plan.job.out.exists() {
            plan.lock = Some(FolderLock::acquire(&plan.job.out).map_err(DatasetError::io(&plan.job.out))?);
            plan.before = existing(&plan.job.out)?;
            if let Some(before) = &plan.before {
                asked.extend(adopt(&mut plan.manifest, before, &plan.job.out)?);
            }
            refuse_foreign_files(&plan.job.out, &plan.manifest)?;
        }
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

    /// Splits of which the part asked for has no shard, and how many shards each has in all: fewer than there are parts.
    #[must_use]
    pub fn empty_splits(&self) -> &[(String, u64)] {
        &self.empty
    }

    /// Bytes that are free where the dataset goes, if the system says.
    #[must_use]
    pub fn available_bytes(&self) -> Option<u64> {
        if is_in_store(&self.job.out) {
            return None;
        }
        #[cfg(unix)]
        {
            let found = rustix::fs::statvfs(nearest_folder(&self.job.out)).ok()?;
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
    fn find_missing(&mut self, mut asked: Vec<Pending>) -> Result<(), DatasetError> {
        // A replacement may also be among the shards that were asked for: it comes first and stays.
        let order = |name: &str| self.manifest.splits.get_index_of(name);
        asked.sort_by_key(|shard| (order(&shard.split), shard.number, !shard.replaces));
        asked.dedup_by_key(|shard| (shard.split.clone(), shard.number));
        let presence = Presence::new(&self.job.out);
        for shard in asked {
            let known = self.manifest.splits.get(&shard.split).and_then(|split| split.shard(shard.number));
            let known = known.filter(|info| info.rows == shard.rows).cloned();
            let whole = known.map(|info| presence.is_whole(&shard.split, &info)).transpose()?;
            if whole == Some(true) {
                self.kept += shard.rows;
            } else {
                if let Some(split) = self.manifest.splits.get_mut(&shard.split)
                    && let Ok(place) = split.shards.binary_search_by_key(&shard.number, |info| info.number)
                {
                    split.shards.remove(place);
                }
                self.pending.push(shard);
            }
        }
        Ok(())
    }

    /// Makes the folder ready for writing: locked, and still as it was planned for.
    ///
    /// # Errors
    /// Another process writes there, or has written since the plan was made.
    pub(crate) fn prepare(&mut self) -> Result<(), DatasetError> {
        let out = &self.job.out;
        if self.lock.is_none() {
            self.create_folders()?;
            self.lock = Some(FolderLock::acquire(out).map_err(DatasetError::io(out))?);
            if existing(out)?.is_some() {
                return Err(DatasetError::invalid(
                    out,
                    "another magnetar has written here in the meantime; run this again",
                ));
            }
        }
        prepare(out, &self.manifest, self.before.as_ref())
    }

    /// Makes the dataset's folder; the folders in it are made later, unless none of them has to last.
    fn create_folders(&self) -> Result<(), DatasetError> {
        let out = &self.job.out;
        if self.job.durable {
            return create_folder(out).map_err(DatasetError::io(out));
        }
        let mut inside = self.manifest.splits.keys().map(|name| out.join(name));
        inside.try_for_each(|path| create_passing_folder(&path).map_err(DatasetError::io(&path)))
    }

    /// Writes the manifest unless the folder has it already, or nobody will resume this.
    pub(crate) fn record_changes(&mut self, manifest: &mut Manifest) -> Result<(), DatasetError> {
        let is_needless = match &self.before {
            Some(before) => before == manifest,
            None => !self.job.durable,
        };
        if is_needless { Ok(()) } else { self.recorder.write(manifest) }
    }
}

/// Whether a folder can be made or written, without trying.
fn check_writable(out: &Path) -> Result<(), DatasetError> {
    if is_in_store(out) {
        return Ok(());
    }
    let found = nearest_folder(out);
    if !found.is_dir() {
        return Err(DatasetError::io(out)(std::io::ErrorKind::NotADirectory.into()));
    }
    #[cfg(unix)]
    if rustix::fs::access(found, rustix::fs::Access::WRITE_OK).is_err() {
        return Err(DatasetError::io(out)(std::io::ErrorKind::PermissionDenied.into()));
    }
    Ok(())
}

/// Takes over what an earlier run of the same dataset left. Returns the shards that a smaller limit cut short: they
/// are made again at their new length, and stay as they are until then.
fn adopt(manifest: &mut Manifest, before: &Manifest, folder: &Path) -> Result<Vec<Pending>, DatasetError> {
    // A dataset that an older program began goes on with that program's columns.
    manifest.schema_version = before.schema_version.min(manifest.schema_version);
    let differences = manifest.differences(before);
    if !differences.is_empty() {
        let list = differences.join("\n  ");
        return Err(DatasetError::invalid(
            folder,
            format!(
                "holds another dataset; choose another folder, or ask for the same. They differ in (asked, found):\n  {list}"
            ),
        ));
    }
    manifest.recipe = before.recipe.clone();
    let asked = std::mem::take(&mut manifest.splits);
    let presence = Presence::new(folder);
    let mut replaced = Vec::new();
    // In the recipe's order, whatever the order of the runs: the same dataset has the same manifest.
    for name in before.recipe.splits.keys() {
        let split = match (asked.get(name), before.splits.get(name)) {
            (None, None) => continue,
            (Some(split), None) | (None, Some(split)) => split.clone(),
            (Some(asked), Some(found)) => {
                if found.rows > asked.rows {
                    let problem = format!(
                        "holds {} rows of split {name}, more than the {} asked for; choose another folder",
                        found.rows, asked.rows
                    );
                    return Err(DatasetError::invalid(folder, problem));
                }
                let shard_rows = u64::from(before.recipe.store.shard_rows);
                let mut split = asked.clone();
                for shard in &found.shards {
                    let rows = shard_rows.min(asked.rows - shard.start);
                    if shard.rows == rows {
                        split.shards.push(shard.clone());
                    } else if presence.is_whole(name, shard)? {
                        let (number, start) = (shard.number, shard.start);
                        replaced.push(Pending { split: name.clone(), number, start, rows, replaces: true });
                    }
                }
                split
            }
        };
        manifest.splits.insert(name.clone(), split);
    }
    Ok(replaced)
}
