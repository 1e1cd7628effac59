//! What the receiver believes about its own pose and the layout around it, where that is not what is true.

use std::f64::consts::{FRAC_PI_2, PI};

use magnetar_scene::{BoxShape, Pose, Room, wrap};
use magnetar_signal::Normals;
use nalgebra::Point3;
use rand::rngs::ChaCha8Rng;

use crate::draw::Drawer;
use crate::placement::distance;
use crate::recipe::ModelError;
use crate::record::Record;
use crate::stream::Purpose;

/// Draws tried before the truth is reported: errors that large are a mistake of the recipe.
const TRIES: usize = 200;

/// A reported RX is at least this far inside the reported room and outside the reported board, metres.
const INSIDE: f64 = 0.01;

/// The pose and the layout that the receiver believes in; all that scorers and features see.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reported {
    /// Room bounds, global frame, metres.
    pub room: Room,
    /// The board: centre, size and yaw in the global frame.
    pub board: Option<BoxShape>,
    /// RX pose, global frame.
    pub rx: Pose,
}

impl Reported {
    /// A true pose as near as it can be within the reported room: a target has to lie among the candidates, which the
    /// receiver spreads over the room it believes in.
    #[must_use]
    pub fn hold(&self, pose: &Pose) -> Pose {
        const WITHIN: f64 = 1e-6;
        let (min, max) = (&self.room.min, &self.room.max);
        let mut held = *pose;
        held.position.x = pose.position.x.max(min.x + WITHIN).min(max.x - WITHIN);
        held.position.y = pose.position.y.max(min.y + WITHIN).min(max.y - WITHIN);
        held
    }
}

/// A yaw of a box within [-90, 90) degrees, radians: a box turned by half a turn is the same box.
#[must_use]
pub fn half_turn(yaw: f64) -> f64 {
    let yaw = wrap(yaw);
    match yaw {
        yaw if yaw >= FRAC_PI_2 => yaw - PI,
        yaw if yaw < -FRAC_PI_2 => yaw + PI,
        yaw => yaw,
    }
}

impl Drawer {
    /// What is reported of a row's layout and RX pose. Never depends on the TX.
    pub(crate) fn reported(&self, record: &Record) -> Reported {
        let (error, streams, set) = (&self.recipe().model_error, self.streams(), record.set);
        let room = reported_room(error, &record.layout.room, streams.rng(Purpose::ReportedWalls, set));
        let board = record
            .layout
            .board
            .map(|board| reported_board(error, &board.shape, &room, streams.rng(Purpose::ReportedBoard, set)));
        let number = if self.recipe().outing.pose { self.outing_of(set) } else { record.index };
        let standing: Vec<BoxShape> = record.layout.boxes.iter().copied().chain(board).collect();
        let rx = reported_pose(error, &record.rx, &room, &standing, streams.rng(Purpose::ReportedPose, number));
        Reported { room, board, rx }
    }
}

/// Each wall is off on its own; floor and ceiling are where they are.
fn reported_room(error: &ModelError, room: &Room, rng: ChaCha8Rng) -> Room {
    draw_near(room, rng, |off| {
        let mut wall = |at: f64| at + off(error.wall_position_m_rms);
        let [x0, x1, y0, y1, z0, z1] = room.bounds();
        Room::from_bounds([wall(x0), wall(x1), wall(y0), wall(y1), z0, z1])
    })
}

fn reported_board(error: &ModelError, shape: &BoxShape, room: &Room, rng: ChaCha8Rng) -> BoxShape {
    draw_near(shape, rng, |off| {
        let mut reported = *shape;
        shift(&mut reported.center, || off(error.board_position_m_rms));
        reported.yaw = turned(shape.yaw, off(error.board_yaw_deg_rms.to_radians()), half_turn);
        reported.size.x += off(error.board_width_m_rms);
        let sound = reported.size.x > INSIDE && reported.footprint().iter().all(|point| holds(room, point, 0.0));
        sound.then_some(reported)
    })
}

fn reported_pose(error: &ModelError, rx: &Pose, room: &Room, standing: &[BoxShape], rng: ChaCha8Rng) -> Pose {
    draw_near(rx, rng, |off| {
        let mut reported = *rx;
        shift(&mut reported.position, || off(error.rx_position_m_rms));
        reported.heading = turned(rx.heading, off(error.rx_heading_deg_rms.to_radians()), wrap);
        let clear = standing.iter().all(|shape| distance(shape, &reported.position) >= INSIDE);
        (clear && holds(room, &[reported.position.x, reported.position.y], INSIDE)).then_some(reported)
    })
}

/// Draws until something sound comes of it: the truth if nothing does. `draw` is given normals of an rms it asks for.
fn draw_near<T: Copy>(truth: &T, mut rng: ChaCha8Rng, draw: impl Fn(&mut dyn FnMut(f64) -> f64) -> Option<T>) -> T {
    let once = || {
        let mut normals = Normals::new(&mut rng);
        draw(&mut |rms| rms * normals.draw())
    };
    std::iter::repeat_with(once).take(TRIES).flatten().next().unwrap_or(*truth)
}

/// Moves a point in the plane.
fn shift(point: &mut Point3<f64>, mut off: impl FnMut() -> f64) {
    point.x += off();
    point.y += off();
}

/// An angle turned on and brought into its range; as it is, to the bit, without a turn.
fn turned(angle: f64, by: f64, into_range: impl Fn(f64) -> f64) -> f64 {
    if by == 0.0 { angle } else { into_range(angle + by) }
}

/// Whether a room holds a planar point, so far from its walls at least.
fn holds(room: &Room, [x, y]: &[f64; 2], margin: f64) -> bool {
    room.min.x + margin < *x && *x < room.max.x - margin && room.min.y + margin < *y && *y < room.max.y - margin
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_turn_more_is_the_same_yaw() {
        for yaw in [-3.1, -1.6, -FRAC_PI_2, -0.3, 0.0, 1.5, FRAC_PI_2, 2.9] {
            let kept = half_turn(yaw);
            assert!((-FRAC_PI_2..FRAC_PI_2).contains(&kept), "{yaw} {kept}");
            assert!((half_turn(yaw + PI) - kept).abs() < 1e-12 || (kept.abs() - FRAC_PI_2).abs() < 1e-12);
            assert!(((yaw - kept) / PI - ((yaw - kept) / PI).round()).abs() < 1e-12);
        }
    }
}
