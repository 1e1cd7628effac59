//! Measured or replayed rows that are shown among simulated ones: the paper's regime S+R.

use std::sync::Arc;

use magnetar_dataset::{Columns, Dataset, Recipe};
use magnetar_study::{StudyError, support_stream};
use rand::RngExt;

use super::rows::TrainingRow;
use crate::NeuralError;

/// Exposures of such rows in a run, as in the paper.
pub const REAL_EXPOSURES: u64 = 4_096;

/// Where such rows come from, for what is kept of them.
const REAL: &str = "real";

/// Random numbers of translations are those of streams from here on, apart from those of supports.
const STREAMS: u64 = 1 << 62;

/// Rows without a board of a campaign or its replay.
#[derive(Debug, Clone)]
pub struct RealRows {
    rows: Vec<TrainingRow>,
    described: String,
}

impl RealRows {
    /// The rows without a board of all splits of a dataset; of one with a split `train` those of that split.
    ///
    /// # Errors
    /// If it has none, does not know where the TX was, keeps another number of arrivals than `recipe`, or a row cannot be
    /// read.
    pub fn from_dataset(dataset: &Dataset, recipe: &Recipe) -> Result<Self, NeuralError> {
        dataset.require_truth().map_err(StudyError::from)?;
        let (found, expected) = (dataset.recipe().sre.keep, recipe.sre.keep);
        if found != expected {
            let problem = format!("--real: its rows keep {found} arrivals, those of recipe {} {expected}", recipe.name);
            return Err(NeuralError::Request { problem });
        }
        let manifest = dataset.manifest();
        let all: Vec<&String> = manifest.splits.keys().collect();
        let train: Vec<&String> = all.iter().copied().filter(|name| *name == super::rows::TRAIN).collect();
        let splits = if train.is_empty() { all } else { train };
        let mut rows = Vec::new();
        for split in &splits {
            for record in dataset.records(split, Columns::WithoutCsi).map_err(StudyError::from)? {
                let record = record.map_err(StudyError::from)?;
                if record.layout.board.is_none() {
                    let origin = (REAL, rows.len() as u64);
                    rows.push(TrainingRow::new(record, recipe, origin));
                }
            }
        }
        let names = splits.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
        if rows.is_empty() {
            let problem = format!("--real: no row without a board in {names}; the regime S+R learns from those");
            return Err(NeuralError::Request { problem });
        }
        let kind = if manifest.measured.is_some() { "measured" } else { "simulated" };
        let described = format!(
            "{} rows without a board of {names}, {kind}, recipe {}, seed {}",
            rows.len(),
            dataset.recipe().name,
            manifest.seed
        );
        Ok(Self { rows, described })
    }

    /// Where they come from, in words.
    #[must_use]
    pub fn described(&self) -> &str {
        &self.described
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    /// Exposure `number` of them: row after row, again and again. With `moved`, TX and RX stand elsewhere in the room, by one
    /// translation that keeps both inside; headings stay.
    pub(crate) fn exposure(&self, number: u64, seed: u64, moved: bool) -> TrainingRow {
        let count = self.rows.len() as u64;
        let mut row = self.rows[usize::try_from(number % count).unwrap_or(0)].clone();
        if moved {
            let mut rng = support_stream(seed, STREAMS + number);
            let room = row.view.layout.room;
            for axis in 0..2 {
                let places = [row.truth.position[axis], row.view.rx.position[axis]];
                let least = room.min[axis] - places[0].min(places[1]);
                let most = room.max[axis] - places[0].max(places[1]);
                // Nothing where a device is reported outside: there is no room to move in.
                let by = if least < most { least + (most - least) * rng.random::<f64>() } else { 0.0 };
                row.truth.position[axis] += by;
                row.view.rx.position[axis] += by;
            }
        }
        row
    }
}

/// Which exposures of a run are real ones: spread evenly among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mixture {
    /// Simulated exposures of the run.
    pub(crate) simulated: u64,
    /// Real ones.
    pub(crate) real: u64,
}

impl Mixture {
    /// Real exposures before exposure `number`.
    fn before(self, number: u64) -> u64 {
        let all = u128::from(self.simulated) + u128::from(self.real);
        u64::try_from(u128::from(number) * u128::from(self.real) / all.max(1)).unwrap_or(u64::MAX)
    }

    /// The number of an exposure among its kind: `Ok` of a simulated one, `Err` of a real one.
    pub(crate) fn place(self, number: u64) -> Result<u64, u64> {
        let before = self.before(number);
        if self.before(number + 1) > before { Err(before) } else { Ok(number - before) }
    }
}

/// Real rows and how they are mixed in.
#[derive(Debug, Clone)]
pub(crate) struct MixedIn {
    pub(crate) rows: Arc<RealRows>,
    pub(crate) mixture: Mixture,
    /// Whether devices are moved. Not where a twin looks at the rows: it would be told of walls that were elsewhere.
    pub(crate) moved: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_exposures_are_spread_evenly_and_none_is_left_out() {
        for (simulated, real) in [(100, 7), (7, 100), (50, 0), (0, 5), (1_638_400, 4_096)] {
            let mixture = Mixture { simulated, real };
            let mut counts = (0, 0);
            let mut last = None;
            for number in 0..simulated + real {
                match mixture.place(number) {
                    Ok(place) => {
                        assert_eq!(place, counts.0);
                        counts.0 += 1;
                    }
                    Err(place) => {
                        assert_eq!(place, counts.1);
                        let gap = (simulated + real).div_ceil(real);
                        assert!(number - last.unwrap_or(number.saturating_sub(gap)) <= gap);
                        last = Some(number);
                        counts.1 += 1;
                    }
                }
            }
            assert_eq!(counts, (simulated, real));
        }
    }
}
