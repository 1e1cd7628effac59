//! What a corpus looks like: counts, LOS share, arrivals found, and their errors against the truth.

use std::f64::consts::TAU;
use std::sync::Arc;

use magnetar_scene::wrap;
use magnetar_signal::sre::AoaMode;
use magnetar_signal::{Arrival, Radio};
use rayon::prelude::*;
use serde::Serialize;

use crate::dataset::{Columns, Dataset};
use crate::error::DatasetError;
use crate::histogram::Histogram;
use crate::placement::Region;
use crate::recipe::Recipe;
use crate::record::{Record, RecordPath};

/// Percentiles of one quantity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Percentiles {
    /// Values.
    pub count: u64,
    /// 5 % are below.
    pub p5: f64,
    /// Half are below.
    pub p50: f64,
    /// 90 % are below.
    pub p90: f64,
    /// 95 % are below.
    pub p95: f64,
}

/// The statistics of some rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RowStatistics {
    /// Rows.
    pub rows: u64,
    /// Share of rows whose direct path is free.
    pub los_share: f64,
    /// Mean number of true paths.
    pub paths_mean: f64,
    /// Rows by number of arrivals found, from 0 to K.
    pub arrivals: Vec<u64>,
    /// Boards by region: across, beside, behind TX, behind RX, free.
    pub regions: [u64; 5],
    /// Raw SNR of the arrivals, dB.
    pub raw_snr_db: Option<Percentiles>,
    /// Share of arrivals within one resolution cell of a true path.
    pub matched_share: f64,
    /// Error of a matched arrival's inter-element phase, degrees, absolute.
    pub phase_error_deg: Option<Percentiles>,
    /// Error of a matched arrival's AoA against the truth's own alias in the estimator's range, degrees, absolute.
    pub aoa_error_deg: Option<Percentiles>,
    /// Error of a matched arrival's AoA against the true direction, aliases and all, degrees, absolute.
    pub aoa_unaliased_error_deg: Option<Percentiles>,
    /// Raw SNR of a matched arrival minus that of its path, dB.
    pub snr_error_db: Option<Percentiles>,
}

/// Gathers statistics row by row, in flat memory.
#[derive(Debug, Clone)]
pub struct Statistics {
    recipe: Recipe,
    radio: Arc<Radio>,
    rows: u64,
    los: u64,
    paths: u64,
    arrivals: Vec<u64>,
    regions: [u64; 5],
    matched: u64,
    raw_snr_db: Histogram,
    phase_error: Histogram,
    aoa_error: Histogram,
    aoa_unaliased_error: Histogram,
    snr_error: Histogram,
}

impl Statistics {
    /// For rows of a recipe.
    ///
    /// # Errors
    /// If the recipe's patterns cannot be read.
    pub fn new(recipe: &Recipe) -> Result<Self, DatasetError> {
        let angles = || Histogram::new(0.0, 180.0, 0.005);
        Ok(Self {
            radio: Arc::new(recipe.radio()?),
            recipe: recipe.clone(),
            rows: 0,
            los: 0,
            paths: 0,
            arrivals: vec![0; recipe.sre.keep + 1],
            regions: [0; 5],
            matched: 0,
            raw_snr_db: Histogram::new(-100.0, 150.0, 0.02),
            phase_error: angles(),
            aoa_error: angles(),
            aoa_unaliased_error: angles(),
            snr_error: Histogram::new(-60.0, 60.0, 0.01),
        })
    }

    /// Counts a row.
    pub fn add(&mut self, record: &Record) {
        self.rows += 1;
        self.los += u64::from(record.los);
        self.paths += record.paths.len() as u64;
        if let Some(count) = self.arrivals.get_mut(record.arrivals.found.len()) {
            *count += 1;
        }
        if let Some(board) = record.layout.board {
            self.regions[board.region as usize] += 1;
        }
        for arrival in &record.arrivals.found {
            self.raw_snr_db.add(arrival.raw_snr_db);
            if let Some(path) = matching_path(&self.recipe, record, arrival) {
                self.add_match(record, arrival, path);
            }
        }
    }

    fn add_match(&mut self, record: &Record, arrival: &Arrival, path: &RecordPath) {
        self.matched += 1;
        let errors = arrival_errors(&self.recipe, &self.radio, record, arrival, path);
        self.phase_error.add(errors.phase.abs().to_degrees());
        self.aoa_error.add(errors.aoa.abs().to_degrees());
        self.aoa_unaliased_error.add(errors.aoa_unaliased.abs().to_degrees());
        self.snr_error.add(errors.snr_db);
    }

    /// Adds what another gathered.
    pub fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        self.los += other.los;
        self.paths += other.paths;
        self.matched += other.matched;
        for (a, b) in self.arrivals.iter_mut().zip(&other.arrivals) {
            *a += b;
        }
        for (a, b) in self.regions.iter_mut().zip(&other.regions) {
            *a += b;
        }
        for (a, b) in [
            (&mut self.raw_snr_db, &other.raw_snr_db),
            (&mut self.phase_error, &other.phase_error),
            (&mut self.aoa_error, &other.aoa_error),
            (&mut self.aoa_unaliased_error, &other.aoa_unaliased_error),
            (&mut self.snr_error, &other.snr_error),
        ] {
            a.merge(b);
        }
    }

    /// The statistics so far.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    pub fn row_statistics(&self) -> RowStatistics {
        let share = |n: u64, of: u64| n as f64 / (of.max(1)) as f64;
        RowStatistics {
            rows: self.rows,
            los_share: share(self.los, self.rows),
            paths_mean: share(self.paths, self.rows),
            arrivals: self.arrivals.clone(),
            regions: self.regions,
            raw_snr_db: percentiles(&self.raw_snr_db),
            matched_share: share(self.matched, self.raw_snr_db.len()),
            phase_error_deg: percentiles(&self.phase_error),
            aoa_error_deg: percentiles(&self.aoa_error),
            aoa_unaliased_error_deg: percentiles(&self.aoa_unaliased_error),
            snr_error_db: percentiles(&self.snr_error),
        }
    }
}

/// How far an arrival is from its true path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArrivalErrors {
    /// Inter-element phase, radians.
    pub phase: f64,
    /// AoA against the truth's own alias in the estimator's range, radians.
    pub aoa: f64,
    /// AoA against the true direction, aliases and all, radians.
    pub aoa_unaliased: f64,
    /// Raw SNR, dB.
    pub snr_db: f64,
}

/// Inter-element phase of a true path at the carrier, and its AoA in the estimator's range: the principal branch of the
/// phase, or with wideband AoAs the half plane in front of the array. Radians.
fn true_phase_and_aoa(recipe: &Recipe, path: &RecordPath) -> (f64, f64) {
    let turns = recipe.band.carrier_hz * recipe.array.max_delay_difference_s();
    let sine = libm::sin(path.wave.aoa.azimuth) * libm::cos(path.wave.aoa.elevation);
    let phase = wrap(TAU * turns * sine);
    let seen = match recipe.sre.aoa_mode {
        AoaMode::Narrowband => phase / (TAU * turns),
        AoaMode::Wideband => sine,
    };
    (phase, libm::asin(seen.clamp(-1.0, 1.0)))
}

/// AoA of an arrival minus that of its true path in the estimator's range, radians.
#[must_use]
pub fn aoa_error(recipe: &Recipe, arrival: &Arrival, path: &RecordPath) -> f64 {
    arrival.aoa_rad - true_phase_and_aoa(recipe, path).1
}

/// Estimate minus truth, of a row made with a radio.
#[must_use]
pub fn arrival_errors(
    recipe: &Recipe,
    radio: &Radio,
    record: &Record,
    arrival: &Arrival,
    path: &RecordPath,
) -> ArrivalErrors {
    let (phase, aoa) = true_phase_and_aoa(recipe, path);
    let scale = radio.amplitude_scale(record.tx_power_offset_db);
    let truth = 10.0 * libm::log10((path.wave.power() * scale * scale).max(f64::MIN_POSITIVE));
    ArrivalErrors {
        phase: wrap(arrival.phase_rad - phase),
        aoa: arrival.aoa_rad - aoa,
        aoa_unaliased: wrap(arrival.aoa_rad - path.wave.aoa.azimuth),
        snr_db: arrival.raw_snr_db - truth,
    }
}

/// The true path an arrival most likely is: the strongest of those within one resolution cell of its delay, once the
/// drawn timing offset is taken off and the band's period is minded.
#[must_use]
pub fn matching_path<'a>(recipe: &Recipe, record: &'a Record, arrival: &Arrival) -> Option<&'a RecordPath> {
    let (cell, period) = (1.0 / recipe.band.bandwidth_hz, 1.0 / recipe.band.spacing_hz());
    let distance = |path: &RecordPath| {
        let apart = (path.wave.delay_s + record.rf_chain.timing_offset_s - arrival.delay_s).rem_euclid(period);
        apart.min(period - apart)
    };
    record.paths.iter().filter(|path| distance(path) < cell).max_by(|a, b| a.wave.power().total_cmp(&b.wave.power()))
}

fn percentiles(histogram: &Histogram) -> Option<Percentiles> {
    Some(Percentiles {
        count: histogram.len(),
        p5: histogram.quantile(0.05)?,
        p50: histogram.quantile(0.5)?,
        p90: histogram.quantile(0.9)?,
        p95: histogram.quantile(0.95)?,
    })
}

/// Statistics of a split: rows without a board, rows with one, all rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SplitStatistics {
    /// The split.
    pub split: String,
    /// Rows without a board.
    pub no_board: RowStatistics,
    /// Rows with a board.
    pub board: RowStatistics,
    /// All rows.
    pub all: RowStatistics,
}

/// The regions in the order of [`RowStatistics::regions`].
#[must_use]
pub fn region_labels() -> [&'static str; 5] {
    Region::ALL.map(Region::label)
}

/// Reads a dataset's splits (all of them if `splits` is empty) and sums them up. `progress` hears of rows read.
///
/// # Errors
/// If a split or shard is missing or cannot be read.
pub fn stats(
    dataset: &Dataset,
    splits: &[String],
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Vec<SplitStatistics>, DatasetError> {
    let names: Vec<String> =
        if splits.is_empty() { dataset.manifest().splits.keys().cloned().collect() } else { splits.to_vec() };
    let blank = Statistics::new(dataset.recipe())?;
    let mut summaries = Vec::new();
    for name in names {
        let shards = &dataset.split(&name)?.shards;
        let of_shard = |shard| -> Result<[Statistics; 2], DatasetError> {
            let mut found = [blank.clone(), blank.clone()];
            for record in dataset.shard_records(&name, shard, Columns::WithoutCsi)? {
                let record = record?;
                found[usize::from(record.layout.board.is_some())].add(&record);
                progress(1);
            }
            Ok(found)
        };
        let [no_board, board] = shards.par_iter().map(of_shard).try_reduce(
            || [blank.clone(), blank.clone()],
            |mut a, b| {
                a.iter_mut().zip(&b).for_each(|(a, b)| a.merge(b));
                Ok(a)
            },
        )?;
        let mut all = no_board.clone();
        all.merge(&board);
        summaries.push(SplitStatistics {
            split: name,
            no_board: no_board.row_statistics(),
            board: board.row_statistics(),
            all: all.row_statistics(),
        });
    }
    Ok(summaries)
}
