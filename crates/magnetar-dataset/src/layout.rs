//! What the rows of a set share: the room and what stands in it.

use magnetar_scene::{BoxShape, Room};

use crate::placement::Region;
use crate::reported::half_turn;

/// A board and the region it was drawn in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Board {
    /// Centre, size and yaw in the global frame.
    pub shape: BoxShape,
    /// Where it stands relative to the link (of the set's first view).
    pub region: Region,
}

impl Board {
    /// As rows hold it: yaw within [-90, 90) degrees, so that it does not tell which end of the link is which.
    pub(crate) fn seen_from_either_side(self) -> Self {
        let shape = BoxShape { yaw: half_turn(self.shape.yaw), ..self.shape };
        Self { shape, ..self }
    }
}

/// The true layout of a set, global frame, metres. What the receiver believes of it is [`crate::Reported`].
#[derive(Debug, Clone, PartialEq)]
pub struct SetLayout {
    /// Room bounds.
    pub room: Room,
    /// The boxes of the recipe's scene, in its order, as they stand in this room; none without a scene.
    pub boxes: Vec<BoxShape>,
    /// The board, if this set has one.
    pub board: Option<Board>,
}

impl SetLayout {
    /// Everything that stands in the room, as surfaces number it: the scene's boxes, then the board.
    pub fn standing(&self) -> impl Iterator<Item = BoxShape> + '_ {
        self.boxes.iter().copied().chain(self.board.map(|board| board.shape))
    }
}
