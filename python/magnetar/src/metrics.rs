//! What posteriors score against the truth.

use std::sync::{Arc, Mutex, PoisonError};

use magnetar_dataset::Record;
use magnetar_posterior::{BalancedScores, CONE_OPENINGS_DEG, LEVELS, PosteriorError, Score, SupportSize, Volume};
use magnetar_study::{
    Candidates, ReceiverView, StudyError, evaluate as evaluate_all, evaluation_json, needed_columns, scores_json,
    stratum, truth,
};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use crate::dataset::Dataset;
use crate::error::{Class, Failure, Outcome};
use crate::input;
use crate::posterior::{Scorer, stopping, volumes};
use crate::rows::Rows;
use crate::run::run;

/// Scores of posteriors from anywhere, gathered batch by batch and balanced as the paper's.
#[pyclass(frozen, module = "magnetar")]
pub struct Metrics {
    scores: Mutex<BalancedScores>,
}

#[pymethods]
impl Metrics {
    /// No score yet.
    #[new]
    fn new() -> Self {
        Self { scores: Mutex::default() }
    }

    /// Scores posteriors (rows, D, H, W) of rows; the masses of a row need not sum to one. Gives every row's scores.
    fn add<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, Rows>,
        mass: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (size, each) = volumes(mass)?;
        let rows = rows.get();
        if each.len() != rows.len() {
            let (found, expected) = (each.len(), rows.len());
            return Err(Failure::input(format!("mass: {found} posteriors for {expected} rows; give one each")).into());
        }
        let (records, scores) = run(py, |stop| {
            let records = rows.records()?;
            let one = |(record, weights): (&Record, &Vec<f64>)| -> Outcome<Score> {
                stop.check()?;
                score(record, size, weights)
            };
            let scores = records.par_iter().zip(&each).map(one).collect::<Outcome<Vec<_>>>()?;
            Ok((records, scores))
        })?;
        let mut held = self.scores.lock().unwrap_or_else(PoisonError::into_inner);
        for (record, score) in records.iter().zip(&scores) {
            held.add(stratum(record), score);
        }
        per_row(py, &scores)
    }

    /// The balanced metrics of all rows so far, and of those without and with a board: as `magnetar evaluate --json`.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let held = self.scores.lock().unwrap_or_else(PoisonError::into_inner);
        let found = scores_json(&held).ok_or_else(|| Failure::input("no row was scored yet"))?;
        input::from_json(py, &found)
    }
}

fn score(record: &Record, size: SupportSize, weights: &[f64]) -> Outcome<Score> {
    let (view, tx) = (ReceiverView::of(record), truth(record));
    let scored = || -> Result<Score, PosteriorError> {
        let Candidates { support, mask, target } = Candidates::evaluation(&view, size, &tx)?;
        let volume = Volume::from_weights(size, &mask, weights)?;
        Ok(Score::new(&volume, &support, &mask, &target, &view.rx, &tx))
    };
    scored().map_err(|source| StudyError::Row { index: record.index, source }.into())
}

fn per_row<'py>(py: Python<'py>, scores: &[Score]) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    let column = |of: &dyn Fn(&Score) -> f64| scores.iter().map(of).collect::<Vec<f64>>().into_pyarray(py);
    found.set_item("nll", column(&|score| score.nll))?;
    found.set_item("map_xy_m", column(&|score| score.map_xy_m))?;
    found.set_item("map_yaw_deg", column(&|score| score.map_yaw_deg))?;
    found.set_item("joint_hit", column(&|score| score.joint_hit))?;
    found.set_item("p1m", column(&|score| score.p1m))?;
    found.set_item("p_joint", column(&|score| score.p_joint))?;
    let table = |of: &dyn Fn(&Score) -> Vec<f64>, width: usize| {
        input::shaped(py, scores.iter().flat_map(of).collect::<Vec<f64>>(), &[scores.len(), width])
    };
    let cones = CONE_OPENINGS_DEG.len();
    found.set_item("cone_mass", table(&|score| score.cone_mass.to_vec(), cones)?)?;
    found.set_item("cone_hit", table(&|score| score.cone_hit.to_vec(), cones)?)?;
    found.set_item("hpd_coverage", table(&|score| score.hpd.coverage.clone(), LEVELS)?)?;
    found.set_item("hpd_support", table(&|score| score.hpd.support.clone(), LEVELS)?)?;
    Ok(found)
}

/// What one or more scorers reach on rows or on a split of a dataset; see `magnetar.evaluate`.
#[pyfunction]
#[pyo3(signature = (data, split, scorers, limit, size))]
pub fn evaluate<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    split: Option<&str>,
    scorers: Vec<Bound<'py, Scorer>>,
    limit: Option<u64>,
    size: (usize, usize, usize),
) -> PyResult<Bound<'py, PyAny>> {
    let scorers: Vec<_> = scorers.iter().map(|scorer| Arc::clone(&scorer.get().scorer)).collect();
    let twice = (1..scorers.len()).find(|n| scorers[..*n].iter().any(|other| other.name() == scorers[*n].name()));
    if let Some(n) = twice {
        let message = format!("two scorers are named {}; give each once, or rename the file", scorers[n].name());
        return Err(Failure::input(message).into());
    }
    let (size, limit) = (input::size(size), limit.unwrap_or(u64::MAX));
    let evaluations = if let Ok(rows) = data.cast::<Rows>() {
        let rows = rows.get();
        let split = split.unwrap_or(rows.split());
        run(py, |stop| {
            let records = stopping(rows.records()?, stop).take(usize::try_from(limit).unwrap_or(usize::MAX));
            let found = evaluate_all([(split, records)], &scorers, size, &|_| ())?;
            stop.check()?;
            Ok(found)
        })?
    } else if let Ok(dataset) = data.cast::<Dataset>() {
        let (dataset, split) = (&dataset.get().dataset, split.unwrap_or("test"));
        run(py, |stop| {
            dataset.require_truth()?;
            let records = dataset.sample(split, needed_columns(&scorers), limit)?.take_while(|_| !stop.asked());
            let found = evaluate_all([(split, records)], &scorers, size, &|_| ())?;
            stop.check()?;
            Ok(found)
        })?
    } else {
        return Err(Failure::input("data: expected a Dataset or Rows").into());
    };
    let found = evaluation_json(&evaluations).ok_or_else(|| {
        Failure::Named(Class::Dataset, "no row to score; give a larger limit, or another split".into())
    })?;
    input::from_json(py, &serde_json::Value::Object(found))
}
