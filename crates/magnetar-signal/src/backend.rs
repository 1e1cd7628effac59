//! Bulk synthesis, on whatever does it fastest.

use std::error::Error;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use thiserror::Error;

use crate::{Band, ElementPath, Observation, RfChainDraw, Synthesizer};

/// What one observation is made of, besides its noise.
#[derive(Debug, Clone, Copy)]
pub struct SignalRow<'a> {
    /// The paths at the elements.
    pub paths: &'a [ElementPath],
    /// Factor of every gain (see `LinkConfig::amplitude_scale`).
    pub scale: f64,
    /// The RF chain.
    pub rf_chain: RfChainDraw,
}

/// A backend could not do its work.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct BackendError(#[from] pub Box<dyn Error + Send + Sync>);

/// Synthesises many observations over one band at a time.
///
/// All backends compute the same thing: their results differ by rounding only, within 1e-5 of a block's rms.
pub trait SynthesisBackend: fmt::Debug + Send + Sync {
    /// `cpu` or `cuda`: what a manifest records.
    fn name(&self) -> &'static str;

    /// The name and the device, for people.
    fn description(&self) -> String {
        self.name().to_owned()
    }

    /// Adds the signal of each row, RF chain applied, to the block of the same position. The blocks hold the noise
    /// (see `add_noise`; zeros for none), which the host draws for every backend, so that a row's noise is the same,
    /// to the bit, whatever made the row.
    ///
    /// # Errors
    /// When the backend's device fails. Blocks of the call may then hold noise or observations, row by row.
    ///
    /// # Panics
    /// When there are not as many blocks as rows.
    fn add_signals(&self, rows: &[SignalRow<'_>], blocks: &mut [Observation]) -> Result<(), BackendError>;
}

/// Synthesis on the calling thread.
#[derive(Debug)]
pub struct CpuSynthesis {
    band: Band,
    /// One for each thread that ever called at the same time as others, with its buffers.
    idle: Mutex<Vec<(Synthesizer, Observation)>>,
}

impl CpuSynthesis {
    /// For a band (which should have been checked).
    #[must_use]
    pub fn new(band: Band) -> Self {
        Self { band, idle: Mutex::default() }
    }
}

impl SynthesisBackend for CpuSynthesis {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn add_signals(&self, rows: &[SignalRow<'_>], blocks: &mut [Observation]) -> Result<(), BackendError> {
        assert_eq!(rows.len(), blocks.len(), "a block for every row");
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = idle().pop();
        let (mut synthesizer, mut signal) = kept.unwrap_or_else(|| {
            let synthesizer = Synthesizer::new(self.band);
            let block = synthesizer.block();
            (synthesizer, block)
        });
        for (row, block) in rows.iter().zip(blocks) {
            synthesizer.clean(row.paths, row.scale, &mut signal);
            synthesizer.perturb(&row.rf_chain, &mut signal);
            block.add(&signal);
        }
        idle().push((synthesizer, signal));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use num_complex::Complex64;
    use rand::SeedableRng;
    use rand::rngs::ChaCha8Rng;

    use super::*;
    use crate::{RfChainConfig, add_noise};

    #[test]
    fn the_bits_are_those_of_the_single_observation() {
        let band = Band::default();
        let rng = || ChaCha8Rng::seed_from_u64(5);
        let paths: Vec<_> = (0..4)
            .map(|p| ElementPath {
                delay: [20e-9 + f64::from(p) * 7e-9, 20.03e-9 + f64::from(p) * 7e-9],
                gain: [Complex64::new(0.4, -0.1), Complex64::new(0.3, 0.2)],
            })
            .collect();
        let rf_chain = RfChainConfig::default().draw(&mut rng());
        let mut alone = Observation::zeros(band.bins);
        Synthesizer::new(band).noisy(&paths, 3.0, &rf_chain, &mut rng(), &mut alone);
        let mut blocks = vec![Observation::zeros(band.bins); 2];
        for block in &mut blocks {
            add_noise(block, &mut rng());
        }
        let row = SignalRow { paths: &paths, scale: 3.0, rf_chain };
        CpuSynthesis::new(band).add_signals(&[row, row], &mut blocks).unwrap();
        assert_eq!(blocks, vec![alone.clone(), alone]);
    }
}
