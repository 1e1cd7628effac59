//! The scene of a replayed row.

use std::f64::consts::TAU;
use std::sync::Arc;

use magnetar_scene::{BoxShape, Pose, Room, wrap};
use nalgebra::{Point3, Vector3};
use rand::RngExt;

use super::{Protocol, Replayed, Step};
use crate::draw::{DrawError, Drawer, DrawnDevices, DrawnScene};
use crate::layout::{Board, SetLayout};
use crate::placement::{Region, TOUCHING, distance};
use crate::recipe::Replay;
use crate::stream::{Purpose, choose, uniform};

impl Drawer {
    /// The scene of row `set` of a replayed split. One room, one assignment and one board per placement serve the whole
    /// campaign.
    pub(crate) fn replayed(&self, plan: &Replay, set: u64) -> Result<DrawnScene, DrawError> {
        let protocol = self.split().protocol;
        let step = plan.step(protocol, set);
        let room = self.room(0);
        let assignment =
            choose(&mut self.streams().rng(Purpose::Materials, 0), self.recipe().assignments(self.split()));
        let (tx, rx, command) = self.replayed_poses(plan, protocol, step);
        let boxes = self.boxes(&room);
        if boxes.iter().any(|shape| [&tx, &rx].iter().any(|device| distance(shape, &device.position) < TOUCHING)) {
            let what = "a device outside the scene's boxes".to_owned();
            return Err(self.error(set, what, 1, "the replay's sites or the scene's boxes".to_owned()));
        }
        let board = match step.placement {
            0 => None,
            n => Some(
                self.replayed_board(plan, n - 1, &room, &tx, &rx)
                    .map_err(|(what, keys)| self.error(set, what.to_owned(), 1, keys.to_owned()))?,
            ),
        };
        let placement = match step.placement {
            0 => "none",
            n => plan.board_names.get(n - 1).map_or("", String::as_str),
        };
        let site = u32::try_from(step.site).unwrap_or(u32::MAX);
        let replayed = Some(Replayed { protocol, placement: Arc::from(placement), site, command });
        let layout = SetLayout { room, boxes, board };
        let devices = DrawnDevices { tx, rx: vec![rx] };
        Ok(DrawnScene { layout, assignment, devices, replayed })
    }

    /// TX and RX poses and the commanded RX heading.
    #[allow(clippy::cast_precision_loss, reason = "steps are far below 2^53")]
    fn replayed_poses(&self, plan: &Replay, protocol: Protocol, step: Step) -> (Pose, Pose, f64) {
        let sites = plan.sites(protocol);
        let [x, y] = sites.get(step.site).copied().unwrap_or_default();
        let (headings, samples) = plan.steps(protocol);
        let (tx_x, tx_y, command) = match protocol {
            Protocol::Track => {
                // The ends of the track are samples too.
                let along = if samples > 1 { step.sample as f64 / (samples - 1) as f64 } else { 0.0 };
                let tx_x = plan.track_tx_x_min_m + along * (plan.track_tx_x_max_m - plan.track_tx_x_min_m);
                let block = (step.placement * sites.len() + step.site) as u64 * headings + step.heading;
                let command = TAU * self.streams().rng(Purpose::Headings, block).random::<f64>();
                (tx_x, plan.track_tx_y_m, command)
            }
            Protocol::Random | Protocol::FullRotation => {
                let command = TAU * step.heading as f64 / headings.max(1) as f64;
                (plan.rotation_tx_x_m, plan.rotation_tx_y_m, command)
            }
        };
        let height = self.recipe().devices.height_m;
        let facing = libm::atan2(y - tx_y, x - tx_x);
        (Pose::new(tx_x, tx_y, height, wrap(facing)), Pose::new(x, y, height, wrap(command)), command)
    }

    fn replayed_board(
        &self,
        plan: &Replay,
        placement: usize,
        room: &Room,
        tx: &Pose,
        rx: &Pose,
    ) -> Result<Board, (&'static str, &'static str)> {
        let family = &self.recipe().board;
        let mut rng = self.streams().rng(Purpose::Board, placement as u64);
        let width = uniform(&mut rng, family.width_min_m, family.width_max_m);
        let center_z = family.center_heights_m[choose(&mut rng, family.center_heights_m.len())];
        let max = family.yaw_jitter_max_deg.to_radians();
        let x = plan.board_x_m.get(placement).copied().unwrap_or_default();
        let shape = BoxShape {
            center: Point3::new(x, plan.board_y_m, center_z),
            size: Vector3::new(width, family.thickness_m, family.height_m),
            yaw: wrap(uniform(&mut rng, -max, max)),
        };
        let inside = |[x, y]: &[f64; 2]| (room.min.x..room.max.x).contains(x) && (room.min.y..room.max.y).contains(y);
        if !shape.footprint().iter().all(inside) {
            return Err(("a board fully inside the room", "replay.board_x_m, replay.board_y_m or board.width_max_m"));
        }
        if [tx, rx].iter().any(|device| distance(&shape, &device.position) < family.clearance_min_m) {
            return Err(("the board's least distance from the devices", "board.clearance_min_m or the replay's sites"));
        }
        let region = if crosses(&shape, tx, rx) { Region::Across } else { Region::Beside };
        Ok(Board { shape, region })
    }
}

/// Whether the planar link meets the board's footprint.
fn crosses(shape: &BoxShape, tx: &Pose, rx: &Pose) -> bool {
    let (from, to) = (shape.local_from_global(&tx.position), shape.local_from_global(&rx.position));
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for axis in 0..2 {
        let (half, step) = (shape.size[axis] / 2.0, to[axis] - from[axis]);
        if step.abs() < f64::EPSILON {
            if from[axis].abs() > half {
                return false;
            }
            continue;
        }
        let (a, b) = ((-half - from[axis]) / step, (half - from[axis]) / step);
        (enter, leave) = (enter.max(a.min(b)), leave.min(a.max(b)));
    }
    enter <= leave
}
