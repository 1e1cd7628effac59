//! SRE, the sparse-refinement estimator: the arrivals in one observation.
//!
//! Two-snapshot Newtonised orthogonal matching pursuit on the wideband array model. A component has a delay at each
//! element (their difference bounded by the array) and a complex gain at each element. Components are detected one by
//! one at the highest residual energy over all delays, as long as noise alone would reach it with a probability below
//! `p_fa`; after each detection all delays are refined together and all gains solved by least squares.
//!
//! The data are transformed once. Everything else follows from closed forms: atoms are exponentials on a uniform grid,
//! so that their inner products are Dirichlet kernels, and the transform between grid points follows from a few
//! samples around them. See `docs/estimator.md`.

mod active;
mod bounds;
mod butterfly;
mod detect;
mod estimate;
mod exact;
mod fft;
mod fit;
mod grid_transform;
mod interpolate;
mod kernel;
mod line;
mod linear;
mod options;
mod spectrum;
mod threshold;

#[cfg(test)]
mod tests;

use num_complex::Complex;

pub(crate) use active::greatest_common_divisor;
pub use estimate::{Component, Estimate};
pub use line::{LineSre, LineWorkspace};
pub use options::{AoaMode, MAX_PATHS, Method, SreOptions};

use crate::{Band, ConfigError, RxArray};
use active::ActiveBins;
use estimate::Reporter;
use exact::ExactTransform;
use fit::{ComponentFit, Model};
use kernel::Dirichlet;
use spectrum::{Grid, Spectrum};

/// A component weaker than this part of the strongest energy is below the rounding of single precision.
const DYNAMIC_RANGE: f64 = 1e-12;
/// Largest energy of a block in units of the noise variance; squares of transforms must fit single precision.
const MAX_ENERGY: f64 = 1e28;

/// Refinement ends when the next step promises a fall of the residual energy below this many noise variances: while
/// more components are to come, before a detection that is not clear, and at the end. A step that promises `x` moves a
/// delay by about `sqrt(2 x)` of its standard deviation.
const UNDERWAY: f64 = 0.5;
const SETTLED: f64 = 0.01;
const ALMOST: f64 = 1e-4;
const FINAL: f64 = 1e-8;
/// Most steps of one refinement, and of one that others will follow.
const ROUNDS: usize = 20;
const UNDERWAY_ROUNDS: usize = 3;
/// A peak this many times above the threshold is no leftover of an unfinished refinement.
const CLEAR: f64 = 4.0;

/// An observation that cannot be estimated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SreError {
    /// The block has the wrong number of bins.
    #[error("the observation has {found} bins; the band has {expected}")]
    BinCount {
        /// Bins of the band.
        expected: usize,
        /// Bins of the block.
        found: usize,
    },
    /// A bin is NaN or infinite.
    #[error("bin {bin} of channel {channel} is not a finite number; mask or drop the observation")]
    NotFinite {
        /// The bin.
        bin: usize,
        /// The channel.
        channel: usize,
    },
    /// The block is beyond what single precision can hold.
    #[error("the observation is too strong: energy {energy:e} in units of the noise variance; check its scale")]
    TooStrong {
        /// Sum over bins and channels.
        energy: f64,
    },
    /// The inactive bins are all zero while the active ones are not.
    #[error("the inactive bins hold no noise to estimate its variance from; give a known noise variance")]
    NoNoise,
}

/// The estimator for one band, array and set of options. It is immutable and may be shared between threads; each thread
/// brings its own [`Workspace`].
pub struct Sre {
    model: Model,
    active: ActiveBins,
    options: SreOptions,
    reporter: Reporter,
    /// On the peak energy, in units of the noise variance.
    threshold: f64,
}

/// Room for one estimate at a time; made once by [`Sre::workspace`] and used again for each observation.
pub struct Workspace {
    spectrum: Spectrum,
    fit: Box<ComponentFit>,
    exact: ExactTransform,
    block: Vec<[Complex<f32>; 2]>,
    estimate: Estimate,
}

impl Sre {
    /// Whether so many of the bins are active that gaps between them can be filled, as this estimator does; the one for
    /// lines leaves them out.
    ///
    /// # Errors
    /// Names what is out of range of the band, or that too few bins are active.
    pub(crate) fn suits(band: &Band, options: &SreOptions) -> Result<bool, ConfigError> {
        band.check()?;
        Ok(ActiveBins::of(band, options)?.is_dense())
    }

    /// Plans the estimator.
    ///
    /// # Errors
    /// Names the option that is out of range.
    pub fn new(band: &Band, array: &RxArray, options: &SreOptions) -> Result<Self, ConfigError> {
        band.check()?;
        array.check()?;
        options.check(band)?;
        let active = ActiveBins::of(band, options)?;
        active.require(active.is_dense(), "at most a quarter of the active bins' span inactive".to_owned())?;
        let bins = active.span.len();
        let grid = Grid::new(bins, options.oversampling);
        let len = grid.len as f64;
        let steps_per_cell = len / bins as f64;
        let carrier_bin = (band.bins / 2) as f64 - active.centre();
        let samples = (!options.inactive_bins.is_empty()).then_some(2 * active.inactive.len());
        let min_angle = std::f64::consts::PI * options.min_separation_cells * steps_per_cell / len;
        Ok(Self {
            reporter: Reporter::new(band, array, options, grid.len, carrier_bin),
            threshold: threshold::threshold(options.p_fa, active.rms(), samples),
            model: Model {
                dirichlet: Dirichlet::new(bins, options.oversampling),
                max_difference: array.max_delay_difference_s() * band.spacing_hz() * len,
                min_sine: libm::sin(min_angle),
                // A little more, so that rounding does not bring a pair held here below it.
                min_separation: options.min_separation_cells * steps_per_cell * (1.0 + 1e-9),
                max_step: 0.25 * steps_per_cell,
                grid,
            },
            active,
            options: options.clone(),
        })
    }

    /// The options in force.
    #[must_use]
    pub fn options(&self) -> &SreOptions {
        &self.options
    }

    /// The detection threshold on the peak matched-filter energy of both channels, in units of the noise variance.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Room for one estimate at a time.
    #[must_use]
    pub fn workspace(&self) -> Workspace {
        Workspace {
            spectrum: self.model.grid.spectrum(),
            fit: ComponentFit::new(),
            exact: ExactTransform::new(self.active.span.len()),
            block: vec![[Complex::new(0.0, 0.0); 2]; self.active.span.len()],
            estimate: Estimate {
                components: Vec::with_capacity(MAX_PATHS),
                noise_variance: self.options.noise_variance,
                keep: self.options.keep,
            },
        }
    }

    /// Estimates the components of one observation: `block[bin][channel]`. The result lives in the workspace until its
    /// next use. A block of zeros, or of noise alone, gives an empty estimate. Nothing is allocated.
    ///
    /// # Errors
    /// The block has another number of bins than the band, a value that is not finite, or a scale beyond single
    /// precision.
    pub fn estimate<'w>(
        &self,
        block: &[[Complex<f32>; 2]],
        workspace: &'w mut Workspace,
    ) -> Result<&'w Estimate, SreError> {
        crate::with_avx2!(self.run_avx2(block, workspace), self.run(block, workspace))?;
        Ok(&workspace.estimate)
    }

    /// [`Self::run`] compiled for wider vectors; the same operations in the same order, so the same bits.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn run_avx2(&self, block: &[[Complex<f32>; 2]], workspace: &mut Workspace) -> Result<(), SreError> {
        self.run(block, workspace)
    }

    #[inline(always)]
    fn run(&self, block: &[[Complex<f32>; 2]], workspace: &mut Workspace) -> Result<(), SreError> {
        workspace.estimate.components.clear();
        let variance = self.active.load(block, self.options.noise_variance, &mut workspace.block)?;
        workspace.estimate.noise_variance = variance;
        workspace.fit.clear();
        self.model.grid.transform(&workspace.block, &mut workspace.spectrum);
        match self.options.method {
            Method::Refined => self.refined(workspace),
            Method::Greedy => self.greedy(workspace),
        }
        let _ = workspace.fit.inform(&self.model); // for the variances; the gradient is spent
        self.report(variance.sqrt(), workspace);
        Ok(())
    }

    /// Detects and refines until the residual looks like noise.
    #[inline(always)]
    fn refined(&self, workspace: &mut Workspace) {
        let mut threshold = self.threshold;
        let mut settled = true;
        while workspace.fit.count < self.options.max_paths {
            let Some((q, t, energy)) = self.detect(threshold, workspace) else { break };
            if !settled && energy < CLEAR * threshold {
                // What is left of an unfinished refinement must not decide: finish it and look again.
                settled = true;
                let Workspace { fit, spectrum, .. } = &mut *workspace;
                if fit.refine(&self.model, spectrum, SETTLED, ROUNDS) > 0 {
                    continue;
                }
            }
            if workspace.fit.count == 0 {
                threshold = threshold.max(DYNAMIC_RANGE * energy);
            }
            let Workspace { fit, spectrum, .. } = &mut *workspace;
            let before = fit.explained;
            fit.push(&self.model, spectrum, q, t);
            if !fit.evaluate(&self.model) || fit.explained <= before {
                fit.remove(fit.count - 1);
                fit.evaluate(&self.model);
                break;
            }
            settled = false;
            fit.refine(&self.model, spectrum, UNDERWAY, UNDERWAY_ROUNDS);
            self.fill_gaps(workspace);
        }
        let Workspace { fit, spectrum, exact, block, .. } = &mut *workspace;
        if fit.count == 0 {
            return;
        }
        fit.refine(&self.model, spectrum, ALMOST, ROUNDS);
        exact.load(block);
        fit.finish(&self.model, spectrum, exact, FINAL, ROUNDS);
    }

    /// Components on the grid, gains by joint least squares, nothing moved.
    #[inline(always)]
    fn greedy(&self, workspace: &mut Workspace) {
        let mut threshold = self.threshold;
        while workspace.fit.count < self.options.max_paths {
            let Some((q, energy)) = self.detect_on_grid(workspace) else { break };
            if energy < threshold {
                break;
            }
            if workspace.fit.count == 0 {
                threshold = threshold.max(DYNAMIC_RANGE * energy);
            }
            let Workspace { fit, spectrum, .. } = &mut *workspace;
            fit.push(&self.model, spectrum, q, 0.0);
            if !fit.evaluate(&self.model) {
                fit.remove(fit.count - 1);
                fit.evaluate(&self.model);
                break;
            }
            self.fill_gaps(workspace);
        }
    }

    /// Replaces inactive bins between active ones by what the components predict, until that no longer changes: the
    /// fit then is the one of the active bins alone (expectation maximisation), while the closed forms stay those of
    /// unbroken bins.
    fn fill_gaps(&self, workspace: &mut Workspace) {
        const ROUNDS: usize = 12;
        let Workspace { fit, spectrum, block, .. } = workspace;
        for _ in 0..ROUNDS {
            if self.active.gaps.is_empty() || self.active.fill(fit, self.model.grid.len, block) < 1e-4 {
                return;
            }
            self.model.grid.transform(block, spectrum);
            fit.reload(&self.model, spectrum);
            fit.evaluate(&self.model);
            if self.options.method == Method::Refined {
                fit.refine(&self.model, spectrum, 1e-3, 12);
            }
        }
    }

    /// Writes the components out, strongest first.
    fn report(&self, sigma: f64, workspace: &mut Workspace) {
        let Workspace { fit, estimate, .. } = workspace;
        for i in 0..fit.count {
            let variance = fit.delay_variance(i);
            estimate.components.push(self.reporter.component(&fit.atom(i), variance, sigma));
        }
        Estimate::rank(&mut estimate.components);
    }
}
