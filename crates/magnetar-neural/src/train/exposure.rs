//! One row as a model is shown it: a support, features, a target, and the candidates that are scored.

use magnetar_posterior::{Mask, SupportSize, Target};
use magnetar_study::{Candidates, support_stream};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;

use super::plan::{Sampling, TrainingPlan};
use super::rows::{TrainingRow, TrainingRows};
use crate::{Inputs, NeuralError, Picked};

/// Logarithm of the weight of candidates that do not count.
const NO_WEIGHT: f32 = -1e30;

/// One exposure.
#[derive(Debug, Clone)]
pub struct Exposure {
    /// What the network is given.
    pub inputs: Inputs,
    /// The target.
    pub target: Target,
    /// The candidates that are scored.
    pub scored: ScoredCandidates,
}

impl Exposure {
    /// Exposure `number` of a run: random numbers are those of its own stream.
    ///
    /// # Errors
    /// If its support or target cannot be made.
    pub fn draw(
        plan: &TrainingPlan,
        rows: &TrainingRows,
        row: &TrainingRow,
        cells: usize,
        number: u64,
    ) -> Result<Self, NeuralError> {
        let mut rng = support_stream(plan.seed, number);
        let size = SupportSize { headings: plan.headings, rows: cells, columns: cells };
        let (view, truth) = (&row.view, &row.truth);
        let Candidates { support, mask, target } = if plan.truth_inserted {
            Candidates::training(view, size, truth, &mut rng)?
        } else {
            Candidates::evaluation(view, size, truth)?
        };
        let twin = rows.twin_evidence(row, &support, !plan.truth_inserted && plan.distinct_rows.is_some())?;
        let inputs = Inputs::new(&view.on(&support), twin.as_deref())?;
        let scored = ScoredCandidates::pick(plan.sampling, size, &mask, &target, &mut rng);
        Ok(Self { inputs, target, scored })
    }
}

/// The candidates of an exposure that a network scores.
#[derive(Debug, Clone)]
pub struct ScoredCandidates {
    /// Which they are.
    pub picked: Picked,
    /// Logarithm of how many candidates each stands for, in the order they are scored.
    pub log_weights: Vec<f32>,
    /// The target's weights, in the same order.
    pub targets: Vec<f32>,
    /// N_V: valid candidates of the whole support.
    pub valid: usize,
}

impl ScoredCandidates {
    /// Picks them from a support, those of the truth always among them.
    fn pick(sampling: Sampling, size: SupportSize, mask: &Mask, target: &Target, rng: &mut ChaCha8Rng) -> Self {
        let plane = size.rows * size.columns;
        let true_heading = |d: usize| target.voxels.iter().any(|(n, _)| n / plane == d);
        let (picked, log_weights) = match sampling {
            Sampling::Candidates(count) => {
                let cells: Vec<usize> = (0..plane).filter(|cell| mask.is_valid(*cell)).collect();
                // Places of the truth among the valid candidates of all headings: passed over by the strata.
                let place_of = |n: usize| cells.binary_search(&(n % plane)).ok().map(|c| n / plane * cells.len() + c);
                let mut truth: Vec<usize> = target.voxels.iter().filter_map(|(n, _)| place_of(*n)).collect();
                truth.sort_unstable();
                let mut picked: Vec<usize> = target.voxels.iter().map(|(n, _)| *n).collect();
                let mut weights = vec![0.0; picked.len()];
                for (place, stands_for) in strata(size.headings * cells.len() - truth.len(), count, rng) {
                    let place = truth.iter().fold(place, |place, truth| place + usize::from(place >= *truth));
                    picked.push(place / cells.len() * plane + cells[place % cells.len()]);
                    weights.push(libm::log(stands_for as f64) as f32);
                }
                (Picked::Candidates(picked), weights)
            }
            Sampling::Headings(count) => {
                let mut headings: Vec<(usize, usize)> =
                    (0..size.headings).filter(|d| true_heading(*d)).map(|d| (d, 1)).collect();
                let rest: Vec<usize> = (0..size.headings).filter(|d| !true_heading(*d)).collect();
                headings.extend(strata(rest.len(), count, rng).into_iter().map(|(place, of)| (rest[place], of)));
                let weight = |of: usize, cell: usize| {
                    if mask.is_valid(cell) { libm::log(of as f64) as f32 } else { NO_WEIGHT }
                };
                let weights = headings.iter().flat_map(|(_, of)| (0..plane).map(move |cell| (*of, cell)));
                let weights = weights.map(|(of, cell)| weight(of, cell)).collect();
                (Picked::Headings(headings.into_iter().map(|(d, _)| d).collect()), weights)
            }
            Sampling::All => {
                let weight = |n: usize| if mask.is_valid(n % plane) { 0.0 } else { NO_WEIGHT };
                (Picked::All, (0..size.len()).map(weight).collect())
            }
        };
        let targets = picked.candidates(size).iter().map(|n| target.weight(*n) as f32).collect();
        Self { picked, log_weights, targets, valid: mask.count() }
    }
}

/// One place of each of `count` strata of `total` places, and how many places its stratum has.
fn strata(total: usize, count: usize, rng: &mut ChaCha8Rng) -> Vec<(usize, usize)> {
    let count = count.min(total);
    (0..count)
        .map(|n| {
            let (first, end) = (n * total / count, (n + 1) * total / count);
            (rng.random_range(first..end), end - first)
        })
        .collect()
}
