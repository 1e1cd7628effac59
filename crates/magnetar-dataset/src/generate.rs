//! Carrying a job out: shards in parallel, rows in order, memory flat.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use magnetar_files::{AtomicFile, is_in_store, replacement_path};
use rayon::prelude::*;

use arrow::array::RecordBatch;

use crate::columns::BatchBuilder;
use crate::error::DatasetError;
use crate::finisher::{Finishers, Outcome};
use crate::generator::{Generator, RowGenerator};
use crate::job::Pending;
use crate::manifest::{Manifest, ShardInfo};
use crate::plan::Plan;
use crate::recorder::{Recorder, write_card};
use crate::schema::Shape;
use crate::shard::{ShardPlan, ShardWriter};

/// Rows made before they are encoded.
const CHUNK_ROWS: u64 = 64;

/// The manifest is written this often while shards are made; shards finished since are made again after a crash.
const MANIFEST_EVERY: Duration = Duration::from_secs(2);

/// A large manifest takes long to write: it is written only so seldom that this share of the time is left for everything else.
const MANIFEST_SHARE: u32 = 20;

/// Shards on their way into a store, which takes its time, while others are made.
const INTO_STORES: Finishers = Finishers { threads: 4, waiting: 2 };

/// What a job did.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Rows made.
    pub rows: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Wall-clock time.
    pub elapsed: Duration,
    /// The manifest at the end.
    pub manifest: Manifest,
}

/// A guess at what a job will cost, from a few rows made in memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizeEstimate {
    /// Bytes on disk.
    pub bytes: u64,
    /// Time on the job's threads.
    pub duration: Duration,
}

/// Who makes rows, and who hears of them.
struct Workers<'a> {
    pool: rayon::ThreadPool,
    generators: IndexMap<String, Arc<Generator>>,
    count: &'a (dyn Fn(u64) + Sync),
    /// Memory that shards took, for the next ones.
    room: Mutex<Vec<Vec<u8>>>,
}

impl Workers<'_> {
    fn rooms(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A shard with all its rows, not yet finished.
type MadeShard<'a> = (&'a Pending, ShardWriter<'a, AtomicFile>);

struct State {
    manifest: Manifest,
    recorder: Recorder,
    /// When the manifest was written last, and how long that took.
    written: Instant,
    took: Duration,
    bytes: u64,
}

impl Plan {
    /// Makes everything ready that can fail, so that a wrong recipe stops before any row is made.
    fn generators(&self) -> Result<IndexMap<String, Arc<Generator>>, DatasetError> {
        let mut generators = IndexMap::new();
        for name in self.manifest.splits.keys() {
            let ready = self.job.ready.as_ref().filter(|ready| ready.makes(&self.job.recipe, self.job.seed, name));
            let generator = match ready {
                Some(ready) => Arc::clone(ready),
                None => Arc::new(Generator::new(&self.job.recipe, self.job.seed, name)?),
            };
            generators.insert(name.clone(), generator);
        }
        Ok(generators)
    }

    /// Makes a few rows of every split in memory to guess size and time.
    ///
    /// # Errors
    /// If the recipe names something that is not there, or cannot be drawn from.
    #[allow(clippy::cast_precision_loss, reason = "a guess")]
    pub fn estimate(&self) -> Result<SizeEstimate, DatasetError> {
        let generators = self.generators()?;
        let (mut bytes, mut seconds) = (0.0, 0.0);
        for (name, rows) in self.rows_by_split() {
            let sample = rows.min(CHUNK_ROWS);
            let started = Instant::now();
            let size = |rows: u64| encoded_size(&self.manifest, &generators[&name], &name, rows);
            let encoded = size(sample)?;
            let elapsed = started.elapsed().as_secs_f64();
            // Every file has a head of its own: what half as many rows lack is the cost of rows.
            let half = sample / 2;
            let per_row = if half == 0 { 0.0 } else { (encoded - size(half)?) as f64 / (sample - half) as f64 };
            let per_shard = encoded as f64 - per_row * sample as f64;
            let shards = self.pending.iter().filter(|shard| shard.split == name).count();
            bytes += per_row * rows as f64 + per_shard * shards as f64;
            seconds += elapsed * rows as f64 / sample as f64;
        }
        let threads = self.threads().min(self.shards().max(1)) as f64;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a guess, never negative")]
        Ok(SizeEstimate { bytes: bytes as u64, duration: Duration::from_secs_f64(seconds / threads) })
    }

    fn threads(&self) -> usize {
        match self.job.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }

    /// Makes the missing shards. `progress` hears of rows as they are made. Stopped at any point, the folder holds
    /// every row it held before, and the same job started again finishes it.
    ///
    /// # Errors
    /// The first thing that went wrong; what was finished is recorded.
    pub fn run(mut self, progress: &(dyn Fn(u64) + Sync)) -> Result<Summary, DatasetError> {
        let started = Instant::now();
        let generators = self.generators()?;
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads())
            .build()
            .map_err(|source| DatasetError::Threads { threads: self.threads(), source })?;
        self.prepare()?;
        let rows = AtomicU64::new(0);
        let count = |n: u64| {
            rows.fetch_add(n, Ordering::Relaxed);
            progress(n);
        };
        let workers = Workers { pool, generators, count: &count, room: Mutex::default() };
        let (longer, missing): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.pending).into_iter().partition(|shard| shard.replaces);
        let (longer, missing): (Vec<&Pending>, Vec<&Pending>) = (longer.iter().collect(), missing.iter().collect());
        let mut manifest = self.manifest.clone();
        let mut bytes = 0;
        for (shard, info) in self.make_replacements(&workers, &longer)? {
            bytes += info.bytes;
            manifest.add(&shard.split, info);
        }
        // A shard without a manifest is nobody's; and this one write changes over to the longer shards.
        self.record_changes(&mut manifest)?;
        for shard in longer {
            let path = Manifest::shard_path(&self.job.out, &shard.split, shard.number);
            magnetar_files::rename_file(&replacement_path(&path), &path).map_err(DatasetError::io(&path))?;
        }
        let recorder = self.recorder.clone();
        let state = Mutex::new(State { manifest, recorder, written: Instant::now(), took: Duration::ZERO, bytes });
        let result = self.make_all(&workers, &missing, &|shard, info| record(&state, &shard.split, info));
        let mut state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let recorded = if missing.is_empty() { Ok(()) } else { state.recorder.write(&mut state.manifest) };
        result.and(recorded)?;
        if self.job.durable {
            write_card(&self.job.out, &state.manifest)?;
        }
        Ok(Summary {
            rows: rows.into_inner(),
            bytes: state.bytes,
            elapsed: started.elapsed(),
            manifest: state.manifest,
        })
    }

    /// Makes the longer versions of shards that were cut short, beside them. On failure nothing has changed.
    fn make_replacements<'a>(
        &self,
        workers: &Workers<'_>,
        longer: &[&'a Pending],
    ) -> Result<Vec<(&'a Pending, ShardInfo)>, DatasetError> {
        let made = Mutex::new(Vec::new());
        let result = self.make_all(workers, longer, &|shard, info| {
            made.lock().unwrap_or_else(PoisonError::into_inner).push((shard, info));
            Ok(())
        });
        if result.is_err() {
            for shard in longer {
                // What cannot be removed now is removed by the next run.
                let _ = magnetar_files::remove_file(&self.target(shard));
            }
        }
        result.map(|()| made.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes shards in parallel; `finished` is called with each as it has its name. Stops at the first failure.
    fn make_all<'a>(
        &self,
        workers: &Workers<'_>,
        shards: &[&'a Pending],
        finished: &(dyn Fn(&'a Pending, ShardInfo) -> Result<(), DatasetError> + Sync),
    ) -> Result<(), DatasetError> {
        let outcome = Outcome::default();
        // Each of them is one that was made whole: a disk may as well have it, a store takes its time.
        let in_store = is_in_store(&self.job.out);
        let finish = |(shard, writer): MadeShard<'a>| {
            if in_store && outcome.is_failure() {
                return;
            }
            outcome.note(writer.finish(self.job.durable).and_then(|(info, room)| {
                workers.rooms().push(room);
                finished(shard, info)
            }));
        };
        let one_each = Finishers { threads: workers.pool.current_num_threads(), waiting: 0 };
        let finishers = if in_store { INTO_STORES } else { one_each };
        finishers.run(&finish, |finish| self.make_and_finish(workers, shards, &outcome, finish));
        outcome.into_result()
    }

    /// Makes shards in parallel until all are made or somebody has failed.
    fn make_and_finish<'a>(
        &self,
        workers: &Workers<'_>,
        shards: &[&'a Pending],
        outcome: &Outcome,
        finish: &(dyn Fn(MadeShard<'a>) + Sync),
    ) {
        let pool = &workers.pool;
        // With fewer shards than threads the rows of a shard are shared out instead.
        let by_shard = shards.len() >= pool.current_num_threads();
        let make = |shard: &&'a Pending| {
            if outcome.is_failure() {
                return;
            }
            match self.make_shard(shard, workers, !by_shard, outcome) {
                Ok(None) => {}
                Ok(Some(writer)) => finish((shard, writer)),
                Err(error) => outcome.note(Err(error)),
            }
        };
        pool.install(|| {
            if by_shard {
                // One shard per thread at a time, in order, so that a resumed job has a dense beginning.
                shards.par_iter().with_max_len(1).for_each(make);
            } else {
                shards.iter().for_each(make);
            }
        });
    }

    /// The file a shard is written to.
    fn target(&self, shard: &Pending) -> PathBuf {
        let path = Manifest::shard_path(&self.job.out, &shard.split, shard.number);
        if shard.replaces { replacement_path(&path) } else { path }
    }

    /// A shard with all its rows, to be finished; `None` if another thread's failure stopped it.
    fn make_shard<'a>(
        &self,
        shard: &'a Pending,
        workers: &Workers<'_>,
        share_rows: bool,
        outcome: &Outcome,
    ) -> Result<Option<ShardWriter<'a, AtomicFile>>, DatasetError> {
        let generator = &workers.generators[&shard.split];
        let room = workers.rooms().pop().unwrap_or_default();
        let mut writer = ShardWriter::create(self.target(shard), &self.manifest, shard.plan(), room)?;
        let end = shard.start + shard.rows;
        let chunks = |from: u64, n: u64| (0..n).map(move |i| from + i * CHUNK_ROWS).take_while(move |from| *from < end);
        let mut from = shard.start;
        let mut rows = generator.rows();
        let mut record = rows.blank();
        while from < end {
            if outcome.is_failure() {
                return Ok(None);
            }
            let mut to = (from + CHUNK_ROWS).min(end);
            if share_rows {
                let wave: Vec<u64> = chunks(from, 2 * rayon::current_num_threads() as u64).collect();
                let batches = wave
                    .par_iter()
                    .map_init(|| generator.rows(), |rows, from| self.batch(rows, *from, (from + CHUNK_ROWS).min(end)))
                    .collect::<Result<Vec<_>, DatasetError>>()?;
                for batch in &batches {
                    writer.write(batch)?;
                }
                to = wave.last().map_or(end, |last| (last + CHUNK_ROWS).min(end));
            } else if let Some(backend) = &self.job.backend {
                rows.bulk(&**backend, from, to)?.iter().try_for_each(|record| writer.push(record))?;
            } else {
                for index in from..to {
                    rows.row_into(index, &mut record)?;
                    writer.push(&record)?;
                }
            }
            (workers.count)(to - from);
            from = to;
        }
        Ok(Some(writer))
    }

    /// Rows `from` to `to` by the job's backend.
    fn batch(&self, generator: &mut RowGenerator<'_>, from: u64, to: u64) -> Result<RecordBatch, DatasetError> {
        let Some(backend) = &self.job.backend else { return generator.batch(self.manifest.shape(), from, to) };
        let mut rows = BatchBuilder::new(self.manifest.shape(), usize::try_from(to - from).unwrap_or(0));
        generator.bulk(&**backend, from, to)?.iter().for_each(|record| rows.push(record));
        rows.finish().map_err(|source| DatasetError::Batch { rows: from..to, source })
    }
}

/// Records a finished shard, and writes the manifest now and then.
fn record(state: &Mutex<State>, split: &str, info: ShardInfo) -> Result<(), DatasetError> {
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    state.bytes += info.bytes;
    state.manifest.add(split, info);
    if state.written.elapsed() >= MANIFEST_EVERY.max(state.took * MANIFEST_SHARE) {
        let started = Instant::now();
        let State { recorder, manifest, .. } = &mut *state;
        recorder.write(manifest)?;
        (state.written, state.took) = (Instant::now(), started.elapsed());
    }
    Ok(())
}

impl RowGenerator<'_> {
    /// Rows `from` to `to` as Arrow columns, as shards of a shape hold them.
    ///
    /// # Errors
    /// If the recipe's constraints cannot be met for a row, or the shape is that of another recipe.
    pub fn batch(&mut self, shape: Shape, from: u64, to: u64) -> Result<RecordBatch, DatasetError> {
        let mut rows = BatchBuilder::new(shape, usize::try_from(to - from).unwrap_or(0));
        let mut record = None;
        for index in from..to {
            match &mut record {
                None => record = Some(self.row(index)?),
                Some(record) => self.row_into(index, record)?,
            }
            if let Some(record) = &record {
                rows.push(record);
            }
        }
        rows.finish().map_err(|source| DatasetError::Batch { rows: from..to, source })
    }
}

/// Bytes that the first rows of a split take when encoded.
fn encoded_size(manifest: &Manifest, generator: &Generator, split: &str, rows: u64) -> Result<u64, DatasetError> {
    let plan = ShardPlan { split, number: 0, start: 0, rows };
    let mut writer = ShardWriter::measuring(manifest, plan)?;
    writer.write(&generator.rows().batch(manifest.shape(), 0, rows)?)?;
    Ok(writer.close()?.0.bytes)
}
