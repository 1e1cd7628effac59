//! Shortcut audit: what a corpus gives away without the radio, and with its direct path alone.
//!
//! Each question is put to a binned log-linear model: candidates are sorted into bins of a few features, one weight per
//! bin is fitted to `train`, and the model is scored on `val`. What it gains over the uniform posterior was there to be
//! found; a larger model may find more.

mod binned;
mod card;
mod features;
mod markdown;

use magnetar_dataset::stats::matching_path;
use magnetar_dataset::{Columns, Dataset, Recipe, Record};
use magnetar_posterior::SupportSize;
use rayon::prelude::*;
use serde::Serialize;

use self::binned::{BinnedModel, BinnedRow};
use self::features::sorted;
use crate::StudyError;

pub use self::card::audit_onto_card;

/// The candidates that are sorted into bins: coarser than those of the evaluation, as features are.
const SIZE: SupportSize = SupportSize { headings: 18, rows: 17, columns: 17 };

/// A mean over rows and its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Its standard error; not a number for less than two rows.
    pub stderr: f64,
}

impl Mean {
    /// Mean and standard error for people.
    #[must_use]
    pub fn shown(&self, decimals: usize) -> String {
        if self.stderr.is_finite() {
            format!("{:.decimals$} +- {:.decimals$}", self.mean, self.stderr)
        } else {
            format!("{:.decimals$} +- n/a", self.mean)
        }
    }

    fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let square: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        Self { mean, stderr: (square / (n - 1.0) / n).sqrt() }
    }
}

/// What was found about the rows of one board condition.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionAudit {
    /// Rows scored.
    pub rows: usize,
    /// Gain over the uniform posterior from layout and RX pose alone, nat.
    pub layout_only_nat: Mean,
    /// Gain over the uniform posterior from the strongest arrival taken as the direct path, nat.
    pub direct_path_nat: Mean,
    /// Arrivals found per row.
    pub arrivals_per_row: Mean,
    /// Rows whose direct path is free, %.
    pub los_percent: Mean,
    /// Rows whose strongest arrival is the direct path, %.
    pub first_is_los_percent: Mean,
}

/// What the models of an audit were fitted to and scored on; one split where every other row of it is scored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditedSplits {
    /// Split that they were fitted to.
    pub fitted: String,
    /// Rows they were fitted to.
    pub fitted_rows: usize,
    /// Split they were scored on.
    pub scored: String,
}

/// The audit of a dataset.
#[derive(Debug, Clone, PartialEq)]
pub struct Audit {
    /// What the models were fitted to and scored on.
    pub splits: AuditedSplits,
    /// All rows.
    pub all: ConditionAudit,
    /// Rows without a board.
    pub no_board: Option<ConditionAudit>,
    /// Rows with a board.
    pub board: Option<ConditionAudit>,
}

impl Audit {
    /// All rows, then those of each board condition that there are, with their names.
    pub fn conditions(&self) -> impl Iterator<Item = (&'static str, &ConditionAudit)> {
        let conditions =
            [("all", Some(&self.all)), ("no board", self.no_board.as_ref()), ("board", self.board.as_ref())];
        conditions.into_iter().filter_map(|(name, of)| Some((name, of?)))
    }
}

/// One row's part in the audit.
struct AuditRow {
    board: bool,
    layout: BinnedRow,
    direct: BinnedRow,
    arrivals: f64,
    los: bool,
    first_is_los: bool,
}

/// Audits a dataset on its first rows: fits to `train` and scores `val`; where one of them is missing, to every other row of
/// the first split and the rows between. `progress` is called with rows done, [`audit_rows`] in all.
///
/// # Errors
/// When rows cannot be read, or there are fewer than two.
pub fn audit(dataset: &Dataset, limit: usize, progress: &dyn Fn(u64)) -> Result<Audit, StudyError> {
    let (fitted_split, scored_split) = audited_splits(dataset)?;
    let (fitted, scored);
    if fitted_split != scored_split {
        fitted = rows(dataset, &fitted_split, limit, progress)?;
        scored = rows(dataset, &scored_split, limit, progress)?;
    } else {
        let all = rows(dataset, &fitted_split, limit.saturating_mul(2), progress)?;
        let (mut even, mut odd) = (Vec::new(), Vec::new());
        for (n, row) in all.into_iter().enumerate() {
            if n % 2 == 0 { even.push(row) } else { odd.push(row) }
        }
        (fitted, scored) = (even, odd);
    }
    if fitted.is_empty() || scored.is_empty() {
        return Err(StudyError::NothingToAudit);
    }
    let gains = |of: fn(&AuditRow) -> &BinnedRow| -> Vec<f64> {
        let model = BinnedModel::fit(&fitted.iter().map(of).collect::<Vec<_>>());
        scored.par_iter().map(|row| model.gain(of(row))).collect()
    };
    let (layout, direct) = (gains(|row| &row.layout), gains(|row| &row.direct));
    let condition = |keep: &dyn Fn(&AuditRow) -> bool| {
        let kept: Vec<usize> = (0..scored.len()).filter(|n| keep(&scored[*n])).collect();
        let mean = |of: &dyn Fn(usize) -> f64| Mean::of(&kept.iter().map(|n| of(*n)).collect::<Vec<_>>());
        let percent = |yes: bool| 100.0 * f64::from(u8::from(yes));
        (!kept.is_empty()).then(|| ConditionAudit {
            rows: kept.len(),
            layout_only_nat: mean(&|n| layout[n]),
            direct_path_nat: mean(&|n| direct[n]),
            arrivals_per_row: mean(&|n| scored[n].arrivals),
            los_percent: mean(&|n| percent(scored[n].los)),
            first_is_los_percent: mean(&|n| percent(scored[n].first_is_los)),
        })
    };
    Ok(Audit {
        splits: AuditedSplits { fitted: fitted_split, fitted_rows: fitted.len(), scored: scored_split },
        all: condition(&|_| true).ok_or(StudyError::NothingToAudit)?,
        no_board: condition(&|row| !row.board),
        board: condition(&|row| row.board),
    })
}

/// Rows that an audit of at most `limit` fitted and `limit` scored ones reads.
///
/// # Errors
/// When there are none.
pub fn audit_rows(dataset: &Dataset, limit: usize) -> Result<u64, StudyError> {
    let (fitted, scored) = audited_splits(dataset)?;
    let most = |name: &str, limit: usize| Ok::<_, StudyError>(dataset.split(name)?.present_rows().min(limit as u64));
    if fitted == scored {
        most(&fitted, limit.saturating_mul(2))
    } else {
        Ok(most(&fitted, limit)? + most(&scored, limit)?)
    }
}

/// The split that models are fitted to and the one they are scored on.
fn audited_splits(dataset: &Dataset) -> Result<(String, String), StudyError> {
    let present = |name: &str| dataset.split(name).is_ok_and(|split| split.present_rows() > 0);
    if present("train") && present("val") {
        return Ok(("train".to_owned(), "val".to_owned()));
    }
    let first = dataset.manifest().splits.keys().find(|name| present(name)).ok_or(StudyError::NothingToAudit)?;
    Ok((first.clone(), first.clone()))
}

fn rows(dataset: &Dataset, split: &str, limit: usize, progress: &dyn Fn(u64)) -> Result<Vec<AuditRow>, StudyError> {
    let mut rows = Vec::new();
    crate::map_rows(
        dataset.records(split, Columns::WithoutCsi)?.take(limit),
        |record| row(dataset.recipe(), record),
        |row| {
            rows.push(row);
            progress(1);
        },
    )?;
    Ok(rows)
}

fn row(recipe: &Recipe, record: &Record) -> Result<AuditRow, StudyError> {
    let found = &record.arrivals.found;
    let strongest = found.first().and_then(|arrival| matching_path(recipe, record, arrival));
    let [layout, direct] = sorted(recipe, record, SIZE).map_err(StudyError::at(record))?;
    Ok(AuditRow {
        board: record.layout.board.is_some(),
        layout,
        direct,
        arrivals: found.len() as f64,
        los: record.los,
        first_is_los: strongest.is_some_and(|path| path.surface.is_none()),
    })
}
