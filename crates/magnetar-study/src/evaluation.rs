//! Scoring many rows: all cores, a few rows in memory, the same result for any number of threads.

use magnetar_dataset::Record;
use magnetar_posterior::{
    PosteriorError, Score, ScoreRow, ScoringBackend, Stratum, Support, SupportSize, Tally, Target, TwinScorer, Volume,
};
use rayon::prelude::*;

use crate::{ReceiverView, StudyError, stratum};

/// Rows scored together.
const CHUNK: usize = 128;

/// Maps rows on all cores, in order, a chunk in memory at a time.
///
/// # Errors
/// The first row that cannot be read or mapped.
pub fn map_rows<T: Send>(
    records: impl Iterator<Item = Result<Record, magnetar_dataset::Error>>,
    map: impl Fn(&Record) -> Result<T, StudyError> + Sync,
    mut take: impl FnMut(T),
) -> Result<(), StudyError> {
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

/// Scores rows on supports of one size and maps every posterior on all cores, in order, a chunk in memory at a time.
///
/// # Errors
/// The first row that cannot be read, scored or mapped, or the backend's failure.
pub fn map_posteriors<T: Send>(
    records: impl Iterator<Item = Result<Record, magnetar_dataset::Error>>,
    scorer: &TwinScorer,
    backend: &dyn ScoringBackend,
    size: SupportSize,
    map: impl Fn(&Record, &Support, &Volume) -> Result<T, PosteriorError> + Sync,
    mut take: impl FnMut(T),
) -> Result<(), StudyError> {
    let mut records = records.fuse();
    loop {
        let chunk = records.by_ref().take(CHUNK).collect::<Result<Vec<_>, _>>()?;
        let Some(first) = chunk.first() else { return Ok(()) };
        let supports: Vec<Support> = chunk
            .iter()
            .map(|record| Support::centred(&record.room, size).map_err(StudyError::at(record)))
            .collect::<Result<_, _>>()?;
        let views: Vec<ReceiverView> = chunk.iter().map(ReceiverView::of).collect();
        let rows: Vec<ScoreRow<'_>> = views.iter().zip(&supports).map(|(view, support)| view.on(support)).collect();
        let volumes = scorer.score_batch(backend, &rows).map_err(StudyError::at(first))?;
        let mapped: Result<Vec<T>, _> = (chunk.par_iter().zip(&supports).zip(&volumes))
            .map(|((record, support), volume)| map(record, support, volume).map_err(StudyError::at(record)))
            .collect();
        mapped?.into_iter().for_each(&mut take);
    }
}

/// Scores rows on supports of one size.
///
/// # Errors
/// The first row that cannot be read or scored, or the backend's failure.
pub fn evaluate(
    records: impl Iterator<Item = Result<Record, magnetar_dataset::Error>>,
    scorer: &TwinScorer,
    backend: &dyn ScoringBackend,
    size: SupportSize,
    progress: &dyn Fn(u64),
) -> Result<Evaluation, StudyError> {
    let mut evaluation = Evaluation::default();
    map_posteriors(records, scorer, backend, size, compare, |(stratum, twin, uniform)| {
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
    let view = ReceiverView::of(record);
    let twin = scorer.score(&view.layout, &view.rx, &view.arrivals, &support)?;
    Ok(Score::new(&twin, &support, &mask, &target, &record.rx, &record.tx))
}

/// A posterior and the uniform one against the truth.
fn compare(record: &Record, support: &Support, twin: &Volume) -> Result<(Stratum, Score, Score), PosteriorError> {
    let mask = support.mask(&record.rx);
    let target = Target::evaluation(support, &mask, &record.tx)?;
    let uniform = Volume::uniform(support.size(), &mask)?;
    let [twin, uniform] = [twin, &uniform].map(|v| Score::new(v, support, &mask, &target, &record.rx, &record.tx));
    Ok((stratum(record), twin, uniform))
}
