//! Distributions of a split by board condition.

use super::SplitPicture;
use super::gather::Condition;
use crate::chart::{ChartAxis, ChartHistogram, Frame, LegendKey, empty, histogram, legend};
use crate::palette::{Ink, Theme};
use crate::svg::{Canvas, Stroke};

/// Colour, dash and name of the two board conditions.
const CONDITIONS: [(Ink, &str, &str); 2] = [(Ink::Rx, "", "no board"), (Ink::Tx, "6 3", "board")];

/// Six charts: range, SNR, AoA error, arrivals found, true paths, LOS share.
pub(super) fn distributions(split: &SplitPicture) -> String {
    let (panel_w, panel_h) = (300.0, 230.0);
    let title = format!("Distributions of split {} by board condition", split.name);
    let mut canvas = Canvas::new(3.0 * panel_w, 2.0 * panel_h + 24.0, Theme::Page, &title);
    type Chart = (&'static str, &'static str, fn(&Condition) -> &ChartHistogram, Option<f64>);
    let charts: [Chart; 5] = [
        ("TX-RX range", "range / m", |c| &c.range_m, None),
        ("raw SNR, strongest arrival", "raw SNR / dB", |c| &c.raw_snr_db, None),
        ("AoA error", "AoA error / deg", |c| &c.aoa_error_deg, None),
        ("arrivals found", "arrivals", |c| &c.found, Some(1.0)),
        ("true paths", "paths", |c| &c.paths, Some(1.0)),
    ];
    for (n, (title, label, values, step)) in charts.into_iter().enumerate() {
        let outer = [(n % 3) as f64 * panel_w, (n / 3) as f64 * panel_h, panel_w, panel_h];
        let [low, high] = values(&split.conditions[0]).range();
        let top = split.conditions.iter().map(|c| values(c).peak_percent()).fold(1.0, f64::max);
        let x = ChartAxis::new(label, low, high);
        let x = if let Some(step) = step { x.step(step) } else { x };
        let frame = Frame::within(outer, x, ChartAxis::new("share of rows / %", 0.0, 1.1 * top));
        frame.draw(&mut canvas, title);
        for (condition, (ink, dash, _)) in split.conditions.iter().zip(CONDITIONS) {
            histogram(&mut canvas, &frame, values(condition), Stroke::new(ink, 1.8).dash(dash), 0.12);
        }
        if split.conditions.iter().all(|c| values(c).total() == 0) {
            empty(&mut canvas, frame.area, "no data");
        }
    }
    los_share(&mut canvas, split, [2.0 * panel_w, panel_h, panel_w, panel_h]);
    let keys = CONDITIONS.map(|(ink, dash, name)| LegendKey { ink, dash, name });
    legend(&mut canvas, [54.0, 2.0 * panel_h + 14.0], 600.0, &keys);
    canvas.finish()
}

/// Share of rows whose direct path is free, a bar a condition.
fn los_share(canvas: &mut Canvas, split: &SplitPicture, outer: [f64; 4]) {
    let frame = Frame::within(
        outer,
        ChartAxis::new("", -0.5, 1.5).marked(vec![(0.0, "no board".into()), (1.0, "board".into())]),
        ChartAxis::new("LOS share / %", 0.0, 100.0),
    );
    frame.draw(canvas, "LOS share");
    for (n, (condition, (ink, dash, _))) in split.conditions.iter().zip(CONDITIONS).enumerate() {
        if condition.rows > 0 {
            let share = 100.0 * condition.los as f64 / condition.rows as f64;
            let (x, w) = (n as f64, 0.3);
            let corners = [[x - w, 0.0], [x - w, share], [x + w, share], [x + w, 0.0]].map(|p| frame.at(p));
            canvas.polygon(&corners, ink, 0.25, Stroke::new(ink, 1.8).dash(dash));
        }
    }
    if split.read == 0 {
        empty(canvas, frame.area, "no data");
    }
}
