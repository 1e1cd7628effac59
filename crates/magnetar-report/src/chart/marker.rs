//! Marks for things in a plan: their shape says what they are where colour cannot.

use crate::palette::Ink;
use crate::svg::{Canvas, Stroke};

/// A mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    /// The TX: a triangle.
    Tx,
    /// The RX: a square.
    Rx,
    /// A mode: a diamond.
    Mode,
    /// An estimate: a ring.
    Ring,
    /// A truth: a cross.
    Cross,
}

/// Draws a mark of a radius (pixels), outlined in the ground's colour so that it shows on anything.
pub fn marker(canvas: &mut Canvas, [x, y]: [f64; 2], marker: Marker, radius: f64) {
    let r = radius;
    let outline = Stroke::new(Ink::Background, 1.4);
    match marker {
        Marker::Tx => {
            let corner = |turn: f64| {
                let a = (90.0 + turn).to_radians();
                [x + 1.25 * r * a.cos(), y - 1.25 * r * a.sin()]
            };
            canvas.polygon(&[corner(0.0), corner(120.0), corner(240.0)], Ink::Tx, 1.0, outline);
        }
        Marker::Rx => {
            let s = 0.9 * r;
            canvas.polygon(&[[x - s, y - s], [x + s, y - s], [x + s, y + s], [x - s, y + s]], Ink::Rx, 1.0, outline);
        }
        Marker::Mode => {
            let s = 1.2 * r;
            canvas.polygon(&[[x, y - s], [x + s, y], [x, y + s], [x - s, y]], Ink::Mode, 1.0, outline);
        }
        Marker::Ring => canvas.circle([x, y], r, Ink::None, Stroke::new(Ink::Estimate, 2.0)),
        Marker::Cross => {
            let stroke = Stroke::new(Ink::Truth, 2.0);
            canvas.line([x - r, y - r], [x + r, y + r], stroke);
            canvas.line([x - r, y + r], [x + r, y - r], stroke);
        }
    }
}

/// An arrow from `tail`, `length` pixels long, towards `angle` (radians, counter-clockwise from the right).
pub fn arrow(canvas: &mut Canvas, tail: [f64; 2], angle: f64, length: f64, stroke: Stroke<'_>) {
    let (sin, cos) = angle.sin_cos();
    let tip = [tail[0] + length * cos, tail[1] - length * sin];
    let head = (0.35 * length).clamp(2.0, 8.0);
    let wing = |turn: f64| {
        let (s, c) = (angle + turn).sin_cos();
        [tip[0] + head * c, tip[1] - head * s]
    };
    canvas.polyline([tail, tip], stroke);
    canvas.polyline([wing(2.6), tip, wing(-2.6)], Stroke { dash: "", ..stroke });
}
