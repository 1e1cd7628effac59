//! What a replay's numbers must satisfy together.

use super::Protocol;
use crate::recipe::{Recipe, Replay};

impl Recipe {
    /// Checks the campaign and the splits that replay it. `least` is the size of the smallest room, metres.
    pub(crate) fn check_replay(&self, least: [f64; 3]) -> Result<(), String> {
        let Some(plan) = &self.replay else {
            return match self.splits.iter().find(|(_, split)| !split.protocol.is_random()) {
                None => Ok(()),
                Some((name, split)) => Err(format!(
                    "splits.{name}.protocol = {:?} needs a [replay] section; extend the recipe \"replay\"",
                    split.protocol.label()
                )),
            };
        };
        check_lists(plan)?;
        for (name, split) in &self.splits {
            if split.protocol.is_random() {
                return Err(format!("splits.{name}.protocol must be full-rotation or track in a recipe with [replay]"));
            }
            let rows = plan.rows_without_board(split.protocol);
            let boards = plan.rows_per_placement(split.protocol) * plan.board_names.len() as u64;
            // A split may leave out the placements of the board.
            let sound = split.no_board == rows && (split.board == boards || split.board == 0) && split.views == 1;
            if !sound {
                return Err(format!(
                    "splits.{name} must have no_board = {rows}, board = {boards} (or 0), views = 1 for its protocol; it has \
                     {}, {}, {}",
                    split.no_board, split.board, split.views
                ));
            }
            self.check_positions(plan, split.protocol, split.translation_max_m, least)?;
        }
        Ok(())
    }

    /// Sites and TX positions lie in every room of the family, apart from one another.
    fn check_positions(
        &self,
        plan: &Replay,
        protocol: Protocol,
        translation: f64,
        least: [f64; 3],
    ) -> Result<(), String> {
        let room = &self.room;
        let center = [f64::midpoint(room.x_min_m, room.x_max_m), f64::midpoint(room.y_min_m, room.y_max_m)];
        let tx = match protocol {
            Protocol::Track => [[plan.track_tx_x_min_m, plan.track_tx_y_m], [plan.track_tx_x_max_m, plan.track_tx_y_m]],
            _ => [[plan.rotation_tx_x_m, plan.rotation_tx_y_m]; 2],
        };
        let sites = plan.sites(protocol);
        for position in sites.iter().chain(&tx) {
            for axis in 0..2 {
                let reach = least[axis] / 2.0 - translation - self.devices.wall_margin_m;
                if (position[axis] - center[axis]).abs() > reach {
                    let [x, y] = position;
                    return Err(format!(
                        "[replay] puts a device at ({x}, {y}) m, outside the room or within devices.wall_margin_m of it"
                    ));
                }
            }
        }
        for site in &sites {
            // The nearest point of the TX's track.
            let x = site[0].clamp(tx[0][0], tx[1][0]);
            if libm::hypot(site[0] - x, site[1] - tx[0][1]) < self.devices.separation_min_m {
                return Err(format!(
                    "[replay] puts TX and RX closer than devices.separation_min_m at ({}, {}) m",
                    site[0], site[1]
                ));
            }
        }
        Ok(())
    }
}

fn check_lists(plan: &Replay) -> Result<(), String> {
    for (a_name, a, b_name, b) in [
        ("replay.board_names", plan.board_names.len(), "replay.board_x_m", plan.board_x_m.len()),
        (
            "replay.rotation_site_x_m",
            plan.rotation_site_x_m.len(),
            "replay.rotation_site_y_m",
            plan.rotation_site_y_m.len(),
        ),
    ] {
        if a != b {
            return Err(format!("{a_name} has {a} entries and {b_name} has {b}; they must be as many"));
        }
    }
    if plan.track_tx_x_min_m > plan.track_tx_x_max_m {
        return Err("replay.track_tx_x_min_m must not exceed replay.track_tx_x_max_m".into());
    }
    let mut names = plan.board_names.clone();
    names.push("none".into());
    names.sort_unstable();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err("replay.board_names must differ from one another and from \"none\"".into());
    }
    Ok(())
}
