//! From layout, RX pose and arrivals to a posterior over the support.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use magnetar_scene::Pose;
use magnetar_signal::Arrivals;

use super::lanes::{exp2, log2};
use super::tables::{GainTable, HeadingTable, SlabTables};
use super::widths::{Observed, USED, Widths};
use super::{Ablation, MAX_ARRIVALS, TwinModel, TwinParameters};
use crate::{Layout, PosteriorError, ScoreRow, Support, Volume};

/// How finely a cell is integrated: points along each of its axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grain {
    /// Points along x and along y in a cell.
    pub position: usize,
    /// Headings in a bin.
    pub heading: usize,
}

impl Default for Grain {
    fn default() -> Self {
        Self { position: 2, heading: 2 }
    }
}

/// The SNR range a stray arrival may have, dB.
const STRAY_RANGE_DB: f64 = 60.0;

/// SNRs beyond this (either way) are held there, dB: no receiver reports them.
const MAX_SNR_DB: f64 = 300.0;

/// Tables that depend on the model only, shared by scorers with other parameters.
#[derive(Debug)]
pub(super) struct Shared {
    model: TwinModel,
    pub(super) rx_gain: GainTable,
    tx_gain: GainTable,
    pub(super) slabs: SlabTables,
    headings: Mutex<BTreeMap<usize, Arc<HeadingTable>>>,
}

/// Scores candidates by the likelihood of the arrivals; see `docs/posterior.md`.
#[derive(Debug, Clone)]
pub struct TwinScorer {
    pub(super) shared: Arc<Shared>,
    parameters: TwinParameters,
    pub(super) grain: Grain,
    ablation: Ablation,
}

impl TwinScorer {
    /// Makes the tables of a model.
    ///
    /// # Errors
    /// When a parameter is out of range, the model has no material assignment, keeps more arrivals than the
    /// likelihood takes, or asks for paths of an order that is not traced.
    pub fn new(model: TwinModel, parameters: TwinParameters) -> Result<Self, PosteriorError> {
        parameters.check("twin")?;
        if model.assignments.is_empty() {
            return Err(PosteriorError::Parameters {
                place: "twin model".into(),
                reason: "it has no material assignment; give at least one".into(),
            });
        }
        model.propagation.check().map_err(PosteriorError::Propagation)?;
        if model.keep > MAX_ARRIVALS {
            return Err(PosteriorError::TooManyArrivals { keep: model.keep, most: MAX_ARRIVALS });
        }
        let power = |p: &magnetar_scene::AntennaPattern, d: &nalgebra::Vector3<f64>| p.amplitude(d).powi(2);
        let rx_gain = GainTable::new(|d| power(&model.rx_patterns[0], d) + power(&model.rx_patterns[1], d));
        let tx_gain = GainTable::new(|d| power(&model.tx_pattern, d));
        let slabs = SlabTables::new(&model);
        let shared = Shared { model, rx_gain, tx_gain, slabs, headings: Mutex::default() };
        Ok(Self { shared: Arc::new(shared), parameters, grain: Grain::default(), ablation: Ablation::None })
    }

    /// The same model with other parameters; the tables are shared.
    #[must_use]
    pub fn with_parameters(&self, parameters: TwinParameters) -> Self {
        let parameters = TwinParameters::from_array(parameters.to_array());
        Self { parameters, ..self.clone() }
    }

    /// The same model integrated more or less finely.
    #[must_use]
    pub fn with_grain(&self, grain: Grain) -> Self {
        let grain = Grain { position: grain.position.clamp(1, 16), heading: grain.heading.clamp(1, 16) };
        Self { grain, ..self.clone() }
    }

    /// The same scorer with one term of the likelihood left out.
    #[must_use]
    pub fn ablated(&self, ablation: Ablation) -> Self {
        let scorer = Self { ablation, ..self.clone() };
        match ablation {
            Ablation::CellIntegral => scorer.with_grain(Grain { position: 1, heading: 1 }),
            _ => scorer,
        }
    }

    /// The model scored with.
    #[must_use]
    pub fn model(&self) -> &TwinModel {
        &self.shared.model
    }

    /// How finely cells are integrated.
    #[must_use]
    pub fn grain(&self) -> Grain {
        self.grain
    }

    /// The term of the likelihood that is left out.
    #[must_use]
    pub fn ablation(&self) -> Ablation {
        self.ablation
    }

    /// The parameters scored with.
    #[must_use]
    pub fn parameters(&self) -> &TwinParameters {
        &self.parameters
    }

    /// Half the width of the level prior, dB: the twin's own, and no less than the TX-power offset it is given.
    #[must_use]
    pub fn level_max_db(&self) -> f64 {
        self.parameters.level_max_db.max(self.shared.model.power_offset_max_db)
    }

    /// The posterior of one observation.
    ///
    /// # Errors
    /// When every candidate is masked.
    pub fn score(
        &self,
        layout: &Layout,
        rx: &Pose,
        arrivals: &Arrivals,
        support: &Support,
    ) -> Result<Volume, PosteriorError> {
        self.score_without(None, layout, rx, arrivals, support)
    }

    /// As [`TwinScorer::score`] with one material assignment left out, which is how the fit withholds a row's own.
    ///
    /// # Errors
    /// As [`TwinScorer::score`].
    pub fn score_without(
        &self,
        left_out: Option<usize>,
        layout: &Layout,
        rx: &Pose,
        arrivals: &Arrivals,
        support: &Support,
    ) -> Result<Volume, PosteriorError> {
        let row = ScoreRow { number: None, layout, rx, arrivals, observation: None, support };
        self.finish(&self.evidence(left_out, &row), rx, support)
    }

    /// From the evidence of every candidate to the posterior.
    pub(crate) fn finish(&self, evidence: &[f64], rx: &Pose, support: &Support) -> Result<Volume, PosteriorError> {
        let size = support.size();
        let mask = support.mask(rx);
        let top = evidence.iter().copied().fold(0.0, f64::max);
        let (scale, temperature) = (1.0 / top, self.parameters.temperature as f32);
        let tempered: Vec<f64> = evidence.iter().map(|e| f64::from(power((e * scale) as f32, temperature))).collect();
        let total: f64 = tempered.iter().sum();
        let even = self.parameters.uniform_share / size.len() as f64;
        let kept = (1.0 - self.parameters.uniform_share) / total;
        let weights: Vec<f64> = tempered.iter().map(|t| even + kept * t).collect();
        Volume::from_weights(size, &mask, &weights)
    }

    pub(super) fn heading_table(&self, headings: usize) -> Arc<HeadingTable> {
        let mut cache = self.shared.headings.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Arc::clone(cache.entry(headings).or_insert_with(|| Arc::new(HeadingTable::new(&self.shared.tx_gain, headings))))
    }

    pub(super) fn observed(&self, arrivals: &Arrivals, widths: &Widths) -> Observed {
        let most = if self.ablation == Ablation::SecondArrival { 1 } else { USED };
        let used: Vec<_> = arrivals.found.iter().take(most).collect();
        let mut seen = Observed {
            count: used.len(),
            phase: [0.0; USED],
            snr_db: [0.0; USED],
            phase_variance: [1.0; USED],
            cut_db: self.shared.model.threshold_db as f32,
        };
        for (k, arrival) in used.iter().enumerate() {
            let snr = libm::exp10(arrival.raw_snr_db / 10.0);
            // Cramer-Rao: each element's phase has variance 1 / (2 N snr), their difference twice that.
            let thermal = 1.0 / (self.shared.model.bins as f64 * snr.max(1e-6));
            seen.phase[k] = arrival.phase_rad as f32;
            seen.snr_db[k] = arrival.raw_snr_db.clamp(-MAX_SNR_DB, MAX_SNR_DB) as f32;
            seen.phase_variance[k] = widths.phase_variance + widths.noise_scale2 * thermal as f32;
        }
        if used.len() == arrivals.keep.min(most)
            && let Some(last) = used.last()
        {
            seen.cut_db = last.raw_snr_db.clamp(-MAX_SNR_DB, MAX_SNR_DB) as f32;
        }
        seen
    }

    pub(super) fn widths(&self) -> Widths {
        let p = &self.parameters;
        let cell = self.shared.model.cell_m();
        let without = |term: Ablation| self.ablation == term;
        // An SNR that may be off by the whole stray range says nothing.
        let snr_unknown = if without(Ablation::Snr) { STRAY_RANGE_DB.powi(2) } else { 0.0 };
        Widths {
            phase_variance: p.phase_sigma_deg.to_radians().powi(2) as f32,
            noise_scale2: if without(Ablation::PhaseNoise) { 0.0 } else { p.phase_noise_scale.powi(2) as f32 },
            los_variance: (p.los_sigma_db.powi(2) + snr_unknown) as f32,
            reflection_variance: (p.reflection_sigma_db.powi(2) + snr_unknown) as f32,
            merge_m: if without(Ablation::Fading) { -1e3 } else { (p.merge_cells * cell) as f32 },
            merge_softness_m: (p.merge_softness_cells * cell) as f32,
            fading: p.fading as f32,
            rank_variance: p.rank_sigma_db.powi(2) as f32,
            outlier_first: p.outlier_first as f32,
            outlier_second: p.outlier_second as f32,
            offset_max: self.level_max_db() as f32,
            heading_variance: p.heading_sigma_deg.to_radians().powi(2) as f32,
            position_variance: p.position_sigma_m.powi(2) as f32,
            map_variance: p.map_sigma_m.powi(2) as f32,
            ranking: !(without(Ablation::Ranking) || without(Ablation::Snr)),
            shared_offset: !without(Ablation::SharedOffset),
            stray: (1.0 / (std::f64::consts::TAU * STRAY_RANGE_DB)) as f32,
        }
    }

    /// The material assignments that are averaged over.
    pub(super) fn kept_assignments(&self, left_out: Option<usize>) -> Vec<usize> {
        let alone = self.ablation == Ablation::Materials;
        let kept = (0..self.shared.model.assignments.len()).filter(|m| Some(*m) != left_out);
        kept.take(if alone { 1 } else { usize::MAX }).collect()
    }

    /// How far from a wall and from the RX a TX stands at least, metres.
    pub(super) fn distances(&self) -> (f64, f64) {
        match self.ablation {
            Ablation::DevicePrior => (0.0, 0.0),
            _ => (self.shared.model.wall_margin_m, self.shared.model.separation_min_m),
        }
    }

    /// Mean squared distance, from a fine position, of the points it stands for, m^2.
    pub(super) fn patch2(&self, support: &Support) -> f32 {
        let [dx, dy] = support.spacing();
        let grain = self.grain.position;
        ((dx * dx + dy * dy) / (24.0 * (grain * grain) as f64)) as f32
    }
}

/// `x` to a power to 1e-5 relative, for `x` from 0 to 1 and a positive power; what single precision does not hold is 0.
#[inline(always)]
fn power(x: f32, exponent: f32) -> f32 {
    let power = exp2(exponent * log2(x));
    if x > f32::MIN_POSITIVE { power } else { 0.0 }
}
