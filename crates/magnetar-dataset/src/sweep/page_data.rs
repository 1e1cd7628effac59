//! Main effects: a metric against one axis, averaged over all others.

use super::table::SweepTable;

/// Bins of a continuous axis.
const BINS: usize = 8;

/// A metric averaged over the points that share an axis's value (or bin of values).
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// The value, for people.
    pub label: String,
    /// The value (mean of a bin), if the axis is numeric.
    pub number: Option<f64>,
    /// Mean of the metric.
    pub mean: f64,
    /// Standard error of the mean: the mean of the points' own. Points share their rows, so their errors go together and
    /// do not average out.
    pub stderr: Option<f64>,
    /// Points averaged.
    pub points: usize,
}

/// The effect of axis number `axis` on a metric, in the order of its values. For a one-at-a-time sweep only the base point
/// and the points that change the axis count.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "at most MAX_POINTS points")]
pub fn main_effects(table: &SweepTable, axis: usize, metric: &str) -> Vec<Effect> {
    let alone = table.manifest.sweep.design == super::Design::OneAtATime;
    let mut points: Vec<(&super::Setting, f64, Option<f64>)> = Vec::new();
    for (point, result) in table.manifest.points.iter().zip(&table.results) {
        let others_changed = point.settings.iter().enumerate().any(|(i, setting)| i != axis && !setting.base);
        if alone && others_changed {
            continue;
        }
        let Some(setting) = point.settings.get(axis) else { continue };
        if let Some((metric, value)) = result.metric(metric).and_then(|m| Some((m, m.value?))) {
            points.push((setting, value, metric.stderr));
        }
    }
    let numeric = points.iter().all(|(setting, ..)| setting.number.is_some());
    if numeric {
        points.sort_by(|a, b| a.0.number.unwrap_or(0.0).total_cmp(&b.0.number.unwrap_or(0.0)));
    }
    let mut groups: Vec<Vec<(&super::Setting, f64, Option<f64>)>> = Vec::new();
    for point in &points {
        let same = |group: &&mut Vec<(&super::Setting, f64, Option<f64>)>| {
            group[0].0.number == point.0.number && group[0].0.label == point.0.label
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(*point),
            None => groups.push(vec![*point]),
        }
    }
    // A continuous axis has a value of its own at every point: bins of equally many points instead.
    if numeric && groups.len() == points.len() && points.len() > 2 * BINS {
        groups = points.chunks(points.len().div_ceil(BINS)).map(<[_]>::to_vec).collect();
    }
    groups.into_iter().map(|group| effect(&group, numeric)).collect()
}

#[allow(clippy::cast_precision_loss, reason = "at most MAX_POINTS points")]
fn effect(group: &[(&super::Setting, f64, Option<f64>)], numeric: bool) -> Effect {
    let n = group.len() as f64;
    let stderr: Option<f64> = group.iter().map(|(.., stderr)| *stderr).sum();
    Effect {
        label: group[0].0.label.clone(),
        number: numeric.then(|| group.iter().filter_map(|(setting, ..)| setting.number).sum::<f64>() / n),
        mean: group.iter().map(|(_, value, _)| value).sum::<f64>() / n,
        stderr: stderr.map(|sum| sum / n),
        points: group.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_that_share_their_rows_are_known_no_better_than_one_of_them() {
        let setting = super::super::Setting { label: "1".into(), number: Some(1.0), base: false };
        let group = [(&setting, 3.0, Some(0.5)), (&setting, 5.0, Some(0.5))];
        let found = effect(&group, true);
        assert_eq!((found.number, found.mean, found.stderr, found.points), (Some(1.0), 4.0, Some(0.5), 2));
        assert_eq!(effect(&[(&setting, 3.0, None)], true).stderr, None);
    }
}
