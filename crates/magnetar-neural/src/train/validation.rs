//! Judging a model on validation rows.

use std::f64::consts::TAU;

use magnetar_posterior::{PosteriorError, ScoreRow, SupportSize, Target, Volume};
use magnetar_study::Candidates;
use rayon::prelude::*;

use super::rows::{TrainingRow, TrainingRows};
use crate::scorer::posterior;
use crate::{Calibration, Inputs, Model, NeuralError};

/// Temperatures that are tried, and shares that are spread evenly.
const TEMPERATURES: [f64; 9] = [0.7, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2];
const SHARES: [f64; 5] = [0.0, 0.001, 0.003, 0.01, 0.03];

/// A row on a support of evaluation, the truth not inserted.
fn judged<T>(
    rows: &TrainingRows,
    row: &TrainingRow,
    size: SupportSize,
    judge: impl FnOnce(&ScoreRow<'_>, &Target, Option<&Volume>) -> Result<T, NeuralError>,
) -> Result<T, NeuralError> {
    let view = &row.view;
    let Candidates { support, target, .. } = Candidates::evaluation(view, size, &row.truth)?;
    let twin = rows.twin_evidence(row, &support, true)?;
    judge(&view.on(&support), &target, twin.as_deref())
}

/// NLL of a posterior's mass, nat.
fn nll(volume: &Volume, target: &Target) -> f64 {
    target.voxels.iter().map(|(n, weight)| -weight * libm::log(f64::from(volume.mass()[*n]).max(1e-300))).sum()
}

/// NLL of mass plus `ln V`, averaged over the validation rows and the distinct sizes of supports, nat.
pub(crate) fn density_nll(
    model: &Model,
    rows: &TrainingRows,
    headings: usize,
    stages: &[usize],
) -> Result<f64, NeuralError> {
    let mut cells = stages.to_vec();
    cells.sort_unstable();
    cells.dedup();
    let all: Vec<(usize, &TrainingRow)> =
        cells.iter().flat_map(|cells| rows.validation().iter().map(move |row| (*cells, row))).collect();
    let of = |(cells, row): &(usize, &TrainingRow)| {
        let size = SupportSize { headings, rows: *cells, columns: *cells };
        judged(rows, row, size, |scored, target, twin| {
            let logits = model.logits(&Inputs::new(scored, twin)?)?;
            let volume = posterior(scored, &logits, &Calibration::NONE)?;
            let [dx, dy] = scored.support.spacing();
            Ok(nll(&volume, target) + libm::log(dx * dy * TAU / headings as f64))
        })
    };
    let each = all.par_iter().map(of).collect::<Result<Vec<f64>, NeuralError>>()?;
    Ok(each.iter().sum::<f64>() / each.len() as f64)
}

/// Temperature and even share with the least NLL on the validation rows, at the paper's evaluation support.
pub(crate) fn calibrate(model: &Model, rows: &TrainingRows) -> Result<Calibration, NeuralError> {
    let of = |row: &TrainingRow| {
        judged(rows, row, SupportSize::EVALUATION, |scored, target, twin| {
            let logits = model.logits(&Inputs::new(scored, twin)?)?;
            let mask = scored.support.mask(scored.rx);
            let mut all = Vec::with_capacity(TEMPERATURES.len() * SHARES.len());
            for temperature in TEMPERATURES {
                let volume = posterior(scored, &logits, &Calibration { temperature, uniform_share: 0.0 })?;
                all.extend(SHARES.map(|share| {
                    let even = share / mask.count() as f64;
                    let mass = |n: usize| even + (1.0 - share) * f64::from(volume.mass()[n]);
                    target.voxels.iter().map(|(n, w)| -w * libm::log(mass(*n).max(1e-300))).sum::<f64>()
                }));
            }
            Ok(all)
        })
    };
    let each = rows.validation().par_iter().map(of).collect::<Result<Vec<Vec<f64>>, NeuralError>>()?;
    let choices = TEMPERATURES.iter().flat_map(|t| SHARES.map(|share| (*t, share)));
    let costs = choices.enumerate().map(|(n, choice)| (each.iter().map(|row| row[n]).sum::<f64>(), choice));
    let best = costs.min_by(|a, b| a.0.total_cmp(&b.0)).ok_or(PosteriorError::NoMass)?;
    Ok(Calibration { temperature: best.1.0, uniform_share: best.1.1 })
}
