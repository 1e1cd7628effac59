//! Which axis moves a metric most: differences of a one-at-a-time sweep from its base point.

use super::design::PointDesign;
use super::measure::{mean_and_stderr, set_means};
use super::table::SweepTable;

/// What one value of one axis does to a metric.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Sensitivity {
    /// The axis.
    pub axis: String,
    /// Its value.
    pub value: String,
    /// The base recipe's value.
    pub base: String,
    /// Unit of both, empty where they have none.
    pub unit: String,
    /// The metric minus that of the base point.
    pub difference: f64,
    /// Its standard error. Rows share their random numbers, so differences are taken row by row where the metric is a
    /// mean over rows; else the two standard errors are added in squares, which is too much rather than too little.
    pub stderr: Option<f64>,
}

/// All differences from the base point, the axis that moves the metric most first; values of an axis stay together.
/// `None` unless the sweep is one-at-a-time and has the metric.
#[must_use]
pub fn sensitivities(table: &SweepTable, metric: &str) -> Option<Vec<Sensitivity>> {
    if table.manifest.sweep.design != PointDesign::OneAtATime {
        return None;
    }
    let (base_point, base) = table.manifest.points.iter().zip(&table.results).next()?;
    let base_value = base.metric(metric)?.value?;
    let views = table.manifest.base.split(&table.manifest.sweep.split).map_or(1, |split| split.views as usize);
    let mut axes: Vec<Vec<Sensitivity>> = Vec::new();
    for (i, axis) in table.manifest.sweep.axes.iter().enumerate() {
        let mut found = Vec::new();
        for (point, result) in table.manifest.points.iter().zip(&table.results) {
            let Some(setting) = point.settings.get(i).filter(|setting| !setting.base) else { continue };
            let Some(value) = result.metric(metric).and_then(|m| m.value) else { continue };
            let paired = base.by_row.get(metric).zip(result.by_row.get(metric)).filter(|(a, b)| a.len() == b.len());
            let stderr = match paired {
                Some((a, b)) => {
                    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| b - a).collect();
                    mean_and_stderr(&set_means(&differences, views)).1
                }
                None => {
                    let of = |r: &super::PointResult| r.metric(metric).and_then(|m| m.stderr);
                    of(base).zip(of(result)).map(|(a, b)| libm::hypot(a, b))
                }
            };
            found.push(Sensitivity {
                axis: axis.name.clone(),
                value: setting.label.clone(),
                base: base_point.settings.get(i).map_or_else(String::new, |s| s.label.clone()),
                unit: axis.unit.clone(),
                difference: value - base_value,
                stderr,
            });
        }
        axes.push(found);
    }
    let largest = |found: &Vec<Sensitivity>| found.iter().map(|s| s.difference.abs()).fold(0.0, f64::max);
    axes.sort_by(|a, b| largest(b).total_cmp(&largest(a)));
    Some(axes.into_iter().flatten().collect())
}
