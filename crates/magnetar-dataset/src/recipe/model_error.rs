//! In what ways a recipe's rows differ from what a receiver's model says, and what shares one state of the receiver.

use magnetar_signal::KeyRange;
use serde::{Deserialize, Serialize};

/// Model error as randomisation: all off by default. Every part has its own stream of draws, so that switching one on
/// changes nothing that it should not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelError {
    /// Arrivals that no traced path explains: mean of their Poisson number per row.
    pub arrivals_mean: f64,
    /// Their level against the strongest traced path as received: mean, dB.
    pub arrivals_level_db: f64,
    /// Their level: standard deviation, dB.
    pub arrivals_level_spread_db: f64,
    /// Their delay after the first traced path: mean of an exponential, ns.
    pub arrivals_delay_spread_ns: f64,
    /// Their elevation is uniform in plus or minus this, degrees; their azimuth is uniform over the circle.
    pub arrivals_elevation_max_deg: f64,
    /// Error of the TX's and of the RX's amplitude pattern, smooth over the sphere, dB rms; one draw per device and outing.
    pub pattern_db_rms: f64,
    /// Inter-element phase error that depends on the direction of arrival, degrees rms; one draw per outing.
    pub pattern_phase_deg_rms: f64,
    /// Angle over which pattern errors decorrelate, degrees.
    pub pattern_width_deg: f64,
    /// Error of the reported RX position per planar axis, metres rms.
    pub rx_position_m_rms: f64,
    /// Error of the reported RX heading, degrees rms.
    pub rx_heading_deg_rms: f64,
    /// Error of the reported position of each wall, metres rms.
    pub wall_position_m_rms: f64,
    /// Error of the reported board centre per planar axis, metres rms.
    pub board_position_m_rms: f64,
    /// Error of the reported board yaw, degrees rms.
    pub board_yaw_deg_rms: f64,
    /// Error of the reported board width, metres rms.
    pub board_width_m_rms: f64,
    /// The level of an outing is off by a number uniform in plus or minus this, dB.
    pub level_max_db: f64,
}

impl Default for ModelError {
    fn default() -> Self {
        Self {
            arrivals_mean: 0.0,
            arrivals_level_db: -6.0,
            arrivals_level_spread_db: 5.0,
            arrivals_delay_spread_ns: 30.0,
            arrivals_elevation_max_deg: 20.0,
            pattern_db_rms: 0.0,
            pattern_phase_deg_rms: 0.0,
            pattern_width_deg: 30.0,
            rx_position_m_rms: 0.0,
            rx_heading_deg_rms: 0.0,
            wall_position_m_rms: 0.0,
            board_position_m_rms: 0.0,
            board_yaw_deg_rms: 0.0,
            board_width_m_rms: 0.0,
            level_max_db: 0.0,
        }
    }
}

magnetar_signal::key_ranges! {
    "model_error", ModelError {
        f64: 0.0, 8.0, "" => ARRIVALS_MEAN = arrivals_mean;
        f64: -60.0, 20.0, "dB" => ARRIVALS_LEVEL_DB = arrivals_level_db;
        f64: 0.0, 20.0, "dB" => ARRIVALS_LEVEL_SPREAD_DB = arrivals_level_spread_db;
        f64: 0.0, 500.0, "ns" => ARRIVALS_DELAY_SPREAD_NS = arrivals_delay_spread_ns;
        f64: 0.0, 90.0, "deg" => ARRIVALS_ELEVATION_MAX_DEG = arrivals_elevation_max_deg;
        f64: 0.0, 20.0, "dB rms" => PATTERN_DB_RMS = pattern_db_rms;
        f64: 0.0, 180.0, "deg rms" =>
            PATTERN_PHASE_DEG_RMS = pattern_phase_deg_rms, RX_HEADING_DEG_RMS = rx_heading_deg_rms;
        f64: 2.0, 180.0, "deg" => PATTERN_WIDTH_DEG = pattern_width_deg;
        f64: 0.0, 1.0, "m rms" =>
            RX_POSITION_M_RMS = rx_position_m_rms, WALL_POSITION_M_RMS = wall_position_m_rms,
            BOARD_POSITION_M_RMS = board_position_m_rms, BOARD_WIDTH_M_RMS = board_width_m_rms;
        f64: 0.0, 90.0, "deg rms" => BOARD_YAW_DEG_RMS = board_yaw_deg_rms;
        f64: 0.0, 60.0, "dB" => LEVEL_MAX_DB = level_max_db;
    }
}

impl ModelError {
    /// Whether rows are what the model says: every error is zero, whatever the shape of those that are off.
    #[must_use]
    pub fn is_off(&self) -> bool {
        let sizes = [
            self.arrivals_mean,
            self.pattern_db_rms,
            self.pattern_phase_deg_rms,
            self.rx_position_m_rms,
            self.rx_heading_deg_rms,
            self.wall_position_m_rms,
            self.board_position_m_rms,
            self.board_yaw_deg_rms,
            self.board_width_m_rms,
            self.level_max_db,
        ];
        sizes.iter().all(|size| *size == 0.0)
    }
}

/// What shares one state of the receiver: RF chain, pattern error, level, pose bias. In a replay an outing is a site of a
/// placement, else a number of sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Outing {
    /// Consecutive sets of an outing.
    pub sets: u32,
    /// Whether the RF chain (but for common phase and timing, which every observation has anew) is one per outing, not
    /// one per row.
    pub rf_chain: bool,
    /// Whether the error of the reported RX pose is one per outing, not one per row.
    pub pose: bool,
}

impl Default for Outing {
    fn default() -> Self {
        Self { sets: 1, rf_chain: false, pose: false }
    }
}

impl Outing {
    /// Range of the number of sets.
    pub const SETS: KeyRange<usize> = KeyRange::new("outing.sets", 1, 1_000_000, "sets");
}
