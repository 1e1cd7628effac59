//! Slices of the joint posterior at fixed headings.

use magnetar_scene::wrap;

use super::caption::Caption;
use super::{FLOOR_DB, PosteriorPicture, decibels, peak};
use crate::chart::{ChartAxis, ColourBar, Frame, Grid, Marker, arrow, heatmap, marker};
use crate::colormap::viridis;
use crate::palette::{Ink, Theme};
use crate::plan::draw_room;
use crate::svg::{Anchor, Canvas, Stroke, TextStyle};
use crate::ticks::number;

/// Panels in a row.
const ACROSS: usize = 6;

/// One panel per heading bin, all in dB under the peak of the whole volume. With a known truth, the first panel is the
/// bin nearest its heading and the labels count from it.
#[must_use]
pub fn slices_figure(picture: &PosteriorPicture<'_>, theme: Theme) -> String {
    let size = picture.support.size();
    let [x0, x1, y0, y1] = picture.support.bounds();
    let (panel_w, gap) = (128.0, 12.0);
    let panel_h = (panel_w * (y1 - y0) / (x1 - x0)).clamp(60.0, 300.0);
    let down = size.headings.div_ceil(ACROSS);
    let width = 60.0 + ACROSS as f64 * (panel_w + gap) + 80.0;
    let caption = Caption { text: picture.caption, left: 60.0, width };
    let height = 60.0 + down as f64 * (panel_h + 26.0) + 46.0 + caption.extra_height();
    let mut canvas = Canvas::new(width, height, theme, &format!("Fixed-heading slices. {}", picture.caption));
    let top = peak(picture.volume.mass().iter().map(|m| f64::from(*m)));
    let plane = size.rows * size.columns;
    let first = picture.truth.map_or(0, |truth| nearest_bin(picture, truth.heading));
    let title = if picture.truth.is_some() { "heading relative to the true TX heading" } else { "TX heading" };
    canvas.text([60.0, 26.0], title, TextStyle::new(13.0, Ink::Text, Anchor::Start).bold());
    for n in 0..size.headings {
        let d = (first + n) % size.headings;
        let left = 60.0 + (n % ACROSS) as f64 * (panel_w + gap);
        let head = 60.0 + (n / ACROSS) as f64 * (panel_h + 26.0);
        let (x, y) = (ChartAxis::new("x / m", x0, x1), ChartAxis::new("y / m", y0, y1));
        let frame = Frame { area: [left, head, panel_w, panel_h], x, y };
        frame.draw_bare(&mut canvas);
        let mass = &picture.volume.mass()[d * plane..(d + 1) * plane];
        let db = decibels(mass.iter().map(|m| f64::from(*m)), top);
        let grid = Grid { values: &db, columns: size.columns, bounds: picture.support.bounds() };
        heatmap(&mut canvas, &frame, grid, [FLOOR_DB, 0.0], viridis);
        draw_room(&mut canvas, &frame, picture.room, picture.boxes);
        for rx in picture.rx {
            marker(&mut canvas, frame.at([rx.position.x, rx.position.y]), Marker::Rx, 4.5);
        }
        if let Some(truth) = picture.truth {
            marker(&mut canvas, frame.at([truth.position.x, truth.position.y]), Marker::Tx, 4.5);
        }
        if let Some(at) = dominant(picture, mass, top) {
            let at = frame.at(at);
            arrow(&mut canvas, at, picture.support.heading(d), 18.0, Stroke::new(Ink::Mode, 2.0));
            marker(&mut canvas, at, Marker::Mode, 4.5);
        }
        let shown = picture.truth.map_or(picture.support.heading(d), |_| wrap(n as f64 * bin_width(picture)));
        let sign = if picture.truth.is_some() { "\u{394}\u{3c6} = " } else { "\u{3c6} = " };
        let label = format!("{sign}{}\u{b0}", number(shown.to_degrees(), 0));
        canvas.text([left + panel_w / 2.0, head - 6.0], &label, TextStyle::new(11.0, Ink::Text, Anchor::Middle));
    }
    let bar = ColourBar { label: "mass under the volume's peak / dB", range: [FLOOR_DB, 0.0] };
    bar.draw(&mut canvas, [width - 76.0, 60.0, 14.0, (down as f64 * (panel_h + 26.0) - 26.0).min(420.0)], viridis);
    // The panels share one size, stated once.
    let span = format!(
        "each panel: x {} \u{2026} {} m, y {} \u{2026} {} m; diamond: mass centre of the dominant mode",
        number(x0, 2),
        number(x1, 2),
        number(y0, 2),
        number(y1, 2)
    );
    canvas.text([60.0, height - 32.0 - caption.extra_height()], &span, TextStyle::new(11.0, Ink::Text, Anchor::Start));
    caption.draw(&mut canvas, height, 14.0);
    canvas.finish()
}

fn bin_width(picture: &PosteriorPicture<'_>) -> f64 {
    std::f64::consts::TAU / picture.support.size().headings as f64
}

pub(super) fn nearest_bin(picture: &PosteriorPicture<'_>, heading: f64) -> usize {
    let distance = |d: &usize| wrap(picture.support.heading(*d) - heading).abs();
    (0..picture.support.size().headings).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
}

/// Mass centre of the cells around a slice's peak, unless the slice holds next to nothing.
fn dominant(picture: &PosteriorPicture<'_>, mass: &[f32], top: f64) -> Option<[f64; 2]> {
    let columns = picture.support.size().columns;
    let (best, m) = mass.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
    if 10.0 * (f64::from(*m) / top).log10() < FLOOR_DB {
        return None;
    }
    let (row, column) = (best / columns, best % columns);
    let (mut sum, mut x, mut y) = (0.0, 0.0, 0.0);
    for (n, m) in mass.iter().enumerate() {
        let (i, j) = (n / columns, n % columns);
        if i.abs_diff(row) <= 2 && j.abs_diff(column) <= 2 {
            let m = f64::from(*m);
            sum += m;
            x += m * picture.support.xs()[j];
            y += m * picture.support.ys()[i];
        }
    }
    Some([x / sum, y / sum])
}
