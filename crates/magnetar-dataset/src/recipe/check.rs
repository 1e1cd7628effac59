//! Values out of their ranges, and combinations that cannot be met.

use super::{Recipe, RecipeError, Split};

impl Recipe {
    /// Checks every value against its key's range, and what single ranges cannot: minima below maxima, a room that
    /// holds its devices and its board, splits that are not empty.
    ///
    /// # Errors
    /// Names the key and its range, or the keys and the relation that fails.
    pub fn check(&self) -> Result<(), RecipeError> {
        let fail = |problem: String| Err(self.error(problem));
        self.check_ranges()?;
        self.radio_config().check().map_err(|e| self.error(e))?;
        self.model_error.check().map_err(|e| self.error(e))?;
        self.mounting.check().map_err(|e| self.error(e))?;
        self.reflection.check().map_err(|e| self.error(e))?;
        let (room, board, devices) = (&self.room, &self.board, &self.devices);
        for (low_key, low, high_key, high) in [
            ("board.width_min_m", board.width_min_m, "board.width_max_m", board.width_max_m),
            ("board.along_min", board.along_min, "board.along_max", board.along_max),
            (
                "board.beside_distance_min_m",
                board.beside_distance_min_m,
                "board.beside_distance_max_m",
                board.beside_distance_max_m,
            ),
            (
                "board.behind_distance_min_m",
                board.behind_distance_min_m,
                "board.behind_distance_max_m",
                board.behind_distance_max_m,
            ),
        ] {
            if low > high {
                return fail(format!("{low_key} = {low} must not exceed {high_key} = {high}"));
            }
        }
        for (low_key, low, high_key, high) in [
            ("room.x_min_m", room.x_min_m, "room.x_max_m", room.x_max_m),
            ("room.y_min_m", room.y_min_m, "room.y_max_m", room.y_max_m),
            ("room.z_min_m", room.z_min_m, "room.z_max_m", room.z_max_m),
        ] {
            if low >= high {
                return fail(format!("{low_key} = {low} must be below {high_key} = {high}"));
            }
        }
        if self.sre.keep > self.sre.max_paths {
            return fail(format!(
                "sre.keep = {} must not exceed sre.max_paths = {}",
                self.sre.keep, self.sre.max_paths
            ));
        }
        let least = self.least_room();
        if least[0].min(least[1]) <= 2.0 * devices.wall_margin_m {
            return fail(format!(
                "devices.wall_margin_m = {} leaves no floor in the smallest room ({:.2} x {:.2} m)",
                devices.wall_margin_m, least[0], least[1]
            ));
        }
        let diagonal = libm::hypot(least[0] - 2.0 * devices.wall_margin_m, least[1] - 2.0 * devices.wall_margin_m);
        if devices.separation_min_m >= 0.8 * diagonal {
            return fail(format!(
                "devices.separation_min_m = {} is too much for the smallest room, whose free diagonal is {diagonal:.2} m",
                devices.separation_min_m
            ));
        }
        if !(devices.height_m > room.z_min_m && devices.height_m < room.z_min_m + least[2]) {
            return fail(format!(
                "devices.height_m = {} must lie between the floor and the lowest ceiling ({} to {:.3} m)",
                devices.height_m,
                room.z_min_m,
                room.z_min_m + least[2]
            ));
        }
        if self.splits.is_empty() {
            return fail("no split; give at least one [splits.NAME]".into());
        }
        for (name, split) in &self.splits {
            self.check_split(name, split).or_else(fail)?;
        }
        if self.splits.values().any(|split| split.board > 0) {
            self.check_board(least).or_else(fail)?;
        }
        self.nominal_scene()?;
        self.check_replay(least).or_else(fail)?;
        Ok(())
    }

    /// Size of the smallest room of the family, metres.
    fn least_room(&self) -> [f64; 3] {
        let room = &self.room;
        let planar = (1.0 - room.planar_scale_max) / (1.0 + room.aspect_ratio_max).sqrt();
        let planar = planar.min((1.0 - room.planar_scale_max) * (1.0 - room.aspect_ratio_max).sqrt());
        [
            (room.x_max_m - room.x_min_m) * planar,
            (room.y_max_m - room.y_min_m) * planar,
            (room.z_max_m - room.z_min_m) * (1.0 - room.height_scale_max),
        ]
    }

    fn check_split(&self, name: &str, split: &Split) -> Result<(), String> {
        if split.sets() == 0 {
            return Err(format!("splits.{name} is empty: no_board and board are both 0"));
        }
        if split.translation_min_m > split.translation_max_m {
            return Err(format!(
                "splits.{name}.translation_min_m = {} must not exceed translation_max_m = {}",
                split.translation_min_m, split.translation_max_m
            ));
        }
        Ok(())
    }

    fn check_board(&self, least: [f64; 3]) -> Result<(), String> {
        let board = &self.board;
        for height in &board.center_heights_m {
            let (low, high) = (height - board.height_m / 2.0, height + board.height_m / 2.0);
            if low < self.room.z_min_m || high > self.room.z_min_m + least[2] {
                return Err(format!(
                    "board.center_heights_m = {height} puts the board at {low:.3} to {high:.3} m, outside the lowest room \
                     ({} to {:.3} m)",
                    self.room.z_min_m,
                    self.room.z_min_m + least[2]
                ));
            }
        }
        if board.width_max_m >= least[0].max(least[1]) {
            return Err(format!("board.width_max_m = {} does not fit the smallest room", board.width_max_m));
        }
        let weights = [board.across_weight, board.beside_weight, board.behind_tx_weight, board.behind_rx_weight];
        if weights.iter().sum::<f64>() <= 0.0 {
            return Err("board.across_weight, beside_weight, behind_tx_weight and behind_rx_weight are all 0".into());
        }
        Ok(())
    }
}
