//! What is measured of rows, and its standard error.

use indexmap::IndexMap;
use magnetar_dataset::stats::{arrival_errors, matching_path};
use magnetar_dataset::{Recipe, Record};
use magnetar_signal::Radio;
use serde::{Deserialize, Serialize};

use super::scoring::{HPD_GAP, HPD_LEVELS};

/// One number measured at a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// Its column in the table.
    pub name: String,
    /// Unit, empty where it has none.
    pub unit: String,
    /// The value; `None` where there was nothing to measure.
    pub value: Option<f64>,
    /// Its standard error; `None` where it cannot be known.
    pub stderr: Option<f64>,
    /// Values it was made from: rows, or arrivals.
    pub count: u64,
}

/// Values gathered row by row.
#[derive(Debug, Clone, Default)]
pub(super) struct Measures {
    los: Vec<f64>,
    arrivals: Vec<f64>,
    matched: Vec<f64>,
    aoa_error: Vec<f64>,
    snr_error: Vec<f64>,
    scores: Vec<Vec<f64>>,
}

impl Measures {
    /// Adds a row.
    pub(super) fn add(&mut self, recipe: &Recipe, radio: &Radio, record: &Record) {
        self.los.push(f64::from(u8::from(record.los)));
        let mut found = 0.0;
        for arrival in &record.arrivals.found {
            found += 1.0;
            let path = matching_path(recipe, record, arrival);
            self.matched.push(f64::from(u8::from(path.is_some())));
            if let Some(path) = path {
                let errors = arrival_errors(recipe, radio, record, arrival, path);
                self.aoa_error.push(errors.aoa.abs().to_degrees());
                self.snr_error.push(errors.snr_db);
            }
        }
        self.arrivals.push(found);
    }

    /// Adds the scores of rows, in their order: one value for each of the scorer's columns.
    pub(super) fn add_scores(&mut self, scores: impl IntoIterator<Item = Vec<f64>>) {
        self.scores.extend(scores);
    }

    /// Adds later rows.
    pub(super) fn append(&mut self, mut other: Self) {
        self.los.append(&mut other.los);
        self.arrivals.append(&mut other.arrivals);
        self.matched.append(&mut other.matched);
        self.aoa_error.append(&mut other.aoa_error);
        self.snr_error.append(&mut other.snr_error);
        self.scores.append(&mut other.scores);
    }

    /// The metrics, and the rows' own values of those that are means over rows. Every `views` rows are one set: they share
    /// their scene, so a mean's standard error counts sets, not rows.
    pub(super) fn finish(
        mut self,
        columns: &[(&str, &str)],
        views: usize,
    ) -> (Vec<Metric>, IndexMap<String, Vec<f64>>) {
        let mut by_row = IndexMap::new();
        let mut metrics = vec![
            mean_of_sets("los_share", "", &self.los, views),
            mean_of_sets("arrivals_mean", "arrivals per row", &self.arrivals, views),
            mean("matched_share", "", &self.matched),
        ];
        for (values, name, unit, levels) in [
            (&mut self.aoa_error, "aoa_error_deg", "deg", [50, 90, 95]),
            (&mut self.snr_error, "snr_error_db", "dB", [5, 50, 95]),
        ] {
            values.sort_unstable_by(f64::total_cmp);
            metrics.extend(levels.map(|percent| percentile(name, unit, values, percent)));
        }
        for (i, (name, unit)) in columns.iter().enumerate() {
            let values: Vec<f64> = self.scores.iter().filter_map(|row| row.get(i).copied()).collect();
            metrics.push(mean_of_sets(name, unit, &values, views));
            by_row.insert((*name).to_owned(), values);
        }
        if !columns.is_empty() {
            metrics.push(hpd_gap(&self.scores, columns.len()));
        }
        by_row.insert("los_share".into(), self.los);
        by_row.insert("arrivals_mean".into(), self.arrivals);
        (metrics, by_row)
    }
}

/// Mean absolute difference of empirical and nominal coverage over 0.1 to 0.9, percentage points: of all rows together, so
/// no standard error is known. The rows' coverage follows their `scores` values.
#[allow(clippy::cast_precision_loss, reason = "counts far below 2^53")]
fn hpd_gap(rows: &[Vec<f64>], scores: usize) -> Metric {
    let gap = |n: usize| {
        let covered: Vec<f64> = rows.iter().filter_map(|row| row.get(scores + n).copied()).collect();
        mean_and_stderr(&covered).0.map(|mean| (mean - 0.1 * (n + 1) as f64).abs())
    };
    let value = (0..HPD_LEVELS).map(gap).sum::<Option<f64>>().map(|sum| 100.0 * sum / HPD_LEVELS as f64);
    Metric { name: HPD_GAP.into(), unit: "pp".into(), value, stderr: None, count: rows.len() as u64 }
}

/// A mean and the standard error of it.
#[allow(clippy::cast_precision_loss, reason = "counts far below 2^53")]
pub(super) fn mean_and_stderr(values: &[f64]) -> (Option<f64>, Option<f64>) {
    let n = values.len() as f64;
    if values.is_empty() {
        return (None, None);
    }
    let mean = values.iter().sum::<f64>() / n;
    let square = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    (Some(mean), (values.len() > 1).then(|| (square / (n - 1.0) / n).sqrt()))
}

/// The mean of each run of `views` values.
#[allow(clippy::cast_precision_loss, reason = "a set has few views")]
pub(super) fn set_means(values: &[f64], views: usize) -> Vec<f64> {
    values.chunks(views.max(1)).map(|set| set.iter().sum::<f64>() / set.len() as f64).collect()
}

fn mean_of_sets(name: &str, unit: &str, values: &[f64], views: usize) -> Metric {
    let stderr = mean_and_stderr(&set_means(values, views)).1;
    Metric { stderr, ..mean(name, unit, values) }
}

fn mean(name: &str, unit: &str, values: &[f64]) -> Metric {
    let (value, stderr) = mean_and_stderr(values);
    Metric { name: name.into(), unit: unit.into(), value, stderr, count: values.len() as u64 }
}

/// A percentile of sorted values. Its standard error is half the distance of the order statistics one standard deviation
/// of the binomial rank either way, which supposes no distribution.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ranks are clamped to the list"
)]
fn percentile(name: &str, unit: &str, sorted: &[f64], percent: u32) -> Metric {
    let (n, q) = (sorted.len() as f64, f64::from(percent) / 100.0);
    let at = |rank: f64| sorted.get((rank.round().clamp(0.0, (n - 1.0).max(0.0))) as usize).copied();
    let (middle, spread) = (q * (n - 1.0), (n * q * (1.0 - q)).sqrt());
    // With fewer values beyond the percentile than that the ends would be cut off.
    let enough = middle - spread >= 0.0 && middle + spread <= n - 1.0;
    let stderr = at(middle + spread).zip(at(middle - spread)).filter(|_| enough).map(|(b, a)| (b - a) / 2.0);
    Metric {
        name: format!("{name}_p{percent}"),
        unit: unit.into(),
        value: at(middle),
        stderr,
        count: sorted.len() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_errors_of_means_and_percentiles_are_those_of_a_uniform_sample() {
        let values: Vec<f64> = (0..10_000).map(|i| (f64::from(i) + 0.5) / 10_000.0).collect();
        let metric = mean("x", "", &values);
        assert!((metric.value.unwrap() - 0.5).abs() < 1e-12);
        assert!((metric.stderr.unwrap() - (1.0 / 12.0_f64 / 10_000.0).sqrt()).abs() < 1e-6);
        for percent in [5, 50, 90] {
            let metric = percentile("x", "", &values, percent);
            let q = f64::from(percent) / 100.0;
            assert!((metric.value.unwrap() - q).abs() < 1e-3);
            assert!((metric.stderr.unwrap() - (q * (1.0 - q) / 10_000.0).sqrt()).abs() < 2e-4);
        }
        assert_eq!(percentile("x", "", &[], 50).value, None);
        assert_eq!(percentile("x", "", &[1.0, 2.0], 95).stderr, None);
        assert_eq!(mean("x", "", &[3.0]).stderr, None);
        // Two views that always agree are one observation.
        let (sets, rows) = (mean("x", "", &[1.0, 5.0, 9.0]), [1.0, 1.0, 5.0, 5.0, 9.0, 9.0]);
        let metric = mean_of_sets("x", "", &rows, 2);
        assert_eq!((metric.value, metric.stderr, metric.count), (sets.value, sets.stderr, 6));
    }
}
