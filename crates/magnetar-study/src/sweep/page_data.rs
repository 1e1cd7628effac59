//! Main effects: a metric against one axis, averaged over all others.

use super::measure::{mean_and_stderr, set_means};
use super::point::PointResult;
use super::table::SweepTable;
use super::{PointDesign, Setting};

/// Most bins of a continuous axis.
const BINS: usize = 8;

/// Least points in a bin: with fewer, how far they spread is not known.
const BIN_POINTS: usize = 3;

/// A metric averaged over the points that share an axis's value (or bin of values).
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// The value, for people.
    pub label: String,
    /// The value (mean of a bin), if the axis is numeric.
    pub number: Option<f64>,
    /// Points averaged.
    pub points: usize,
    /// Mean of the metric.
    pub mean: f64,
    /// Standard error of the mean: the mean of the points' own. Points share their rows, so their errors go together and
    /// do not average out.
    pub stderr: Option<f64>,
    /// Standard error of the difference from the mean over all values of the axis, taken row by row; `None` where the
    /// metric has no value of its own for each row.
    pub paired_stderr: Option<f64>,
    /// Of a bin of points whose other axes differ: standard error of the mean by how the points spread, which the other
    /// axes' part is in.
    pub spread_stderr: Option<f64>,
}

/// The values of a metric at every point of a design that moves all axes at once: value of the axis, value of the metric.
/// Empty for other designs and for axes without numbers.
#[must_use]
pub fn scattered(table: &SweepTable, axis: usize, metric: &str) -> Vec<[f64; 2]> {
    if !moves_all_at_once(table.manifest.sweep.design) {
        return Vec::new();
    }
    let points = table.manifest.points.iter().zip(&table.results);
    points
        .filter_map(|(point, result)| Some([point.settings.get(axis)?.number?, result.metric(metric)?.value?]))
        .collect()
}

/// Whether points differ in every axis, so that no two are alike but for one of them.
fn moves_all_at_once(design: PointDesign) -> bool {
    matches!(design, PointDesign::LatinHypercube | PointDesign::Sobol)
}

/// The effect of axis number `axis` on a metric, in the order of its values. For a one-at-a-time sweep only the base point
/// and the points that change the axis count.
#[must_use]
pub fn main_effects(table: &SweepTable, axis: usize, metric: &str) -> Vec<Effect> {
    let alone = table.manifest.sweep.design == PointDesign::OneAtATime;
    let mut members: Vec<Member<'_>> = Vec::new();
    for (point, result) in table.manifest.points.iter().zip(&table.results) {
        let others_changed = point.settings.iter().enumerate().any(|(i, setting)| i != axis && !setting.base);
        if alone && others_changed {
            continue;
        }
        let Some(setting) = point.settings.get(axis) else { continue };
        if let Some((metric, value)) = result.metric(metric).and_then(|m| Some((m, m.value?))) {
            members.push(Member { setting, value, stderr: metric.stderr, result });
        }
    }
    let numeric = members.iter().all(|member| member.setting.number.is_some());
    if numeric {
        members.sort_by(|a, b| a.setting.number.unwrap_or(0.0).total_cmp(&b.setting.number.unwrap_or(0.0)));
    }
    let mut groups: Vec<Vec<Member<'_>>> = Vec::new();
    for member in &members {
        let same = |group: &&mut Vec<Member<'_>>| {
            let first = group[0].setting;
            first.number == member.setting.number && first.label == member.setting.label
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(*member),
            None => groups.push(vec![*member]),
        }
    }
    // Where every point moves all axes, a point says nothing of one axis alone: bins of equally many points instead.
    let scattered = moves_all_at_once(table.manifest.sweep.design);
    if numeric && scattered && (groups.len() == members.len() || groups.len() > BINS) {
        let bins = (members.len() / BIN_POINTS).clamp(1, BINS);
        groups =
            (0..bins).map(|n| members[n * members.len() / bins..(n + 1) * members.len() / bins].to_vec()).collect();
    }
    let views = table.manifest.base.split(&table.manifest.sweep.split).map_or(1, |split| split.views as usize);
    let paired = paired_stderrs(&groups, metric, views);
    let effect = |(i, group): (usize, &Vec<Member<'_>>)| {
        let values: Vec<f64> = group.iter().map(|member| member.value).collect();
        Effect {
            paired_stderr: paired.as_ref().and_then(|all| all[i]),
            spread_stderr: if scattered { mean_and_stderr(&values).1 } else { None },
            ..effect(group, numeric)
        }
    };
    groups.iter().enumerate().map(effect).collect()
}

/// A point's place on an axis and its value of a metric.
#[derive(Clone, Copy)]
struct Member<'a> {
    setting: &'a Setting,
    value: f64,
    stderr: Option<f64>,
    result: &'a PointResult,
}

/// For each group, the standard error of its mean minus the mean of all groups, from the rows' own values.
#[allow(clippy::cast_precision_loss, reason = "at most MAX_POINTS points")]
fn paired_stderrs(groups: &[Vec<Member<'_>>], metric: &str, views: usize) -> Option<Vec<Option<f64>>> {
    let mut by_group = Vec::with_capacity(groups.len());
    for group in groups {
        let mut mean = vec![0.0; group.first()?.result.by_row.get(metric)?.len()];
        for member in group {
            let values = member.result.by_row.get(metric).filter(|values| values.len() == mean.len())?;
            mean.iter_mut().zip(values).for_each(|(mean, value)| *mean += value / group.len() as f64);
        }
        by_group.push(mean);
    }
    let rows = by_group.first()?.len();
    if by_group.iter().any(|mean| mean.len() != rows) {
        return None;
    }
    let all: Vec<f64> =
        (0..rows).map(|row| by_group.iter().map(|mean| mean[row]).sum::<f64>() / by_group.len() as f64).collect();
    let stderr = |mean: &Vec<f64>| {
        let differences: Vec<f64> = mean.iter().zip(&all).map(|(a, b)| a - b).collect();
        mean_and_stderr(&set_means(&differences, views)).1
    };
    Some(by_group.iter().map(stderr).collect())
}

#[allow(clippy::cast_precision_loss, reason = "at most MAX_POINTS points")]
fn effect(group: &[Member<'_>], numeric: bool) -> Effect {
    let n = group.len() as f64;
    let stderr: Option<f64> = group.iter().map(|member| member.stderr).sum();
    Effect {
        label: group[0].setting.label.clone(),
        number: numeric.then(|| group.iter().filter_map(|member| member.setting.number).sum::<f64>() / n),
        mean: group.iter().map(|member| member.value).sum::<f64>() / n,
        stderr: stderr.map(|sum| sum / n),
        paired_stderr: None,
        spread_stderr: None,
        points: group.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use magnetar_dataset::Recipe;

    #[test]
    fn points_that_share_their_rows_are_known_no_better_than_one_of_them_but_their_difference_is() {
        let setting = Setting { label: "1".into(), number: Some(1.0), base: false };
        let result = |by_row: [f64; 3]| PointResult {
            hash: String::new(),
            rows: 3,
            metrics: Vec::new(),
            by_row: [("x".to_owned(), by_row.to_vec())].into(),
            recipe: Recipe::paper(),
        };
        let results = [result([0.0, 3.0, 6.0]), result([2.0, 5.0, 8.0]), result([1.0, 4.0, 9.0])];
        let member = |i: usize, value: f64| Member { setting: &setting, value, stderr: Some(0.5), result: &results[i] };
        let group = [member(0, 3.0), member(1, 5.0)];
        let found = effect(&group, true);
        assert_eq!((found.number, found.mean, found.stderr, found.points), (Some(1.0), 4.0, Some(0.5), 2));
        assert_eq!(effect(&[Member { stderr: None, ..member(0, 3.0) }], true).stderr, None);
        // Rows that all move alike: the difference is known exactly, however the rows spread.
        let alike = paired_stderrs(&[vec![member(0, 3.0)], vec![member(1, 5.0)]], "x", 1).unwrap();
        assert_eq!(alike, [Some(0.0), Some(0.0)]);
        // Differences from the mean of both: half of 1, 1, 3 either way.
        let unlike = paired_stderrs(&[vec![member(0, 3.0)], vec![member(2, 5.0)]], "x", 1).unwrap();
        let expected = (4.0_f64 / 3.0 / 3.0).sqrt() / 2.0;
        assert!(unlike.iter().all(|stderr| (stderr.unwrap() - expected).abs() < 1e-12), "{unlike:?}");
        assert!(paired_stderrs(&[vec![member(0, 3.0)]], "y", 1).is_none());
    }
}
