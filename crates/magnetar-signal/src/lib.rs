//! From paths to 512 x 2 frequency observations, and from observations to arrivals (SRE).
//!
//! Synthesis runs in stages, each of which can be had on its own: `Link::element_path` applies the antennas and the
//! exact delay of each element to a traced path, `LinkConfig::amplitude_scale` sets the strength,
//! `Synthesizer::clean` sums paths into the noise-free block, `Synthesizer::perturb` applies an RF chain drawn by
//! `RfChainConfig::draw`, and `add_noise` adds unit-variance noise.

mod array;
mod arrival;
mod backend;
mod band;
mod config_error;
mod element_path;
mod link_scale;
mod noise;
mod observation;
mod path_sum;
mod phasor;
mod reduced_path;
mod reduced_rf_chain;
mod rf_chain;
mod rf_factors;
pub mod sre;
mod synthesizer;
mod vector_math;

pub use array::{ELEMENTS, RxArray};
pub use arrival::{Arrival, Arrivals};
pub use backend::{BackendError, CpuSynthesis, SignalRow, SynthesisBackend};
pub use band::Band;
pub use config_error::ConfigError;
pub use element_path::{ElementPath, Link, link_between};
pub use link_scale::LinkConfig;
pub use noise::{NoiseConfig, add_noise};
pub use observation::Observation;
pub use path_sum::PathSum;
pub use reduced_path::ReducedPath;
pub use reduced_rf_chain::ReducedRfChain;
pub use rf_chain::{MAX_RIPPLE_TERMS, RfChainConfig, RfChainDraw};
pub use rf_factors::RfFactors;
pub use synthesizer::Synthesizer;

#[cfg(test)]
mod noise_tests;
#[cfg(test)]
mod rf_chain_tests;
#[cfg(test)]
mod synthesis_tests;
