//! Names of metrics and axes in words.

use magnetar_study::sweep::{Axis, SweepTable};

/// Columns of a sweep's table and what they are called on its page.
const METRICS: &[(&str, &str)] = &[
    ("los_share", "rows with line of sight, share"),
    ("arrivals_mean", "arrivals found per row"),
    ("matched_share", "share of arrivals that are paths"),
    ("nll", "joint NLL of the true pose"),
    ("map_xy_m", "joint mode's XY error"),
    ("map_yaw_deg", "joint mode's heading error"),
    ("joint_hit", "joint mode within 1 m and 20 deg"),
    ("p1m", "mass within 1 m of the truth"),
    ("hpd_gap_pp", "HPD gap"),
];

/// Errors of which percentiles are kept.
const ERRORS: &[(&str, &str)] = &[("aoa_error_deg", "AoA error"), ("snr_error_db", "SNR error")];

/// A metric's column in words; one that is not known stays as it is.
pub(super) fn metric_in_words(name: &str) -> String {
    if let Some((_, words)) = METRICS.iter().find(|(column, _)| *column == name) {
        return (*words).to_owned();
    }
    let percentile = |(column, words): &(&str, &str)| {
        let percent = name.strip_prefix(column)?.strip_prefix("_p")?;
        Some(if percent == "50" { format!("{words}, median") } else { format!("{words}, {percent} % quantile") })
    };
    ERRORS.iter().find_map(percentile).unwrap_or_else(|| name.replace('_', " "))
}

/// An axis in words: its own name, or what the recipe says of its key.
pub(super) fn axis_in_words(table: &SweepTable, axis: &Axis) -> String {
    let meaning = |key: &String| {
        let entries = table.manifest.base.entries();
        let meaning = entries.iter().find(|entry| entry.key == *key)?.meaning;
        // The first sentence or clause says what it is.
        let first = meaning.split([';', ':', '(']).next().unwrap_or(meaning).trim().trim_end_matches('.');
        (!first.is_empty()).then(|| first.to_owned())
    };
    match axis.keys.as_slice() {
        [key] if *key == axis.name => meaning(key).unwrap_or_else(|| axis.name.clone()),
        _ => axis.name.clone(),
    }
}

/// "range / m"; a thing without a unit, or whose name says it, stays as it is.
pub(super) fn with_unit(words: &str, unit: &str) -> String {
    let said = |word: &str| words.split([' ', ',']).any(|other| other == word);
    if unit.split(' ').all(|word| word.is_empty() || said(word)) {
        words.to_owned()
    } else {
        format!("{words} / {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_read_as_words() {
        assert_eq!(metric_in_words("aoa_error_deg_p50"), "AoA error, median");
        assert_eq!(metric_in_words("snr_error_db_p95"), "SNR error, 95 % quantile");
        assert_eq!(metric_in_words("nll"), "joint NLL of the true pose");
        assert_eq!(metric_in_words("a_new_one"), "a new one");
        assert_eq!(with_unit("range", "m"), "range / m");
        assert_eq!(with_unit("LOS share", ""), "LOS share");
        assert_eq!(with_unit("arrivals found per row", "arrivals per row"), "arrivals found per row");
    }
}
