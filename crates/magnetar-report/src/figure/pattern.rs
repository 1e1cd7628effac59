//! Antenna patterns as polar cuts.

use magnetar_scene::{AntennaPattern, Cut};

use crate::chart::{LegendKey, PolarCurve, legend, polar};
use crate::palette::{Ink, Theme};
use crate::svg::{Anchor, Canvas, Stroke, TextStyle};
use crate::ticks::number;

/// Range of the gain axis, dB under the peak.
const SPAN_DB: f64 = 40.0;

/// The azimuth and elevation cuts of a pattern, in dBi, with its key figures.
#[must_use]
pub fn pattern_figure(pattern: &AntennaPattern, theme: Theme) -> String {
    let (width, height) = (760.0, 460.0);
    let info = pattern.info();
    let mut canvas = Canvas::new(width, height, theme, &format!("Antenna pattern {}", info.name));
    let top = (pattern.peak_gain_db() / 5.0).ceil() * 5.0;
    let top = if top.is_finite() { top } else { 0.0 };
    let cuts = [
        (Cut::Azimuth, "azimuth cut (elevation 0\u{b0}), gain / dBi", Ink::Rx, ""),
        (Cut::Elevation, "elevation cut (azimuth 0\u{b0}), gain / dBi", Ink::Tx, "7 3"),
    ];
    for (n, (cut, title, ink, dash)) in cuts.into_iter().enumerate() {
        let points: Vec<(f64, f64)> = (-180..=180)
            .map(|deg| f64::from(deg).to_radians())
            .map(|angle| (angle, pattern.cut_gain_db(cut, angle)))
            .collect();
        let curve = PolarCurve { points: &points, stroke: Stroke::new(ink, 2.2).dash(dash) };
        polar(&mut canvas, [n as f64 * 380.0, 34.0, 380.0, 360.0], title, [top - SPAN_DB, top], &[curve]);
    }
    let synthetic = if info.synthetic { " (synthetic)" } else { "" };
    let title = format!("{}{synthetic}", info.name);
    canvas.text([width / 2.0, 22.0], &title, TextStyle::new(14.0, Ink::Text, Anchor::Middle).bold());
    let width_deg = |cut| pattern.half_power_width(cut).map_or(f64::NAN, f64::to_degrees);
    let facts = format!(
        "peak {} dBi; half-power width {}\u{b0} in azimuth, {}\u{b0} in elevation; front-to-back {} dB; mean over the sphere {} dBi",
        number(pattern.peak_gain_db(), 1),
        number(width_deg(Cut::Azimuth), 0),
        number(width_deg(Cut::Elevation), 0),
        number(pattern.front_to_back_db(), 1),
        number(pattern.mean_gain_db(), 1),
    );
    let keys = [
        LegendKey { ink: Ink::Rx, dash: "", name: "azimuth, counter-clockwise from boresight" },
        LegendKey { ink: Ink::Tx, dash: "7 3", name: "elevation, upwards from boresight" },
    ];
    legend(&mut canvas, [24.0, 416.0], width - 40.0, &keys);
    canvas.text([24.0, 434.0], &facts, TextStyle::new(11.0, Ink::Text, Anchor::Start));
    canvas.text([24.0, 451.0], &format!("source: {}", info.source), TextStyle::new(11.0, Ink::Muted, Anchor::Start));
    canvas.finish()
}
