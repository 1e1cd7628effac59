//! The rectangle of the outer walls.
//!
//! Evidence is the border between free and occupied cells: a wall is where seen emptiness ends. The turn of the room is
//! the one for which the borders' projections pile up most sharply. Each wall is then the outermost line that borders
//! cover over a good part of the room's side: furniture is further in, strays beyond the walls cover little. Last, turn
//! and offsets are fitted together to the borders near each wall, with weights that fade for those off the line.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

use super::{Cell, MapError, OccupancyMap};
use crate::wrap;

/// A wall's line must be covered over at least this share of its side by borders.
const COVERAGE: f64 = 0.3;
/// What the sides are called, in the order of `bounds`.
pub(super) const SIDES: [&str; 4] = ["low-x", "high-x", "low-y", "high-y"];
/// Some programs leave cells undecided between what is free and what is occupied, up to this far, metres.
const RIM_M: f64 = 0.1;
/// Borders across such a rim count where they are so many times as many as those without one.
const RIMMED: usize = 4;
/// Fewer borders than this are no room.
const MIN_BORDERS: usize = 40;
/// More borders than this are noise: a cluttered room a kilometre wide has a quarter of it.
const MAX_BORDERS: usize = 4_000_000;

/// A room found in a map. Its frame is the map frame turned by `-yaw` about the map's origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoomFit {
    /// The turn of the room in the map frame, radians in [-pi/4, pi/4).
    pub yaw: f64,
    /// Bounds `[xmin, xmax, ymin, ymax]` in the room's frame, metres.
    pub bounds: [f64; 4],
    /// Root mean square distance of the borders on the walls to their wall, metres.
    pub residual_m: f64,
    /// Share of each wall's length that borders cover, in the order of `bounds`.
    pub coverage: [f64; 4],
}

impl RoomFit {
    /// A point of the map frame in the room's frame, metres.
    #[must_use]
    pub fn room_from_map(&self, point: [f64; 2]) -> [f64; 2] {
        turn(point, -self.yaw)
    }

    /// Whether a point of the room's frame is inside, at least `margin` metres from the walls (beyond them if negative).
    #[must_use]
    pub fn contains(&self, [x, y]: [f64; 2], margin: f64) -> bool {
        let [x0, x1, y0, y1] = self.bounds;
        x - x0 >= margin && x1 - x >= margin && y - y0 >= margin && y1 - y >= margin
    }

    /// The corners in the map frame, counter-clockwise from the lower left of the room's frame.
    #[must_use]
    pub fn corners_in_map(&self) -> [[f64; 2]; 4] {
        let [x0, x1, y0, y1] = self.bounds;
        [[x0, y0], [x1, y0], [x1, y1], [x0, y1]].map(|p| turn(p, self.yaw))
    }
}

/// A place where an occupied cell meets a free one, and the direction from free to occupied, in the map frame.
#[derive(Clone, Copy)]
struct Border {
    at: [f64; 2],
    outward: [f64; 2],
}

/// Finds the rectangle of the outer walls.
///
/// # Errors
/// If the map has too few borders, or no four walls stand out.
pub fn fit_room(map: &OccupancyMap) -> Result<RoomFit, MapError> {
    let direct = borders(map, 0);
    let across = borders(map, (RIM_M / map.resolution).ceil().min(100.0) as isize);
    let borders = if across.len() >= RIMMED * direct.len() { across } else { direct };
    if borders.len() > MAX_BORDERS {
        return Err(MapError::NoRoom(format!(
            "free cells meet occupied ones in more than {MAX_BORDERS} places: this is noise. Are the thresholds wrong?"
        )));
    }
    if borders.len() < MIN_BORDERS {
        return Err(MapError::NoRoom(format!(
            "only {} places where free cells meet occupied ones; expected at least {MIN_BORDERS}. Is the map empty, or \
             `negate` or the thresholds wrong?",
            borders.len()
        )));
    }
    let yaw = sharpest_turn(&borders, map.resolution);
    let mut fit = outer_walls(&borders, yaw, map.resolution)?;
    for _ in 0..20 {
        let previous = fit;
        fit = refine(&borders, fit, map.resolution);
        if (fit.yaw - previous.yaw).abs() < 1e-9 {
            break;
        }
    }
    fit.coverage = [0, 1, 2, 3].map(|side| coverage(&facing(&borders, fit.yaw, side), &fit, side, map.resolution));
    Ok(fit)
}

fn turn([x, y]: [f64; 2], angle: f64) -> [f64; 2] {
    let (sin, cos) = libm::sincos(angle);
    [cos * x - sin * y, sin * x + cos * y]
}

/// All borders, or the first of more than [`MAX_BORDERS`]: with up to `rim` undecided cells between occupied and free.
fn borders(map: &OccupancyMap, rim: isize) -> Vec<Border> {
    let yaw = map.origin[2];
    let mut found = Vec::new();
    for row in 0..map.height as isize {
        if found.len() > MAX_BORDERS {
            break;
        }
        for column in 0..map.width as isize {
            if map.cell(column, row) != Cell::Occupied {
                continue;
            }
            for (dc, dr) in [(1, 0), (-1, 0), (0, 1), (0, -1)] {
                let seen = |n: isize| map.cell(column + n * dc, row + n * dr);
                let decided = (1..=rim + 1).map(seen).find(|cell| *cell != Cell::Unknown);
                if decided == Some(Cell::Free) {
                    let (dc, dr) = (dc as f64, dr as f64);
                    let at = map.map_from_grid(column as f64 + 0.5 + dc / 2.0, row as f64 + 0.5 + dr / 2.0);
                    found.push(Border { at, outward: turn([-dc, -dr], yaw) });
                }
            }
        }
    }
    found
}

/// The turn in [-pi/4, pi/4) whose projections on both axes have the largest sum of squared counts.
fn sharpest_turn(borders: &[Border], resolution: f64) -> f64 {
    // From one of them: the map's origin may be far away, and the turn does not depend on it.
    let [x0, y0] = borders.first().map_or([0.0; 2], |b| b.at);
    let places: Vec<[f64; 2]> = borders.iter().map(|b| [b.at[0] - x0, b.at[1] - y0]).collect();
    let reach = places.iter().map(|p| libm::hypot(p[0], p[1])).fold(0.0, f64::max);
    let bins = (2.0 * reach / resolution).ceil() as usize + 4;
    let mut histogram = vec![0.0f64; bins];
    let mut sharpness = |angle: f64| {
        let mut total = 0.0;
        for axis in 0..2 {
            histogram.fill(0.0);
            for place in &places {
                // Linear sharing between two bins keeps the measure smooth in the angle.
                let place = (turn(*place, -angle)[axis] + reach) / resolution + 1.0;
                let (bin, part) = (place.floor(), place - place.floor());
                histogram[bin as usize] += 1.0 - part;
                histogram[bin as usize + 1] += part;
            }
            total += histogram.iter().map(|c| c * c).sum::<f64>();
        }
        total
    };
    let mut best = (0.0, f64::MIN);
    let mut step = 0.5f64.to_radians();
    let mut center = 0.0;
    let mut span = (FRAC_PI_4 / step).ceil() as i32;
    while step > 1e-4 {
        for i in -span..=span {
            let angle = center + f64::from(i) * step;
            let value = sharpness(angle);
            if value > best.1 {
                best = (angle, value);
            }
        }
        center = best.0;
        step /= 5.0;
        span = 6;
    }
    quarter(best.0)
}

/// The same turn of a rectangle in [-pi/4, pi/4).
fn quarter(angle: f64) -> f64 {
    (wrap(angle) + FRAC_PI_4).rem_euclid(FRAC_PI_2) - FRAC_PI_4
}

/// How far along a side's outward axis a point lies, and where along the side. Sides are in the order of `bounds`.
fn on_side(point: [f64; 2], yaw: f64, side: usize) -> (f64, f64) {
    let p = turn(point, -yaw);
    (p[side / 2], p[1 - side / 2])
}

fn faces_side(border: &Border, yaw: f64, side: usize) -> bool {
    let sign = if side % 2 == 1 { 1.0 } else { -1.0 };
    turn(border.outward, -yaw)[side / 2] * sign > 0.5
}

fn outer_walls(borders: &[Border], yaw: f64, resolution: f64) -> Result<RoomFit, MapError> {
    let mut fit = RoomFit { yaw, bounds: quantile_bounds(borders, yaw), residual_m: 0.0, coverage: [0.0; 4] };
    // The length of a side depends on the other two walls: settle them together.
    for _ in 0..3 {
        for (side, name) in SIDES.iter().enumerate() {
            fit.bounds[side] = outermost_line(borders, &fit, side, resolution).ok_or_else(|| {
                MapError::NoRoom(format!("no wall is seen over {:.0} % of the {} side", 100.0 * COVERAGE, name))
            })?;
        }
    }
    if fit.bounds[1] - fit.bounds[0] < 4.0 * resolution || fit.bounds[3] - fit.bounds[2] < 4.0 * resolution {
        return Err(MapError::NoRoom("the walls found coincide".to_owned()));
    }
    Ok(fit)
}

/// Bounds that hold most borders: the first guess, not thrown by a few strays.
fn quantile_bounds(borders: &[Border], yaw: f64) -> [f64; 4] {
    let axis = |a: usize| {
        let mut values: Vec<_> = borders.iter().map(|b| turn(b.at, -yaw)[a]).collect();
        values.sort_by(f64::total_cmp);
        let at = |q: f64| values[((values.len() - 1) as f64 * q) as usize];
        [at(0.02), at(0.98)]
    };
    let ([x0, x1], [y0, y1]) = (axis(0), axis(1));
    [x0, x1, y0, y1]
}

/// The outermost line of a side that borders facing outward cover well enough.
fn outermost_line(borders: &[Border], fit: &RoomFit, side: usize, resolution: f64) -> Option<f64> {
    let facing = facing(borders, fit.yaw, side);
    let mut lines: Vec<f64> = facing.iter().map(|(offset, _)| *offset).collect();
    // Outermost first.
    if side % 2 == 1 {
        lines.reverse();
    }
    lines.dedup_by(|a, b| (*a - *b).abs() < resolution / 4.0);
    let covered = |line: f64| {
        let mut trial = *fit;
        trial.bounds[side] = line;
        coverage(&facing, &trial, side, resolution)
    };
    let first = lines.iter().copied().find(|&line| covered(line) >= COVERAGE)?;
    // The first line found touches the wall's band from outside: take the best covered one of the band.
    let inward = |line: f64| if side % 2 == 1 { first - line } else { line - first };
    let band = lines.iter().copied().filter(|&line| (0.0..=4.0 * resolution).contains(&inward(line)));
    band.map(|line| (line, covered(line))).max_by(|a, b| a.1.total_cmp(&b.1)).map(|(line, _)| line)
}

/// The borders that face a side: how far along its outward axis and where along the side each lies, by the former.
fn facing(borders: &[Border], yaw: f64, side: usize) -> Vec<(f64, f64)> {
    let facing = borders.iter().filter(|b| faces_side(b, yaw, side));
    let mut facing: Vec<_> = facing.map(|b| on_side(b.at, yaw, side)).collect();
    facing.sort_by(|a, b| a.0.total_cmp(&b.0));
    facing
}

/// Share of a side's length with a border near its line; `facing` are the borders that face it, by offset.
fn coverage(facing: &[(f64, f64)], fit: &RoomFit, side: usize, resolution: f64) -> f64 {
    let reach = 1.5 * resolution;
    let (low, high) = if side < 2 { (fit.bounds[2], fit.bounds[3]) } else { (fit.bounds[0], fit.bounds[1]) };
    let slots = ((high - low) / resolution).round().max(1.0) as usize;
    let mut seen = vec![false; slots];
    let from = facing.partition_point(|(offset, _)| *offset < fit.bounds[side] - reach);
    let near = facing[from..].iter().take_while(|(offset, _)| *offset <= fit.bounds[side] + reach);
    for (_, along) in near.filter(|(_, along)| (low..high).contains(along)) {
        seen[(((along - low) / (high - low) * slots as f64) as usize).min(slots - 1)] = true;
    }
    seen.iter().filter(|s| **s).count() as f64 / slots as f64
}

/// One step of a joint robust fit of the turn and the four offsets to the borders near each wall.
fn refine(borders: &[Border], fit: RoomFit, resolution: f64) -> RoomFit {
    let scale = 1.5 * resolution;
    // Residual of a border on a side: offset - bound; its slope in the turn is -/+ the place along the wall. The normal
    // equations are an arrow: eliminate the four offsets, solve the turn.
    let mut sums = [[0.0f64; 5]; 4];
    let (mut square, mut weight_sum) = (0.0, 0.0);
    for border in borders {
        for (side, side_sums) in sums.iter_mut().enumerate() {
            if !faces_side(border, fit.yaw, side) {
                continue;
            }
            let (offset, along) = on_side(border.at, fit.yaw, side);
            let distance = offset - fit.bounds[side];
            if distance.abs() > 3.0 * scale {
                continue;
            }
            // Tukey's biweight: strays and clutter against the wall count less the further they are off.
            let weight = (1.0 - (distance / (3.0 * scale)).powi(2)).powi(2);
            let slope = if side < 2 { along } else { -along };
            let terms = [weight, weight * slope, weight * slope * slope, weight * distance, weight * distance * slope];
            for (sum, term) in side_sums.iter_mut().zip(terms) {
                *sum += term;
            }
            square += weight * distance * distance;
            weight_sum += weight;
        }
    }
    let (mut curvature, mut gradient) = (0.0, 0.0);
    for [w, ws, wss, wd, wds] in sums {
        if w > 0.0 {
            curvature += wss - ws * ws / w;
            gradient += wds - ws * wd / w;
        }
    }
    let turned = if curvature > 0.0 { -gradient / curvature } else { 0.0 };
    let mut next = fit;
    next.yaw = quarter(fit.yaw + turned);
    for (bound, [w, ws, _, wd, _]) in next.bounds.iter_mut().zip(sums) {
        if w > 0.0 {
            *bound += (wd + ws * turned) / w;
        }
    }
    next.residual_m = if weight_sum > 0.0 { (square / weight_sum).sqrt() } else { 0.0 };
    next
}

#[cfg(test)]
#[path = "fit_tests.rs"]
mod tests;
