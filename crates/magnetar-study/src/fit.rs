//! Fit of the twin's parameters: a coordinate search by maximum likelihood, stopped by rows it was not fitted to, then a
//! calibration of temperature and floor.
//!
//! The test rooms have materials the receiver was not given, so each row is scored with its own material assignment
//! withheld: the widths then learn how wrong materials can be, without a look at the test split.

use magnetar_dataset::{Recipe, Record};
use magnetar_posterior::{
    HpdCurve, PARAMETER_RANGES, PosteriorError, Support, SupportSize, Target, TwinParameters, TwinScorer, Volume,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{Candidates, ReceiverView, assignment_index, truth};

/// Places of temperature and floor in the parameters' array: they are calibrated, not searched.
const CALIBRATED: [usize; 2] = [10, 11];

/// The search ends when a pass gains less than this on the held-back rows, nat.
pub const LEAST_GAIN: f64 = 0.002;

/// A step below this factor is not tried any more.
const SMALLEST_STEP: f64 = 1.03;

/// What a percentage point of HPD gap is worth when temperature and floor are chosen, nat.
const NAT_PER_POINT: f64 = 0.02;

/// One row made ready.
#[derive(Debug, Clone)]
pub struct FitRow {
    view: ReceiverView,
    support: Support,
    target: Target,
    left_out: Option<usize>,
    board: bool,
}

impl FitRow {
    /// Takes from a row what the fit needs.
    ///
    /// # Errors
    /// When its support or target cannot be made.
    pub fn new(record: &Record, recipe: &Recipe, size: SupportSize) -> Result<Self, PosteriorError> {
        let view = ReceiverView::of(record);
        let Candidates { support, target, .. } = Candidates::evaluation(&view, size, &truth(record))?;
        let left_out = assignment_index(recipe, &record.materials);
        Ok(Self { view, support, target, left_out, board: record.layout.board.is_some() })
    }

    fn volume(&self, scorer: &TwinScorer) -> Result<Volume, PosteriorError> {
        let ReceiverView { layout, rx, arrivals, .. } = &self.view;
        scorer.score_without(self.left_out, layout, rx, arrivals, &self.support)
    }

    fn nll_of(&self, volume: &Volume) -> f64 {
        self.target.voxels.iter().map(|&(n, w)| -w * libm::log(f64::from(volume.mass()[n]))).sum()
    }
}

/// The mean over rows, no-board and board rows weighed equally.
fn balanced(rows: &[FitRow], values: &[f64]) -> Result<f64, PosteriorError> {
    let mean = |board: bool| {
        let picked = rows.iter().zip(values).filter(|(row, _)| row.board == board);
        let (sum, count) = picked.fold((0.0, 0usize), |(s, c), (_, value)| (s + value, c + 1));
        (count > 0).then(|| sum / count as f64)
    };
    let means: Vec<f64> = [false, true].into_iter().filter_map(mean).collect();
    if means.is_empty() { Err(PosteriorError::NoMass) } else { Ok(means.iter().sum::<f64>() / means.len() as f64) }
}

/// NLL of rows, no-board and board rows weighed equally, each row's own materials withheld.
///
/// # Errors
/// When a row cannot be scored.
pub fn withheld_nll(scorer: &TwinScorer, rows: &[FitRow]) -> Result<f64, PosteriorError> {
    let nll = |row: &FitRow| -> Result<f64, PosteriorError> { Ok(row.nll_of(&row.volume(scorer)?)) };
    let all: Result<Vec<f64>, _> = rows.par_iter().map(nll).collect();
    balanced(rows, &all?)
}

/// Where a search stands: all that is needed to go on with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitState {
    /// Passes over all parameters made.
    pub passes: usize,
    /// Whether the last pass gained less than [`LEAST_GAIN`] on the held-back rows, or no step is left.
    pub converged: bool,
    /// NLL on the rows fitted to, nat.
    pub fitted_nll: f64,
    /// Least NLL on the held-back rows after any pass, nat.
    pub held_back_nll: f64,
    /// Factor that each parameter is tried at, in the order of `PARAMETER_RANGES`.
    pub steps: Vec<f64>,
    /// The parameters with the least NLL on the rows fitted to.
    pub parameters: TwinParameters,
    /// Those of the pass with the least NLL on the held-back rows: the result.
    pub chosen: TwinParameters,
}

impl FitState {
    /// Before anything was tried.
    #[must_use]
    pub fn start(scorer: &TwinScorer) -> Self {
        Self {
            passes: 0,
            converged: false,
            fitted_nll: 0.0,
            held_back_nll: 0.0,
            steps: vec![1.5; PARAMETER_RANGES.len()],
            parameters: *scorer.parameters(),
            chosen: *scorer.parameters(),
        }
    }
}

/// A coordinate search in the logarithm of each parameter, pass by pass. Deterministic.
pub struct Fit<'a> {
    scorer: &'a TwinScorer,
    rows: &'a [FitRow],
    held_back: &'a [FitRow],
    state: FitState,
}

impl<'a> Fit<'a> {
    /// Starts from the scorer's parameters. `held_back` rows decide when to stop and are not fitted to.
    ///
    /// # Errors
    /// When a row cannot be scored.
    pub fn new(scorer: &'a TwinScorer, rows: &'a [FitRow], held_back: &'a [FitRow]) -> Result<Self, PosteriorError> {
        let state = FitState {
            fitted_nll: withheld_nll(scorer, rows)?,
            held_back_nll: withheld_nll(scorer, held_back)?,
            ..FitState::start(scorer)
        };
        Ok(Self { scorer, rows, held_back, state })
    }

    /// Goes on from a state that was kept. It must have as many steps as there are parameters.
    #[must_use]
    pub fn resume(
        scorer: &'a TwinScorer,
        rows: &'a [FitRow],
        held_back: &'a [FitRow],
        state: FitState,
    ) -> Option<Self> {
        (state.steps.len() == PARAMETER_RANGES.len()).then_some(Self { scorer, rows, held_back, state })
    }

    /// Where the search stands.
    #[must_use]
    pub fn state(&self) -> &FitState {
        &self.state
    }

    /// NLL evaluations that a pass makes at most, for progress bars.
    #[must_use]
    pub fn evaluations_per_pass(&self) -> u64 {
        2 * (PARAMETER_RANGES.len() - CALIBRATED.len()) as u64 + 1
    }

    /// One pass over all parameters: steps that help are kept (and the next is longer), steps that do not shrink.
    /// `progress` hears of every evaluation.
    ///
    /// # Errors
    /// When a row cannot be scored.
    pub fn pass(&mut self, progress: &dyn Fn()) -> Result<(), PosteriorError> {
        let mut best = self.state.parameters.to_array();
        for p in (0..best.len()).filter(|p| !CALIBRATED.contains(p)) {
            let step = self.state.steps[p];
            if step < SMALLEST_STEP {
                continue;
            }
            let (_, low, high) = PARAMETER_RANGES[p];
            let mut moved = false;
            for factor in [step, 1.0 / step] {
                let mut trial = best;
                trial[p] = (best[p] * factor).clamp(low, high);
                if trial[p] == best[p] {
                    continue;
                }
                let scorer = self.scorer.with_parameters(TwinParameters::from_array(trial));
                let nll = withheld_nll(&scorer, self.rows)?;
                progress();
                if nll < self.state.fitted_nll {
                    (best, self.state.fitted_nll, moved) = (trial, nll, true);
                    break;
                }
            }
            self.state.steps[p] = if moved { (step * step.sqrt()).min(3.0) } else { step.sqrt() };
        }
        self.state.parameters = TwinParameters::from_array(best);
        let held_back = withheld_nll(&self.scorer.with_parameters(self.state.parameters), self.held_back)?;
        progress();
        self.state.passes += 1;
        let gain = self.state.held_back_nll - held_back;
        if gain > 0.0 {
            (self.state.held_back_nll, self.state.chosen) = (held_back, self.state.parameters);
        }
        // Early passes only find their step lengths.
        let still = self.state.steps.iter().all(|step| *step < SMALLEST_STEP);
        self.state.converged = still || (self.state.passes > 2 && gain < LEAST_GAIN);
        Ok(())
    }
}

/// How temperature and floor were chosen, and what they reach on the rows they were chosen on.
#[derive(Debug, Clone, PartialEq)]
pub struct TwinCalibration {
    /// Exponent of the likelihood.
    pub temperature: f64,
    /// Share that is spread evenly.
    pub uniform_share: f64,
    /// NLL, nat.
    pub nll: f64,
    /// HPD gap, percentage points.
    pub hpd_gap_pp: f64,
    /// Of the rows of each assignment, withheld from the twin: mean of empirical minus nominal coverage, percentage
    /// points. Below zero the twin is too sure of such materials.
    pub bias_pp: Vec<f64>,
}

/// Chooses temperature and floor on rows that were not fitted to, each with its own materials withheld: the least NLL plus
/// 0.02 nat per percentage point of HPD gap.
///
/// # Errors
/// When a row cannot be scored.
pub fn calibrate(scorer: &TwinScorer, rows: &[FitRow]) -> Result<TwinCalibration, PosteriorError> {
    let (_, least, _) = PARAMETER_RANGES[CALIBRATED[1]];
    let plain = TwinParameters { temperature: 1.0, uniform_share: least, ..*scorer.parameters() };
    let scorer = scorer.with_parameters(plain);
    let volumes = rows.par_iter().map(|row| row.volume(&scorer)).collect::<Result<Vec<Volume>, _>>()?;
    let cost = |c: &TwinCalibration| c.nll + NAT_PER_POINT * c.hpd_gap_pp;
    let mut best = judge(rows, &volumes, 1.0, 0.01)?;
    // Each in turn, twice: the two hardly depend on each other.
    for _ in 0..2 {
        for step in 0..12 {
            let tried = judge(rows, &volumes, 0.6 + 0.05 * f64::from(step), best.uniform_share)?;
            best = if cost(&tried) < cost(&best) { tried } else { best };
        }
        for share in [0.0003, 0.001, 0.003, 0.01, 0.02, 0.04, 0.08] {
            let tried = judge(rows, &volumes, best.temperature, share)?;
            best = if cost(&tried) < cost(&best) { tried } else { best };
        }
    }
    Ok(best)
}

/// NLL and HPD gap of posteriors after another temperature and floor.
fn judge(rows: &[FitRow], volumes: &[Volume], temperature: f64, share: f64) -> Result<TwinCalibration, PosteriorError> {
    let judged: Vec<(f64, [f64; 9])> = rows
        .par_iter()
        .zip(volumes)
        .map(|(row, volume)| {
            let tempered: Vec<f64> =
                volume.mass().iter().map(|m| libm::exp(temperature * libm::log(f64::from(*m).max(1e-300)))).collect();
            let total: f64 = tempered.iter().sum();
            let even = share / tempered.len() as f64;
            let weights: Vec<f64> = tempered.iter().map(|t| even + (1.0 - share) * t / total).collect();
            let mask = row.support.mask(&row.view.rx);
            let volume = Volume::from_weights(row.support.size(), &mask, &weights)?;
            let curve = HpdCurve::new(&volume, &mask, &row.target);
            Ok((row.nll_of(&volume), std::array::from_fn(|n| curve.coverage[10 * (n + 1)])))
        })
        .collect::<Result<_, PosteriorError>>()?;
    let nlls: Vec<f64> = judged.iter().map(|(nll, _)| *nll).collect();
    let nominal = |n: usize| 0.1 * (n as f64 + 1.0);
    let mut gap = 0.0;
    for n in 0..9 {
        let covered: Vec<f64> = judged.iter().map(|(_, coverage)| coverage[n]).collect();
        gap += (balanced(rows, &covered)? - nominal(n)).abs() / 9.0;
    }
    let bias = |assignment: usize| {
        let of = rows.iter().zip(&judged).filter(|(row, _)| row.left_out == Some(assignment));
        let each: Vec<f64> =
            of.map(|(_, (_, coverage))| (0..9).map(|n| coverage[n] - nominal(n)).sum::<f64>() / 9.0).collect();
        100.0 * each.iter().sum::<f64>() / each.len() as f64
    };
    let assignments = rows.iter().filter_map(|row| row.left_out).max().map_or(0, |most| most + 1);
    let bias_pp = (0..assignments).map(bias).collect();
    let nll = balanced(rows, &nlls)?;
    Ok(TwinCalibration { temperature, uniform_share: share, nll, hpd_gap_pp: 100.0 * gap, bias_pp })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use magnetar_dataset::generate_record;

    use super::*;
    use crate::{FitOrigin, twin_model};

    const SIZE: SupportSize = SupportSize { headings: 8, rows: 5, columns: 5 };

    fn rows(split: &str, count: u64) -> Vec<FitRow> {
        let recipe = Arc::new(Recipe::paper());
        let row = |index| FitRow::new(&generate_record(&recipe, 3, split, index).unwrap(), &recipe, SIZE).unwrap();
        (0..count).map(row).collect()
    }

    fn scorer() -> TwinScorer {
        TwinScorer::new(twin_model(&Recipe::paper()).unwrap(), TwinParameters::default()).unwrap()
    }

    #[test]
    fn a_search_that_was_stopped_goes_on_as_if_it_had_not_been() {
        let (scorer, fitted, held_back) = (scorer(), rows("train", 6), rows("val", 6));
        let mut whole = Fit::new(&scorer, &fitted, &held_back).unwrap();
        let mut stopped = Fit::new(&scorer, &fitted, &held_back).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint");
        let origin = FitOrigin { seed: 3, rows: 6, cells: 5, ..FitOrigin::default() };
        for _ in 0..2 {
            let before = whole.state().fitted_nll;
            whole.pass(&|| {}).unwrap();
            assert!(whole.state().fitted_nll <= before);
            stopped.pass(&|| {}).unwrap();
            stopped.state().keep(&path, &origin).unwrap();
            let state = FitState::kept(&path, &origin).unwrap().unwrap();
            stopped = Fit::resume(&scorer, &fitted, &held_back, state).unwrap();
        }
        assert_eq!(stopped.state(), whole.state());
        let other = FitOrigin { seed: 4, ..origin };
        assert!(FitState::kept(&path, &other).unwrap_err().to_string().contains("another dataset"));
    }

    #[test]
    fn calibration_undoes_a_likelihood_that_is_too_sure() {
        let held_back = rows("val", 60);
        let sure = scorer().with_parameters(TwinParameters {
            phase_sigma_deg: 1.0,
            phase_noise_scale: 0.3,
            reflection_sigma_db: 0.5,
            los_sigma_db: 0.3,
            ..TwinParameters::default()
        });
        let plain = calibrate(&scorer(), &held_back).unwrap();
        let found = calibrate(&sure, &held_back).unwrap();
        assert!(found.temperature < plain.temperature && found.temperature < 0.95, "{found:?} {plain:?}");
        assert!(found.nll < withheld_nll(&sure, &held_back).unwrap());
    }
}
