//! A part of a map: a window, or the room around a point.

use std::collections::VecDeque;

use super::{Cell, MapError, OccupancyMap};

/// Rooms are told apart at openings narrower than twice this, metres: doors.
const CLEARANCE_M: f64 = 0.5;
/// The four neighbours of a cell.
const NEIGHBOURS: [(isize, isize); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];

impl OccupancyMap {
    /// The map within a window `[x0, y0, x1, y1]` of the map frame, metres; all else becomes unknown.
    ///
    /// # Errors
    /// If no free cell is left.
    pub fn within(&self, [x0, y0, x1, y1]: [f64; 4]) -> Result<Self, MapError> {
        let inside = |n: usize| {
            let [x, y] = self.map_from_grid((n % self.width) as f64 + 0.5, (n / self.width) as f64 + 0.5);
            (x0.min(x1)..=x0.max(x1)).contains(&x) && (y0.min(y1)..=y0.max(y1)).contains(&y)
        };
        let cells = self.cells().iter().enumerate().map(|(n, cell)| if inside(n) { *cell } else { Cell::Unknown });
        let cells: Vec<Cell> = cells.collect();
        if !cells.contains(&Cell::Free) {
            let [a, b] = [self.map_from_grid(0.0, 0.0), self.map_from_grid(self.width as f64, self.height as f64)];
            return Err(MapError::NoPart(format!(
                "the window holds no free cell; the map's corners are ({:.2}, {:.2}) and ({:.2}, {:.2}) m",
                a[0], a[1], b[0], b[1]
            )));
        }
        Ok(self.with_cells(cells))
    }

    /// The room around a point of the map frame (metres): the free cells reached from it without passing an opening as
    /// narrow as a door, and what borders on them; all else becomes unknown.
    ///
    /// # Errors
    /// If the point is on no free cell.
    pub fn room_around(&self, point: [f64; 2]) -> Result<Self, MapError> {
        let [column, row] = self.grid_from_map(point).map(|x| x.floor() as isize);
        if self.cell(column, row) != Cell::Free {
            let [x, y] = point;
            return Err(MapError::NoPart(format!(
                "({x}, {y}) m is on no free cell of the map; choose a point in the room"
            )));
        }
        let start = row as usize * self.width + column as usize;
        let blocked = |n: usize| self.cells()[n] != Cell::Free;
        let clearance = self.steps_from(blocked, |_| true);
        // Not more than there is at the point itself.
        let steps = ((CLEARANCE_M / self.resolution).round() as u32).min(clearance[start].saturating_sub(1));
        let reached = self.steps_from(|n| n == start, |n| clearance[n] > steps);
        // Back to the walls: as many steps as were kept away from them, and one for the walls themselves.
        let grown = self.steps_from(|n| reached[n] != u32::MAX, |n| self.cells()[n] == Cell::Free);
        let is_room = |n: usize| self.cells()[n] == Cell::Free && grown[n] <= 2 * steps + 1;
        let cells = (0..self.cells().len()).map(|n| match self.cells()[n] {
            Cell::Free if is_room(n) => Cell::Free,
            Cell::Occupied => {
                let (column, row) = ((n % self.width) as isize, (n / self.width) as isize);
                let beside = (-1..=1).flat_map(|dc| (-1..=1).map(move |dr| (column + dc, row + dr)));
                let touches = beside.filter_map(|(c, r)| self.index(c, r)).any(is_room);
                if touches { Cell::Occupied } else { Cell::Unknown }
            }
            _ => Cell::Unknown,
        });
        Ok(self.with_cells(cells.collect()))
    }

    /// The largest part of the open floor among these cells that is one piece, doors taken for walls: 1 of a single room.
    pub(super) fn largest_piece(&self, among: impl Fn(usize) -> bool) -> f64 {
        let clearance = self.steps_from(|n| self.cells()[n] != Cell::Free, |_| true);
        let steps = (CLEARANCE_M / self.resolution).round() as u32;
        let open = |n: usize| clearance[n] > steps && among(n);
        let mut seen = vec![false; clearance.len()];
        let (mut all, mut largest) = (0_usize, 0_usize);
        for start in 0..seen.len() {
            if seen[start] || !open(start) {
                continue;
            }
            seen[start] = true;
            let (mut queue, mut piece) = (vec![start], 0);
            while let Some(n) = queue.pop() {
                piece += 1;
                let (column, row) = ((n % self.width) as isize, (n / self.width) as isize);
                for next in NEIGHBOURS.iter().filter_map(|(dc, dr)| self.index(column + dc, row + dr)) {
                    if !seen[next] && open(next) {
                        seen[next] = true;
                        queue.push(next);
                    }
                }
            }
            all += piece;
            largest = largest.max(piece);
        }
        if all == 0 { 1.0 } else { largest as f64 / all as f64 }
    }

    /// The number of a cell, if it is on the grid.
    fn index(&self, column: isize, row: isize) -> Option<usize> {
        let on = (0..self.width as isize).contains(&column) && (0..self.height as isize).contains(&row);
        on.then(|| row as usize * self.width + column as usize)
    }

    /// Steps to each cell from the nearest source over passable cells; `u32::MAX` where there is no way. The edge of the
    /// grid is no source.
    pub(super) fn steps_from(&self, source: impl Fn(usize) -> bool, passable: impl Fn(usize) -> bool) -> Vec<u32> {
        let mut steps = vec![u32::MAX; self.cells().len()];
        let mut queue: VecDeque<usize> = (0..steps.len()).filter(|n| source(*n)).collect();
        queue.iter().for_each(|n| steps[*n] = 0);
        while let Some(n) = queue.pop_front() {
            let (column, row) = ((n % self.width) as isize, (n / self.width) as isize);
            for (dc, dr) in NEIGHBOURS {
                let Some(next) = self.index(column + dc, row + dr) else { continue };
                if steps[next] == u32::MAX && passable(next) {
                    steps[next] = steps[n] + 1;
                    queue.push_back(next);
                }
            }
        }
        steps
    }
}
