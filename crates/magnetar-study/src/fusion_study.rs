//! Early against late fusion over many sets, as in the paper.

use magnetar_dataset::Record;
use magnetar_posterior::{PosteriorError, RowNumber, ScoreRow, Scorer, Support, SupportSize, fuse};
use rayon::prelude::*;
use serde::Serialize;

use crate::{ReceiverView, StudyError};

/// A set gains or loses when P_1m changes by this much.
const NOTABLE: f64 = 0.05;

/// What fusing one set gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SetResult {
    /// Whether the set has a board.
    pub board: bool,
    /// P_1m of the product of marginals.
    pub early: f64,
    /// P_1m of the sum over headings of the product of joints.
    pub late: f64,
    /// kappa averaged over the late distribution.
    pub kappa: f64,
    /// The same in multiples of `D^(1 - N)`, the kappa of N views whose conditional headings tell nothing.
    pub kappa_over_even: f64,
    /// Mean P_1m of the single views.
    pub single: f64,
}

/// The study's table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FusionSummary {
    /// Sets fused.
    pub sets: usize,
    /// Mean P_1m of single views, %.
    pub single_p1m_percent: f64,
    /// Mean P_1m of early fusion, %.
    pub early_p1m_percent: f64,
    /// Mean P_1m of late fusion, %.
    pub late_p1m_percent: f64,
    /// Mean of late minus early, percentage points.
    pub difference_pp: f64,
    /// Sample standard deviation of the paired difference across sets, percentage points.
    pub difference_sd_pp: f64,
    /// Sets that gain 5 points or more, %.
    pub gain_percent: f64,
    /// Sets that lose 5 points or more, %.
    pub loss_percent: f64,
    /// Mean common-heading compatibility where late fusion puts its mass.
    pub kappa: f64,
    /// Median over sets of that compatibility in multiples of `D^(1 - N)`, which headings that tell nothing have.
    pub kappa_over_even_median: f64,
    /// Mean of late minus early in the third of the sets with the least such compatibility, the middle third and the third
    /// with the greatest, percentage points.
    pub difference_by_kappa_pp: [f64; 3],
}

/// Fuses one set of views (rows of a split) that share TX pose and layout.
///
/// # Errors
/// When a view cannot be scored or the views exclude one another.
pub fn fuse_set(
    split: &str,
    views: &[Record],
    scorer: &dyn Scorer,
    size: SupportSize,
) -> Result<SetResult, PosteriorError> {
    let first = views.first().ok_or(PosteriorError::NothingToFuse)?;
    let known: Vec<ReceiverView> = views.iter().map(ReceiverView::of).collect();
    let support = Support::centred(&first.reported().room, size)?;
    let rows: Vec<ScoreRow<'_>> = (views.iter().zip(&known))
        .map(|(record, view)| {
            let number = RowNumber { split, index: record.index };
            ScoreRow { number: Some(number), ..view.on(&support) }
        })
        .collect();
    let volumes = scorer.score(&rows)?;
    let fused = fuse(&volumes)?;
    let (x, y) = (first.tx.position.x, first.tx.position.y);
    let near = |plane: &[f64]| -> f64 {
        let cell = |n: usize| (support.xs()[n % size.columns], support.ys()[n / size.columns]);
        let close = |n: usize| libm::hypot(cell(n).0 - x, cell(n).1 - y) <= 1.0;
        plane.iter().enumerate().filter(|(n, _)| close(*n)).map(|(_, m)| m).sum()
    };
    let single = volumes.iter().map(|v| near(&v.position_marginal())).sum::<f64>() / volumes.len() as f64;
    let kappa = fused.mean_kappa();
    let even = (size.headings as f64).powi(1 - i32::try_from(views.len()).unwrap_or(i32::MAX));
    let (early, late) = (near(&fused.early), near(&fused.late));
    Ok(SetResult { board: first.layout.board.is_some(), early, late, kappa, kappa_over_even: kappa / even, single })
}

/// Fuses every set of a split's rows, in order.
///
/// # Errors
/// The first row or set that cannot be read or fused.
pub fn fuse_all(
    split: &str,
    records: impl Iterator<Item = Result<Record, magnetar_dataset::DatasetError>>,
    scorer: &dyn Scorer,
    size: SupportSize,
    limit: usize,
    progress: &dyn Fn(u64),
) -> Result<Vec<SetResult>, StudyError> {
    /// Sets fused together.
    const CHUNK: usize = 32;
    let mut results = Vec::new();
    let mut sets: Vec<Vec<Record>> = Vec::new();
    let mut flush = |sets: &mut Vec<Vec<Record>>| -> Result<(), StudyError> {
        let fused: Result<Vec<_>, StudyError> = sets
            .par_iter()
            .map(|views| fuse_set(split, views, scorer, size).map_err(StudyError::at(&views[0])))
            .collect();
        let left = limit - results.len();
        results.extend(fused?.into_iter().take(left));
        progress(sets.len() as u64);
        sets.clear();
        Ok(())
    };
    let mut started = 0;
    for record in records {
        let record = record?;
        match sets.last_mut() {
            Some(set) if set[0].set == record.set => set.push(record),
            _ => {
                if started == limit {
                    break;
                }
                if sets.len() == CHUNK {
                    flush(&mut sets)?;
                }
                started += 1;
                sets.push(vec![record]);
            }
        }
    }
    flush(&mut sets)?;
    Ok(results)
}

impl FusionSummary {
    /// The table of some sets; `None` for none.
    #[must_use]
    pub fn of(results: &[SetResult]) -> Option<Self> {
        let n = results.len() as f64;
        let mean = |of: &dyn Fn(&SetResult) -> f64| results.iter().map(of).sum::<f64>() / n;
        let difference = mean(&|r| r.late - r.early);
        let square: f64 = results.iter().map(|r| (r.late - r.early - difference).powi(2)).sum();
        let share = |of: &dyn Fn(f64) -> bool| 100.0 * mean(&|r| f64::from(u8::from(of(r.late - r.early))));
        let mut by_kappa: Vec<&SetResult> = results.iter().collect();
        by_kappa.sort_by(|a, b| a.kappa_over_even.total_cmp(&b.kappa_over_even));
        let third = |n: usize| {
            let part = &by_kappa[n * by_kappa.len() / 3..(n + 1) * by_kappa.len() / 3];
            let sum: f64 = part.iter().map(|r| r.late - r.early).sum();
            if part.is_empty() { 0.0 } else { 100.0 * sum / part.len() as f64 }
        };
        (!results.is_empty()).then(|| Self {
            sets: results.len(),
            single_p1m_percent: 100.0 * mean(&|r| r.single),
            early_p1m_percent: 100.0 * mean(&|r| r.early),
            late_p1m_percent: 100.0 * mean(&|r| r.late),
            difference_pp: 100.0 * difference,
            difference_sd_pp: if n > 1.0 { 100.0 * (square / (n - 1.0)).sqrt() } else { 0.0 },
            gain_percent: share(&|d| d >= NOTABLE),
            loss_percent: share(&|d| d <= -NOTABLE),
            kappa: mean(&|r| r.kappa),
            kappa_over_even_median: by_kappa[by_kappa.len() / 2].kappa_over_even,
            difference_by_kappa_pp: [third(0), third(1), third(2)],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_by_hand() {
        let set = |early: f64, late: f64, kappa_over_even: f64| SetResult {
            board: false,
            early,
            late,
            kappa: 0.5,
            kappa_over_even,
            single: 0.1,
        };
        let sets = [set(0.2, 0.3, 9.0), set(0.4, 0.3, 0.5), set(0.5, 0.53, 2.0), set(0.1, 0.13, 8.0)];
        let s = FusionSummary::of(&sets).unwrap();
        // Thirds of four sets: one, one and two.
        let thirds = s.difference_by_kappa_pp;
        assert!((thirds[0] + 10.0).abs() < 1e-9 && (thirds[1] - 3.0).abs() < 1e-9 && (thirds[2] - 6.5).abs() < 1e-9);
        assert!((s.kappa_over_even_median - 8.0).abs() < 1e-12);
        assert!((s.difference_pp - 1.5).abs() < 1e-9);
        assert!((s.gain_percent - 25.0).abs() < 1e-9 && (s.loss_percent - 25.0).abs() < 1e-9);
        // Differences 10, -10, 3, 3 points: squares about their mean sum to 209.
        assert!((s.difference_sd_pp - (209.0f64 / 3.0).sqrt()).abs() < 1e-9);
        assert!(FusionSummary::of(&[]).is_none());
    }
}
