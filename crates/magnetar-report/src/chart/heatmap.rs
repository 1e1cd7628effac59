//! Heat maps of values on a grid, as a few filled shapes instead of one rectangle a cell.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Frame;
use super::frame::{LABEL_SIZE, TICK_SIZE};
use crate::colormap::Rgb;
use crate::palette::Ink;
use crate::svg::{Anchor, Canvas, Stroke, TextStyle, px};
use crate::ticks;

/// Colour levels of a heat map; the eye does not tell more apart.
const LEVELS: usize = 48;

/// Values on a rows x columns grid over a rectangle of the frame's values; row 0 is the lowest.
#[derive(Debug, Clone, Copy)]
pub struct Grid<'a> {
    /// The values, row by row; what is not finite is left blank.
    pub values: &'a [f64],
    /// Cells along x.
    pub columns: usize,
    /// `[xmin, xmax, ymin, ymax]` of the grid's outer edges.
    pub bounds: [f64; 4],
}

impl Grid<'_> {
    /// Cells along y.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }
}

/// Draws a grid: `low` and `high` are the ends of the colour scale; values beyond take the end's colour.
pub fn heatmap(canvas: &mut Canvas, frame: &Frame, grid: Grid<'_>, [low, high]: [f64; 2], colour: impl Fn(f64) -> Rgb) {
    let mut shapes: BTreeMap<usize, String> = BTreeMap::new();
    for (row, values) in grid.values.chunks_exact(grid.columns.max(1)).enumerate() {
        let mut column = 0;
        while column < values.len() {
            let level = level(values[column], low, high);
            let run = values[column..].iter().take_while(|v| self::level(**v, low, high) == level).count();
            if let Some(level) = level {
                let _ = write!(shapes.entry(level).or_default(), "M{column} {row}h{run}v1h-{run}z");
            }
            column += run;
        }
    }
    let [x0, x1, y0, y1] = grid.bounds;
    let ([left, bottom], [right, top]) = (frame.at([x0, y0]), frame.at([x1, y1]));
    let (sx, sy) = ((right - left) / grid.columns.max(1) as f64, (top - bottom) / grid.rows().max(1) as f64);
    canvas.begin_clip(frame.area);
    canvas.begin(&format!(
        "transform=\"translate({} {}) scale({sx:.5} {sy:.5})\" shape-rendering=\"crispEdges\"",
        px(left),
        px(bottom)
    ));
    for (level, d) in shapes {
        let paint = Ink::Fixed(colour(level as f64 / (LEVELS - 1) as f64));
        canvas.path(&d, Stroke::new(Ink::None, 0.0), paint, 1.0);
    }
    canvas.end();
    canvas.end_clip();
}

fn level(value: f64, low: f64, high: f64) -> Option<usize> {
    // Minus infinity dB is a true zero: the low end, not a gap.
    if value.is_nan() {
        return None;
    }
    let t = ((value - low) / (high - low)).clamp(0.0, 1.0);
    Some((t * (LEVELS - 1) as f64).round() as usize)
}

/// A colour scale beside a heat map.
pub struct ColourBar<'a> {
    /// What it measures, with its unit.
    pub label: &'a str,
    /// Values at its ends.
    pub range: [f64; 2],
}

impl ColourBar<'_> {
    /// Draws it in `[x, y, width, height]`, low end at the bottom, labels to the right.
    pub fn draw(&self, canvas: &mut Canvas, [x, y, w, h]: [f64; 4], colour: impl Fn(f64) -> Rgb) {
        let step = h / LEVELS as f64;
        for level in 0..LEVELS {
            let paint = Ink::Fixed(colour(level as f64 / (LEVELS - 1) as f64));
            // Half a pixel of overlap hides the seams.
            canvas.rect([x, y + h - (level + 1) as f64 * step, w, step + 0.5], paint, Ink::None);
        }
        canvas.rect([x, y, w, h], Ink::None, Ink::Muted);
        let [low, high] = self.range;
        let marks = ticks::nice(low, high, ((h / 34.0) as usize).clamp(2, 8));
        for (value, label) in marks.iter().zip(ticks::labels(&marks)) {
            let at = y + h - (value - low) / (high - low) * h;
            canvas.line([x + w, at], [x + w + 3.0, at], Stroke::new(Ink::Muted, 1.0));
            canvas.text([x + w + 6.0, at + 4.0], &label, TextStyle::new(TICK_SIZE, Ink::Muted, Anchor::Start));
        }
        let style = TextStyle::new(LABEL_SIZE, Ink::Text, Anchor::Middle).upright();
        canvas.text([x + w + 42.0, y + h / 2.0], self.label, style);
    }
}
