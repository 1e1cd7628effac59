//! Learned scorers: the paper's designs NP1-NP5, SM1-SM4 and SA1-SA4, our own NP6 on top of the twin, their model files and
//! their training.
//!
//! Every design is written once, over [`Engine`]: [`PlainEngine`] scores with it, [`train`] records it on a tape and takes
//! its gradients.

mod array;
mod benchmark;
mod design;
mod designs;
mod engine;
mod error;
mod inputs;
mod layers;
mod model;
mod parameters;
mod plain;
mod record;
mod safetensors;
mod scorer;
mod shipped;
mod source;
#[cfg(test)]
mod testing;
pub mod train;

pub use array::Array;
pub use benchmark::{Benchmark, BenchmarkColumns, BenchmarkLine, BenchmarkStep, ByBoard, Contestant, OverSeeds};
pub use design::{Design, Widths};
pub use designs::Network;
pub use engine::Engine;
pub use error::NeuralError;
pub use inputs::{Inputs, Picked};
pub use model::Model;
pub use parameters::{Net, ParameterPlan, ParameterPlans, Parameters, Start};
pub use plain::PlainEngine;
pub use record::{Calibration, MODEL_SCHEMA, ModelRecord, RealRecord, StageRecord, TrainingRecord};
pub use scorer::LearnedScorer;
pub use shipped::ShippedModel;
pub use source::LearnedScorers;
