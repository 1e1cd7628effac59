//! What the receiver's RF chain does to a block: settings, and one draw of them.

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use crate::array::ELEMENTS;
use crate::normals::Normals;

/// Most cosine terms of a ripple.
pub const MAX_RIPPLE_TERMS: usize = 8;

/// How large each imperfection is; zero (or `false`) switches one off, `enabled = false` all of them.
///
/// A ripple is `sum_n c_n cos(pi n (k + 1/2) / bins)`, n = 1 to `ripple_terms`, over bins k: smooth, with no mean over
/// the band. The `c_n` are independent normals of equal variance, such that the ripple's mean square over the band is,
/// *on average over draws*, the square of the stated rms; chains differ, so it is not forced in every draw.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RfChainConfig {
    /// Whether the chain is applied at all.
    pub enabled: bool,
    /// Whether both channels are turned by a common phase, uniform over the circle.
    pub common_phase: bool,
    /// The timing offset (asynchronous link) is uniform from 0 to this, ns.
    pub timing_offset_max_ns: f64,
    /// Gain ripple over the band of each channel, dB rms.
    pub gain_ripple_db_rms: f64,
    /// Phase ripple over the band of each channel, degrees rms.
    pub phase_ripple_deg_rms: f64,
    /// Cosine terms of a ripple, 1 to 8.
    pub ripple_terms: usize,
    /// Gain of channel 1 over channel 0, dB rms.
    pub gain_imbalance_db_rms: f64,
    /// Residual phase of channel 1 over channel 0 after calibration, degrees rms.
    pub phase_error_deg_rms: f64,
}

impl Default for RfChainConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            common_phase: true,
            timing_offset_max_ns: 200.0,
            gain_ripple_db_rms: 0.5,
            phase_ripple_deg_rms: 3.0,
            ripple_terms: 4,
            gain_imbalance_db_rms: 0.5,
            phase_error_deg_rms: 5.0,
        }
    }
}

/// One draw of the RF chain: everything needed to apply it again.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct RfChainDraw {
    /// Phase common to both channels, radians.
    pub common_phase_rad: f64,
    /// Timing offset, seconds: turns bin `k` by `-2 pi (f_k - carrier) offset`.
    pub timing_offset_s: f64,
    /// Gain of channel 1 over channel 0, dB; half of it on each.
    pub gain_imbalance_db: f64,
    /// Phase of channel 1 over channel 0, radians; half of it on each.
    pub phase_error_rad: f64,
    /// Cosine coefficients of each channel's gain ripple, dB.
    pub gain_ripple_db: [[f64; MAX_RIPPLE_TERMS]; ELEMENTS],
    /// Cosine coefficients of each channel's phase ripple, radians.
    pub phase_ripple_rad: [[f64; MAX_RIPPLE_TERMS]; ELEMENTS],
}

crate::key_ranges! {
    "rf_chain", RfChainConfig {
        f64: 0.0, 1e6, "ns" => TIMING_OFFSET_MAX_NS = timing_offset_max_ns;
        f64: 0.0, 10.0, "dB rms" =>
            GAIN_RIPPLE_DB_RMS = gain_ripple_db_rms, GAIN_IMBALANCE_DB_RMS = gain_imbalance_db_rms;
        f64: 0.0, 180.0, "deg rms" =>
            PHASE_RIPPLE_DEG_RMS = phase_ripple_deg_rms, PHASE_ERROR_DEG_RMS = phase_error_deg_rms;
        usize: 1, MAX_RIPPLE_TERMS, "" => RIPPLE_TERMS = ripple_terms;
    }
}

impl RfChainConfig {
    /// No imperfection at all.
    #[must_use]
    pub fn off() -> Self {
        Self { enabled: false, ..Self::default() }
    }

    /// Draws one chain. The same random numbers are used up whatever is switched off, so that one switch does not
    /// change the others' values (`ripple_terms` alone does).
    pub fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> RfChainDraw {
        let on = f64::from(u8::from(self.enabled));
        let common_phase_rad =
            on * f64::from(u8::from(self.common_phase)) * std::f64::consts::PI * (2.0 * rng.random::<f64>() - 1.0);
        let timing_offset_s = on * self.timing_offset_max_ns * 1e-9 * rng.random::<f64>();
        let mut normals = Normals::new(rng);
        let mut normal = |rms: f64| -> f64 { on * rms * normals.draw() };
        let gain_imbalance_db = normal(self.gain_imbalance_db_rms);
        let phase_error_rad = normal(self.phase_error_deg_rms.to_radians());
        // The mean square of c cos(pi n (k + 1/2) / bins) over the band is c^2 / 2, and the terms are orthogonal.
        let terms = self.ripple_terms.clamp(1, MAX_RIPPLE_TERMS);
        let per_term = (2.0 / terms as f64).sqrt();
        let mut ripple = |rms: f64| {
            let mut coefficients = [[0.0; MAX_RIPPLE_TERMS]; ELEMENTS];
            for c in coefficients.iter_mut().flat_map(|channel| &mut channel[..terms]) {
                *c = normal(rms * per_term);
            }
            coefficients
        };
        RfChainDraw {
            common_phase_rad,
            timing_offset_s,
            gain_imbalance_db,
            phase_error_rad,
            gain_ripple_db: ripple(self.gain_ripple_db_rms),
            phase_ripple_rad: ripple(self.phase_ripple_deg_rms.to_radians()),
        }
    }
}
