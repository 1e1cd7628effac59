//! The twin scorer: the posterior by the twin's own physics, no training.

mod ablation;
mod as_scorer;
mod backend;
mod evidence;
mod flat;
mod geometry;
mod lanes;
mod likelihood;
mod matches;
mod model;
mod parameters;
mod scorer;
mod tables;
#[cfg(test)]
mod tests;
mod widths;

pub use ablation::Ablation;
pub use as_scorer::Twin;
pub use backend::{CpuScoring, ScoringBackend};
pub use flat::{TwinBox, TwinRow, TwinRows, TwinShared, TwinTables};
pub use likelihood::{DILOGARITHM_TERMS, FADING_DB2};
pub use model::{MAX_ARRIVALS, RoomSlabs, TwinModel};
pub use parameters::{PARAMETER_RANGES, TwinFile, TwinParameters};
pub use scorer::{Grain, TwinScorer};
