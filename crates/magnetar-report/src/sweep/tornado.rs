//! What moves a metric most: bars either way of the base point.

use magnetar_study::sweep::Sensitivity;

use super::effects::clipped;
use crate::Theme;
use crate::chart::{ChartAxis, Frame};
use crate::palette::Ink;
use crate::svg::{Anchor, Canvas, Stroke, TextStyle};

const WIDTH: f64 = 820.0;
const BAR: f64 = 22.0;
/// Pixels for the labels on the left.
const LABELS: f64 = 350.0;
/// Longest label, characters: what fits there in wide letters.
const LABEL: usize = 52;

/// One bar per value, the most influential axis on top, with one standard error either way.
#[must_use]
pub fn sensitivity_chart(metric: &str, unit: &str, found: &[Sensitivity], theme: Theme) -> String {
    let height = 70.0 + BAR * found.len() as f64;
    let mut canvas = Canvas::new(WIDTH, height, theme, &format!("What moves {metric} most"));
    let reach = |s: &Sensitivity| s.difference.abs() + s.stderr.unwrap_or(0.0);
    let most = found.iter().map(reach).filter(|r| r.is_finite()).fold(0.0, f64::max).max(1e-9);
    let unit = if unit.is_empty() { String::new() } else { format!(", {unit}") };
    let x = ChartAxis::new(&format!("{metric} minus that of the base recipe{unit}"), -1.05 * most, 1.05 * most);
    // One unit of y per bar.
    let y = ChartAxis::new("", 0.0, found.len().max(1) as f64).marked(Vec::new());
    let mut frame = Frame::within([LABELS - 54.0, 0.0, WIDTH - LABELS + 54.0, height], x, y);
    frame.area[1] = 10.0;
    frame.area[3] = BAR * found.len().max(1) as f64;
    frame.draw(&mut canvas, "");
    let style = TextStyle::new(11.0, Ink::Text, Anchor::End);
    for (i, s) in found.iter().enumerate() {
        let middle = found.len() as f64 - i as f64 - 0.5;
        let [zero, y] = frame.at([0.0, middle]);
        let [end, _] = frame.at([s.difference, middle]);
        let ink = if s.difference > 0.0 { Ink::Tx } else { Ink::Rx };
        canvas.rect([zero.min(end), y - 0.35 * BAR, (end - zero).abs(), 0.7 * BAR], ink, Ink::None);
        if let Some(stderr) = s.stderr {
            let (a, b) = (frame.at([s.difference - stderr, middle]), frame.at([s.difference + stderr, middle]));
            canvas.line(a, b, Stroke::new(Ink::Text, 1.4));
        }
        let unit = if s.unit.is_empty() { String::new() } else { format!(" {}", s.unit) };
        let change = format!(" = {}{unit} (base {})", clipped(&s.value, 18), clipped(&s.base, 14));
        let room = LABEL.saturating_sub(change.chars().count()).max(8);
        canvas.text([LABELS - 8.0, y + 4.0], &(clipped(&s.axis, room) + &change), style);
    }
    let [x, _] = frame.at([0.0, 0.0]);
    let [_, top, _, height] = frame.area;
    canvas.line([x, top], [x, top + height], Stroke::new(Ink::Text, 1.0));
    canvas.finish()
}
