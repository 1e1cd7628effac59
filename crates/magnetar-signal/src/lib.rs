//! From paths to 512 x 2 frequency observations, and from observations to arrivals (SRE).
//!
//! A [`Radio`] is everything that stays the same from link to link: band, array, antennas, link scale, RF chain, noise
//! and estimator. A [`LinkSimulator`] runs links with it, in stages that can be had on their own: traced paths, paths at
//! the elements, the noise-free block, the RF chain, noise, the estimate.

mod array;
mod arrival;
mod backend;
mod band;
mod config_error;
mod element_path;
mod key_range;
mod link_scale;
mod link_simulator;
mod noise;
mod observation;
mod path_sum;
mod phasor;
mod radio;
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
pub use element_path::{ElementPath, Link};
pub use key_range::KeyRange;
pub use link_scale::LinkConfig;
pub use link_simulator::{LinkDraw, LinkSimulator, seeded_streams};
pub use noise::{NoiseConfig, add_noise};
pub use observation::Observation;
pub use path_sum::PathSum;
pub use radio::{AntennaConfig, Radio, RadioConfig, RadioError};
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
