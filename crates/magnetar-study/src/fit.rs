//! Maximum-likelihood fit of the parameters on training rows.
//!
//! The test rooms have materials the receiver was not given, so each training row is scored with its own material
//! assignment withheld: the widths then learn how wrong materials can be, without a look at the test split.

use magnetar_dataset::{Recipe, Record};
use magnetar_posterior::{PARAMETER_RANGES, PosteriorError, Support, SupportSize, Target, TwinParameters, TwinScorer};
use rayon::prelude::*;

use crate::{ReceiverView, assignment_index, truth};

/// One training row made ready.
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
        let support = view.support(size)?;
        let target = Target::evaluation(&support, &support.mask(&view.rx), &truth(record))?;
        let left_out = assignment_index(recipe, &record.materials);
        Ok(Self { view, support, target, left_out, board: record.board.is_some() })
    }

    fn nll(&self, scorer: &TwinScorer) -> Result<f64, PosteriorError> {
        let ReceiverView { layout, rx, arrivals, .. } = &self.view;
        let volume = scorer.score_without(self.left_out, layout, rx, arrivals, &self.support)?;
        Ok(self.target.voxels.iter().map(|&(n, w)| -w * libm::log(f64::from(volume.mass()[n]))).sum())
    }
}

/// NLL of rows, no-board and board rows weighed equally, each row's own materials withheld.
///
/// # Errors
/// When a row cannot be scored.
pub fn withheld_nll(scorer: &TwinScorer, rows: &[FitRow]) -> Result<f64, PosteriorError> {
    let all: Result<Vec<f64>, _> = rows.par_iter().map(|row| row.nll(scorer)).collect();
    let all = all?;
    let mean = |board: bool| {
        let picked = rows.iter().zip(&all).filter(|(row, _)| row.board == board);
        let (sum, count) = picked.fold((0.0, 0usize), |(s, c), (_, nll)| (s + nll, c + 1));
        (count > 0).then(|| sum / count as f64)
    };
    let means: Vec<f64> = [false, true].into_iter().filter_map(mean).collect();
    if means.is_empty() { Err(PosteriorError::NoMass) } else { Ok(means.iter().sum::<f64>() / means.len() as f64) }
}

/// Coordinate search in the logarithm of each parameter: steps that help grow, steps that do not shrink, until none is
/// above 2 %. Deterministic. `progress` hears the best NLL after every sweep.
///
/// # Errors
/// When a row cannot be scored.
pub fn fit(
    scorer: &TwinScorer,
    rows: &[FitRow],
    sweeps: usize,
    progress: &dyn Fn(usize, f64, &TwinParameters),
) -> Result<(TwinParameters, f64), PosteriorError> {
    const SMALLEST: f64 = 1.02;
    let mut best = scorer.parameters().to_array();
    let mut best_nll = withheld_nll(scorer, rows)?;
    let mut steps = [1.4f64; PARAMETER_RANGES.len()];
    for sweep in 0..sweeps {
        for p in 0..best.len() {
            if steps[p] < SMALLEST {
                continue;
            }
            let mut moved = false;
            for factor in [steps[p], 1.0 / steps[p]] {
                let mut trial = best;
                trial[p] = (trial[p] * factor).clamp(PARAMETER_RANGES[p].1, PARAMETER_RANGES[p].2);
                if trial[p] == best[p] {
                    continue;
                }
                let nll = withheld_nll(&scorer.with_parameters(TwinParameters::from_array(trial)), rows)?;
                if nll < best_nll {
                    (best, best_nll, moved) = (trial, nll, true);
                    break;
                }
            }
            steps[p] = if moved { steps[p] } else { steps[p].sqrt() };
        }
        progress(sweep, best_nll, &TwinParameters::from_array(best));
        if steps.iter().all(|s| *s < SMALLEST) {
            break;
        }
    }
    Ok((TwinParameters::from_array(best), best_nll))
}
