//! The edge to the Parquet reader, which panics on some damaged files: here that is an error like any other.

use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use magnetar_files::{ReaderPanicked, guard};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowSelection, RowSelector,
};
use parquet::errors::ParquetError;

use crate::checksum::{check_columns, check_footer};
use crate::error::DatasetError;
use crate::manifest::ShardInfo;
use crate::page_bounds::check_pages;
use crate::parquet_input::ParquetInput;
use crate::shard::parquet_error;

/// What reads a Parquet file.
pub(crate) type Builder = ParquetRecordBatchReaderBuilder<ParquetInput>;

/// A shard whose footer was compared with its checksum and read.
pub(crate) struct OpenShard {
    /// What reads it.
    pub builder: Builder,
    input: ParquetInput,
}

/// Opens a shard and reads its footer.
///
/// # Errors
/// If there is no such file, or it is damaged.
pub(crate) fn open(path: &Path, shard: &ShardInfo, options: ArrowReaderOptions) -> Result<OpenShard, DatasetError> {
    let input = ParquetInput::open(path).map_err(DatasetError::io(path))?;
    check_footer(input.file(), path, shard)?;
    let builder = flatten(path, guard(|| Builder::try_new_with_options(input.clone(), options)))?;
    Ok(OpenShard { builder, input })
}

impl OpenShard {
    /// What reads some leaves of the schema, once they were compared with their checksums and the sizes of their pages with
    /// what is read.
    ///
    /// # Errors
    /// Names the column that is damaged.
    pub(crate) fn with_leaves(self, path: &Path, shard: &ShardInfo, leaves: &[usize]) -> Result<Builder, DatasetError> {
        let check = || {
            check_columns(self.input.file(), path, shard, self.builder.metadata(), leaves)?;
            check_pages(&self.input, self.builder.metadata(), leaves)
                .map_err(|source| DatasetError::Pages { path: path.to_owned(), source })
        };
        guard(check).map_err(DatasetError::panicked(path))??;
        let mask = ProjectionMask::leaves(self.builder.parquet_schema(), leaves.iter().copied());
        Ok(self.builder.with_projection(mask))
    }
}

fn flatten<T>(path: &Path, result: Result<Result<T, ParquetError>, ReaderPanicked>) -> Result<T, DatasetError> {
    result.map_err(DatasetError::panicked(path))?.map_err(|e| parquet_error(path, e))
}

/// Rows of a shard, batch by batch; it ends with the first error.
pub(crate) struct Batches {
    /// `None` after an error: a reader that panicked is not asked again.
    reader: Option<ParquetRecordBatchReader>,
    path: PathBuf,
    /// Index of the next row.
    row: u64,
    /// Rows still to be read and left out.
    skip: u64,
    /// Rows still to be given.
    left: u64,
}

impl Batches {
    /// `rows` rows of a shard from its row number `skip` on; fewer, if it ends before.
    ///
    /// The reader's own way of skipping never ends where a page has fewer levels than its header says (parquet 60.1), so it is
    /// taken only where checksums vouch for the pages. Else all rows are read, and those before are left out.
    pub(crate) fn new(
        builder: Builder,
        path: PathBuf,
        shard: &ShardInfo,
        skip: u64,
        rows: u64,
    ) -> Result<Self, DatasetError> {
        let jumps = (skip > 0 || rows < shard.rows) && shard.checksums.is_some();
        let builder = if jumps {
            let [skip, rows] = [skip, rows].map(|rows| usize::try_from(rows).unwrap_or(usize::MAX));
            builder.with_row_selection(RowSelection::from(vec![RowSelector::skip(skip), RowSelector::select(rows)]))
        } else {
            builder
        };
        let reader = Some(flatten(&path, guard(|| builder.build()))?);
        let (before, skip) = if jumps { (skip, 0) } else { (0, skip) };
        Ok(Self { reader, path, row: shard.start + before, skip, left: rows })
    }

    /// The next batch of the file.
    fn read(&mut self) -> Option<Result<RecordBatch, DatasetError>> {
        let reader = self.reader.as_mut()?;
        let batch = match guard(|| reader.next()) {
            Ok(batch) => batch?.map_err(|source| DatasetError::Rows { path: self.path.clone(), row: self.row, source }),
            Err(panicked) => Err(DatasetError::panicked(&self.path)(panicked)),
        };
        match &batch {
            Ok(batch) => self.row += batch.num_rows() as u64,
            Err(_) => self.reader = None,
        }
        Some(batch)
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.left > 0 {
            let batch = match self.read()? {
                Ok(batch) => batch,
                Err(error) => return Some(Err(error)),
            };
            let rows = batch.num_rows() as u64;
            let skipped = self.skip.min(rows);
            let given = (rows - skipped).min(self.left);
            self.skip -= skipped;
            self.left -= given;
            if given > 0 {
                // Both are at most the rows of the batch.
                return Some(Ok(batch.slice(skipped as usize, given as usize)));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use tempfile::TempDir;

    use crate::row_batches::RowBatches;
    use crate::{Columns, Dataset, Job, Manifest, Plan, Recipe};

    /// A few rows without checksums, as older datasets are: with them the reader would not see any damage.
    fn without_checksums(sets: &[&str], rows: u64) -> (TempDir, Dataset) {
        let folder = tempfile::tempdir().unwrap();
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        let recipe = Arc::new(Recipe::load("paper", &sets).unwrap());
        let (out, splits) = (folder.path().to_owned(), vec!["test".to_owned()]);
        let job = Job { splits, limit: Some(rows), ..Job::new(recipe, 1, &out) };
        Plan::new(job).unwrap().run(&|_| {}).unwrap();
        let mut manifest = Manifest::read(folder.path()).unwrap();
        manifest.splits["test"].shards[0].checksums = None;
        manifest.write(folder.path()).unwrap();
        let dataset = Dataset::open(folder.path()).unwrap();
        (folder, dataset)
    }

    /// Pages whose levels are cut short: the Parquet reader would skip over them for ever.
    #[test]
    fn reading_one_row_ends_whatever_byte_is_changed() {
        let (folder, dataset) = without_checksums(&["store.csi=none", "store.compression=none"], 12);
        let path = folder.path().join("test/part-00000.parquet");
        let whole = fs::read(&path).unwrap();
        let end = whole.len() - 8;
        let pages = end - u32::from_le_bytes(whole[end..end + 4].try_into().unwrap()) as usize;
        let mut refused = 0;
        for at in (4..pages).step_by(2) {
            let mut bytes = whole.clone();
            bytes[at] ^= [0x73, 0x01, 0x80, 0xff][at % 4];
            fs::write(&path, bytes).unwrap();
            refused += usize::from(dataset.read_row("test", 11, Columns::All).is_err());
        }
        assert!(refused > 100, "{refused} of {pages}");
    }

    #[test]
    fn rows_are_found_with_and_without_checksums() {
        let (_folder, dataset) = without_checksums(&["store.csi=none"], 600);
        let all: Vec<_> = dataset.records("test", Columns::All).unwrap().map(Result::unwrap).collect();
        for index in [0, 1, 255, 256, 257, 599] {
            assert_eq!(dataset.read_row("test", index, Columns::All).unwrap(), all[index as usize]);
        }
        for (start, rows) in [(0, 3), (250, 20), (255, 1), (256, 300), (590, 100)] {
            let batches = RowBatches::new(&dataset, "test", Columns::All).unwrap().from_row(start, rows);
            let read: Vec<_> = batches.flat_map(|batch| crate::columns::records(&batch.unwrap()).unwrap()).collect();
            let end = (start + rows).min(600) as usize;
            assert!(read == all[start as usize..end], "{start} {rows}");
        }
    }

    #[test]
    fn no_changed_byte_of_a_footer_panics() {
        let (folder, dataset) = without_checksums(&["store.csi=none"], 3);
        let path = folder.path().join("test/part-00000.parquet");
        let whole = fs::read(&path).unwrap();
        let end = whole.len() - 8;
        let length = u32::from_le_bytes(whole[end..end + 4].try_into().unwrap()) as usize;
        // Most of a footer are texts of ours, the recipe among them: there some bytes stand for all.
        let texts = whole.windows(15).rposition(|text| text == b"magnetar.recipe").unwrap();
        let places = (end - length..texts).step_by(2).chain((texts..end).step_by(32));
        let (mut tried, mut refused) = (0, 0);
        for at in places {
            let mut bytes = whole.clone();
            bytes[at] ^= [0x01, 0x10, 0x80, 0xff][tried % 4];
            fs::write(&path, bytes).unwrap();
            let rows = dataset.records("test", Columns::All).unwrap();
            tried += 1;
            refused += usize::from(rows.collect::<Result<Vec<_>, _>>().is_err());
        }
        assert!(refused > tried / 4, "{refused} of {tried}");
    }
}
