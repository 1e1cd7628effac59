//! Evaluations in parts: rows scored here and there, gathered in one place in their order, with the bits of one evaluation.

use std::sync::Arc;

use magnetar_dataset::Record;
use magnetar_posterior::{CONE_OPENINGS_DEG, HpdCurve, LEVELS, Score, Stratum, Support, Target, Volume};
use magnetar_study::{Evaluation, ReceiverView, evaluation_json, map_posteriors, stratum, truth};
use numpy::PyUntypedArrayMethods;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Class, Failure};
use crate::input;
use crate::posterior::{Scorer, stopping};
use crate::rows::Rows;
use crate::run::run;

const CONES: usize = CONE_OPENINGS_DEG.len();

/// Numbers of one score.
const NUMBERS: usize = 6 + 2 * CONES + 2 * LEVELS;

fn numbers(score: &Score) -> impl Iterator<Item = f64> + '_ {
    [score.nll, score.map_xy_m, score.map_yaw_deg, score.joint_hit, score.p1m, score.p_joint]
        .into_iter()
        .chain(score.cone_mass.into_iter().chain(score.cone_hit))
        .chain(score.hpd.coverage.iter().chain(&score.hpd.support).copied())
}

/// The score of its numbers; `None` where there are not as many.
fn score_of(numbers: &[f64]) -> Option<Score> {
    let (first, rest) = numbers.split_at_checked(6)?;
    let (cone_mass, rest) = rest.split_at_checked(CONES)?;
    let (cone_hit, curves) = rest.split_at_checked(CONES)?;
    let (coverage, support) = curves.split_at_checked(LEVELS)?;
    let &[nll, map_xy_m, map_yaw_deg, joint_hit, p1m, p_joint] = first else { return None };
    Some(Score {
        nll,
        hpd: HpdCurve { coverage: coverage.to_vec(), support: support.to_vec() },
        map_xy_m,
        map_yaw_deg,
        joint_hit,
        p1m,
        p_joint,
        cone_mass: cone_mass.try_into().ok()?,
        cone_hit: cone_hit.try_into().ok()?,
    })
}

/// What scorers reach on every row: `values` (rows, scorers, numbers of a score), and the group each row counts in. For
/// `evaluation_of`, which may run in another process.
#[pyfunction]
pub fn score_rows<'py>(
    py: Python<'py>,
    rows: &Bound<'py, Rows>,
    scorers: Vec<Bound<'py, Scorer>>,
    size: (usize, usize, usize),
) -> PyResult<Bound<'py, PyDict>> {
    let scorers: Vec<_> = scorers.iter().map(|scorer| Arc::clone(&scorer.get().scorer)).collect();
    let (rows, size) = (rows.get(), input::size(size));
    let (count, of_all) = (rows.len(), scorers.len());
    let length = input::volume_of(&[count, of_all, NUMBERS], "scores")?;
    let (values, strata) = run(py, |stop| {
        let records = rows.records()?;
        let strata: Vec<Stratum> = records.iter().map(stratum).collect();
        let mut values = vec![0.0; length];
        for (n, scorer) in scorers.iter().enumerate() {
            let mut places = values.chunks_exact_mut(NUMBERS).skip(n).step_by(of_all);
            let score = |record: &Record, support: &Support, volume: &Volume| {
                let (view, tx) = (ReceiverView::of(record), truth(record));
                let mask = support.mask(&view.rx);
                let target = Target::evaluation(support, &mask, &tx)?;
                Ok(Score::new(volume, support, &mask, &target, &view.rx, &tx))
            };
            let listed = stopping(records.clone(), stop);
            map_posteriors(rows.split(), listed, &**scorer, size, score, |score| {
                let place = places.next().unwrap_or_default();
                place.iter_mut().zip(numbers(&score)).for_each(|(place, number)| *place = number);
            })?;
            stop.check()?;
        }
        Ok((values, strata))
    })?;
    let found = PyDict::new(py);
    found.set_item("values", input::shaped(py, values, &[count, of_all, NUMBERS])?)?;
    found.set_item("board", strata.iter().map(|stratum| stratum.board).collect::<Vec<_>>())?;
    found.set_item("groups", strata.into_iter().map(|stratum| stratum.groups).collect::<Vec<_>>())?;
    Ok(found)
}

/// The evaluation of rows that `score_rows` scored, all of them in their order: what `magnetar.evaluate` gives.
#[pyfunction]
pub fn evaluation_of<'py>(
    py: Python<'py>,
    scorers: Vec<Bound<'py, Scorer>>,
    values: &Bound<'py, PyAny>,
    board: Vec<bool>,
    groups: Vec<Vec<String>>,
) -> PyResult<Bound<'py, PyAny>> {
    let array = input::floats(values, "values")?;
    if array.shape() != [board.len(), scorers.len(), NUMBERS] || groups.len() != board.len() {
        let (found, expected) = (array.shape(), [board.len(), scorers.len(), NUMBERS]);
        return Err(Failure::input(format!("values: an array of shape {found:?}; expected {expected:?}")).into());
    }
    let mut evaluations: Vec<Evaluation> =
        scorers.iter().map(|scorer| Evaluation::new(&*scorer.get().scorer)).collect();
    let strata = board.into_iter().zip(groups).map(|(board, groups)| Stratum { board, groups });
    let rows = input::slice(&array, "values")?.chunks_exact((NUMBERS * scorers.len()).max(1));
    for (stratum, row) in strata.zip(rows) {
        let scores: Option<Vec<Score>> = row.chunks_exact(NUMBERS).map(score_of).collect();
        let (Some(scores), Some(materials)) = (scores, stratum.groups.first()) else {
            return Err(Failure::input("values and groups are not those of score_rows").into());
        };
        for (evaluation, score) in evaluations.iter_mut().zip(&scores) {
            evaluation.scores.add(stratum.clone(), score);
            evaluation.against_first.add(stratum.clone(), &scores[0], score);
            evaluation.rows_of_known_materials += u64::from(evaluation.knowledge.includes_materials(materials));
        }
    }
    let found = evaluation_json(&evaluations).ok_or_else(|| {
        Failure::Named(Class::Dataset, "no row was scored; give a larger limit, or another split".into())
    })?;
    input::from_json(py, &serde_json::Value::Object(found))
}
