//! Rooms drawn by hand, and how well they are found again.

use super::*;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

const RESOLUTION: f64 = 0.05;

/// A hand-drawn room: what is drawn and how badly.
struct Drawing {
    bounds: [f64; 4],
    yaw: f64,
    map_yaw: f64,
    clutter: usize,
    gaps: usize,
    noise: f64,
    seed: u64,
}

fn draw(d: &Drawing) -> OccupancyMap {
    let mut rng = ChaCha8Rng::seed_from_u64(d.seed);
    let [x0, x1, y0, y1] = d.bounds;
    let side = 340;
    let origin = [-8.0, -8.0, d.map_yaw];
    let blank = OccupancyMap::from_cells(side, side, RESOLUTION, origin, vec![Cell::Unknown; side * side]).unwrap();
    let clutter: Vec<[f64; 4]> = (0..d.clutter)
        .map(|_| {
            let (w, h) = (rng.random_range(0.2..0.8), rng.random_range(0.2..0.8));
            let (x, y) = (rng.random_range(x0 + 0.5..x1 - 1.3), rng.random_range(y0 + 0.5..y1 - 1.3));
            [x, x + w, y, y + h]
        })
        .collect();
    let gaps: Vec<(usize, f64, f64)> = (0..d.gaps)
        .map(|_| {
            let wall = rng.random_range(0..4);
            let (low, high) = if wall < 2 { (y0, y1) } else { (x0, x1) };
            let from = rng.random_range(low..high - 1.0);
            (wall, from, from + rng.random_range(0.6..1.0))
        })
        .collect();
    let mut cells = Vec::new();
    for row in 0..side {
        for column in 0..side {
            let p = turn(blank.map_from_grid(column as f64 + 0.5, row as f64 + 0.5), -d.yaw);
            // How far outside each wall.
            let outside = [x0 - p[0], p[0] - x1, y0 - p[1], p[1] - y1];
            let wall = (0..4).max_by(|a, b| outside[*a].total_cmp(&outside[*b])).unwrap();
            let along = if wall < 2 { p[1] } else { p[0] };
            let in_gap = gaps.iter().any(|(w, from, to)| *w == wall && (*from..*to).contains(&along));
            let depth = outside[wall];
            let in_clutter = clutter.iter().any(|c| (c[0]..c[1]).contains(&p[0]) && (c[2]..c[3]).contains(&p[1]));
            let mut cell = if depth < 0.0 {
                if in_clutter { Cell::Occupied } else { Cell::Free }
            } else if in_gap && depth < 1.5 {
                Cell::Free
            } else if depth < 0.1 {
                Cell::Occupied
            } else {
                Cell::Unknown
            };
            if depth < 2.0 && rng.random_bool(d.noise) {
                cell = [Cell::Free, Cell::Occupied, Cell::Unknown][rng.random_range(0..3)];
            }
            cells.push(cell);
        }
    }
    OccupancyMap::from_cells(side, side, RESOLUTION, origin, cells).unwrap()
}

fn assert_recovers(drawing: &Drawing, tolerance_m: f64) {
    let fit = fit_room(&draw(drawing)).unwrap();
    assert!((fit.yaw - drawing.yaw).abs() < 0.01, "yaw {} for {}", fit.yaw, drawing.yaw);
    for (found, truth) in fit.bounds.iter().zip(drawing.bounds) {
        assert!((found - truth).abs() < tolerance_m, "{:?} for {:?}", fit.bounds, drawing.bounds);
    }
    assert!(fit.residual_m < RESOLUTION, "{fit:?}");
}

const LAB: [f64; 4] = [-1.403, 4.270, -6.060, 3.000];

fn clean() -> Drawing {
    Drawing { bounds: LAB, yaw: 0.0, map_yaw: 0.0, clutter: 0, gaps: 0, noise: 0.0, seed: 1 }
}

#[test]
fn a_clean_room() {
    assert_recovers(&clean(), 0.6 * RESOLUTION);
}

#[test]
fn turned_rooms() {
    for yaw in [-0.7, -0.3, 0.02, 0.4, 0.75] {
        assert_recovers(&Drawing { yaw, ..clean() }, RESOLUTION);
    }
}

#[test]
fn a_turned_map_grid() {
    // The grid's lower-left corner stays put, so the room must lie on the grid after the turn.
    assert_recovers(&Drawing { bounds: [-6.0, -1.0, -3.0, 4.0], map_yaw: 0.2, ..clean() }, RESOLUTION);
}

#[test]
fn clutter_gaps_turn_and_noise() {
    for seed in 0..12 {
        let drawing = Drawing { yaw: 0.3, clutter: 8, gaps: 2, noise: 0.01, seed, ..clean() };
        assert_recovers(&drawing, 1.5 * RESOLUTION);
    }
}

/// Cells around everything that is occupied are undecided, as some programs leave them: no free cell meets a wall.
#[test]
fn a_rim_of_undecided_cells() {
    let drawn = draw(&Drawing { yaw: 0.3, clutter: 5, ..clean() });
    let (width, height) = (drawn.width as isize, drawn.height as isize);
    let near_a_wall = |column: isize, row: isize| {
        let around = |n: isize| -n..=n;
        around(1).any(|dc| around(1).any(|dr| drawn.cell(column + dc, row + dr) == Cell::Occupied))
    };
    let places = (0..height).flat_map(|row| (0..width).map(move |column| (column, row)));
    let cells = places.map(|(column, row)| match drawn.cell(column, row) {
        Cell::Free if near_a_wall(column, row) => Cell::Unknown,
        cell => cell,
    });
    let rimmed =
        OccupancyMap::from_cells(drawn.width, drawn.height, RESOLUTION, drawn.origin, cells.collect()).unwrap();
    let fit = fit_room(&rimmed).unwrap();
    assert!((fit.yaw - 0.3).abs() < 0.01, "{fit:?}");
    assert!(fit.bounds.iter().zip(LAB).all(|(found, truth)| (found - truth).abs() < 1.5 * RESOLUTION), "{fit:?}");
    assert!(fit.coverage.iter().all(|part| *part > 0.8), "{fit:?}");
}

#[test]
fn an_origin_far_away_costs_nothing() {
    let near = draw(&clean());
    let origin = [999_992.0, -8.0, 0.0];
    let far = OccupancyMap::from_cells(near.width, near.height, RESOLUTION, origin, near.cells().to_vec()).unwrap();
    let (near, far) = (fit_room(&near).unwrap(), fit_room(&far).unwrap());
    // A hair's turn moves far bounds by metres; the room's size stays.
    for axis in [0, 2] {
        let size = |fit: &RoomFit| fit.bounds[axis + 1] - fit.bounds[axis];
        assert!((size(&near) - size(&far)).abs() < 1e-3, "{near:?} {far:?}");
    }
    // The finest cells: bins counted from the map's origin would take 20 GB.
    let cells = draw(&clean()).cells().to_vec();
    let fine = OccupancyMap::from_cells(340, 340, 1e-3, [-9e5, 9e5, 1.0], cells).unwrap();
    assert!(fit_room(&fine).is_ok());
}

#[test]
fn noise_is_refused_and_scattered_borders_end_soon() {
    let side = 3000;
    let noise = (0..side * side).map(|i| [Cell::Free, Cell::Occupied][(i + i / side) % 2]).collect();
    let noise = OccupancyMap::from_cells(side, side, 0.05, [0.0; 3], noise).unwrap();
    assert!(fit_room(&noise).unwrap_err().to_string().contains("noise"));
    // No line is covered: every one of some ten thousand is looked at.
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let cells = (0..side * side).map(|_| [Cell::Free, Cell::Occupied][usize::from(rng.random_bool(0.01))]).collect();
    let scattered = OccupancyMap::from_cells(side, side, 0.05, [0.0, 0.0, 0.5], cells).unwrap();
    assert!(matches!(fit_room(&scattered), Err(MapError::NoRoom(_))));
}

#[test]
fn an_empty_map_has_no_room() {
    let empty = OccupancyMap::from_cells(50, 50, 0.05, [0.0; 3], vec![Cell::Free; 2500]).unwrap();
    assert!(matches!(fit_room(&empty), Err(MapError::NoRoom(_))));
}
