//! The figures of an audit on a dataset's card.

use std::path::Path;

use magnetar_dataset::Dataset;
use magnetar_files::is_in_store;

use super::audit;
use crate::StudyError;

/// Rows that the audit on a card is fitted to, and as many that it is scored on: a second or two.
const ROWS_OF_A_CARD: usize = 1000;

/// Audits a dataset that was just made and puts the figures on its card. One with too few rows keeps its card. Where others
/// write the same dataset at the same time, the last of them leaves the figures of all rows.
///
/// # Errors
/// When rows cannot be read, or the card cannot be written.
pub fn audit_onto_card(folder: &Path) -> Result<(), StudyError> {
    let mut dataset = Dataset::open(folder)?;
    loop {
        match audit(&dataset, ROWS_OF_A_CARD, &|_| {}) {
            Ok(found) => dataset.write_audit(&found.to_markdown())?,
            Err(StudyError::NothingToAudit) => return Ok(()),
            Err(error) => return Err(error),
        }
        if !is_in_store(dataset.folder()) {
            return Ok(());
        }
        let now = Dataset::open(folder)?;
        if now.manifest() == dataset.manifest() {
            return Ok(());
        }
        dataset = now;
    }
}
