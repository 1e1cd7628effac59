//! Main effects: one small chart per axis and metric.

use magnetar_study::sweep::{Effect, Metric, SweepTable, main_effects, scattered};

use super::words::{axis_in_words, metric_in_words, with_unit};
use crate::Theme;
use crate::chart::{ChartAxis, Frame, empty, line, scatter};
use crate::palette::Ink;
use crate::svg::{Anchor, Canvas, Stroke, TextStyle};

const WIDTH: f64 = 330.0;
const HEIGHT: f64 = 230.0;

/// Width of a character under a chart, pixels.
const CHARACTER: f64 = 6.0;

/// Longest name of an axis, characters.
const MOST_LETTERS: usize = 42;

/// Longest label under a chart, characters.
const LABEL: usize = 16;

/// The main effect of one axis on one metric: a thin bar is one standard error of the value either way, a thick one that of its
/// difference from the mean of all values, where rows have values of their own. Of a design that moves all axes at once, the
/// points are dots, their means over bins marks, and a bar one standard error by how the dots of a bin spread.
#[must_use]
pub fn effect_chart(table: &SweepTable, axis: usize, metric: &Metric, theme: Theme) -> String {
    let Some(about) = table.manifest.sweep.axes.get(axis) else { return String::new() };
    let effects = main_effects(table, axis, &metric.name);
    let (what, against) = (metric_in_words(&metric.name), axis_in_words(table, about));
    let title = format!("{what} against {against}");
    let dots = scattered(table, axis, &metric.name);
    let mut canvas = Canvas::new(WIDTH, HEIGHT, theme, &title);
    if effects.is_empty() {
        empty(&mut canvas, [0.0, 0.0, WIDTH, HEIGHT], "nothing was measured");
        return canvas.finish();
    }
    let numeric = effects.iter().all(|effect| effect.number.is_some());
    let log = numeric && about.log && effects.iter().all(|effect| effect.number.is_some_and(|x| x > 0.0));
    let x_of = |i: usize, effect: &Effect| match effect.number {
        Some(x) if log => x.log10(),
        Some(x) if numeric => x,
        _ => i as f64,
    };
    let points: Vec<([f64; 2], f64)> = effects
        .iter()
        .enumerate()
        .map(|(i, effect)| ([x_of(i, effect), effect.mean], effect.spread_stderr.or(effect.stderr).unwrap_or(0.0)))
        .collect();
    let dots: Vec<[f64; 2]> = if numeric { dots } else { Vec::new() };
    let dots: Vec<[f64; 2]> = dots.into_iter().map(|[x, y]| [if log { x.log10() } else { x }, y]).collect();
    // Words that are too long for a chart stand above it; its key is shorter.
    let long = with_unit(&against, &about.unit);
    let short = if long.chars().count() > MOST_LETTERS { with_unit(&about.name, &about.unit) } else { long };
    let label = clipped(&short, MOST_LETTERS);
    let x = if log {
        let values = effects.iter().filter_map(|effect| effect.number).chain(dots.iter().map(|dot| 10f64.powf(dot[0])));
        ChartAxis::logarithmic(&label, values)
    } else if numeric {
        ChartAxis::covering(&label, points.iter().map(|(p, _)| p[0]).chain(dots.iter().map(|dot| dot[0])))
    } else {
        // Words of our own instead of marks.
        ChartAxis::new(&label, -0.5, points.len() as f64 - 0.5).marked(Vec::new())
    };
    let reach = points.iter().flat_map(|(p, s)| [p[1] - s, p[1] + s]).chain(dots.iter().map(|dot| dot[1]));
    let y = ChartAxis::covering(&metric.unit, reach);
    let frame = Frame::within([0.0, 0.0, WIDTH, HEIGHT], x, y);
    frame.draw(&mut canvas, &clipped(&with_unit(&what, &metric.unit), 36));
    if !dots.is_empty() {
        scatter(&mut canvas, &frame, dots, 1.6, Ink::Muted);
    } else if numeric {
        line(&mut canvas, &frame, points.iter().map(|(p, _)| *p), Stroke::new(Ink::Rx, 1.6));
    } else {
        words(&mut canvas, &frame, &effects);
    }
    for (([x, y], stderr), effect) in points.iter().zip(&effects) {
        let mut bar =
            |reach: f64, stroke: Stroke| canvas.line(frame.at([*x, y - reach]), frame.at([*x, y + reach]), stroke);
        bar(*stderr, Stroke::new(Ink::Muted, 1.0));
        // Points of a bin differ in all axes: their rows' differences say nothing of this one alone.
        if let (Some(paired), None) = (effect.paired_stderr, effect.spread_stderr) {
            bar(paired, Stroke::new(Ink::Rx, 3.0));
        }
        canvas.circle(frame.at([*x, *y]), 3.2, Ink::Rx, Stroke::new(Ink::Background, 1.0));
    }
    canvas.finish()
}

/// Labels of an axis without numbers, on two heights so that neighbours do not touch.
fn words(canvas: &mut Canvas, frame: &Frame, effects: &[Effect]) {
    let style = TextStyle::new(10.0, Ink::Muted, Anchor::Middle);
    // Every so many values one word, if there are very many; a word may take two places, less the gap.
    let every = (3.0 * CHARACTER / frame.x_scale()).ceil().max(1.0) as usize;
    let most = ((2.0 * every as f64 * frame.x_scale() / CHARACTER) as usize).saturating_sub(1).clamp(3, LABEL);
    for (n, (i, effect)) in effects.iter().enumerate().step_by(every).enumerate() {
        let [x, y] = frame.at([i as f64, frame.y.min]);
        canvas.text([x, y + if n % 2 == 0 { 11.0 } else { 22.0 }], &clipped(&effect.label, most), style);
    }
}

/// A text of at most so many characters.
pub(super) fn clipped(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}
