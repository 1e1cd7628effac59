//! Reading a dataset: whole splits in bounded memory, or single rows.

use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use magnetar_files::{FolderLock, exists, place};
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::file::metadata::PageIndexPolicy;

use crate::card;
use crate::columns;
use crate::error::DatasetError;
use crate::guarded::{self, Batches, Builder};
use crate::manifest::{Manifest, ShardInfo, SplitManifest, write_whole};
use crate::recipe::Recipe;
use crate::record::Record;
use crate::row_batches::RowBatches;
use crate::shard::{ShardPlan, key_values};

/// Rows decoded at a time.
const BATCH_ROWS: usize = 256;

/// What to read of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Columns {
    /// All columns.
    All,
    /// All but the observation, which is nine tenths of a row.
    WithoutCsi,
}

/// A dataset on disk, or in a store.
#[derive(Debug, Clone)]
pub struct Dataset {
    folder: PathBuf,
    manifest: Manifest,
}

impl Dataset {
    /// Opens a dataset by its folder, on this machine or in a store.
    ///
    /// # Errors
    /// If its manifest is missing or wrong. Shards are checked when they are read.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, DatasetError> {
        let folder = place(folder.as_ref())?;
        let manifest = folder.join(crate::manifest::MANIFEST);
        if !exists(&manifest).map_err(DatasetError::io(&manifest))? {
            return Err(DatasetError::invalid(&folder, "no manifest.json here; give the folder of a dataset"));
        }
        let manifest = Manifest::read(&folder)?;
        Ok(Self { folder, manifest })
    }

    /// Its folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its manifest.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Its recipe.
    #[must_use]
    pub fn recipe(&self) -> &Recipe {
        &self.manifest.recipe
    }

    /// Writes the card anew with the figures of an audit (Markdown) at its end.
    ///
    /// # Errors
    /// If the folder is being written by another run, or the card cannot be written.
    pub fn write_audit(&self, figures: &str) -> Result<(), DatasetError> {
        let _lock = FolderLock::acquire(&self.folder).map_err(DatasetError::io(&self.folder))?;
        write_whole(&self.folder.join(card::CARD), card::card_with_audit(&self.manifest, figures).as_bytes())
    }

    /// A split's part of the manifest.
    ///
    /// # Errors
    /// Names the splits there are if it is none of them.
    pub fn split(&self, name: &str) -> Result<&SplitManifest, DatasetError> {
        self.manifest.splits.get(name).ok_or_else(|| {
            let known: Vec<_> = self.manifest.splits.keys().map(String::as_str).collect();
            DatasetError::invalid(&self.folder, format!("no split {name:?} here; there is {}", known.join(", ")))
        })
    }

    /// All rows of a split that are there, in index order, a few hundred in memory at a time. After an error the
    /// iterator ends.
    ///
    /// # Errors
    /// If there is no such split.
    pub fn records(&self, split: &str, columns: Columns) -> Result<Records<'_>, DatasetError> {
        Ok(Records { batches: RowBatches::new(self, split, columns)?, rows: Vec::new().into_iter() })
    }

    /// At most `limit` rows of a split, a fair sample of all: the first ones where rows are independent draws; of a
    /// replay, whose rows follow its protocol, rows spread evenly over it.
    ///
    /// # Errors
    /// If there is no such split.
    pub fn sample(
        &self,
        split: &str,
        columns: Columns,
        limit: u64,
    ) -> Result<impl Iterator<Item = Result<Record, DatasetError>> + use<'_>, DatasetError> {
        let rows = self.split(split)?.present_rows();
        let chosen = self.follows_protocol().then(|| spread(rows, limit));
        let taken = move |n: u64| chosen.as_ref().is_none_or(|chosen| chosen(n));
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let rows = (0..).zip(self.records(split, columns)?);
        // An error is given whichever row it is at.
        Ok(rows.filter(move |(n, row)| row.is_err() || taken(*n)).map(|(_, row)| row).take(limit))
    }

    /// Whether rows follow a protocol and are no independent draws.
    fn follows_protocol(&self) -> bool {
        self.manifest.stand_in.is_some() || self.manifest.measured.is_some()
    }

    /// Refuses measured rows without the true TX pose.
    ///
    /// # Errors
    /// Says what can be done with them.
    pub fn require_truth(&self) -> Result<(), DatasetError> {
        match &self.manifest.measured {
            Some(measured) if !measured.truth => {
                let problem = "its rows were measured without the TX's pose (tx_x, tx_y, tx_heading_deg), so nothing can be \
                               compared with it; stats and verify take them, and `locate` the snapshots themselves";
                Err(DatasetError::invalid(&self.folder, problem))
            }
            _ => Ok(()),
        }
    }

    /// How many rows [`Self::sample`] gives.
    ///
    /// # Errors
    /// If there is no such split.
    pub fn sample_rows(&self, split: &str, limit: u64) -> Result<u64, DatasetError> {
        Ok(self.split(split)?.present_rows().min(limit))
    }

    /// The rows of one shard.
    pub(crate) fn shard_records(
        &self,
        split: &str,
        shard: &ShardInfo,
        columns: Columns,
    ) -> Result<Records<'_>, DatasetError> {
        let batches = RowBatches::of_shards(self, split, columns, vec![shard.clone()]);
        Ok(Records { batches, rows: Vec::new().into_iter() })
    }

    /// One row of a split.
    ///
    /// # Errors
    /// If the row is not there or its shard cannot be read.
    pub fn read_row(&self, split: &str, index: u64, columns: Columns) -> Result<Record, DatasetError> {
        let batch = self.read_batch(split, index, columns)?;
        self.decode(split, &batch)?
            .pop()
            .ok_or_else(|| DatasetError::invalid(&self.folder, format!("row {index} of split {split} is missing")))
    }

    /// Row number `index` of a split, as Arrow columns.
    pub(crate) fn read_batch(&self, split: &str, index: u64, columns: Columns) -> Result<RecordBatch, DatasetError> {
        let shards = &self.split(split)?.shards;
        let shard = shards
            .iter()
            .find(|shard| (shard.start..shard.start + shard.rows).contains(&index))
            .ok_or_else(|| DatasetError::invalid(&self.folder, format!("split {split} has no row {index}")))?;
        let path = shard.file(&self.folder, split);
        let builder = self.builder(split, shard, columns)?;
        match Batches::new(builder, path.clone(), shard, index - shard.start, 1)?.next() {
            Some(batch) => batch,
            None => Err(DatasetError::invalid(&path, format!("row {index} is missing"))),
        }
    }

    /// A shard's reader: footer, schema and the columns that will be read are checked.
    pub(crate) fn builder(&self, split: &str, shard: &ShardInfo, what: Columns) -> Result<Builder, DatasetError> {
        let path = shard.file(&self.folder, split);
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
        let open = guarded::open(&path, shard, options)?;
        let builder = &open.builder;
        let plan = ShardPlan { split, number: shard.number, start: shard.start, rows: shard.rows };
        check_footer(&self.manifest, &plan, builder).map_err(|problem| DatasetError::invalid(&path, problem))?;
        let shape = self.manifest.shape();
        columns::check_schema(builder.schema(), &shape)
            .map_err(|source| DatasetError::Columns { path: path.clone(), source })?;
        // Columns that a newer version added, or somebody else, are not even decoded.
        let wanted = columns::leaf_names(&shape, what == Columns::All);
        let leaves = builder.parquet_schema().columns().iter().enumerate();
        let kept = leaves.filter(|(_, leaf)| wanted.contains(&columns::leaf_name(leaf.path().parts())));
        let kept: Vec<usize> = kept.map(|(leaf, _)| leaf).collect();
        Ok(open.with_leaves(&path, shard, &kept)?.with_batch_size(BATCH_ROWS))
    }

    /// Typed rows of a batch of a split.
    pub(crate) fn decode(&self, split: &str, batch: &RecordBatch) -> Result<Vec<Record>, DatasetError> {
        columns::records(batch).map_err(|source| DatasetError::Columns { path: self.folder.join(split), source })
    }
}

/// A shard must say of itself what the manifest says of it.
fn check_footer(manifest: &Manifest, plan: &ShardPlan<'_>, builder: &Builder) -> Result<(), String> {
    let file = builder.metadata().file_metadata();
    let empty = Vec::new();
    let found = file.key_value_metadata().unwrap_or(&empty);
    for (key, expected) in key_values(manifest, plan).map_err(|e| e.to_string())? {
        let value = found.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.as_deref());
        if value != Some(expected.as_str()) {
            let short = |text: &str| text.chars().take(80).collect::<String>();
            return Err(format!(
                "a shard of another dataset: {key} is {}, expected {}",
                value.map_or_else(|| "absent".into(), short),
                short(&expected)
            ));
        }
    }
    if u64::try_from(file.num_rows()).ok() != Some(plan.rows) {
        return Err(format!("{} rows, expected {}", file.num_rows(), plan.rows));
    }
    Ok(())
}

/// The rows of a split, in index order.
pub struct Records<'a> {
    batches: RowBatches<&'a Dataset>,
    rows: std::vec::IntoIter<Record>,
}

/// Which of so many rows are among `limit` that are spread evenly over all and do not fall in with a protocol's own period:
/// those whose number, times one that has no factor in common with the rows' and is near their golden section, is below the
/// limit, counted modulo the rows.
fn spread(rows: u64, limit: u64) -> impl Fn(u64) -> bool {
    let common = |a: u64, b: u64| {
        let (mut a, mut b) = (a, b);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let golden = (rows as f64 * 0.618_033_988_749_895) as u64;
    let factor = (golden.max(1)..).find(|factor| common(rows, *factor) == 1).unwrap_or(1);
    move |row| u128::from(row) * u128::from(factor) % u128::from(rows.max(1)) < u128::from(limit)
}

impl Iterator for Records<'_> {
    type Item = Result<Record, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(record) = self.rows.next() {
                return Some(Ok(record));
            }
            let batch = self.batches.next()?;
            match batch.and_then(|batch| self.batches.decode(&batch)) {
                Ok(rows) => self.rows = rows.into_iter(),
                Err(error) => {
                    self.batches.stop();
                    return Some(Err(error));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_as_many_rows_as_were_asked_for_from_everywhere() {
        for (rows, limit) in [(300, 43), (300, 50), (300, 200), (300, 299), (5640, 1000), (1, 1), (7, 3), (0, 5)] {
            let chosen = spread(rows, limit);
            let taken: Vec<u64> = (0..rows).filter(|row| chosen(*row)).collect();
            assert_eq!(taken.len() as u64, rows.min(limit), "{rows} {limit}");
            let gaps = taken.windows(2).map(|pair| pair[1] - pair[0]);
            assert!(gaps.max().unwrap_or(0) <= 3 * rows.div_ceil(limit), "{rows} {limit}");
        }
    }
}
