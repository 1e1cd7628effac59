//! Axes: from values to pixels, with marks, labels and units.

use crate::palette::Ink;
use crate::svg::{Anchor, Canvas, Stroke, TextStyle};
use crate::ticks;

/// Text size of tick labels, pixels.
pub(crate) const TICK_SIZE: f64 = 11.0;

/// Text size of axis labels, pixels.
pub(crate) const LABEL_SIZE: f64 = 12.0;

/// Where the marks of an axis stand.
#[derive(Debug, Clone)]
enum Marks {
    /// At round values, as many as fit.
    Round,
    /// At every multiple of a step.
    Every(f64),
    /// At these values, with these words.
    At(Vec<(f64, String)>),
}

/// One axis.
#[derive(Debug, Clone)]
pub struct ChartAxis {
    /// What it measures, with its unit.
    pub label: String,
    /// Value at its start.
    pub min: f64,
    /// Value at its end.
    pub max: f64,
    marks: Marks,
}

impl ChartAxis {
    /// An axis over a range; an empty or broken range becomes one that can be drawn.
    #[must_use]
    pub fn new(label: &str, min: f64, max: f64) -> Self {
        let (min, max) = if min.is_finite() && max.is_finite() { (min, max) } else { (0.0, 1.0) };
        let (min, max) = if max > min { (min, max) } else { (min - 0.5, min + 0.5) };
        Self { label: label.to_owned(), min, max, marks: Marks::Round }
    }

    /// An axis that covers values with some air around them.
    #[must_use]
    pub fn covering(label: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
        for v in values.into_iter().filter(|v| v.is_finite()) {
            (min, max) = (min.min(v), max.max(v));
        }
        let air = 0.05 * (max - min);
        Self::new(label, min - air, max + air)
    }

    /// An axis over the base-10 logarithm of values above 0, with some air around them; its marks show the values.
    #[must_use]
    pub fn logarithmic(label: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let axis = Self::covering(label, values.into_iter().map(f64::log10));
        let marks = ticks::decades(axis.min, axis.max);
        axis.marked(marks)
    }

    /// The same axis with a mark at every multiple of `step`.
    #[must_use]
    pub fn step(self, step: f64) -> Self {
        Self { marks: Marks::Every(step), ..self }
    }

    /// The same axis with these marks only, which may be none.
    #[must_use]
    pub fn marked(self, marks: Vec<(f64, String)>) -> Self {
        Self { marks: Marks::At(marks), ..self }
    }

    fn marks(&self, pixels: f64, apart: f64) -> Vec<(f64, String)> {
        let at = match &self.marks {
            Marks::At(marks) => return marks.clone(),
            Marks::Every(step) => ticks::every(self.min, self.max, *step),
            Marks::Round => {
                // One mark alone gives no scale: a finer step then.
                let wanted = ((pixels / apart) as usize).clamp(2, 10);
                let some = [wanted, wanted + 1, 2 * wanted].map(|n| ticks::nice(self.min, self.max, n));
                some.into_iter().find(|ticks| ticks.len() > 1).unwrap_or_default()
            }
        };
        at.iter().copied().zip(ticks::labels(&at)).collect()
    }
}

/// A plotting area: a rectangle of the canvas and two axes.
#[derive(Debug, Clone)]
pub struct Frame {
    /// `[x, y, width, height]` of the area inside the axes, pixels.
    pub area: [f64; 4],
    /// The horizontal axis.
    pub x: ChartAxis,
    /// The vertical axis, growing upwards.
    pub y: ChartAxis,
}

impl Frame {
    /// A frame whose labels and title fit in `outer` (`[x, y, width, height]`, pixels).
    #[must_use]
    pub fn within([left, top, width, height]: [f64; 4], x: ChartAxis, y: ChartAxis) -> Self {
        let area = [left + 54.0, top + 26.0, (width - 66.0).max(20.0), (height - 70.0).max(20.0)];
        Self { area, x, y }
    }

    /// The same, with one scale for both axes (plans): the area shrinks to fit and is centred.
    #[must_use]
    pub fn equal(outer: [f64; 4], x: ChartAxis, y: ChartAxis) -> Self {
        let mut frame = Self::within(outer, x, y);
        let [left, top, width, height] = frame.area;
        let (span_x, span_y) = (frame.x.max - frame.x.min, frame.y.max - frame.y.min);
        let scale = (width / span_x).min(height / span_y);
        let (w, h) = (span_x * scale, span_y * scale);
        frame.area = [left + (width - w) / 2.0, top + (height - h) / 2.0, w, h];
        frame
    }

    /// Pixels of a value pair.
    #[must_use]
    pub fn at(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let [left, top, width, height] = self.area;
        [
            left + (x - self.x.min) / (self.x.max - self.x.min) * width,
            top + (self.y.max - y) / (self.y.max - self.y.min) * height,
        ]
    }

    /// Pixels a unit of x.
    #[must_use]
    pub fn x_scale(&self) -> f64 {
        self.area[2] / (self.x.max - self.x.min)
    }

    /// Draws ground, grid, marks, labels and a title.
    pub fn draw(&self, canvas: &mut Canvas, title: &str) {
        let [left, top, width, height] = self.area;
        canvas.rect(self.area, Ink::Panel, Ink::None);
        let (xs, ys) = (self.x.marks(width, 58.0), self.y.marks(height, 34.0));
        let tick = TextStyle::new(TICK_SIZE, Ink::Muted, Anchor::Middle);
        for (value, label) in &xs {
            let [x, _] = self.at([*value, self.y.min]);
            canvas.line([x, top], [x, top + height], Stroke::new(Ink::Grid, 1.0));
            canvas.text([x, top + height + 15.0], label, tick);
        }
        for (value, label) in &ys {
            let [_, y] = self.at([self.x.min, *value]);
            canvas.line([left, y], [left + width, y], Stroke::new(Ink::Grid, 1.0));
            canvas.text([left - 6.0, y + 4.0], label, TextStyle { anchor: Anchor::End, ..tick });
        }
        canvas.rect(self.area, Ink::None, Ink::Muted);
        let label = TextStyle::new(LABEL_SIZE, Ink::Text, Anchor::Middle);
        canvas.text([left + width / 2.0, top + height + 33.0], &self.x.label, label);
        canvas.text([left - 40.0, top + height / 2.0], &self.y.label, label.upright());
        self.title(canvas, title);
    }

    /// Draws only the title.
    pub fn title(&self, canvas: &mut Canvas, title: &str) {
        let [left, top, width, _] = self.area;
        let style = TextStyle::new(LABEL_SIZE + 1.0, Ink::Text, Anchor::Middle).bold();
        canvas.text([left + width / 2.0, top - 9.0], title, style);
    }

    /// Draws only the outline, with the marks but no words: for panels that share their axes.
    pub fn draw_bare(&self, canvas: &mut Canvas) {
        canvas.rect(self.area, Ink::Panel, Ink::Muted);
    }
}

/// One entry of a legend: a line, a dash, a name.
pub struct LegendKey<'a> {
    /// Colour.
    pub ink: Ink,
    /// Dash pattern; empty for solid.
    pub dash: &'a str,
    /// What it means.
    pub name: &'a str,
}

/// Draws legend entries in one row that starts at `at`, breaking into rows at `width` pixels; returns its height.
pub fn legend(canvas: &mut Canvas, [x0, y0]: [f64; 2], width: f64, keys: &[LegendKey<'_>]) -> f64 {
    let (mut x, mut y) = (x0, y0);
    for key in keys {
        let needed = 34.0 + 6.0 * key.name.chars().count() as f64;
        if x > x0 && x + needed > x0 + width {
            (x, y) = (x0, y + 17.0);
        }
        canvas.line([x, y - 4.0], [x + 22.0, y - 4.0], Stroke::new(key.ink, 2.4).dash(key.dash));
        canvas.text([x + 27.0, y], key.name, TextStyle::new(TICK_SIZE, Ink::Text, Anchor::Start));
        x += needed + 8.0;
    }
    y - y0 + 17.0
}

/// Says in the middle of an area that there is nothing to show, and why.
pub fn empty(canvas: &mut Canvas, [left, top, width, height]: [f64; 4], why: &str) {
    let style = TextStyle::new(LABEL_SIZE, Ink::Muted, Anchor::Middle);
    canvas.text([left + width / 2.0, top + height / 2.0], why, style);
}
