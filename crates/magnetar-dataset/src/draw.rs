//! Draws: from (recipe, seed, split, index) to a room, its materials, two devices and perhaps a board.

use magnetar_scene::{BoxShape, Pose, Room};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

use crate::layout::SetLayout;
use crate::placement;
use crate::recipe::{NominalScene, Recipe, RecipeError, Split};
use crate::replay::Replayed;
use crate::stream::{Purpose, Streams, choose, uniform};

/// The poses of a set's devices, global frame.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnDevices {
    /// The TX.
    pub tx: Pose,
    /// The RX of each view.
    pub rx: Vec<Pose>,
}

impl DrawnDevices {
    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Pose> {
        self.rx.iter().chain([&self.tx])
    }
}

/// What the views of a set share, and their RX poses.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnScene {
    /// The room and what stands in it.
    pub layout: SetLayout,
    /// Position in the split's list of material assignments.
    pub assignment: usize,
    /// Where the devices are.
    pub devices: DrawnDevices,
    /// What was commanded, if this is a replay.
    pub replayed: Option<Replayed>,
}

/// A constraint that could not be met.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("split {split}, set {set}: {constraint} could not be met in {attempts} draws; relax {keys}")]
pub struct DrawError {
    /// The split.
    pub split: String,
    /// The set's number.
    pub set: u64,
    /// What could not be met.
    pub constraint: String,
    /// Draws made.
    pub attempts: u32,
    /// The recipe keys that decide it.
    pub keys: String,
}

/// What fails where boxes leave no place, and the key that decides it.
const IN_A_BOX: (&str, &str) = ("a device outside the scene's boxes", "devices.wall_margin_m");

/// Draws the scenes of one split.
#[derive(Debug, Clone)]
pub struct Drawer {
    recipe: Arc<Recipe>,
    split: Split,
    name: String,
    streams: Streams,
    scene: Option<Arc<NominalScene>>,
}

impl Drawer {
    /// For a split of a recipe.
    ///
    /// # Errors
    /// If the recipe has no such split, or its scene makes no sense.
    pub fn new(recipe: &Arc<Recipe>, seed: u64, split: &str) -> Result<Self, RecipeError> {
        Ok(Self {
            recipe: Arc::clone(recipe),
            split: recipe.split(split)?.clone(),
            name: split.to_owned(),
            streams: Streams::new(seed, split),
            scene: recipe.nominal_scene()?.map(Arc::new),
        })
    }

    /// The recipe drawn from.
    #[must_use]
    pub fn recipe(&self) -> &Arc<Recipe> {
        &self.recipe
    }

    /// The split drawn from.
    #[must_use]
    pub fn split(&self) -> &Split {
        &self.split
    }

    /// The random streams.
    #[must_use]
    pub fn streams(&self) -> &Streams {
        &self.streams
    }

    /// The scene of set number `set`: a pure function of recipe, seed, split and `set`.
    ///
    /// # Errors
    /// If the recipe's constraints cannot be met within its bound of draws.
    pub fn scene(&self, set: u64) -> Result<DrawnScene, DrawError> {
        if let (Some(plan), false) = (&self.recipe.replay, self.split.protocol.is_random()) {
            return self.replayed(plan, set);
        }
        let room = self.room(set);
        let boxes = self.boxes(&room);
        let assignment = choose(&mut self.streams.rng(Purpose::Materials, set), self.recipe.assignments(&self.split));
        let mut positions = self.streams.rng(Purpose::Positions, set);
        let mut attempts = 0;
        if !self.split.has_board(set) {
            let devices = self.devices(set, &room, &boxes, &mut positions, &mut attempts)?;
            let layout = SetLayout { room, boxes, board: None };
            return Ok(DrawnScene { layout, assignment, devices, replayed: None });
        }
        let mut placer = placement::Placer::new(&self.recipe, &self.streams, set);
        loop {
            let devices = self.devices(set, &room, &boxes, &mut positions, &mut attempts)?;
            if let Some(board) = placer.place(&room, &boxes, &devices) {
                let layout = SetLayout { room, boxes, board: Some(board) };
                return Ok(DrawnScene { layout, assignment, devices, replayed: None });
            }
            if placer.attempts() >= self.recipe.board.attempts_max {
                let (constraint, keys) = placer.hardest();
                return Err(self.error(set, constraint, placer.attempts(), keys));
            }
        }
    }

    /// Scale s and aspect a act about the nominal room's planar centre (x by s sqrt(a), y by s / sqrt(a)), then the
    /// room is translated; the floor stays where it is.
    pub(crate) fn room(&self, set: u64) -> Room {
        let (nominal, mut rng) = (&self.recipe.room, self.streams.rng(Purpose::Room, set));
        let scale = 1.0 + uniform(&mut rng, -nominal.planar_scale_max, nominal.planar_scale_max);
        let aspect = 1.0 + uniform(&mut rng, -nominal.aspect_ratio_max, nominal.aspect_ratio_max);
        let height = 1.0 + uniform(&mut rng, -nominal.height_scale_max, nominal.height_scale_max);
        let mut translation = || {
            let distance = uniform(&mut rng, self.split.translation_min_m, self.split.translation_max_m);
            if rng.random::<bool>() { distance } else { -distance }
        };
        let axis = |min: f64, max: f64, factor: f64, shift: f64| {
            let (center, half) = (f64::midpoint(min, max) + shift, (max - min) / 2.0 * factor);
            (center - half, center + half)
        };
        let (x0, x1) = axis(nominal.x_min_m, nominal.x_max_m, scale * aspect.sqrt(), translation());
        let (y0, y1) = axis(nominal.y_min_m, nominal.y_max_m, scale / aspect.sqrt(), translation());
        let z1 = nominal.z_min_m + (nominal.z_max_m - nominal.z_min_m) * height;
        Room { min: [x0, y0, nominal.z_min_m].into(), max: [x1, y1, z1].into() }
    }

    /// The boxes of the recipe's scene in a room.
    pub(crate) fn boxes(&self, room: &Room) -> Vec<BoxShape> {
        self.scene.iter().flat_map(|scene| scene.boxes_in(room)).collect()
    }

    /// TX, then an RX for each view far enough from it; all outside the boxes.
    fn devices(
        &self,
        set: u64,
        room: &Room,
        boxes: &[BoxShape],
        rng: &mut ChaCha8Rng,
        attempts: &mut u32,
    ) -> Result<DrawnDevices, DrawError> {
        let (devices, bound) = (&self.recipe.devices, self.recipe.board.attempts_max);
        let mut headings = self.streams.rng(Purpose::Headings, set);
        let margin = devices.wall_margin_m;
        let pose = |rng: &mut ChaCha8Rng, heading: f64| {
            let x = uniform(rng, room.min.x + margin, room.max.x - margin);
            let y = uniform(rng, room.min.y + margin, room.max.y - margin);
            Pose::new(x, y, devices.height_m, heading)
        };
        let mut heading = || headings.random::<f64>() * TAU - PI;
        let margin = margin.max(placement::TOUCHING);
        let free = |pose: &Pose| boxes.iter().all(|shape| placement::distance(shape, &pose.position) >= margin);
        let mut failed = |what: &str, key: &str| {
            *attempts += 1;
            let spent = *attempts >= bound;
            if spent { Err(self.error(set, what.to_owned(), *attempts, key.to_owned())) } else { Ok(()) }
        };
        let facing = heading();
        let tx = loop {
            let candidate = pose(rng, facing);
            if free(&candidate) {
                break candidate;
            }
            failed(IN_A_BOX.0, IN_A_BOX.1)?;
        };
        let mut rx = Vec::with_capacity(self.split.views as usize);
        while rx.len() < self.split.views as usize {
            let facing = heading();
            loop {
                let candidate = pose(rng, facing);
                let apart = (candidate.position - tx.position).norm();
                if apart < devices.separation_min_m {
                    failed("the least distance of TX and RX", "devices.separation_min_m")?;
                } else if free(&candidate) {
                    rx.push(candidate);
                    break;
                } else {
                    failed(IN_A_BOX.0, IN_A_BOX.1)?;
                }
            }
        }
        Ok(DrawnDevices { tx, rx })
    }

    pub(crate) fn error(&self, set: u64, constraint: String, attempts: u32, keys: String) -> DrawError {
        DrawError { split: self.name.clone(), set, constraint, attempts, keys }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_scene_keeps_the_recipes_constraints_and_all_regions_occur() {
        let recipe = Arc::new(Recipe::paper());
        for split in ["train", "test", "fusion"] {
            let drawer = Drawer::new(&recipe, 7, split).unwrap();
            let mut regions = [0; 5];
            for set in 0..2000 {
                let scene = drawer.scene(set).unwrap();
                assert_eq!(scene.layout.board.is_some(), drawer.split().has_board(set));
                assert_eq!(scene.devices.rx.len(), drawer.split().views as usize);
                let nominal = &recipe.room;
                for (low, high, bounds) in [
                    (nominal.x_min_m, nominal.x_max_m, (scene.layout.room.min.x, scene.layout.room.max.x)),
                    (nominal.y_min_m, nominal.y_max_m, (scene.layout.room.min.y, scene.layout.room.max.y)),
                ] {
                    let shift = ((bounds.0 + bounds.1 - low - high) / 2.0).abs();
                    assert!(shift <= drawer.split().translation_max_m + 1e-12);
                    assert!(shift >= drawer.split().translation_min_m - 1e-12);
                    assert!(((bounds.1 - bounds.0) / (high - low) - 1.0).abs() < 0.0605);
                }
                for device in scene.devices.iter() {
                    assert!(scene.layout.room.contains(&device.position));
                    if let Some(board) = &scene.layout.board {
                        assert!(placement::distance(&board.shape, &device.position) >= recipe.board.clearance_min_m);
                    }
                }
                if let Some(board) = &scene.layout.board {
                    regions[board.region as usize] += 1;
                    assert!(board.shape.footprint().iter().all(|[x, y]| {
                        scene.layout.room.contains(&nalgebra::Point3::new(*x, *y, board.shape.center.z))
                    }));
                }
            }
            assert!(regions[..4].iter().all(|n| *n > 150), "{split}: {regions:?}");
        }
    }

    #[test]
    fn a_board_that_fits_nowhere_is_an_error_that_names_the_key() {
        let mut recipe = Recipe::paper();
        recipe.board.clearance_min_m = 20.0;
        let error = Drawer::new(&Arc::new(recipe), 1, "train").unwrap().scene(1).unwrap_err();
        assert!(error.to_string().contains("board.clearance_min_m"), "{error}");
    }

    #[test]
    fn boards_do_not_move_devices_and_separation_does_not_turn_headings() {
        let recipe = Recipe::paper();
        let mut other = recipe.clone();
        other.splits["train"].board = 0;
        other.devices.separation_min_m = 2.0;
        let (a, b) =
            (Drawer::new(&Arc::new(recipe), 3, "train").unwrap(), Drawer::new(&Arc::new(other), 3, "train").unwrap());
        for set in 0..100 {
            let (a, b) = (a.scene(set).unwrap(), b.scene(set).unwrap());
            assert_eq!(
                (a.layout.room, a.assignment, a.devices.tx.heading, a.devices.rx[0].heading),
                (b.layout.room, b.assignment, b.devices.tx.heading, b.devices.rx[0].heading)
            );
        }
    }

    proptest! {
        #[test]
        fn board_counts_are_exact_and_evenly_spread(no_board in 0u64..500, board in 0u64..500, first in 0u64..1000) {
            prop_assume!(no_board + board > 0);
            let mut split = Recipe::paper().splits["train"].clone();
            (split.no_board, split.board) = (no_board, board);
            let count = |n: u64| (0..n).filter(|set| split.has_board(*set)).count() as u64;
            prop_assert_eq!(count(split.sets()), board);
            let first = first.min(split.sets());
            prop_assert_eq!(count(first), first * board / split.sets());
        }
    }
}
