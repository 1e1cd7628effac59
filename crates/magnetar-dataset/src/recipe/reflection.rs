//! Effective reflection levels: how much stronger surfaces reflect than their materials say.

use magnetar_scene::{Scene, Slab};
use serde::{Deserialize, Serialize};

/// What is added to the level of every reflection, by kind of surface, dB (`magnetar calibrate` finds it). All zero by
/// default.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReflectionLevels {
    /// Walls.
    pub walls_db: f64,
    /// The ceiling.
    pub ceiling_db: f64,
    /// The floor.
    pub floor_db: f64,
    /// The reflector board.
    pub board_db: f64,
    /// The boxes of a scene.
    pub boxes_db: f64,
}

magnetar_signal::key_ranges! {
    "reflection", ReflectionLevels {
        f64: -40.0, 40.0, "dB" =>
            WALLS_DB = walls_db, CEILING_DB = ceiling_db, FLOOR_DB = floor_db, BOARD_DB = board_db,
            BOXES_DB = boxes_db;
    }
}

impl ReflectionLevels {
    /// The levels of a room's six surfaces in the order of `Face::ALL`, dB.
    fn of_room(&self) -> [f64; 6] {
        let wall = self.walls_db;
        [wall, wall, wall, wall, self.floor_db, self.ceiling_db]
    }

    /// A room's six surfaces, in the order of `Face::ALL`, as they reflect.
    pub(super) fn room(&self, surfaces: [Slab; 6]) -> [Slab; 6] {
        let mut surfaces = surfaces;
        for (slab, level_db) in surfaces.iter_mut().zip(self.of_room()) {
            *slab = slab.reflecting_more_by(level_db);
        }
        surfaces
    }

    /// A scene whose surfaces and boxes reflect so much more.
    #[must_use]
    pub fn apply(&self, mut scene: Scene) -> Scene {
        for (layer, level_db) in scene.surfaces.iter_mut().zip(self.of_room()) {
            layer.reflection_db += level_db;
        }
        for one in &mut scene.boxes {
            one.layer.reflection_db += self.boxes_db;
        }
        scene
    }
}
