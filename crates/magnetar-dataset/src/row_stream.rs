//! Rows without a disk: made on all threads, given on in order, and forgotten.

use std::ops::Range;

use rayon::prelude::*;

use crate::error::DatasetError;
use crate::generator::Generator;
use crate::record::Record;

/// Rows that a thread makes at a time.
const CHUNK_ROWS: u64 = 64;

impl Generator {
    /// Makes rows on the threads of rayon's current pool and keeps of each what `map` makes of it: the arrivals, say. The
    /// result is in the order of the rows and does not depend on the threads. A thread makes all its rows in one record, so
    /// memory is that of the result.
    ///
    /// # Errors
    /// If the recipe's constraints cannot be met for a row, or its observation is beyond what single precision holds.
    pub fn map_rows<T: Send>(
        &self,
        rows: Range<u64>,
        map: impl Fn(&Record) -> T + Sync,
    ) -> Result<Vec<T>, DatasetError> {
        let chunks = rows.end.saturating_sub(rows.start).div_ceil(CHUNK_ROWS);
        let made = (0..usize::try_from(chunks).unwrap_or(usize::MAX)).into_par_iter().map_init(
            || {
                let rows = self.rows();
                let record = rows.blank();
                (rows, record)
            },
            |(generator, record), chunk| {
                let from = rows.start + chunk as u64 * CHUNK_ROWS;
                (from..rows.end.min(from + CHUNK_ROWS))
                    .map(|index| generator.row_into(index, record).map(|()| map(record)))
                    .collect::<Result<Vec<T>, DatasetError>>()
            },
        );
        Ok(made.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Recipe;

    #[test]
    fn mapped_rows_are_the_rows() {
        let generator = Generator::new(&Arc::new(Recipe::paper()), 5, "test").unwrap();
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let arrivals = |threads: usize| {
            pool(threads).install(|| generator.map_rows(3..150, |row| (row.index, row.arrivals.clone()))).unwrap()
        };
        let mut rows = generator.rows();
        let expected: Vec<_> = (3..150).map(|index| (index, rows.row(index).unwrap().arrivals)).collect();
        assert_eq!(arrivals(1), expected);
        assert_eq!(arrivals(3), expected);
        assert_eq!(generator.map_rows(9..9, |row| row.index).unwrap(), Vec::<u64>::new());
    }
}
