//! The receiver and the world against rows whose transmitter is known: what they differ from the recipe by.

mod fading;
mod likelihood;
mod link;
mod parameters;
mod replica;
mod search;
#[cfg(test)]
mod tests;
mod uncertainty;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use magnetar_dataset::{Columns, Dataset, Recipe, Record};
use rayon::prelude::*;

use crate::{StudyError, twin_model};
use likelihood::{Buffers, residuals, total};
use link::{Link, Physics, Worlds};
use parameters::{COUNT, Point, WIDTHS, shown, start};
use replica::Replicas;
use search::Search;
use uncertainty::Summit;

pub use parameters::{OFFSET_KEYS, OffsetKey};

/// One group in so many is held out.
const HELD_OUT: u64 = 5;
/// Fewer rows than this say too little.
const LEAST_ROWS: usize = 20;

/// Replicas of the rows that correct a calibration, if nobody says otherwise.
const REPLICAS: u32 = 16;

/// How rows are calibrated against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalibrationSettings {
    /// Names of numbers that stay as the recipe has them.
    pub held: Vec<String>,
    /// How often the rows are made anew, of a receiver as it was found, by the recipe's simulator: what the calibration of those
    /// finds beyond what they were made with is taken off. An odd number counts as one more; zero leaves it out.
    pub replicas: u32,
}

impl Default for CalibrationSettings {
    fn default() -> Self {
        Self { held: Vec::new(), replicas: REPLICAS }
    }
}

/// A number and how surely it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OffsetEstimate {
    /// What it is.
    pub key: OffsetKey,
    /// The most likely value, less its bias.
    pub value: f64,
    /// What calibrations of replicas find too much of it: it was taken off. Zero without replicas.
    pub bias: f64,
    /// Its standard error; `None` where it was held, or the rows do not say.
    pub standard_error: Option<f64>,
    /// Whether it was held at zero.
    pub held: bool,
}

/// How well rows that were not fitted are explained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeldOut {
    /// Rows.
    pub rows: usize,
    /// Mean logarithm of the likelihood per row, nat, with spreads that were fitted for it.
    pub log_likelihood: f64,
    /// Median distance of an arrival's phase from the nearest path's, degrees.
    pub phase_deg: f64,
    /// Median distance of its level, dB.
    pub level_db: f64,
}

/// What was found.
#[derive(Debug, Clone)]
pub struct FoundOffsets {
    /// Rows fitted to.
    pub rows: usize,
    /// Replicas of them that were made and calibrated.
    pub replicas: usize,
    /// The time that took.
    pub replicas_took: Duration,
    /// Every number, in the order of [`OFFSET_KEYS`].
    pub estimates: Vec<OffsetEstimate>,
    /// Rows held out, as the recipe has it.
    pub before: HeldOut,
    /// The same rows, calibrated.
    pub after: HeldOut,
}

impl FoundOffsets {
    /// The value of a number by its name; 0 for one there is not.
    #[must_use]
    pub fn value(&self, name: &str) -> f64 {
        self.estimates.iter().find(|estimate| estimate.key.name == name).map_or(0.0, |estimate| estimate.value)
    }
}

/// Calibrates a recipe against the rows of a split whose TX is known, at most `limit` of them, spread over the split.
/// `progress` is called with 1 after every step of the search, of which nobody knows how many there will be, and after every
/// replica.
///
/// # Errors
/// If the dataset has no truth, too few rows, or cannot be read; if a held name is not known.
pub fn calibrate_receiver(
    dataset: &Dataset,
    split: &str,
    limit: usize,
    settings: &CalibrationSettings,
    progress: &dyn Fn(u64),
) -> Result<FoundOffsets, StudyError> {
    dataset.require_truth()?;
    let records = dataset.sample(split, Columns::WithoutCsi, limit as u64)?.collect::<Result<Vec<_>, _>>()?;
    calibrate_receiver_rows(dataset.recipe(), &records, settings, progress)
}

/// As [`calibrate_receiver`], for rows in memory.
///
/// # Errors
/// As for [`calibrate_receiver`].
pub fn calibrate_receiver_rows(
    recipe: &Recipe,
    records: &[Record],
    settings: &CalibrationSettings,
    progress: &dyn Fn(u64),
) -> Result<FoundOffsets, StudyError> {
    let mut free = [true; COUNT];
    for name in &settings.held {
        let known = || OFFSET_KEYS.map(|key| key.name).join(", ");
        let at = OFFSET_KEYS.iter().position(|key| key.name == name);
        free[at.ok_or_else(|| StudyError::UnknownOffset { name: name.clone(), known: known() })?] = false;
    }
    let worlds = Worlds::new(recipe)?;
    let physics = Physics::new(twin_model(recipe)?);
    let links: Vec<Link> =
        records.par_iter().map(|record| Link::new(record, recipe, &worlds)).collect::<Result<_, _>>()?;
    // One state of the receiver alone, or very few: rows are held out one by one.
    let groups: BTreeSet<u64> = links.iter().map(|link| link.ends.group).collect();
    let by_group = groups.len() as u64 >= 4 * HELD_OUT;
    let (mut fitted, mut others) = (Vec::new(), Vec::new());
    for (n, link) in links.into_iter().enumerate() {
        let number = if by_group { link.ends.group } else { n as u64 };
        if number % HELD_OUT == HELD_OUT - 1 { others.push(link) } else { fitted.push(link) }
    }
    if fitted.len() < LEAST_ROWS {
        return Err(StudyError::NothingToCalibrate { rows: records.len(), least: LEAST_ROWS * 5 / 4 });
    }
    // Before: the recipe as it is, with spreads of its own.
    let widths_alone = std::array::from_fn(|n| n >= WIDTHS);
    let search = Search { links: &fitted, physics: &physics, progress };
    let plain = search.climb(&start(), &widths_alone);
    let begin = search.beginning(&start(), &free);
    let point = search.climb(&begin, &free);
    let summit = Summit::new(&fitted, &physics, &point, &free);
    progress(1);
    let mut numbers: [Found; COUNT] = std::array::from_fn(|n| Found {
        value: point[n],
        bias: 0.0,
        error: summit.as_ref().and_then(|summit| summit.error(n)),
    });
    let began = Instant::now();
    // Without a summit there is nothing to make them at.
    let replicas = summit.as_ref().map_or(0, |_| (settings.replicas as usize).next_multiple_of(2));
    if let (Some(summit), true) = (&summit, replicas > 0) {
        let bias = Replicas::new(recipe)?.bias(&fitted, &physics, (&point, &free), summit, replicas, progress);
        for (n, found) in numbers.iter_mut().enumerate().take(WIDTHS) {
            found.correct(bias.mean[n], bias.error[n], bias.spread[n]);
        }
    }
    let replicas_took = began.elapsed();
    let corrected: Point = std::array::from_fn(|n| numbers[n].value);
    let estimate = |(key, (n, found)): (&OffsetKey, (usize, &Found))| {
        let (value, slope) = shown(n, found.value);
        let standard_error = found.error.map(|error| error * slope);
        OffsetEstimate { key: *key, value, bias: found.bias, standard_error, held: !free[n] }
    };
    let estimates = OFFSET_KEYS.iter().zip(numbers.iter().enumerate()).map(estimate).collect();
    let judge = |at: &Point| held_out(&others, &physics, at);
    let (before, after) = (judge(&plain), judge(&corrected));
    Ok(FoundOffsets { rows: fitted.len(), replicas, replicas_took, estimates, before, after })
}

/// A number as it is searched.
struct Found {
    value: f64,
    bias: f64,
    error: Option<f64>,
}

impl Found {
    /// Takes off what replicas say is too much; what the rows do not determine stays. The rows' own spread has all that the
    /// recipe does not know of, but where a few strong rows decide it may come out small: then that of replicas stands.
    fn correct(&mut self, bias: f64, bias_error: f64, spread: f64) {
        if let Some(error) = self.error.as_mut().filter(|_| bias.is_finite() && spread.is_finite()) {
            *error = libm::hypot(error.max(spread), bias_error);
            self.bias = bias;
            self.value -= bias;
        }
    }
}

fn held_out(links: &[Link], physics: &Physics, point: &Point) -> HeldOut {
    let mut offs: Vec<(f64, f64)> = Vec::new();
    let mut buffers = Buffers::default();
    for link in links {
        offs.extend(residuals(link, physics, point, &mut buffers));
    }
    let median = |of: &dyn Fn(&(f64, f64)) -> f64| {
        let mut values: Vec<f64> = offs.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    };
    HeldOut {
        rows: links.len(),
        log_likelihood: total(links, physics, point) / links.len().max(1) as f64,
        phase_deg: median(&|off| off.0).to_degrees(),
        level_db: median(&|off| off.1),
    }
}
