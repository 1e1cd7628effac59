//! Where TX, RX and boards stand, from above.

use std::fmt::Write as _;

use super::SplitPicture;
use crate::chart::{ChartAxis, Frame, empty, scatter};
use crate::palette::{Ink, Theme};
use crate::svg::{Canvas, Stroke, px};

/// Three plans side by side.
pub(super) fn coverage(split: &SplitPicture) -> String {
    let (width, panel) = (900.0, 300.0);
    let [x0, x1, y0, y1] = split.bounds;
    let ratio = ((y1 - y0) / (x1 - x0)).clamp(0.4, 1.8);
    let height = (panel - 66.0) * ratio + 70.0;
    let title = format!("Coverage of split {}: TX, RX and boards from above", split.name);
    let mut canvas = Canvas::new(width, height, Theme::Page, &title);
    let frame = |n: usize| {
        let outer = [n as f64 * panel, 0.0, panel, height];
        Frame::equal(outer, ChartAxis::new("x / m", x0, x1), ChartAxis::new("y / m", y0, y1))
    };
    let shown = |count: usize, what: &str| format!("{what} ({count} shown)");
    for (n, (points, ink, name)) in [(&split.tx, Ink::Tx, "TX"), (&split.rx, Ink::Rx, "RX")].into_iter().enumerate() {
        let frame = frame(n);
        frame.draw(&mut canvas, &shown(points.len(), name));
        scatter(&mut canvas, &frame, points.iter().copied(), if points.len() > 1500 { 1.3 } else { 2.0 }, ink);
        if points.is_empty() {
            empty(&mut canvas, frame.area, "no rows");
        }
    }
    let frame = frame(2);
    frame.draw(&mut canvas, &shown(split.boards.len(), "boards"));
    let mut d = String::new();
    for [a, b] in &split.boards {
        let (a, b) = (frame.at(*a), frame.at(*b));
        let _ = write!(d, "M{} {}L{} {}", px(a[0]), px(a[1]), px(b[0]), px(b[1]));
    }
    if d.is_empty() {
        empty(&mut canvas, frame.area, "no boards");
    } else {
        canvas.begin_clip(frame.area);
        canvas.path(&d, Stroke::new(Ink::Board, 1.2).opacity(0.7), Ink::None, 1.0);
        canvas.end_clip();
    }
    canvas.finish()
}
