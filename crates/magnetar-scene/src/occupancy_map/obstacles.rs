//! What stands inside a fitted room.

use super::{Cell, OccupancyMap, RoomFit};

/// What is nearer to a wall than this belongs to it, metres.
const WALL_M: f64 = 0.15;
/// Smaller things are noise or chair legs, metres on the longer side.
const SMALLEST_M: f64 = 0.1;

/// A thing in the room: its bounds `[xmin, xmax, ymin, ymax]` in the room's frame, metres.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Obstacle {
    /// Bounds in the room's frame, metres.
    pub bounds: [f64; 4],
}

/// The connected groups of occupied cells clear of the walls, as boxes along the room's axes, the largest first.
#[must_use]
pub fn obstacles(map: &OccupancyMap, fit: &RoomFit) -> Vec<Obstacle> {
    let place = |n: usize| {
        let at = map.map_from_grid((n % map.width) as f64 + 0.5, (n / map.width) as f64 + 0.5);
        fit.room_from_map(at)
    };
    let margin = WALL_M.max(2.0 * map.resolution);
    let stands = |n: usize| map.cells()[n] == Cell::Occupied && fit.contains(place(n), margin);
    let mut seen = vec![false; map.cells().len()];
    let mut found = Vec::new();
    for start in 0..seen.len() {
        if seen[start] || !stands(start) {
            continue;
        }
        let half = 0.5 * map.resolution;
        let mut bounds = [f64::MAX, f64::MIN, f64::MAX, f64::MIN];
        let mut open = vec![start];
        seen[start] = true;
        while let Some(n) = open.pop() {
            let [x, y] = place(n);
            bounds =
                [bounds[0].min(x - half), bounds[1].max(x + half), bounds[2].min(y - half), bounds[3].max(y + half)];
            let (column, row) = ((n % map.width) as isize, (n / map.width) as isize);
            for (dc, dr) in (-1..=1).flat_map(|dc| (-1..=1).map(move |dr| (dc, dr))) {
                let (c, r) = (column + dc, row + dr);
                if !(0..map.width as isize).contains(&c) || !(0..map.height as isize).contains(&r) {
                    continue;
                }
                let next = r as usize * map.width + c as usize;
                if !seen[next] && stands(next) {
                    seen[next] = true;
                    open.push(next);
                }
            }
        }
        if (bounds[1] - bounds[0]).max(bounds[3] - bounds[2]) >= SMALLEST_M {
            found.push(Obstacle { bounds });
        }
    }
    found.sort_by(|a, b| area(b).total_cmp(&area(a)));
    found
}

/// Square metres.
fn area(obstacle: &Obstacle) -> f64 {
    let [x0, x1, y0, y1] = obstacle.bounds;
    (x1 - x0) * (y1 - y0)
}

#[cfg(test)]
mod tests {
    use super::super::{Doubt, doubts, fit_room};
    use super::*;

    /// A room of 6 x 4 m in cells of 5 cm with a table, a door to a corridor below it, and a wall half unseen.
    fn map(corridor: bool) -> OccupancyMap {
        let (width, height) = (160, 140);
        let mut cells = vec![Cell::Unknown; width * height];
        let mut fill = |columns: std::ops::Range<usize>, rows: std::ops::Range<usize>, cell: Cell| {
            rows.for_each(|row| columns.clone().for_each(|column| cells[row * width + column] = cell));
        };
        if corridor {
            fill(18..142, 8..38, Cell::Occupied);
            fill(20..140, 10..36, Cell::Free);
        }
        fill(18..142, 38..122, Cell::Occupied);
        fill(20..140, 40..120, Cell::Free);
        if corridor {
            fill(70..86, 36..40, Cell::Free);
        }
        fill(60..80, 70..82, Cell::Occupied);
        OccupancyMap::from_cells(width, height, 0.05, [0.0; 3], cells).unwrap()
    }

    #[test]
    fn a_table_is_a_box_and_a_corridor_is_told() {
        let open = map(true);
        let room = open.room_around([3.0, 5.0]).unwrap();
        for map in [&map(false), &room] {
            let fit = fit_room(map).unwrap();
            let expected = [1.0, 7.0, 2.0, 6.0];
            assert!(fit.bounds.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.03), "{:?}", fit.bounds);
            let found = obstacles(map, &fit);
            assert_eq!(found.len(), 1);
            let table = [3.0, 4.0, 3.5, 4.1];
            assert!(found[0].bounds.iter().zip(table).all(|(a, b)| (a - b).abs() < 0.03), "{found:?}");
        }
        assert!(doubts(&room, &fit_room(&room).unwrap()).is_empty());
        let fit = fit_room(&room).unwrap();
        let told = doubts(&open, &fit);
        assert!(matches!(told[..], [Doubt::Adjoining { .. }]) && !Doubt::refuse(&told), "{told:?}");
        let whole = fit_room(&open).unwrap();
        let window = open.within([0.0, 1.9, 8.0, 7.0]).unwrap();
        let cropped = fit_room(&window).unwrap();
        assert!((cropped.bounds[2] - 2.0).abs() < 0.03 && whole.bounds[2] < 1.9, "{:?} {:?}", cropped, whole);
    }

    /// Walls with a door through the middle make two rooms of one, or three.
    #[test]
    fn inner_walls_are_told() {
        for columns in [&[79, 80][..], &[59, 60, 99, 100]] {
            let map = map(false);
            let wall = (40..120).filter(|row| !(70..86).contains(row));
            let mut cells = map.cells().to_vec();
            wall.for_each(|row| columns.iter().for_each(|column| cells[row * map.width + column] = Cell::Occupied));
            let map = map.with_cells(cells);
            let told = doubts(&map, &fit_room(&map).unwrap());
            assert!(matches!(told[..], [Doubt::SeveralRooms { .. }]) && Doubt::refuse(&told), "{told:?}");
        }
    }

    #[test]
    fn a_part_that_is_not_there_is_named() {
        let map = map(false);
        assert!(map.room_around([3.5, 3.8]).unwrap_err().to_string().contains("no free cell"));
        assert!(map.room_around([-50.0, 1e9]).is_err());
        assert!(map.within([50.0, 50.0, 60.0, 60.0]).unwrap_err().to_string().contains("corners"));
    }
}
