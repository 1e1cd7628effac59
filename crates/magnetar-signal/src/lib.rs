//! From paths to 512 x 2 frequency observations, and from observations to arrivals (SRE).
//!
//! A [`Radio`] is everything that stays the same from link to link: band, array, antennas, link scale, RF chain, noise
//! and estimator. A [`LinkSimulator`] runs links with it, in stages that can be had on their own: traced paths, paths at
//! the elements, the noise-free block, the RF chain, noise, the estimate.
//!
//! ```
//! use std::sync::Arc;
//! use magnetar_scene::{MaterialLibrary, Pose, Scene};
//! use magnetar_signal::sre::Component;
//! use magnetar_signal::{LinkDraw, LinkSimulator, Radio, RadioConfig, seeded_streams};
//!
//! let radio = Arc::new(Radio::new(RadioConfig::default())?);
//! let world = Scene::load("lab")?.resolve(&MaterialLibrary::shipped(), radio.band().carrier_hz)?;
//! let (tx, rx) = (Pose::new(0.98, 2.28, 1.08, -1.57), Pose::new(1.0, -1.0, 1.08, 1.57));
//! let mut link = LinkSimulator::new(radio);
//! link.trace(world.room, &world.surfaces, &world.boxes, &tx, &rx)?;
//! let [mut rf_chain, mut noise] = seeded_streams(1, 0);
//! let rf_chain = link.radio().config().rf_chain.draw(&mut rf_chain);
//! let mut block = link.block();
//! link.observe(&LinkDraw { tx_power_offset_db: 0.0, rf_chain }, &mut noise, &mut block);
//! for Component { arrival, .. } in link.estimate(&block)?.kept() {
//!     println!("AoA {:6.2} deg, SNR {:5.1} dB", arrival.aoa_rad.to_degrees(), arrival.snr_db);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests compare with the platform's functions"))]

mod array;
mod arrival;
mod backend;
mod band;
mod bin_grid;
mod calibration;
mod config_error;
mod element_path;
mod fourier;
mod key_range;
mod lanes;
mod line_array;
mod link_scale;
mod link_simulator;
mod noise;
mod noise_floor;
mod normals;
mod observation;
mod path_sum;
mod pattern_error;
mod phase_table;
mod phasor;
mod radio;
mod receiver;
mod reduced_path;
mod reduced_rf_chain;
mod rf_chain;
mod rf_factors;
pub mod sre;
mod synthesizer;
mod turned_bins;
mod vector_math;

pub use array::{ELEMENTS, RxArray};
pub use arrival::{Arrival, Arrivals};
pub use backend::{BackendError, CpuSynthesis, SignalRow, SynthesisBackend};
pub use band::Band;
pub use bin_grid::{BinGrid, BinGridError};
pub use calibration::{CalibrationError, ReceiverCalibration};
pub use config_error::ConfigError;
pub use element_path::{ElementPath, Link};
pub use fourier::fourier_transform;
pub use key_range::KeyRange;
pub use line_array::LineArray;
pub use link_scale::LinkConfig;
pub use link_simulator::{LinkDraw, LinkSimulator, seeded_streams};
pub use magnetar_trace::{PROCESSOR_CLASS, VECTORS_VARIABLE, avx2_copy, has_avx2, with_avx2};
pub use noise::{NoiseConfig, add_noise};
pub use noise_floor::noise_floor;
pub use normals::Normals;
pub use observation::Observation;
pub use path_sum::PathSum;
pub use pattern_error::{PatternError, SmoothField};
pub use phase_table::PhaseTable;
pub use radio::{AntennaConfig, Radio, RadioConfig, RadioError};
pub use receiver::{NoiseSource, Receiver, ReceiverError, ReceiverSettings, ReceiverWorkspace};
pub use reduced_path::ReducedPath;
pub use reduced_rf_chain::ReducedRfChain;
pub use rf_chain::{MAX_RIPPLE_TERMS, RfChainConfig, RfChainDraw};
pub use rf_factors::RfFactors;
pub use synthesizer::Synthesizer;
pub use turned_bins::TurnedBins;

#[cfg(test)]
mod noise_tests;
#[cfg(test)]
mod rf_chain_tests;
#[cfg(test)]
mod synthesis_tests;
