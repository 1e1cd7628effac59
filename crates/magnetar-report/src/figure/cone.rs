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
    /// Of several seeds of one design: sample deviation of mass and hits over them, percent; empty of one alone.
    pub spread_percent: [Vec<f64>; 2],
}

impl ConeCurve {
    /// The mean of several seeds of a design, with how far they spread; `None` without any.
    #[must_use]
    pub fn of_seeds(name: &str, seeds: &[Self]) -> Option<Self> {
        let first = seeds.first()?;
        let over = |values: fn(&Self) -> &Vec<f64>| -> (Vec<f64>, Vec<f64>) {
            let count = seeds.len() as f64;
            let one = |k: usize| {
                let at: Vec<f64> = seeds.iter().filter_map(|seed| values(seed).get(k).copied()).collect();
                let mean = at.iter().sum::<f64>() / count;
                let square = at.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
                (mean, (square / (count - 1.0).max(1.0)).sqrt())
            };
            (0..values(first).len()).map(one).unzip()
        };
        let ((mass_percent, mass_spread), (hit_percent, hit_spread)) =
            (over(|c| &c.mass_percent), over(|c| &c.hit_percent));
        let spread_percent = if seeds.len() > 1 { [mass_spread, hit_spread] } else { Default::default() };
        let name = if seeds.len() > 1 { format!("{name} ({} seeds)", seeds.len()) } else { first.name.clone() };
        Some(Self { name, opening_deg: first.opening_deg.clone(), mass_percent, hit_percent, spread_percent })
    }
}

const DASHES: [&str; 4] = ["", "7 3", "2 3", "8 3 2 3"];

/// Both panels: (a) mass, (b) hits; bands are one sample deviation over the seeds either way.
#[must_use]
pub fn cone_figure(curves: &[ConeCurve], caption: &str, theme: Theme) -> String {
    let width = 860.0;
    let under = Caption { text: caption, left: 54.0, width };
    // Rows of the legend beyond the first.
    let more = (curves.len() / 5) as f64 * 17.0;
    let height = 440.0 + more + under.extra_height();
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
            let spread = &curve.spread_percent[panel];
            let edge = |sign: f64| {
                let along = curve.opening_deg.iter().zip(values(curve)).zip(spread);
                along.map(move |((a, v), s)| [*a, (v + sign * s).clamp(0.0, 100.0)]).collect::<Vec<_>>()
            };
            let band: Vec<[f64; 2]> =
                edge(1.0).into_iter().chain(edge(-1.0).into_iter().rev()).map(|p| frame.at(p)).collect();
            canvas.begin_clip(frame.area);
            canvas.polygon(&band, ink(n), 0.18, Stroke::new(Ink::None, 0.0));
            canvas.end_clip();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_become_a_mean_and_a_band() {
        let seed = |mass: f64| ConeCurve {
            name: "np4-1".into(),
            opening_deg: vec![20.0, 180.0],
            mass_percent: vec![mass, 2.0 * mass],
            hit_percent: vec![mass, mass],
            spread_percent: Default::default(),
        };
        let one = ConeCurve::of_seeds("np4", &[seed(10.0)]).unwrap();
        assert_eq!((one.name.as_str(), one.spread_percent[0].len()), ("np4-1", 0));
        let three = ConeCurve::of_seeds("np4", &[seed(10.0), seed(20.0), seed(30.0)]).unwrap();
        assert_eq!(
            (three.name.as_str(), three.mass_percent[1], three.spread_percent[0][0]),
            ("np4 (3 seeds)", 40.0, 10.0)
        );
        assert!(ConeCurve::of_seeds("np4", &[]).is_none());
        let svg = cone_figure(&[three, one], "Simulated.", Theme::Light);
        assert!(svg.contains("fill-opacity=\"0.18\"") && !svg.contains("NaN"));
    }
}
