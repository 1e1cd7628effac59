//! The twin scorer: the posterior by the twin's own physics, no training.

mod geometry;
mod lanes;
mod likelihood;
mod model;
mod parameters;
mod scorer;
mod tables;

pub use model::{RoomSlabs, TwinModel};
pub use parameters::{PARAMETER_RANGES, TwinFile, TwinParameters};
pub use scorer::{Grain, TwinScorer};
