//! Scoring many rows: all cores, a few rows in memory, the same result for any number of threads.

use std::sync::Arc;

use magnetar_dataset::{Columns, Record};
use magnetar_posterior::{
    BalancedMetrics, BalancedScores, DesignMetrics, Knowledge, PairedScores, PosteriorError, RowNumber, ScoreRow,
    Scorer, Support, SupportSize, Volume, post_index,
};
use rayon::prelude::*;

use crate::chunk::{CHUNK, Chunk};
use crate::{ReceiverView, StudyError, stratum};

/// Maps rows on all cores, in order, a chunk in memory at a time.
///
/// # Errors
/// The first row that cannot be read or mapped.
pub fn map_rows<T: Send>(
    records: impl Iterator<Item = Result<Record, magnetar_dataset::DatasetError>>,
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

/// Scores the rows of a split on supports of one size and maps every posterior on all cores, in order, a chunk in memory at
/// a time.
///
/// # Errors
/// The first row that cannot be read, scored or mapped, or the scorer's failure.
pub fn map_posteriors<T: Send>(
    split: &str,
    records: impl Iterator<Item = Result<Record, magnetar_dataset::DatasetError>>,
    scorer: &dyn Scorer,
    size: SupportSize,
    map: impl Fn(&Record, &Support, &Volume) -> Result<T, PosteriorError> + Sync,
    mut take: impl FnMut(T),
) -> Result<(), StudyError> {
    let mut records = records.fuse();
    while let Some(chunk) = Chunk::next(split, &mut records, size)? {
        let volumes = chunk.volumes(scorer)?;
        chunk.map(|n, record, support| map(record, support, &volumes[n]))?.into_iter().for_each(&mut take);
    }
    Ok(())
}

/// The posterior of one row of a split, and the candidates it is over.
///
/// # Errors
/// If the row cannot be scored.
pub fn score_record(
    split: &str,
    record: &Record,
    scorer: &dyn Scorer,
    size: SupportSize,
) -> Result<(Support, Volume), StudyError> {
    let chunk = Chunk::new(split, vec![record.clone()], size)?;
    let volumes = chunk.volumes(scorer)?;
    let pairs = chunk.map(|n, _, support| Ok((support.clone(), volumes[n].clone())))?;
    pairs.into_iter().next().ok_or(StudyError::Row { index: record.index, source: PosteriorError::NoMass })
}

/// The posterior of one row on headings counted from the true one, as pictures of fixed-heading slices need it: bin 0 is
/// the true heading. Volumes from a file are at headings of their own and cannot be had so.
///
/// # Errors
/// If the row cannot be scored.
pub fn score_aligned(
    split: &str,
    record: &Record,
    scorer: &dyn Scorer,
    size: SupportSize,
) -> Result<(Support, Volume), StudyError> {
    let view = ReceiverView::of(record);
    let support = view.support(size).map_err(StudyError::at(record))?.turned(record.tx.heading);
    let row = ScoreRow { number: Some(RowNumber { split, index: record.index }), ..view.on(&support) };
    let volume = scorer.score(&[row]).map_err(StudyError::at(record))?.pop();
    volume
        .map(|volume| (support, volume))
        .ok_or(StudyError::Row { index: record.index, source: PosteriorError::NoMass })
}

/// The columns that scorers need of a dataset.
#[must_use]
pub fn needed_columns(scorers: &[Arc<dyn Scorer>]) -> Columns {
    if scorers.iter().any(|scorer| scorer.needs_observation()) { Columns::All } else { Columns::WithoutCsi }
}

/// What one scorer reached on the rows, and what it was given.
#[derive(Debug, Clone)]
pub struct Evaluation {
    /// The scorer's name.
    pub name: String,
    /// Hash of all that decides its results.
    pub identity: String,
    /// What it was given besides the rows.
    pub knowledge: Knowledge,
    /// Where it computed.
    pub device: String,
    /// Its scores.
    pub scores: BalancedScores,
    /// Its scores minus those of the first scorer, row by row.
    pub against_first: PairedScores,
    /// Rows whose true material assignment is among those it knows.
    pub rows_of_known_materials: u64,
}

impl Evaluation {
    /// Of no row yet.
    #[must_use]
    pub fn new(scorer: &dyn Scorer) -> Self {
        Self {
            name: scorer.name().to_owned(),
            identity: scorer.identity(),
            knowledge: scorer.knowledge(),
            device: scorer.device(),
            scores: BalancedScores::default(),
            against_first: PairedScores::default(),
            rows_of_known_materials: 0,
        }
    }
}

/// Scores the rows of one or more splits with every scorer, on supports of one size.
///
/// # Errors
/// The first row that cannot be read or scored, or a scorer's failure.
pub fn evaluate<'a, R>(
    splits: impl IntoIterator<Item = (&'a str, R)>,
    scorers: &[Arc<dyn Scorer>],
    size: SupportSize,
    progress: &dyn Fn(u64),
) -> Result<Vec<Evaluation>, StudyError>
where
    R: Iterator<Item = Result<Record, magnetar_dataset::DatasetError>>,
{
    let mut evaluations: Vec<Evaluation> = scorers.iter().map(|scorer| Evaluation::new(&**scorer)).collect();
    for (split, records) in splits {
        let mut records = records.fuse();
        while let Some(chunk) = Chunk::next(split, &mut records, size)? {
            let volumes = scorers.iter().map(|scorer| chunk.volumes(&**scorer)).collect::<Result<Vec<_>, _>>()?;
            let scores = chunk.scores(&volumes)?;
            for (record, scores) in chunk.records.iter().zip(&scores) {
                let stratum = stratum(record);
                for (evaluation, score) in evaluations.iter_mut().zip(scores) {
                    evaluation.scores.add(stratum.clone(), score);
                    evaluation.against_first.add(stratum.clone(), &scores[0], score);
                    let known = evaluation.knowledge.includes_materials(&stratum.groups[0]);
                    evaluation.rows_of_known_materials += u64::from(known);
                }
                progress(1);
            }
        }
    }
    Ok(evaluations)
}

/// I_post, the paper's index of posterior quality over all the given scorers; `None` where there is nothing to rank.
#[must_use]
pub fn post_indices(evaluations: &[Evaluation]) -> Option<Vec<f64>> {
    let design = |m: BalancedMetrics| DesignMetrics {
        nll: m.nll,
        map_xy_m: m.map_xy_m,
        map_yaw_deg: m.map_yaw_deg,
        hpd_gap_pp: m.hpd_gap_pp,
        v40_percent: m.v40_percent,
    };
    let designs = evaluations.iter().map(|e| e.scores.metrics().map(design)).collect::<Option<Vec<_>>>()?;
    Some(post_index(&designs))
}
