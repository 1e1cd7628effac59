//! Pages on their way into a shard, with the checksum of the column chunk they make up.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use crc32fast::Hasher;
use parquet::arrow::arrow_writer::{InMemoryPageStore, PageKey, PageStore, PageStoreArgs, PageStoreFactory};
use parquet::errors::ParquetError;

/// Checksums of column chunks while they are written, in the order of the file.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChunkSums(Arc<Mutex<Vec<Hasher>>>);

impl ChunkSums {
    /// The checksums of the chunks written so far.
    pub(crate) fn finish(&self) -> Vec<u32> {
        let sums = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sums.iter().map(|sum| sum.clone().finalize()).collect()
    }
}

impl PageStoreFactory for ChunkSums {
    fn create(&self, _: &PageStoreArgs<'_>) -> Result<Box<dyn PageStore>, ParquetError> {
        let mut sums = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sums.push(Hasher::new());
        Ok(Box::new(CheckedPages {
            pages: InMemoryPageStore::default(),
            chunk: sums.len() - 1,
            sums: Arc::clone(&self.0),
        }))
    }
}

/// The pages of one column chunk: they are taken in the order of the file, and counted into its checksum then.
struct CheckedPages {
    pages: InMemoryPageStore,
    chunk: usize,
    sums: Arc<Mutex<Vec<Hasher>>>,
}

impl PageStore for CheckedPages {
    fn put(&mut self, value: Bytes) -> Result<PageKey, ParquetError> {
        self.pages.put(value)
    }

    fn take(&mut self, key: PageKey) -> Result<Bytes, ParquetError> {
        let bytes = self.pages.take(key)?;
        let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sum) = sums.get_mut(self.chunk) {
            sum.update(&bytes);
        }
        Ok(bytes)
    }

    fn memory_size(&self) -> usize {
        self.pages.memory_size()
    }
}
