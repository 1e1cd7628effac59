//! Polar charts of gain against angle.

use super::frame::{LABEL_SIZE, TICK_SIZE};
use crate::palette::Ink;
use crate::svg::{Anchor, Canvas, Stroke, TextStyle};
use crate::ticks;

/// One closed curve: gain in dB at angles in radians.
pub struct PolarCurve<'a> {
    /// `(angle, gain_db)` pairs.
    pub points: &'a [(f64, f64)],
    /// How it is drawn.
    pub stroke: Stroke<'a>,
}

/// Draws gain (dB, over `range`) against angle; 0 points up, angles grow counter-clockwise.
pub fn polar(
    canvas: &mut Canvas,
    [left, top, width, height]: [f64; 4],
    title: &str,
    range: [f64; 2],
    cuts: &[PolarCurve<'_>],
) {
    let center = [left + width / 2.0, top + 24.0 + (height - 24.0) / 2.0];
    let outer = (width / 2.0 - 30.0).min((height - 24.0) / 2.0 - 20.0).max(10.0);
    let [low, high] = range;
    let radius = |db: f64| ((db - low) / (high - low)).clamp(0.0, 1.0) * outer;
    let at = |angle: f64, r: f64| [center[0] - r * angle.sin(), center[1] - r * angle.cos()];
    canvas.circle(center, outer, Ink::Panel, Stroke::new(Ink::Muted, 1.0));
    let rings = ticks::nice(low, high, 4);
    for value in &rings {
        canvas.circle(center, radius(*value), Ink::None, Stroke::new(Ink::Grid, 1.0));
    }
    for spoke in (0..360).step_by(30) {
        let angle = f64::from(spoke).to_radians();
        canvas.line(center, at(angle, outer), Stroke::new(Ink::Grid, 1.0));
        let [x, y] = at(angle, outer + 14.0);
        let shown = if spoke > 180 { spoke - 360 } else { spoke };
        let label = format!("{}\u{b0}", ticks::number(f64::from(shown), 0));
        canvas.text([x, y + 4.0], &label, TextStyle::new(TICK_SIZE, Ink::Muted, Anchor::Middle));
    }
    for cut in cuts {
        canvas.polyline(cut.points.iter().map(|(angle, db)| at(*angle, radius(*db))), cut.stroke);
    }
    for (value, label) in rings.iter().zip(ticks::labels(&rings)) {
        let [x, y] = at(-0.26, radius(*value));
        canvas.text([x + 2.0, y + 3.0], &label, TextStyle::new(TICK_SIZE - 1.0, Ink::Text, Anchor::Start));
    }
    let style = TextStyle::new(LABEL_SIZE + 1.0, Ink::Text, Anchor::Middle).bold();
    canvas.text([center[0], top + 12.0], title, style);
}
