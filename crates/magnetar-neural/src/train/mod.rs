//! Training: exposures drawn on the fly, gradients by a tape, Adam, stages, checkpoints.

mod adam;
mod checkpoint;
mod evidence;
mod exposure;
mod loss;
mod plan;
mod real;
mod rows;
mod tape;
#[cfg(test)]
mod tests;
mod trainer;
mod validation;

pub use exposure::{Exposure, ScoredCandidates};
pub use plan::{Preset, Sampling, TrainingPlan};
pub use real::{REAL_EXPOSURES, RealRows};
pub use rows::{TrainingRow, TrainingRows};
pub use trainer::{Trainer, TrainingProgress};
