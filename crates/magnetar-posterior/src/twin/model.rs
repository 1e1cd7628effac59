//! The physics the twin scores with: everything a receiver knows besides layout, pose and arrivals.

use std::f64::consts::TAU;

use magnetar_scene::{AntennaPattern, SPEED_OF_LIGHT, Slab};
use magnetar_trace::TraceOptions;

/// The most arrivals the twin's likelihood takes.
pub const MAX_ARRIVALS: usize = 2;

/// Slabs that may be behind the room's six surfaces, in the order of [`magnetar_scene::Face::ALL`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoomSlabs(pub [Slab; 6]);

/// The receiver's knowledge of the radio and of the surfaces that may be around it.
#[derive(Debug, Clone)]
pub struct TwinModel {
    /// Carrier, Hz.
    pub carrier_hz: f64,
    /// Bandwidth, Hz: the delay resolution is its inverse.
    pub bandwidth_hz: f64,
    /// Frequency bins.
    pub bins: usize,
    /// Spacing of the two RX elements, metres.
    pub spacing_m: f64,
    /// The TX's pattern.
    pub tx_pattern: AntennaPattern,
    /// The RX elements' patterns.
    pub rx_patterns: [AntennaPattern; 2],
    /// Raw SNR at 1 m, boresight to boresight, at zero TX-power offset, dB.
    pub snr_at_one_metre_db: f64,
    /// The TX-power offset is uniform in plus or minus this, dB.
    pub power_offset_max_db: f64,
    /// Raw SNR at which the estimator's detection threshold lies, dB.
    pub threshold_db: f64,
    /// Height of the TX antenna, metres in the global frame.
    pub tx_height_m: f64,
    /// A TX is at least this far from a wall, metres.
    pub wall_margin_m: f64,
    /// A TX is at least this far from the RX (in the plane), metres.
    pub separation_min_m: f64,
    /// The material assignments the room may have, equally likely.
    pub assignments: Vec<RoomSlabs>,
    /// What boxes are made of that have no slab of their own in `box_slabs`.
    pub box_slab: Slab,
    /// What the layout's first boxes are made of, in its order, as far as the receiver knows; may be empty.
    pub box_slabs: Vec<Slab>,
    /// Which paths the twin reckons with, whatever the world's are. The default, first order in an opaque world, is by far
    /// the fastest; others are scored on the CPU alone.
    pub propagation: TraceOptions,
    /// K: how many arrivals the estimator keeps; [`MAX_ARRIVALS`] at most.
    pub keep: usize,
}

impl TwinModel {
    /// Inter-element phase per unit of the direction's y component, radians.
    #[must_use]
    pub fn phase_per_unit(&self) -> f64 {
        TAU * self.carrier_hz * self.spacing_m / SPEED_OF_LIGHT
    }

    /// Path length difference of one delay-resolution cell, metres.
    #[must_use]
    pub fn cell_m(&self) -> f64 {
        SPEED_OF_LIGHT / self.bandwidth_hz
    }
}
