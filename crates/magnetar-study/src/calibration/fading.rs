//! Paths that arrive in one cell of delay.

use magnetar_posterior::{DILOGARITHM_TERMS, FADING_DB2};

use super::link::Predicted;

/// Two paths this far apart are told apart as often as not, cells of delay, and how gradually that changes.
const JOINED_CELLS: f64 = 0.6;
const JOINED_SOFTNESS: f64 = 0.1;

/// What other paths in its cell of delay make of a path.
pub(super) struct Fading {
    /// Probability that it is a component of its own, and not part of a stronger one.
    pub(super) own: f64,
    /// What they add to the variance of its level, dB^2, and of its phase, rad^2.
    pub(super) level: f64,
    pub(super) phase: f64,
}

impl Fading {
    pub(super) fn of(path: &Predicted, all: &[Predicted], resolution_m: f64) -> Self {
        let mut fading = Self { own: 1.0, level: 0.0, phase: 0.0 };
        for other in all.iter().filter(|other| !std::ptr::eq(*other, path)) {
            let gap = (other.length_m - path.length_m).abs() / resolution_m;
            if gap > 2.0 {
                continue;
            }
            // Smooth in all that a search moves.
            let joined = 1.0 / (1.0 + libm::exp((gap - JOINED_CELLS) / JOINED_SOFTNESS));
            let stronger_db = other.level_db - path.level_db;
            fading.own *= 1.0 - joined / (1.0 + libm::exp(-stronger_db));
            let ratio = libm::exp10(-stronger_db.abs() / 10.0);
            let [a, b] = DILOGARITHM_TERMS.map(f64::from);
            let scatter = joined * ratio * (1.0 + ratio * (a + ratio * b));
            fading.level += f64::from(FADING_DB2) * scatter;
            fading.phase += scatter * (1.0 - libm::cos(other.phase - path.phase));
        }
        fading
    }
}
