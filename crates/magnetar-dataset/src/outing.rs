//! Outings: what shares one state of the receiver, and that state.

use magnetar_signal::{PatternError, RfChainDraw};

use crate::draw::Drawer;
use crate::stream::{Purpose, uniform};

/// The receiver's state during one outing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OutingState {
    /// The outing's number within its split.
    pub(crate) number: u64,
    /// Level offset beyond the TX-power offset of each observation, dB.
    pub(crate) level_offset_db: f64,
    /// Errors of the antenna patterns; `None` where the recipe has none.
    pub(crate) pattern: Option<PatternError>,
    /// RF chain of all its rows but for common phase and timing; `None` where every row has its own.
    pub(crate) rf_chain: Option<RfChainDraw>,
}

impl Drawer {
    /// The outing that a set belongs to: in a replay its site of a placement, else so many consecutive sets.
    pub(crate) fn outing_of(&self, set: u64) -> u64 {
        match (&self.recipe().replay, self.split().protocol) {
            (Some(plan), protocol) if !protocol.is_random() => plan.outing(protocol, set),
            _ => set / u64::from(self.recipe().outing.sets.max(1)),
        }
    }

    /// The state of an outing: a pure function of recipe, seed, split and its number.
    pub(crate) fn outing(&self, number: u64) -> OutingState {
        let (recipe, error) = (self.recipe(), &self.recipe().model_error);
        let rng = |purpose| self.streams().rng(purpose, number);
        let pattern = (error.pattern_db_rms > 0.0 || error.pattern_phase_deg_rms > 0.0).then(|| {
            let (phase, width) = (error.pattern_phase_deg_rms.to_radians(), error.pattern_width_deg.to_radians());
            PatternError::draw(error.pattern_db_rms, phase, width, &mut rng(Purpose::PatternError))
        });
        OutingState {
            number,
            level_offset_db: uniform(&mut rng(Purpose::Level), -error.level_max_db, error.level_max_db),
            pattern,
            rf_chain: recipe.outing.rf_chain.then(|| recipe.rf_chain.draw(&mut rng(Purpose::OutingRfChain))),
        }
    }
}

impl OutingState {
    /// A row's RF chain: the outing's, if it has one, with the row's own common phase and timing.
    pub(crate) fn rf_chain(&self, own: RfChainDraw) -> RfChainDraw {
        let RfChainDraw { common_phase_rad, timing_offset_s, .. } = own;
        self.rf_chain.map_or(own, |shared| RfChainDraw { common_phase_rad, timing_offset_s, ..shared })
    }
}
