//! Grids, a model and a score that tests share.

use magnetar_scene::{Pose, Room, Slab, synthetic_vivaldi};

use crate::{HpdCurve, LEVELS, Mask, RoomSlabs, Score, Support, SupportSize, TwinModel};

/// The paper's nominal room.
pub fn room() -> Room {
    Room::from_bounds([-1.403, 4.270, -6.060, 3.000, 0.0, 3.050]).unwrap()
}

/// The evaluation support of the nominal room.
pub fn support() -> Support {
    Support::centred(&room(), SupportSize::EVALUATION).unwrap()
}

/// 8 headings, 3 rows, 4 columns over a 4 m x 3 m room: candidates every metre at x 0.5 .. 3.5, y 0.5 .. 2.5.
pub fn small_support() -> Support {
    let room = Room::from_bounds([0.0, 4.0, 0.0, 3.0, 0.0, 3.0]).unwrap();
    Support::centred(&room, SupportSize { headings: 8, rows: 3, columns: 4 }).unwrap()
}

/// [`small_support`] with nothing masked: the RX is far away.
pub fn small_open_support() -> (Support, Mask) {
    let support = small_support();
    let mask = support.mask(&Pose::new(50.0, 0.0, 0.0, 0.0));
    (support, mask)
}

/// A model with the paper's radio and two material assignments: concrete, and one much like glass.
pub fn paper_model() -> TwinModel {
    let slab = |eps_r: f64, sigma: f64| Slab::new(eps_r, sigma, 0.1);
    let room = |slab: Slab| RoomSlabs([slab; 6]);
    TwinModel {
        carrier_hz: 10e9,
        bandwidth_hz: 491.52e6,
        bins: 512,
        spacing_m: 0.026,
        tx_pattern: synthetic_vivaldi(),
        rx_patterns: [synthetic_vivaldi(), synthetic_vivaldi()],
        snr_at_one_metre_db: 30.86,
        power_offset_max_db: 3.0,
        threshold_db: -18.0,
        tx_height_m: 1.08,
        wall_margin_m: 0.1,
        separation_min_m: 0.3,
        assignments: vec![room(slab(5.24, 0.28)), room(slab(6.3, 0.12))],
        box_slab: Slab { thickness: 0.033, ..slab(6.3, 0.12) },
        box_slabs: Vec::new(),
        propagation: magnetar_trace::TraceOptions::default(),
        keep: 2,
    }
}

/// A score with an NLL of its own: it covers the square root of what it says and needs a fifth of the candidates.
pub fn score(nll: f64) -> Score {
    let level = |n: usize| n as f64 / 100.0;
    Score {
        nll,
        hpd: HpdCurve {
            coverage: (0..LEVELS).map(|n| level(n).sqrt()).collect(),
            support: (0..LEVELS).map(|n| level(n) / 5.0).collect(),
        },
        map_xy_m: 1.0,
        map_yaw_deg: 10.0,
        joint_hit: 1.0,
        p1m: 0.5,
        p_joint: 0.25,
        cone_mass: std::array::from_fn(|n| n as f64 / 8.0),
        cone_hit: [1.0; 9],
    }
}
