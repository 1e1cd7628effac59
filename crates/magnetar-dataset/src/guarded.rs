//! The edge to the Parquet reader, which panics on some damaged files: here that is an error like any other.

use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use magnetar_files::{ReaderPanicked, guard};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
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

/// Rows of a Parquet file, batch by batch; it ends with the first error.
pub(crate) struct Batches {
    /// `None` after an error: a reader that panicked is not asked again.
    reader: Option<ParquetRecordBatchReader>,
    path: PathBuf,
    /// Index of the next row.
    row: u64,
}

impl Batches {
    /// `row` is the index of the first row.
    pub(crate) fn new(builder: Builder, path: PathBuf, row: u64) -> Result<Self, DatasetError> {
        let reader = flatten(&path, guard(|| builder.build()))?;
        Ok(Self { reader: Some(reader), path, row })
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use crate::{Columns, Dataset, Job, Manifest, Plan, Recipe};

    #[test]
    fn no_changed_byte_of_a_footer_panics() {
        let folder = tempfile::tempdir().unwrap();
        let recipe = Arc::new(Recipe::load("paper", &["store.csi=none".to_owned()]).unwrap());
        let (out, splits) = (folder.path().to_owned(), vec!["test".to_owned()]);
        let job = Job { splits, limit: Some(3), ..Job::new(recipe, 1, &out) };
        Plan::new(job).unwrap().run(&|_| {}).unwrap();
        // As older datasets are: with checksums the reader would not see any of this.
        let mut manifest = Manifest::read(folder.path()).unwrap();
        manifest.splits["test"].shards[0].checksums = None;
        manifest.write(folder.path()).unwrap();
        let dataset = Dataset::open(folder.path()).unwrap();
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
