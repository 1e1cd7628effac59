//! What a scorer is: rows in, posteriors out, and a plain account of what it knows.

use magnetar_scene::Pose;
use magnetar_signal::{Arrivals, Observation};

use crate::{Knowledge, Layout, PosteriorError, Support, Volume};

/// Which row of a dataset something belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowNumber<'a> {
    /// The split.
    pub split: &'a str,
    /// The row's index within it, from 0 on.
    pub index: u64,
}

/// One observation to be scored: what its receiver knows, and where the TX might be.
#[derive(Debug, Clone, Copy)]
pub struct ScoreRow<'a> {
    /// Its place in a dataset, where it has one; the physics never depends on it.
    pub number: Option<RowNumber<'a>>,
    /// Room and boxes.
    pub layout: &'a Layout,
    /// The RX's own pose.
    pub rx: &'a Pose,
    /// The retained arrivals.
    pub arrivals: &'a Arrivals,
    /// The observation itself, where it was kept and the scorer asked for it.
    pub observation: Option<&'a Observation>,
    /// The candidates.
    pub support: &'a Support,
}

/// Turns rows into posteriors over TX poses.
pub trait Scorer: Send + Sync {
    /// Its name in tables and files, such as `twin`.
    fn name(&self) -> &str;

    /// SHA-256 (hexadecimal) of everything that decides its results besides the rows.
    fn identity(&self) -> String;

    /// What it was given besides the rows.
    fn knowledge(&self) -> Knowledge;

    /// Where it computes: `cpu`, or `cuda` and the device's name.
    fn device(&self) -> String {
        "cpu".to_owned()
    }

    /// Whether it looks at [`ScoreRow::observation`], which is then read from the dataset.
    fn needs_observation(&self) -> bool {
        false
    }

    /// One posterior per row, in order, each on its row's support.
    ///
    /// # Errors
    /// When a row cannot be scored or the device fails.
    fn score(&self, rows: &[ScoreRow<'_>]) -> Result<Vec<Volume>, PosteriorError>;
}
