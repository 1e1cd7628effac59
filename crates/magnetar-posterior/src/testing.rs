//! Grids the tests share.

use magnetar_scene::Room;

use crate::{Support, SupportSize};

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
