//! The whole observation model, with its buffers.

use rand::Rng;

use crate::path_sum::PathSum;
use crate::reduced_path::ReducedPath;
use crate::rf_chain::RfChainDraw;
use crate::rf_factors::RfFactors;
use crate::{Band, ElementPath, Observation, add_noise};

/// Makes observations over one band. Keeps its buffers, so that one that has been used does not allocate.
#[derive(Debug, Clone)]
pub struct Synthesizer {
    band: Band,
    reduced: Vec<ReducedPath>,
    path_sum: PathSum,
    rf_factors: RfFactors,
}

impl Synthesizer {
    /// For a band (which should have been checked).
    #[must_use]
    pub fn new(band: Band) -> Self {
        Self { band, reduced: Vec::new(), path_sum: PathSum::default(), rf_factors: RfFactors::new(band) }
    }

    /// The band.
    #[must_use]
    pub fn band(&self) -> &Band {
        &self.band
    }

    /// A block of zeros to be filled.
    #[must_use]
    pub fn block(&self) -> Observation {
        Observation::zeros(self.band.bins)
    }

    /// Stage 1, the noise-free block: the sum over paths, each gain times `scale`.
    pub fn clean(&mut self, paths: &[ElementPath], scale: f64, block: &mut Observation) {
        self.reduced.clear();
        self.reduced.extend(paths.iter().map(|path| ReducedPath::new(path, &self.band, scale)));
        self.path_sum.sum(&self.reduced, block);
    }

    /// Stage 2, the perturbed block: the RF chain of `draw`, the energy kept.
    pub fn perturb(&mut self, draw: &RfChainDraw, block: &mut Observation) {
        self.rf_factors.compute(draw);
        self.rf_factors.apply(block);
    }

    /// All stages: paths, RF chain, noise.
    pub fn noisy<R: Rng + ?Sized>(
        &mut self,
        paths: &[ElementPath],
        scale: f64,
        draw: &RfChainDraw,
        rng: &mut R,
        block: &mut Observation,
    ) {
        self.clean(paths, scale, block);
        self.perturb(draw, block);
        add_noise(block, rng);
    }
}
