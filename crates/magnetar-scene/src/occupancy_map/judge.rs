//! What speaks against a fit: walls hardly seen, area nobody saw, several rooms in one, a room next door.

use super::fit::SIDES;
use super::{Cell, OccupancyMap, RoomFit};

/// Something that speaks against a fit, with its figure.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Doubt {
    /// A wall that is hardly seen.
    #[error("only {percent:.0} % of the {side} wall is seen")]
    WallUnseen {
        /// Which wall.
        side: &'static str,
        /// How much of it is seen, %.
        percent: f64,
    },
    /// Floor that nobody saw.
    #[error("{percent:.0} % of the room's floor was never seen: it may not be part of the room")]
    FloorUnseen {
        /// How much of it, %.
        percent: f64,
    },
    /// Inner walls that cut the floor into pieces.
    #[error("only {percent:.0} % of its open floor is in one piece, doors closed: several rooms, or a maze")]
    SeveralRooms {
        /// The largest piece, % of the open floor.
        percent: f64,
    },
    /// Floor beyond the walls that the room leads to.
    #[error("{square_metres:.1} m2 of free floor beyond the walls is open to the room: an adjoining room or corridor")]
    Adjoining {
        /// Its area, m^2.
        square_metres: f64,
    },
}

impl Doubt {
    /// Whether a fit with these doubts is more likely wrong than right: several rooms are no room, and of public maps of offices
    /// and laboratories all fits with two doubts or more were wrong, and none of those without any.
    #[must_use]
    pub fn refuse(doubts: &[Self]) -> bool {
        doubts.len() > 1 || doubts.iter().any(|doubt| matches!(doubt, Self::SeveralRooms { .. }))
    }
}

/// A wall seen over less than this is doubtful.
const SEEN: f64 = 0.5;
/// More than this part of the room's floor not seen to be free, nor occupied, is doubtful.
const PHANTOM: f64 = 0.2;
/// Free area beyond the walls that the room leads to, as a part of the room's: more is an adjoining room.
const ADJOINING: f64 = 0.15;

/// Less than this part of the room's open floor in one piece is several rooms: of two, the larger has half at least.
const ONE_PIECE: f64 = 0.75;

/// What a user should look at before trusting a fit, each with its figure; empty if nothing.
#[must_use]
pub fn doubts(map: &OccupancyMap, fit: &RoomFit) -> Vec<Doubt> {
    let mut found = Vec::new();
    for (side, coverage) in SIDES.iter().zip(fit.coverage) {
        if coverage < SEEN {
            found.push(Doubt::WallUnseen { side, percent: 100.0 * coverage });
        }
    }
    let place = |n: usize| {
        let at = map.map_from_grid((n % map.width) as f64 + 0.5, (n / map.width) as f64 + 0.5);
        fit.room_from_map(at)
    };
    let inside: Vec<bool> = (0..map.cells().len()).map(|n| fit.contains(place(n), 0.0)).collect();
    let count =
        |wanted: Cell| inside.iter().zip(map.cells()).filter(|(inside, cell)| **inside && **cell == wanted).count();
    let (free, unknown) = (count(Cell::Free), count(Cell::Unknown));
    let all = inside.iter().filter(|inside| **inside).count().max(1);
    if unknown as f64 > PHANTOM * all as f64 {
        found.push(Doubt::FloorUnseen { percent: 100.0 * unknown as f64 / all as f64 });
    }
    let piece = map.largest_piece(|n| inside[n]);
    if piece < ONE_PIECE {
        found.push(Doubt::SeveralRooms { percent: 100.0 * piece });
    }
    // Beyond the walls, through openings: not what a lidar saw through a window only.
    let margin = -2.0 * map.resolution;
    let steps = map.steps_from(|n| inside[n] && map.cells()[n] == Cell::Free, |n| map.cells()[n] == Cell::Free);
    let beyond = (0..steps.len()).filter(|n| steps[*n] != u32::MAX && !fit.contains(place(*n), margin)).count();
    if beyond as f64 > ADJOINING * free.max(1) as f64 {
        found.push(Doubt::Adjoining { square_metres: beyond as f64 * map.resolution * map.resolution });
    }
    found
}
