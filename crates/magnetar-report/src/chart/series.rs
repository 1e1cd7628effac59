//! Lines, points and stems.

use std::fmt::Write as _;

use super::Frame;
use crate::palette::Ink;
use crate::svg::{Canvas, Stroke, px};

/// A line through values.
pub fn line(canvas: &mut Canvas, frame: &Frame, values: impl IntoIterator<Item = [f64; 2]>, stroke: Stroke<'_>) {
    canvas.begin_clip(frame.area);
    canvas.polyline(values.into_iter().map(|v| frame.at(v)), stroke);
    canvas.end_clip();
}

/// Small dots, all of one colour, as one shape: thousands stay cheap.
pub fn scatter(canvas: &mut Canvas, frame: &Frame, values: impl IntoIterator<Item = [f64; 2]>, radius: f64, ink: Ink) {
    let mut d = String::new();
    for [x, y] in values.into_iter().filter(|v| v.iter().all(|c| c.is_finite())).map(|v| frame.at(v)) {
        // A dot is a line of no length with round ends.
        let _ = write!(d, "M{} {}h0", px(x), px(y));
    }
    if d.is_empty() {
        return;
    }
    canvas.begin_clip(frame.area);
    canvas.begin("stroke-linecap=\"round\"");
    canvas.path(&d, Stroke::new(ink, 2.0 * radius).opacity(0.8), Ink::None, 1.0);
    canvas.end();
    canvas.end_clip();
}

/// Vertical stems from the axis to each value.
pub fn stems(canvas: &mut Canvas, frame: &Frame, values: &[[f64; 2]], stroke: Stroke<'_>) {
    canvas.begin_clip(frame.area);
    for [x, y] in values.iter().copied().filter(|v| v.iter().all(|c| c.is_finite())) {
        canvas.line(frame.at([x, frame.y.min]), frame.at([x, y]), stroke);
    }
    canvas.end_clip();
}
