//! Cone curves: mass and joint-MAP hits within a growing cone.

use super::caption::Caption;
use crate::chart::{ChartAxis, Frame, LegendKey, legend, line};
use crate::colormap::viridis;
use crate::palette::{Ink, Theme};
use crate::svg::{Canvas, Stroke};

/// One scorer's curves.
#[derive(Debug, Clone)]
pub struct ConeCurve {
    /// Its name.
    pub name: String,
    /// Full cone openings, degrees.
    pub opening_deg: Vec<f64>,
    /// Mass in the cone, percent.
    pub mass_percent: Vec<f64>,
    /// Share of joint-MAP hits, percent; empty where it has no meaning (a reference).
    pub hit_percent: Vec<f64>,
}

const DASHES: [&str; 4] = ["", "7 3", "2 3", "8 3 2 3"];

/// Both panels: (a) mass, (b) hits.
#[must_use]
pub fn cone_figure(curves: &[ConeCurve], caption: &str, theme: Theme) -> String {
    let width = 860.0;
    let under = Caption { text: caption, left: 54.0, width };
    let height = 440.0 + under.extra_height();
    let mut canvas = Canvas::new(width, height, theme, &format!("Cone curves. {caption}"));
    let axis = || ChartAxis::new("full cone opening \u{3b1} / deg", 20.0, 180.0).step(20.0);
    let ink = |n: usize| match n {
        0 => Ink::Rx,
        1 => Ink::Tx,
        2 => Ink::Wall,
        3 => Ink::Ceiling,
        _ => Ink::Fixed(viridis(n as f64 / curves.len() as f64)),
    };
    type Panel = (&'static str, &'static str, fn(&ConeCurve) -> &[f64]);
    let panels: [Panel; 2] = [
        ("(a) mass within 1 m and \u{3b1}", "mass / %", |c| &c.mass_percent),
        ("(b) joint-MAP hits within 1 m and \u{3b1}", "hits / %", |c| &c.hit_percent),
    ];
    for (panel, (title, label, values)) in panels.into_iter().enumerate() {
        let top = curves.iter().flat_map(&values).copied().fold(0.0, f64::max);
        let y = ChartAxis::new(label, 0.0, (1.1 * top).clamp(1.0, 100.0));
        let frame = Frame::within([panel as f64 * 430.0, 10.0, 430.0, 360.0], axis(), y);
        frame.draw(&mut canvas, title);
        for (n, curve) in curves.iter().enumerate() {
            let points = curve.opening_deg.iter().zip(values(curve)).map(|(a, v)| [*a, *v]);
            line(&mut canvas, &frame, points, Stroke::new(ink(n), 2.2).dash(DASHES[n % 4]));
        }
    }
    let keys: Vec<LegendKey<'_>> =
        curves.iter().enumerate().map(|(n, c)| LegendKey { ink: ink(n), dash: DASHES[n % 4], name: &c.name }).collect();
    legend(&mut canvas, [54.0, 396.0], 780.0, &keys);
    under.draw(&mut canvas, height, 14.0);
    canvas.finish()
}
