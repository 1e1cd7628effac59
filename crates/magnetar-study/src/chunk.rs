//! A few rows made ready to be scored together.

use magnetar_dataset::Record;
use magnetar_posterior::{PosteriorError, RowNumber, Score, ScoreRow, Scorer, Support, SupportSize, Target, Volume};
use rayon::prelude::*;

use crate::{ReceiverView, StudyError, truth};

/// Rows scored together.
pub(crate) const CHUNK: usize = 128;

/// Rows of one split with what their receivers know and their candidates.
pub(crate) struct Chunk<'a> {
    split: &'a str,
    pub(crate) records: Vec<Record>,
    supports: Vec<Support>,
    views: Vec<ReceiverView>,
}

impl<'a> Chunk<'a> {
    /// Makes rows of a split ready.
    pub(crate) fn new(split: &'a str, records: Vec<Record>, size: SupportSize) -> Result<Self, StudyError> {
        let views: Vec<ReceiverView> = records.iter().map(ReceiverView::of).collect();
        let support = |(record, view): (&Record, &ReceiverView)| view.support(size).map_err(StudyError::at(record));
        let supports = records.iter().zip(&views).map(support).collect::<Result<_, _>>()?;
        Ok(Self { split, records, supports, views })
    }

    /// Takes the next rows, a chunk in memory at a time; `None` after the last.
    pub(crate) fn next(
        split: &'a str,
        records: &mut impl Iterator<Item = Result<Record, magnetar_dataset::DatasetError>>,
        size: SupportSize,
    ) -> Result<Option<Self>, StudyError> {
        let records = records.take(CHUNK).collect::<Result<Vec<_>, _>>()?;
        if records.is_empty() { Ok(None) } else { Self::new(split, records, size).map(Some) }
    }

    /// The posteriors of all rows.
    pub(crate) fn volumes(&self, scorer: &dyn Scorer) -> Result<Vec<Volume>, StudyError> {
        let number = |record: &Record| Some(RowNumber { split: self.split, index: record.index });
        let rows: Vec<ScoreRow<'_>> = (self.records.iter().zip(&self.views).zip(&self.supports))
            .map(|((record, view), support)| ScoreRow { number: number(record), ..view.on(support) })
            .collect();
        let volumes = scorer.score(&rows).map_err(|source| self.fault(source))?;
        if volumes.len() == rows.len() {
            Ok(volumes)
        } else {
            Err(self.fault(PosteriorError::Shape { what: "posteriors", expected: rows.len(), got: volumes.len() }))
        }
    }

    /// Maps every row's posteriors on all cores, in order.
    pub(crate) fn map<T: Send>(
        &self,
        map: impl Fn(usize, &Record, &Support) -> Result<T, PosteriorError> + Sync,
    ) -> Result<Vec<T>, StudyError> {
        (self.records.par_iter().zip(&self.supports).enumerate())
            .map(|(n, (record, support))| map(n, record, support).map_err(StudyError::at(record)))
            .collect()
    }

    /// What each of several posteriors per row scores against the truth: row by row, scorer by scorer.
    pub(crate) fn scores(&self, volumes: &[Vec<Volume>]) -> Result<Vec<Vec<Score>>, StudyError> {
        self.map(|n, record, support| {
            let (rx, tx) = (&self.views[n].rx, truth(record));
            let mask = support.mask(rx);
            let target = Target::evaluation(support, &mask, &tx)?;
            let score = |volume: &Volume| Score::new(volume, support, &mask, &target, rx, &tx);
            Ok(volumes.iter().map(|of_scorer| score(&of_scorer[n])).collect())
        })
    }

    /// A fault of the whole chunk.
    fn fault(&self, source: PosteriorError) -> StudyError {
        let index = |record: Option<&Record>| record.map_or(0, |record| record.index);
        StudyError::Rows { first: index(self.records.first()), last: index(self.records.last()), source }
    }
}
