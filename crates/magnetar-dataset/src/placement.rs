//! Where a board stands: in the link-relative regions, or anywhere.

use std::f64::consts::{FRAC_PI_2, PI};

use magnetar_scene::{BoxShape, Pose, Room, wrap};
use nalgebra::{Point3, Vector2, Vector3};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::draw::DrawnDevices;
use crate::layout::Board;
use crate::recipe::{BoardFamily, BoardPlacement, Recipe};
use crate::reported::half_turn;
use crate::stream::{Purpose, Streams, choose, uniform};

/// What a board's place has to do with the link. The link is the planar segment from the TX to the RX of the first view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Region {
    /// Across the link, its face turned to the devices: it blocks.
    Across,
    /// Beside the link, its face turned to the link: it reflects.
    Beside,
    /// Behind the TX as seen from the RX.
    BehindTx,
    /// Behind the RX as seen from the TX.
    BehindRx,
    /// Anywhere: the link had no say.
    Free,
}

impl Region {
    /// All five.
    pub const ALL: [Self; 5] = [Self::Across, Self::Beside, Self::BehindTx, Self::BehindRx, Self::Free];

    /// Those that are relative to the link.
    const LINK_RELATIVE: [Self; 4] = [Self::Across, Self::Beside, Self::BehindTx, Self::BehindRx];

    /// `across`, `beside`, `behind_tx`, `behind_rx` or `free`.
    #[must_use]
    pub fn label(self) -> &'static str {
        ["across", "beside", "behind_tx", "behind_rx", "free"][self as usize]
    }

    /// The region of that label.
    #[must_use]
    pub fn from_label(label: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|region| region.label() == label)
    }
}

/// Draws made in one region before another is tried.
const TRIES_PER_REGION: u32 = 25;

/// A closer board or box would touch a device's antenna, metres.
pub(crate) const TOUCHING: f64 = 0.01;

/// Places the board of one set. Its size, turn and preferred region are drawn once, so that rejection does not
/// favour small boards.
pub(crate) struct Placer<'a> {
    family: &'a BoardFamily,
    size: Vector3<f64>,
    center_z: f64,
    jitter: f64,
    order: [Region; 4],
    regions: usize,
    rng: ChaCha8Rng,
    attempts: u32,
    outside: u32,
    too_close: u32,
    in_a_box: u32,
}

impl<'a> Placer<'a> {
    pub(crate) fn new(recipe: &'a Recipe, streams: &Streams, set: u64) -> Self {
        let family = &recipe.board;
        let mut rng = streams.rng(Purpose::Board, set);
        let width = uniform(&mut rng, family.width_min_m, family.width_max_m);
        let center_z = family.center_heights_m[choose(&mut rng, family.center_heights_m.len())];
        let max = family.yaw_jitter_max_deg.to_radians();
        let jitter = uniform(&mut rng, -max, max);
        let (order, regions) = match family.placement {
            BoardPlacement::Link => region_order(family, &mut rng),
            BoardPlacement::Free => ([Region::Free; 4], 1),
        };
        Self {
            family,
            size: Vector3::new(width, family.thickness_m, family.height_m),
            center_z,
            jitter,
            order,
            regions,
            rng: streams.rng(Purpose::Placement, set),
            attempts: 0,
            outside: 0,
            too_close: 0,
            in_a_box: 0,
        }
    }

    /// Tries the regions in order; `None` if none of them admits the board for this link among these boxes.
    pub(crate) fn place(&mut self, room: &Room, boxes: &[BoxShape], devices: &DrawnDevices) -> Option<Board> {
        for region in self.order.into_iter().take(self.regions) {
            let tries = if region == Region::Free { self.family.attempts_max } else { TRIES_PER_REGION };
            for _ in 0..tries {
                if self.attempts >= self.family.attempts_max {
                    return None;
                }
                self.attempts += 1;
                let shape = self.propose(region, room, &devices.tx, &devices.rx[0]);
                let inside = shape
                    .footprint()
                    .iter()
                    .all(|[x, y]| room.min.x < *x && *x < room.max.x && room.min.y < *y && *y < room.max.y);
                let clearance = self.family.clearance_min_m.max(TOUCHING);
                if !inside {
                    self.outside += 1;
                } else if devices.iter().any(|device| distance(&shape, &device.position) < clearance) {
                    self.too_close += 1;
                } else if boxes.iter().any(|other| overlap(&shape, other)) {
                    self.in_a_box += 1;
                } else {
                    return Some(Board { shape, region });
                }
            }
        }
        None
    }

    pub(crate) fn attempts(&self) -> u32 {
        self.attempts
    }

    /// The constraint that failed most often, and the keys that decide it.
    pub(crate) fn hardest(&self) -> (String, String) {
        let distances = "the board's region distances and offsets";
        if self.in_a_box > self.outside.max(self.too_close) {
            ("a board clear of the scene's boxes".into(), format!("board.width_max_m or {distances}"))
        } else if self.too_close > self.outside {
            ("the board's least distance from the devices".into(), format!("board.clearance_min_m or {distances}"))
        } else {
            ("a board fully inside the room".into(), format!("board.width_max_m or {distances}"))
        }
    }

    /// Anywhere in the room, any yaw: the devices have no say.
    fn propose_free(&mut self, room: &Room) -> BoxShape {
        let rng = &mut self.rng;
        let (x, y) = (uniform(rng, room.min.x, room.max.x), uniform(rng, room.min.y, room.max.y));
        let yaw = half_turn(uniform(rng, 0.0, PI));
        BoxShape { center: Point3::new(x, y, self.center_z), size: self.size, yaw }
    }

    fn propose(&mut self, region: Region, room: &Room, tx: &Pose, rx: &Pose) -> BoxShape {
        let (family, rng) = (self.family, &mut self.rng);
        let (from, to) = (tx.position.xy(), rx.position.xy());
        let link = to - from;
        let along = link.normalize();
        let left = Vector2::new(-along.y, along.x);
        // The same three numbers every time: a region's own use of them does not shift the next draw.
        let (u, v, side) = (rng.random::<f64>(), rng.random::<f64>(), rng.random::<bool>());
        let between = |u: f64, low: f64, high: f64| low + (high - low) * u;
        let fraction = between(u, family.along_min, family.along_max);
        let behind = between(u, family.behind_distance_min_m, family.behind_distance_max_m);
        let offset = |max: f64| left * between(v, -max, max);
        let bearing = libm::atan2(along.y, along.x);
        let (center, yaw) = match region {
            Region::Across => (from + link * fraction + offset(family.across_offset_max_m), bearing + FRAC_PI_2),
            Region::Beside => {
                let away = between(v, family.beside_distance_min_m, family.beside_distance_max_m);
                (from + link * fraction + left * if side { away } else { -away }, bearing)
            }
            Region::Free => return self.propose_free(room),
            Region::BehindTx => (from - along * behind + offset(family.behind_offset_max_m), bearing + FRAC_PI_2),
            Region::BehindRx => (to + along * behind + offset(family.behind_offset_max_m), bearing + FRAC_PI_2),
        };
        BoxShape {
            center: Point3::new(center.x, center.y, self.center_z),
            size: self.size,
            yaw: wrap(yaw + self.jitter),
        }
    }
}

/// The regions of positive weight in a random order, each next one drawn by weight among those left; and their number.
fn region_order(family: &BoardFamily, rng: &mut ChaCha8Rng) -> ([Region; 4], usize) {
    let mut weights = [family.across_weight, family.beside_weight, family.behind_tx_weight, family.behind_rx_weight];
    let regions = weights.iter().filter(|w| **w > 0.0).count();
    let mut order = Region::LINK_RELATIVE;
    for slot in order.iter_mut() {
        let mut rest = rng.random::<f64>() * weights.iter().sum::<f64>();
        let open = |weights: &[f64; 4]| weights.iter().rposition(|w| *w > 0.0);
        let Some(last) = open(&weights) else { break };
        let chosen = weights
            .iter()
            .position(|w| {
                rest -= w;
                *w > 0.0 && rest < 0.0
            })
            .unwrap_or(last);
        *slot = Region::LINK_RELATIVE[chosen];
        weights[chosen] = 0.0;
    }
    (order, regions)
}

/// Distance of a point from a box, metres; 0 inside.
pub(crate) fn distance(shape: &BoxShape, point: &Point3<f64>) -> f64 {
    let local = shape.local_from_global(point);
    let excess = |axis: usize| (local[axis].abs() - shape.size[axis] / 2.0).max(0.0);
    Vector3::new(excess(0), excess(1), excess(2)).norm()
}

/// Whether two boxes share a point: their heights do, and no side of either footprint parts the footprints.
pub(crate) fn overlap(a: &BoxShape, b: &BoxShape) -> bool {
    let apart = |one: &BoxShape, other: &BoxShape| {
        let corners = other.footprint().map(|[x, y]| one.local_from_global(&Point3::new(x, y, one.center.z)));
        (0..2).any(|axis| {
            let half = one.size[axis] / 2.0;
            corners.iter().all(|c| c[axis] > half) || corners.iter().all(|c| c[axis] < -half)
        })
    };
    (a.center.z - b.center.z).abs() <= (a.size.z + b.size.z) / 2.0 && !apart(a, b) && !apart(b, a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_overlap_where_they_share_a_point() {
        let at = |x: f64, y: f64, z: f64, yaw: f64| BoxShape {
            center: Point3::new(x, y, z),
            size: Vector3::new(2.0, 0.2, 1.0),
            yaw,
        };
        let still = at(0.0, 0.0, 0.5, 0.0);
        assert!(overlap(&still, &at(1.0, 0.1, 0.5, 0.0)));
        assert!(overlap(&still, &at(0.0, 0.9, 0.5, FRAC_PI_2)));
        assert!(!overlap(&still, &at(0.0, 1.2, 0.5, FRAC_PI_2)));
        assert!(!overlap(&still, &at(1.0, 0.1, 1.6, 0.0)));
        // Bounding boxes overlap, the turned footprint does not reach the corner.
        assert!(!overlap(&still, &at(1.5, 0.75, 0.5, -0.7)));
    }

    #[test]
    fn distance_to_a_turned_box() {
        let shape = BoxShape { center: Point3::new(1.0, 2.0, 1.0), size: Vector3::new(2.0, 0.5, 1.0), yaw: FRAC_PI_2 };
        assert_eq!(distance(&shape, &Point3::new(1.0, 2.9, 1.2)), 0.0);
        assert!((distance(&shape, &Point3::new(1.0, 4.0, 1.0)) - 1.0).abs() < 1e-12);
        assert!((distance(&shape, &Point3::new(2.25, 2.0, 1.0)) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn free_boards_stand_anywhere_whatever_the_link() {
        let mut recipe = Recipe::paper();
        recipe.board.placement = BoardPlacement::Free;
        let drawer = crate::Drawer::new(&std::sync::Arc::new(recipe), 4, "train").unwrap();
        // Per half of the room: boards nearer to the TX than to the RX would be as many as the other way round.
        let (mut nearer, mut boards, mut turned) = (0, 0, [0; 2]);
        for set in 0..2000 {
            let scene = drawer.scene(set).unwrap();
            let Some(board) = scene.layout.board else { continue };
            assert_eq!(board.region, Region::Free);
            assert!((-FRAC_PI_2..FRAC_PI_2).contains(&board.shape.yaw));
            let near = |device: &Pose| (device.position.xy() - board.shape.center.xy()).norm();
            nearer += usize::from(near(&scene.devices.tx) < near(&scene.devices.rx[0]));
            turned[usize::from(board.shape.yaw < 0.0)] += 1;
            boards += 1;
        }
        let share = nearer as f64 / f64::from(boards);
        assert!((share - 0.5).abs() < 0.05, "{share}");
        assert!(turned.iter().all(|n| *n > boards / 3), "{turned:?}");
    }

    #[test]
    fn a_weight_of_zero_switches_a_region_off() {
        let mut recipe = Recipe::paper();
        (recipe.board.across_weight, recipe.board.behind_rx_weight) = (0.0, 0.0);
        let streams = Streams::new(1, "train");
        let mut seen = [0; 5];
        for set in 0..1000 {
            let placer = Placer::new(&recipe, &streams, set);
            assert_eq!(placer.regions, 2);
            for region in &placer.order[..2] {
                seen[*region as usize] += 1;
            }
        }
        assert_eq!((seen[0], seen[3]), (0, 0));
        assert_eq!((seen[1], seen[2]), (1000, 1000));
    }
}
