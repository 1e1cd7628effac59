//! What a run of a sweep did.

use std::time::Duration;

use super::table::SweepTable;

/// What a sweep has just done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SweepStep {
    /// So many more rows were measured.
    Rows(u64),
    /// A point is finished.
    Point,
}

/// What a run did.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The sweep and all its results.
    pub table: SweepTable,
    /// What was measured.
    pub measured: MeasuredPoints,
}

/// Points that are measured now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeasuredPoints {
    /// Points measured by this run.
    pub made: usize,
    /// Points that were there already.
    pub kept: usize,
    /// Rows measured by this run.
    pub rows: u64,
    /// Wall-clock time.
    pub elapsed: Duration,
}
