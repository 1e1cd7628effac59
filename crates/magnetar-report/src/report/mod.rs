//! `magnetar report`: one self-contained page about a dataset.

mod coverage;
mod distributions;
mod example;
mod gather;
mod page;

use magnetar_dataset::{Columns, Dataset};
use magnetar_study::{StudyError, audit};

pub use gather::SplitPicture;

use crate::corpus::recipe_settings;
use crate::error::ReportError;
use crate::link_scorer::LinkScorer;
use crate::simulator::Simulator;

/// Rows that the report's audit is fitted to, and as many that it is scored on.
const AUDITED_ROWS: usize = 2000;

/// How much of a dataset a report looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportOptions {
    /// Rows read for the statistics of a split, a fair sample of all: see [`Dataset::sample`].
    pub rows: u64,
    /// Example rows of a split.
    pub examples: u64,
}

impl Default for ReportOptions {
    fn default() -> Self {
        Self { rows: 50_000, examples: 2 }
    }
}

/// Rows a report will read, for a progress bar.
#[must_use]
pub fn report_rows(dataset: &Dataset, options: &ReportOptions) -> u64 {
    dataset.manifest().splits.keys().filter_map(|name| dataset.sample_rows(name, options.rows).ok()).sum()
}

/// The page about a dataset; its examples show the posterior of `scorer`, if there is one. `progress` hears of rows read.
///
/// # Errors
/// If a shard is missing or damaged, or the recipe's patterns cannot be read.
pub fn report(
    dataset: &Dataset,
    options: &ReportOptions,
    scorer: Option<&LinkScorer>,
    progress: &dyn Fn(u64),
) -> Result<String, ReportError> {
    let settings = recipe_settings(dataset.recipe())?;
    let mut simulator = Simulator::new(settings)?;
    let mut splits = Vec::new();
    for (name, manifest) in &dataset.manifest().splits {
        let mut picture = SplitPicture::new(name, manifest.present_rows(), manifest.rows, dataset.recipe());
        for record in dataset.sample(name, Columns::WithoutCsi, options.rows)? {
            picture.add(&record?, dataset.recipe());
            progress(1);
        }
        let mut examples = Vec::new();
        for index in example_rows(manifest, options.examples) {
            let record = dataset.read_row(name, index, Columns::All)?;
            examples.push(example::example(name, &record, dataset.recipe(), &mut simulator, scorer)?);
        }
        splits.push((picture, examples));
    }
    let audit = match audit(dataset, AUDITED_ROWS, &|_| {}) {
        Ok(found) => Some(found),
        Err(StudyError::NothingToAudit) => None,
        Err(error) => return Err(error.into()),
    };
    Ok(page::page(dataset, &splits, audit.as_ref(), options))
}

/// Rows spread over what is there; consecutive sets differ in their board, so an odd step meets both conditions.
fn example_rows(manifest: &magnetar_dataset::SplitManifest, wanted: u64) -> Vec<u64> {
    let present: Vec<(u64, u64)> = manifest.shards.iter().map(|shard| (shard.start, shard.rows)).collect();
    let total: u64 = present.iter().map(|(_, rows)| rows).sum();
    let wanted = wanted.min(total);
    let nth = |n: u64| {
        let mut left = n;
        for (start, rows) in &present {
            if left < *rows {
                return Some(start + left);
            }
            left -= rows;
        }
        None
    };
    (0..wanted).filter_map(|n| nth((n * total / wanted.max(1) + n).min(total.saturating_sub(1)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use magnetar_dataset::{ShardInfo, SplitManifest};

    fn manifest(shards: &[(u64, u64)]) -> SplitManifest {
        let shard = |(n, (start, rows)): (usize, &(u64, u64))| ShardInfo {
            number: n as u64,
            start: *start,
            rows: *rows,
            bytes: 0,
            sha256: String::new(),
            checksums: None,
        };
        let shards = shards.iter().enumerate().map(shard).collect();
        SplitManifest { rows: 1000, views: 1, shards, ..SplitManifest::default() }
    }

    #[test]
    fn examples_are_rows_that_are_there() {
        assert!(example_rows(&manifest(&[]), 3).is_empty());
        assert_eq!(example_rows(&manifest(&[(0, 1)]), 3), [0]);
        let rows = example_rows(&manifest(&[(0, 10), (50, 10)]), 4);
        assert_eq!(rows.len(), 4);
        assert!(rows.iter().all(|r| *r < 10 || (50..60).contains(r)), "{rows:?}");
    }
}
