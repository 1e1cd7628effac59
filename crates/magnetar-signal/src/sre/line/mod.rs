//! The estimator for arrays of three to sixteen elements on a line.
//!
//! As with two elements, but a component is a plane wave over the whole array: one complex gain, a delay, a phase slope
//! along the array and a delay slope (bounded by a wave along the array) that tells aliases of the phase apart. So paths
//! that lie in one delay cell are resolved by their angles. Every element is expected to hear a wave equally strongly:
//! calibrate the receiver first. Where the noise of each channel is that of its own inactive bins, levels are known only as
//! well as those few bins say; within that, they follow the waves found.

mod fit;
mod search;
mod sums;
#[cfg(test)]
mod tests;

use std::f64::consts::{PI, TAU};

use magnetar_scene::SPEED_OF_LIGHT;
use num_complex::{Complex, Complex64};

use super::active::ActiveBins;
use super::estimate::{Component, Estimate, Reporter};
use super::threshold::threshold_of;
use super::{ALMOST, DYNAMIC_RANGE, FINAL, MAX_ENERGY, SETTLED, SreError, SreOptions};
use crate::{Arrival, Band, ConfigError, LineArray, RxArray};
use fit::{FREE, LineFit, LineModel, Wave};
use search::{Grids, Search};
use sums::{BinNumbers, unit, wrapped};

/// Steps of a refinement that others will follow, and of the last one.
const ROUNDS: usize = 8;
const LAST_ROUNDS: usize = 30;
/// Peaks of the grid that are looked at closely before a search is given up.
const PEAKS: usize = 8;

/// The estimator for one band, array of three elements or more, and set of options. It may be shared between threads.
pub struct LineSre {
    model: LineModel,
    search: Search,
    active: ActiveBins,
    options: SreOptions,
    threshold: f64,
    bins: usize,
    /// Number of the carrier's bin about the centre of the span.
    carrier_bin: f64,
    /// Radians per bin in one second of delay.
    per_second: f64,
    carrier_hz: f64,
    /// Chooses among the aliases of equally spaced elements.
    reporter: Option<Reporter>,
    /// Place of element 1 less that of element 0, metres.
    first_spacing_m: f64,
    /// Variance of a channel's level, relative to it, where its noise reference sets it: that of half the logarithm of a
    /// variance estimated from so many bins. Zero where levels are as they were given.
    level_variance: f64,
}

/// Room for one estimate at a time.
pub struct LineWorkspace {
    /// The observation, each channel divided by its level.
    data: Vec<Vec<Complex64>>,
    /// Level of each channel, relative to what its noise reference says.
    levels: Vec<f64>,
    residual: Vec<Vec<Complex64>>,
    grids: Grids,
    fit: LineFit,
    estimate: Estimate,
}

impl LineSre {
    /// Plans the estimator.
    ///
    /// # Errors
    /// Names the option that is out of range; `phase_offset_deg` is for two elements.
    pub fn new(band: &Band, array: &LineArray, options: &SreOptions) -> Result<Self, ConfigError> {
        band.check()?;
        options.check(band)?;
        ConfigError::require(
            options.phase_offset_deg == 0.0,
            SreOptions::PHASE_OFFSET_DEG.key,
            options.phase_offset_deg,
            "0 with more than two elements or with uneven bins; phases then belong into a calibration with one factor per channel",
        )?;
        let active = ActiveBins::of(band, options)?;
        let step = active.step();
        active.require(
            step == 1,
            format!("active bins of which some are neighbours (these are {step} apart): leave the empty ones out of the file"),
        )?;
        let span = active.span.len();
        let per_second = TAU * band.spacing_hz();
        let visible = TAU * band.carrier_hz / SPEED_OF_LIGHT;
        let cell = TAU * (1.0 - 1.0 / array.elements() as f64) / array.length_m();
        let x = PI * options.min_separation_cells;
        let model = LineModel {
            bins: BinNumbers::new(span, &active.gaps),
            cells: [TAU / span as f64, cell],
            turn: array.spacing_m().map_or(2.0 * visible, |d| TAU / d),
            periodic: array.spacing_m().is_some(),
            steepest: per_second / SPEED_OF_LIGHT,
            max_likeness: libm::sin(x) / x,
            y: array.y().to_vec(),
        };
        let samples = (!options.inactive_bins.is_empty()).then_some(array.elements() * active.inactive.len());
        let reporter =
            array.spacing_m().map(|spacing_m| Reporter::new(band, &RxArray { spacing_m }, options, span, 0.0));
        Ok(Self {
            threshold: threshold_of(options.p_fa, |t| crossings(&model, active.rms(), t), samples),
            search: Search::new(&model, span, per_second / (TAU * band.carrier_hz)),
            carrier_bin: (band.bins / 2) as f64 - active.centre(),
            first_spacing_m: array.y()[1] - array.y()[0],
            level_variance: match active.inactive.len() {
                0 => 0.0,
                count => 0.25 / count as f64,
            },
            bins: band.bins,
            carrier_hz: band.carrier_hz,
            options: options.clone(),
            model,
            active,
            per_second,
            reporter,
        })
    }

    /// The detection threshold on a wave's energy over all elements, in units of the noise variance.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Number of elements.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.model.y.len()
    }

    /// Room for one estimate at a time.
    #[must_use]
    pub fn workspace(&self) -> LineWorkspace {
        let channels = || vec![vec![Complex64::default(); self.active.span.len()]; self.elements()];
        LineWorkspace {
            data: channels(),
            levels: vec![1.0; self.elements()],
            residual: channels(),
            grids: self.search.grids(self.elements()),
            fit: LineFit::default(),
            estimate: Estimate {
                components: Vec::new(),
                noise_variance: self.options.noise_variance,
                keep: self.options.keep,
            },
        }
    }

    /// Estimates the components of one observation, all channels of bin 0 first: `block[bin * elements + channel]`.
    /// [`Component::gain`] and the difference of delays are those of the first two elements. With inactive bins the noise
    /// variance is that of each channel.
    ///
    /// # Errors
    /// The block has another number of values, one that is not finite, or a scale beyond single precision.
    pub fn estimate<'w>(
        &self,
        block: &[Complex<f32>],
        workspace: &'w mut LineWorkspace,
    ) -> Result<&'w Estimate, SreError> {
        self.load(block, workspace)?;
        workspace.fit.waves.clear();
        workspace.fit.explained = 0.0;
        let mut threshold = self.threshold;
        while workspace.fit.waves.len() < self.options.max_paths {
            let Some((wave, energy)) = self.detect(threshold, workspace) else { break };
            threshold = threshold.max(DYNAMIC_RANGE * energy);
            let LineWorkspace { data, fit, .. } = &mut *workspace;
            let before = fit.explained;
            fit.waves.push(wave);
            if fit.evaluate(&self.model, data).is_err() || fit.explained <= before {
                fit.waves.pop();
                let _ = fit.evaluate(&self.model, data);
                break;
            }
            let tolerance = if fit.waves.len() < self.options.max_paths { SETTLED } else { ALMOST };
            fit.refine(&self.model, data, FREE, tolerance, ROUNDS);
            self.level(workspace);
        }
        let LineWorkspace { data, fit, .. } = &mut *workspace;
        fit.refine(&self.model, data, FREE, FINAL, LAST_ROUNDS);
        self.report(workspace);
        Ok(&workspace.estimate)
    }

    /// Writes the active bins, scaled to unit noise variance, with empty gaps.
    fn load(&self, block: &[Complex<f32>], workspace: &mut LineWorkspace) -> Result<(), SreError> {
        let elements = self.elements();
        if block.len() != self.bins * elements {
            return Err(SreError::BinCount { expected: self.bins, found: block.len() / elements });
        }
        let at = |bin: usize, channel: usize| {
            let z = block[bin * elements + channel];
            Complex64::new(f64::from(z.re), f64::from(z.im))
        };
        let used = |bin: &usize| self.model.bins.weights[bin - self.active.span.start] > 0.0;
        let (mut energy, mut mean_variance) = (0.0, 0.0);
        for channel in 0..elements {
            let mut heard = self.active.span.clone().filter(used).chain(self.active.inactive.iter().copied());
            if let Some(bin) = heard.find(|bin| !at(*bin, channel).is_finite()) {
                return Err(SreError::NotFinite { bin, channel });
            }
            let inactive = &self.active.inactive;
            let noise: f64 = inactive.iter().map(|bin| at(*bin, channel).norm_sqr()).sum();
            let power: f64 = self.active.span.clone().filter(used).map(|bin| at(bin, channel).norm_sqr()).sum();
            let variance = match inactive.len() {
                0 => self.options.noise_variance,
                _ if power == 0.0 => 1.0,
                count => noise / count as f64,
            };
            if variance <= 0.0 {
                return Err(SreError::NoNoise);
            }
            energy += power / variance;
            mean_variance += variance / elements as f64;
            let scale = variance.sqrt().recip();
            for (bin, z) in self.active.span.clone().zip(&mut workspace.data[channel]) {
                *z = if used(&bin) { at(bin, channel) * scale } else { Complex64::default() };
            }
        }
        if energy.is_nan() || energy > MAX_ENERGY {
            return Err(SreError::TooStrong { energy });
        }
        workspace.levels.fill(1.0);
        workspace.estimate.noise_variance = mean_variance;
        workspace.estimate.components.clear();
        Ok(())
    }

    /// Moves the channels' levels to the likeliest ones, given the waves and how well the noise references know them, and fits
    /// the waves to the data so levelled. Without this a strong wave leaves ghosts in its own delay cell.
    fn level(&self, workspace: &mut LineWorkspace) {
        if self.level_variance == 0.0 {
            return;
        }
        let LineWorkspace { data, levels, residual, fit, .. } = workspace;
        self.subtract(data, fit, residual);
        let prior = 0.5 / self.level_variance;
        for ((x, rest), level) in data.iter_mut().zip(residual.iter()).zip(levels) {
            let waves = |(x, rest): (&Complex64, &Complex64)| x - rest;
            let energy: f64 = x.iter().zip(rest).map(|pair| waves(pair).norm_sqr()).sum();
            let heard: f64 = x.iter().zip(rest).map(|pair| (waves(pair).conj() * pair.0).re).sum();
            let likeliest = (*level * heard + prior) / (energy + prior);
            let change = *level / likeliest;
            x.iter_mut().for_each(|z| *z *= change);
            *level = likeliest;
        }
        if fit.evaluate(&self.model, data).is_ok() {
            fit.refine(&self.model, data, FREE, SETTLED, ROUNDS);
        }
    }

    /// The wave of most residual energy, if that is above the threshold.
    fn detect(&self, threshold: f64, workspace: &mut LineWorkspace) -> Option<(Wave, f64)> {
        let LineWorkspace { data, residual, grids, fit, .. } = workspace;
        self.subtract(data, fit, residual);
        self.search.load(&self.model, residual, grids);
        let apart = self.options.min_separation_cells;
        let mut taken = fit.waves.clone();
        for _ in 0..PEAKS {
            let peak = self.search.highest(&self.model, grids, threshold, &taken, apart)?;
            let peak = self.unaliased(residual, peak);
            let mut one = LineFit::default();
            one.waves.push(peak);
            if one.evaluate(&self.model, residual).is_ok() {
                one.refine(&self.model, residual, 2, SETTLED, ROUNDS);
            }
            if one.explained >= threshold {
                return Some((one.waves[0], one.explained));
            }
            taken.push(peak);
        }
        None
    }

    /// What the waves leave of the data.
    fn subtract(&self, data: &[Vec<Complex64>], fit: &LineFit, residual: &mut [Vec<Complex64>]) {
        let bins = &self.model.bins;
        for ((x, rest), y) in data.iter().zip(residual).zip(&self.model.y) {
            rest.copy_from_slice(x);
            for (wave, gain) in fit.waves.iter().zip(&fit.gains) {
                let angle = -(wave[0] - y * wave[2]);
                let (mut z, step) = (gain * unit(y * wave[1]) * unit(bins.first * angle), unit(angle));
                for (r, weight) in rest.iter_mut().zip(&bins.weights) {
                    *r -= z * *weight;
                    z *= step;
                }
            }
        }
    }

    /// The same wave with the delay slope of that alias of its phase slope which fits best.
    fn unaliased(&self, data: &[Vec<Complex64>], wave: Wave) -> Wave {
        let slopes = self.aliases(wave[1]).map(|p| p / (TAU * self.carrier_hz) * self.per_second);
        let waves = slopes.map(|v| [wave[0], wave[1], v.clamp(-self.model.steepest, self.model.steepest)]);
        let judged = waves.map(|wave| (self.model.energy(data, &wave), wave));
        judged.fold((0.0, wave), |best, next| if next.0 > best.0 { next } else { best }).1
    }

    /// The phase slopes of visible waves that look like this one at one frequency.
    fn aliases(&self, slope: f64) -> impl Iterator<Item = f64> + use<> {
        let (turn, visible) = (self.model.turn, TAU * self.carrier_hz / SPEED_OF_LIGHT);
        let most = if self.model.periodic { (visible / turn + 0.5).floor().min(64.0) as i32 } else { 0 };
        let all = (-most..=most).map(move |turns| slope + f64::from(turns) * turn);
        all.filter(move |p| *p == slope || p.abs() <= visible)
    }

    /// Writes the components out, strongest first.
    fn report(&self, workspace: &mut LineWorkspace) {
        let LineWorkspace { fit, estimate, .. } = workspace;
        if fit.waves.is_empty() {
            return;
        }
        let variances = fit.variances();
        let sigma = estimate.noise_variance.sqrt();
        for ((wave, gain), variance) in fit.waves.iter().zip(&fit.gains).zip(variances) {
            estimate.components.push(self.component(wave, *gain, variance, sigma));
        }
        Estimate::rank(&mut estimate.components);
    }

    fn component(&self, wave: &Wave, gain: Complex64, variance: [f64; FREE], sigma: f64) -> Component {
        let period = TAU / self.per_second;
        let delay_s = (wave[0] / self.per_second).rem_euclid(period);
        let delay_s = if delay_s < period { delay_s } else { 0.0 };
        // At the carrier, not at the centre of the span.
        let slope = wave[1] + self.carrier_bin * wave[2];
        let phase_rad = wrapped(slope * self.first_spacing_m);
        let difference_s = -wave[2] * self.first_spacing_m / self.per_second;
        let sigma_s = variance[2].sqrt() * self.first_spacing_m.abs() / self.per_second;
        let (aoa_rad, alias_confidence) = match &self.reporter {
            Some(reporter) => reporter.aoa(phase_rad, difference_s, sigma_s),
            None => (libm::asin((slope * SPEED_OF_LIGHT / (TAU * self.carrier_hz)).clamp(-1.0, 1.0)), 1.0),
        };
        let raw_snr_db = 10.0 * libm::log10(gain.norm_sqr().max(f64::MIN_POSITIVE));
        let at = |y: f64| gain * unit(y * slope) * unit(-self.carrier_bin * wave[0]) * sigma;
        Component {
            arrival: Arrival {
                delay_s,
                phase_rad,
                aoa_rad,
                raw_snr_db,
                snr_db: raw_snr_db + self.options.processing_gain_db,
            },
            delay_difference_s: difference_s,
            gain: [at(self.model.y[0]), at(self.model.y[1])],
            alias_confidence,
        }
    }
}

/// Expected peaks above level `t` of the energy of noise over all delays and phase slopes: the expected Euler
/// characteristic of its excursions (Adler and Taylor 2007, 15.10; a field of the squares of two unit normals, `2 t` high).
/// The surface is a torus where phase slopes wrap, else a cylinder, whose two edges add half their length.
fn crossings(model: &LineModel, rms_bins: f64, t: f64) -> f64 {
    let along_delay = TAU * rms_bins;
    let elements = model.y.len() as f64;
    let rms_place = (model.y.iter().map(|y| y * y).sum::<f64>() / elements).sqrt();
    let area = along_delay * rms_place * model.turn;
    let edge = if model.periodic { 0.0 } else { along_delay / TAU.sqrt() * (2.0 * t).sqrt() };
    (area / TAU * (2.0 * t - 1.0) + edge) * libm::exp(-t)
}
