//! Contour lines by marching squares.

use super::{Frame, Grid};
use crate::svg::{Canvas, Stroke, px};
use std::fmt::Write as _;

/// Draws the lines where a grid of cell-centre values crosses each level.
pub fn contours(canvas: &mut Canvas, frame: &Frame, grid: Grid<'_>, levels: &[f64], stroke: Stroke<'_>) {
    canvas.begin_clip(frame.area);
    for level in levels {
        let mut d = String::new();
        for [a, b] in segments(grid, *level) {
            let (a, b) = (frame.at(a), frame.at(b));
            let _ = write!(d, "M{} {}L{} {}", px(a[0]), px(a[1]), px(b[0]), px(b[1]));
        }
        if !d.is_empty() {
            canvas.path(&d, stroke, crate::palette::Ink::None, 1.0);
        }
    }
    canvas.end_clip();
}

/// The pieces of one contour, in the grid's own units.
fn segments(grid: Grid<'_>, level: f64) -> Vec<[[f64; 2]; 2]> {
    let (rows, columns) = (grid.rows(), grid.columns);
    let [x0, x1, y0, y1] = grid.bounds;
    let (dx, dy) = ((x1 - x0) / columns.max(1) as f64, (y1 - y0) / rows.max(1) as f64);
    // Beyond the edge lies nothing, so that a region at the wall is closed there.
    let value = |i: usize, j: usize| {
        let inside = (1..=rows).contains(&i) && (1..=columns).contains(&j);
        let v = if inside { grid.values[(i - 1) * columns + j - 1] } else { f64::NEG_INFINITY };
        if v.is_finite() { v } else { level - 1e3 }
    };
    let point =
        |i: usize, j: usize| [(x0 + (j as f64 - 0.5) * dx).clamp(x0, x1), (y0 + (i as f64 - 0.5) * dy).clamp(y0, y1)];
    let mut out = Vec::new();
    for i in 0..=rows {
        for j in 0..=columns {
            let corners = [(i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)];
            let mut crossings = Vec::with_capacity(4);
            for n in 0..4 {
                let ((ai, aj), (bi, bj)) = (corners[n], corners[(n + 1) % 4]);
                let (a, b) = (value(ai, aj), value(bi, bj));
                if (a < level) != (b < level) {
                    let t = (level - a) / (b - a);
                    let (p, q) = (point(ai, aj), point(bi, bj));
                    crossings.push([p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])]);
                }
            }
            out.extend(crossings.chunks_exact(2).map(|pair| [pair[0], pair[1]]));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contour_of_a_cone_is_a_circle() {
        let n = 41;
        let at = |k: usize| (k as f64 + 0.5) / n as f64 * 4.0 - 2.0;
        let values: Vec<f64> = (0..n * n).map(|k| -at(k % n).hypot(at(k / n))).collect();
        let grid = Grid { values: &values, columns: n, bounds: [-2.0, 2.0, -2.0, 2.0] };
        let pieces = segments(grid, -1.0);
        assert!(!pieces.is_empty());
        assert!(pieces.iter().flatten().all(|[x, y]| (x.hypot(*y) - 1.0).abs() < 0.01));
        let length: f64 = pieces.iter().map(|[a, b]| (a[0] - b[0]).hypot(a[1] - b[1])).sum();
        assert!((length - std::f64::consts::TAU).abs() < 0.05, "{length}");
    }

    #[test]
    fn no_cells_give_no_lines() {
        assert!(segments(Grid { values: &[], columns: 0, bounds: [0.0, 1.0, 0.0, 1.0] }, 0.5).is_empty());
    }
}
