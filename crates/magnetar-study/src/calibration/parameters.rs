//! What a calibration estimates.

use magnetar_dataset::Mounting;

/// How many numbers are estimated.
pub(super) const COUNT: usize = 15;

/// Surfaces that share one effective reflection level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SurfaceGroup {
    Walls,
    Ceiling,
    Floor,
    Board,
    Boxes,
}

/// A number that is estimated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OffsetKey {
    /// Name.
    pub name: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// Step of numerical derivatives.
    pub(super) step: f64,
    /// Longest step of the search.
    pub(super) longest: f64,
    /// Spread of what is thought of it beforehand; infinite for nothing.
    pub(super) prior: f64,
}

const fn key(
    name: &'static str,
    unit: &'static str,
    meaning: &'static str,
    (step, longest): (f64, f64),
    prior: f64,
) -> OffsetKey {
    OffsetKey { name, unit, meaning, step, longest, prior }
}

/// How far an effective reflection level is thought to be from the material's, dB.
const REFLECTION_PRIOR_DB: f64 = 6.0;

/// Every number that is estimated. Offsets are added to what is reported.
pub const OFFSET_KEYS: [OffsetKey; COUNT] = [
    key("level_db", "dB", "level of the signal over the recipe's", (0.02, 5.0), f64::INFINITY),
    key("phase_deg", "deg", "inter-channel phase of the receiver", (0.05, 10.0), f64::INFINITY),
    key("phase_slope_deg", "deg", "its change per unit of the direction's y component", (0.1, 10.0), f64::INFINITY),
    key("rx_heading_deg", "deg", "RX boresight over the reported heading", (0.02, 10.0), f64::INFINITY),
    key("rx_x_m", "m", "RX position over the reported one, x", (0.001, 0.1), f64::INFINITY),
    key("rx_y_m", "m", "RX position over the reported one, y", (0.001, 0.1), f64::INFINITY),
    key("tx_heading_deg", "deg", "TX boresight over the reported heading", (0.05, 10.0), f64::INFINITY),
    key("walls_db", "dB", "reflection level of walls over their material's", (0.05, 5.0), REFLECTION_PRIOR_DB),
    key("ceiling_db", "dB", "reflection level of the ceiling", (0.05, 5.0), REFLECTION_PRIOR_DB),
    key("floor_db", "dB", "reflection level of the floor", (0.05, 5.0), REFLECTION_PRIOR_DB),
    key("board_db", "dB", "reflection level of the board", (0.05, 5.0), REFLECTION_PRIOR_DB),
    key("boxes_db", "dB", "reflection level of a scene's boxes", (0.05, 5.0), REFLECTION_PRIOR_DB),
    key("phase_sigma_deg", "deg", "spread of phases beyond thermal noise", (0.02, 0.5), f64::INFINITY),
    key("level_sigma_db", "dB", "spread of levels", (0.02, 0.5), f64::INFINITY),
    key("stray_share", "", "share of arrivals that no path explains", (0.02, 0.5), f64::INFINITY),
];

/// Place of the first of the three widths: they are searched on a logarithmic (the share: logistic) scale.
pub(super) const WIDTHS: usize = 12;

/// Where a search stands, as it searches: offsets, logarithms of the spreads, the logit of the share.
pub(super) type Point = [f64; COUNT];

/// The offsets of a point.
pub(super) struct Offsets<'a>(pub(super) &'a Point);

impl Offsets<'_> {
    pub(super) fn level_db(&self) -> f64 {
        self.0[0]
    }

    /// Inter-channel phase of a wave from a direction of this y component, radians.
    pub(super) fn phase_at(&self, y: f64) -> f64 {
        (self.0[1] + self.0[2] * y).to_radians()
    }

    pub(super) fn mounting(&self) -> Mounting {
        let [_, _, _, rx_heading_deg, rx_x_m, rx_y_m, tx_heading_deg, ..] = *self.0;
        Mounting { rx_heading_deg, rx_x_m, rx_y_m, tx_heading_deg }
    }

    /// Whether its receiver stands where another does.
    pub(super) fn is_where(&self, other: &Self) -> bool {
        self.0[4..6] == other.0[4..6]
    }

    pub(super) fn reflection_db(&self, group: SurfaceGroup) -> f64 {
        self.0[7 + group as usize]
    }
}

/// Where a search begins: no offset, generous spreads.
pub(super) fn start() -> Point {
    let mut point = [0.0; COUNT];
    point[WIDTHS] = libm::log(30.0);
    point[WIDTHS + 1] = libm::log(6.0);
    point[WIDTHS + 2] = logit(0.1);
    point
}

fn logit(share: f64) -> f64 {
    libm::log(share / (1.0 - share))
}

/// The value of a number for people, and how it changes with the searched one.
pub(super) fn shown(n: usize, searched: f64) -> (f64, f64) {
    match n {
        _ if n < WIDTHS => (searched, 1.0),
        _ if n < WIDTHS + 2 => (libm::exp(searched), libm::exp(searched)),
        _ => {
            let share = 1.0 / (1.0 + libm::exp(-searched));
            (share, share * (1.0 - share))
        }
    }
}
