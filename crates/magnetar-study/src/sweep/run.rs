//! Running a sweep: points and rows share all cores; a finished point is written at once and not made again.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use magnetar_dataset::{Columns, Dataset, Generator, Job, Plan, Recipe};
use magnetar_files::{AtomicFile, FolderLock, create_folder, read_text, remove_unfinished};
use rayon::prelude::*;

use super::definition::Definition;
use super::file::{Sweep, check_columns};
use super::measure::Measures;
use super::outcome::{MeasuredPoints, Outcome, SweepStep};
use super::point::{Point, PointResult};
use super::scoring::{PointScorer, SCORE_COLUMNS, SweepScorer};
use super::table::SweepTable;
use crate::StudyError;

/// Rows of one piece of work.
const CHUNK_ROWS: u64 = 128;

/// A point's result file larger than this is not one of ours.
const MAX_RESULT_BYTES: u64 = 1 << 31;

/// A point in progress.
struct Open<'a> {
    point: &'a Point,
    hash: &'a str,
    /// What its rows need; made by the first thread that comes, dropped with the last chunk.
    ready: Mutex<Option<Arc<Ready>>>,
    chunks: Mutex<Vec<Option<Measures>>>,
    left: AtomicUsize,
}

struct Ready {
    generator: Generator,
    scorer: Option<PointScorer>,
    split: String,
}

impl Ready {
    fn new(recipe: &Arc<Recipe>, sweep: &Definition, scorer: Option<&SweepScorer>) -> Result<Self, StudyError> {
        Ok(Self {
            generator: Generator::new(recipe, sweep.seed, &sweep.split)?,
            scorer: scorer.map(|scorer| scorer.of_point(recipe)).transpose()?,
            split: sweep.split.clone(),
        })
    }

    /// Rows `from` to `to`, made and measured.
    fn measure(&self, from: u64, to: u64) -> Result<Measures, StudyError> {
        let mut rows = self.generator.rows();
        let mut record = rows.blank();
        let mut measures = Measures::default();
        let mut to_score = Vec::new();
        for index in from..to {
            rows.row_into(index, &mut record)?;
            measures.add(self.generator.recipe(), self.generator.radio(), &record);
            if self.scorer.is_some() {
                to_score.push(record.clone());
            }
        }
        if let Some(scorer) = &self.scorer {
            measures.add_scores(scorer.scores(&self.split, to_score)?);
        }
        Ok(measures)
    }
}

/// The result of one point, made in memory.
pub(super) fn measure_point(
    sweep: &Definition,
    recipe: &Arc<Recipe>,
    hash: &str,
    scorer: Option<&SweepScorer>,
) -> Result<PointResult, StudyError> {
    let ready = Ready::new(recipe, sweep, scorer)?;
    let chunks = sweep.rows.div_ceil(CHUNK_ROWS);
    let parts = (0..chunks)
        .into_par_iter()
        .map(|chunk| ready.measure(chunk * CHUNK_ROWS, ((chunk + 1) * CHUNK_ROWS).min(sweep.rows)))
        .collect::<Result<Vec<_>, StudyError>>()?;
    Ok(result(sweep, recipe, hash, scorer.is_some(), parts))
}

fn result(
    sweep: &Definition,
    recipe: &Recipe,
    hash: &str,
    scored: bool,
    parts: impl IntoIterator<Item = Measures>,
) -> PointResult {
    let mut all = Measures::default();
    parts.into_iter().for_each(|part| all.append(part));
    let columns = score_columns(scored);
    let views = recipe.split(&sweep.split).map_or(1, |split| split.views as usize);
    let (metrics, by_row) = all.finish(columns, views);
    PointResult { hash: hash.to_owned(), rows: sweep.rows, metrics, by_row, recipe: recipe.clone() }
}

/// The columns that a scorer adds, if there is one.
fn score_columns(scored: bool) -> &'static [(&'static str, &'static str)] {
    if scored { &SCORE_COLUMNS } else { &[] }
}

impl Sweep {
    /// The hash of every point's result, in order.
    #[must_use]
    pub fn hashes(&self, scorer: Option<&SweepScorer>) -> Vec<String> {
        let identity = scorer.map_or_else(String::new, SweepScorer::identity);
        self.points.par_iter().map(|point| point.hash(&self.definition, &identity)).collect()
    }

    /// Measures every point that `out` does not hold yet and writes the table. Stopped at any point, the same call
    /// finishes it; a sweep that was extended measures only what is new.
    ///
    /// # Errors
    /// The first thing that went wrong; finished points are kept.
    pub fn run(
        &self,
        out: &Path,
        threads: usize,
        scorer: Option<&SweepScorer>,
        progress: &(dyn Fn(SweepStep) + Sync),
    ) -> Result<Outcome, StudyError> {
        let started = Instant::now();
        let _lock = self.begin(out, scorer)?;
        let hashes = self.hashes(scorer);
        let mut measured = self.measure_missing(out, &self.points, &hashes, threads, scorer, progress)?;
        let table = SweepTable::write(self, out, &hashes, scorer.map(SweepScorer::record))?;
        measured.elapsed = started.elapsed();
        Ok(Outcome { table, measured })
    }

    /// Measures some of the points, by their place among all, and writes no table: a part of a sweep that several machines
    /// share. Results of points (`points/*.json`) can be put together in one folder, where [`Self::run`] makes the table.
    ///
    /// # Errors
    /// As [`Self::run`]; or there are no such points.
    pub fn run_points(
        &self,
        points: Range<usize>,
        out: &Path,
        threads: usize,
        scorer: Option<&SweepScorer>,
        progress: &(dyn Fn(SweepStep) + Sync),
    ) -> Result<MeasuredPoints, StudyError> {
        let Some(some) = self.points.get(points.clone()).filter(|some| !some.is_empty()) else {
            return Err(StudyError::NoPoints { first: points.start, end: points.end, count: self.points.len() });
        };
        let _lock = self.begin(out, scorer)?;
        let hashes = self.hashes(scorer);
        self.measure_missing(out, some, &hashes[points], threads, scorer, progress)
    }

    /// Makes the sweep's folder ready and holds it.
    fn begin(&self, out: &Path, scorer: Option<&SweepScorer>) -> Result<FolderLock, StudyError> {
        check_columns(&self.definition.axes, score_columns(scorer.is_some()).iter().copied())?;
        let folder = out.join("points");
        create_folder(&folder).map_err(StudyError::io(&folder))?;
        let lock = FolderLock::acquire(out).map_err(StudyError::io(out))?;
        for folder in [out, &folder] {
            remove_unfinished(folder).map_err(StudyError::io(folder))?;
        }
        Ok(lock)
    }

    /// Measures what the folder does not hold of some points, whose results have these hashes.
    fn measure_missing(
        &self,
        out: &Path,
        points: &[Point],
        hashes: &[String],
        threads: usize,
        scorer: Option<&SweepScorer>,
        progress: &(dyn Fn(SweepStep) + Sync),
    ) -> Result<MeasuredPoints, StudyError> {
        let started = Instant::now();
        // Points with the same recipe are one.
        let mut missing: BTreeMap<&str, &Point> = BTreeMap::new();
        let mut kept = 0;
        for (point, hash) in points.iter().zip(hashes) {
            let stored = !self.definition.store || point_dataset_is_whole(&point_folder(out, hash));
            if stored && read_result(out, hash).is_ok() {
                kept += 1;
                progress(SweepStep::Rows(self.definition.rows));
                progress(SweepStep::Point);
            } else {
                missing.entry(hash).or_insert(point);
            }
        }
        let mut missing: Vec<(&str, &Point)> = missing.into_iter().collect();
        missing.sort_by_key(|(_, point)| point.number);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|source| StudyError::Threads { threads, source })?;
        let rows = AtomicU64::new(0);
        let count = |n: u64| {
            rows.fetch_add(n, Ordering::Relaxed);
            progress(SweepStep::Rows(n));
        };
        let finished = |result: &PointResult| -> Result<(), StudyError> {
            write_result(out, result)?;
            progress(SweepStep::Point);
            Ok(())
        };
        if self.definition.store {
            for (hash, point) in &missing {
                let result = pool.install(|| self.stored_point(out, point, hash, threads, scorer, &count));
                finished(&result.map_err(|e| point.fault(&self.definition.axes, e))?)?;
            }
        } else {
            pool.install(|| self.measure_all(&missing, scorer, &count, &finished))?;
        }
        Ok(MeasuredPoints { made: points.len() - kept, kept, rows: rows.into_inner(), elapsed: started.elapsed() })
    }

    /// Chunks of all points as one list of work, so that no core waits at the end of a point.
    fn measure_all(
        &self,
        missing: &[(&str, &Point)],
        scorer: Option<&SweepScorer>,
        count: &(dyn Fn(u64) + Sync),
        finished: &(dyn Fn(&PointResult) -> Result<(), StudyError> + Sync),
    ) -> Result<(), StudyError> {
        let per_point = usize::try_from(self.definition.rows.div_ceil(CHUNK_ROWS)).unwrap_or(usize::MAX);
        let open: Vec<Open<'_>> = missing
            .iter()
            .map(|(hash, point)| Open {
                point,
                hash,
                ready: Mutex::new(None),
                chunks: Mutex::new(Vec::new()),
                left: AtomicUsize::new(per_point),
            })
            .collect();
        let stopped = AtomicBool::new(false);
        let work = |task: usize| -> Result<(), StudyError> {
            if stopped.load(Ordering::Relaxed) {
                return Ok(());
            }
            let (point, chunk) = (&open[task / per_point], task % per_point);
            let parts = self.chunk(point, chunk, per_point, scorer, count);
            let parts = parts.map_err(|e| point.point.fault(&self.definition.axes, e));
            let done = parts.and_then(|parts| match parts {
                None => Ok(()),
                Some(parts) => {
                    finished(&result(&self.definition, &point.point.recipe, point.hash, scorer.is_some(), parts))
                }
            });
            if done.is_err() {
                stopped.store(true, Ordering::Relaxed);
            }
            done
        };
        (0..open.len() * per_point).into_par_iter().with_max_len(1).map(work).collect::<Vec<_>>().into_iter().collect()
    }

    /// One chunk of a point; all of them once it was the last.
    fn chunk(
        &self,
        open: &Open<'_>,
        chunk: usize,
        per_point: usize,
        scorer: Option<&SweepScorer>,
        count: &(dyn Fn(u64) + Sync),
    ) -> Result<Option<Vec<Measures>>, StudyError> {
        let ready = {
            let mut ready = open.ready.lock().unwrap_or_else(PoisonError::into_inner);
            match &*ready {
                Some(ready) => Arc::clone(ready),
                None => Arc::clone(ready.insert(Arc::new(Ready::new(&open.point.recipe, &self.definition, scorer)?))),
            }
        };
        let from = chunk as u64 * CHUNK_ROWS;
        let to = (from + CHUNK_ROWS).min(self.definition.rows);
        let measures = ready.measure(from, to)?;
        count(to - from);
        let mut chunks = open.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        if chunks.is_empty() {
            chunks.resize_with(per_point, || None);
        }
        chunks[chunk] = Some(measures);
        if open.left.fetch_sub(1, Ordering::AcqRel) > 1 {
            return Ok(None);
        }
        *open.ready.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Ok(Some(std::mem::take(&mut *chunks).into_iter().flatten().collect()))
    }

    /// Generates a point's dataset, then measures what is on disk.
    fn stored_point(
        &self,
        out: &Path,
        point: &Point,
        hash: &str,
        threads: usize,
        scorer: Option<&SweepScorer>,
        count: &(dyn Fn(u64) + Sync),
    ) -> Result<PointResult, StudyError> {
        let folder = point_folder(out, hash);
        let views = u64::from(point.recipe.split(&self.definition.split)?.views);
        let job = Job {
            splits: vec![self.definition.split.clone()],
            limit: Some(self.definition.rows / views),
            threads,
            ..Job::new(Arc::clone(&point.recipe), self.definition.seed, &folder)
        };
        Plan::new(job)?.run(count)?;
        let dataset = Dataset::open(&folder)?;
        let radio = point.recipe.radio()?;
        let scorer = scorer.map(|scorer| scorer.of_point(&point.recipe)).transpose()?;
        let mut records = dataset.records(&self.definition.split, Columns::WithoutCsi)?.fuse();
        let mut parts = Vec::new();
        loop {
            let wave = usize::try_from(CHUNK_ROWS).unwrap_or(1) * rayon::current_num_threads();
            let rows = records.by_ref().take(wave).collect::<Result<Vec<_>, _>>()?;
            if rows.is_empty() {
                return Ok(result(&self.definition, &point.recipe, hash, scorer.is_some(), parts));
            }
            let measured = rows.par_chunks(usize::try_from(CHUNK_ROWS).unwrap_or(1)).map(|rows| {
                let mut measures = Measures::default();
                for record in rows {
                    measures.add(&point.recipe, &radio, record);
                }
                if let Some(scorer) = &scorer {
                    measures.add_scores(scorer.scores(&self.definition.split, rows.to_vec())?);
                }
                Ok(measures)
            });
            parts.extend(measured.collect::<Result<Vec<_>, StudyError>>()?);
        }
    }
}

/// Where a point's dataset is kept.
pub(super) fn point_folder(out: &Path, hash: &str) -> PathBuf {
    out.join("points").join(short(hash))
}

/// Where the result of a hash is kept in a sweep's folder.
#[must_use]
pub fn result_path(out: &Path, hash: &str) -> PathBuf {
    out.join("points").join(format!("{}.json", short(hash)))
}

/// Enough of a hash to tell points apart; the file holds all of it.
fn short(hash: &str) -> &str {
    hash.get(..16).unwrap_or(hash)
}

fn point_dataset_is_whole(folder: &Path) -> bool {
    Dataset::open(folder).is_ok_and(|dataset| dataset.manifest().splits.values().all(|split| split.is_complete()))
}

fn write_result(out: &Path, result: &PointResult) -> Result<(), StudyError> {
    let path = result_path(out, &result.hash);
    let text = serde_json::to_vec(result).map_err(|e| StudyError::file(&path, e))?;
    AtomicFile::write(&path, &text).map_err(StudyError::io(&path))
}

/// A finished point's result; an error if there is none, or it is another's.
pub(super) fn read_result(out: &Path, hash: &str) -> Result<PointResult, StudyError> {
    let path = result_path(out, hash);
    let text = read_text(&path, MAX_RESULT_BYTES).map_err(StudyError::read(&path))?;
    let result: PointResult =
        serde_json::from_str(&text).map_err(|e| StudyError::file(&path, format!("{e}; remove it to make it again")))?;
    if result.hash == hash {
        Ok(result)
    } else {
        Err(StudyError::file(&path, "the result of another point; remove it"))
    }
}
