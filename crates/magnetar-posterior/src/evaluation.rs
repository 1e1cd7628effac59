//! Scoring many rows: all cores, a few rows in memory, the same result for any number of threads.

use magnetar_dataset::Record;
use rayon::prelude::*;

use crate::{PosteriorError, Score, Stratum, Support, SupportSize, Tally, Target, TwinScorer, View, Volume};

/// Rows scored together.
const CHUNK: usize = 128;

/// Why an evaluation stopped.
#[derive(Debug, thiserror::Error)]
pub enum EvaluationError {
    /// A row could not be read.
    #[error(transparent)]
    Dataset(#[from] magnetar_dataset::Error),
    /// A row could not be scored.
    #[error("row {index}: {source}")]
    Row {
        /// Its index.
        index: u64,
        /// Why.
        source: PosteriorError,
    },
}

impl EvaluationError {
    pub(crate) fn at(record: &Record) -> impl Fn(PosteriorError) -> Self {
        let index = record.index;
        move |source| Self::Row { index, source }
    }
}

/// Maps rows on all cores, in order, a chunk in memory at a time.
///
/// # Errors
/// The first row that cannot be read or mapped.
pub fn map_rows<T: Send>(
    records: impl Iterator<Item = Result<Record, magnetar_dataset::Error>>,
    map: impl Fn(&Record) -> Result<T, EvaluationError> + Sync,
    mut take: impl FnMut(T),
) -> Result<(), EvaluationError> {
    let mut records = records.fuse();
    loop {
        let chunk = records.by_ref().take(CHUNK).collect::<Result<Vec<_>, _>>()?;
        if chunk.is_empty() {
            return Ok(());
        }
        let results: Result<Vec<T>, _> = chunk.par_iter().map(&map).collect();
        results?.into_iter().for_each(&mut take);
    }
}

/// Scores of the twin and of the uniform reference.
#[derive(Debug, Clone, Default)]
pub struct Evaluation {
    /// The twin scorer's.
    pub twin: Tally,
    /// The uniform posterior's.
    pub uniform: Tally,
}

/// Scores rows on supports of one size.
///
/// # Errors
/// The first row that cannot be read or scored.
pub fn evaluate(
    records: impl Iterator<Item = Result<Record, magnetar_dataset::Error>>,
    scorer: &TwinScorer,
    size: SupportSize,
    progress: &dyn Fn(u64),
) -> Result<Evaluation, EvaluationError> {
    let mut evaluation = Evaluation::default();
    let score = |record: &Record| score_row(record, scorer, size).map_err(EvaluationError::at(record));
    map_rows(records, score, |(stratum, twin, uniform)| {
        evaluation.twin.add(stratum.clone(), &twin);
        evaluation.uniform.add(stratum, &uniform);
        progress(1);
    })?;
    Ok(evaluation)
}

/// The twin's score of one row.
pub(crate) fn score_twin(record: &Record, scorer: &TwinScorer, size: SupportSize) -> Result<Score, PosteriorError> {
    let support = Support::centred(&record.room, size)?;
    let mask = support.mask(&record.rx);
    let target = Target::evaluation(&support, &mask, &record.tx)?;
    let view = View::of(record);
    let twin = scorer.score(&view.layout, &view.rx, &view.arrivals, &support)?;
    Ok(Score::new(&twin, &support, &mask, &target, &record.rx, &record.tx))
}

fn score_row(
    record: &Record,
    scorer: &TwinScorer,
    size: SupportSize,
) -> Result<(Stratum, Score, Score), PosteriorError> {
    let support = Support::centred(&record.room, size)?;
    let mask = support.mask(&record.rx);
    let target = Target::evaluation(&support, &mask, &record.tx)?;
    let view = View::of(record);
    let twin = scorer.score(&view.layout, &view.rx, &view.arrivals, &support)?;
    let uniform = Volume::uniform(size, &mask)?;
    let [twin, uniform] = [twin, uniform].map(|v| Score::new(&v, &support, &mask, &target, &record.rx, &record.tx));
    Ok((Stratum::of(record), twin, uniform))
}
