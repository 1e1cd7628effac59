//! Early and late fusion side by side, and where they differ.

use magnetar_posterior::Fused;

use super::caption::Caption;
use super::{FLOOR_DB, PosteriorPicture, decibels, hpd_threshold, peak};
use crate::chart::{ChartAxis, ColourBar, Frame, Grid, LegendKey, Marker, contours, heatmap, legend, marker};
use crate::colormap::{Rgb, contrast, viridis};
use crate::palette::{Ink, Theme};
use crate::plan::{draw_devices, draw_room};
use crate::svg::{Anchor, Canvas, Stroke, TextStyle};

/// Early, late and their contrast (late - early) / (late + early). `picture.volume` is not shown; its support and the
/// receivers are.
#[must_use]
pub fn fusion_figure(picture: &PosteriorPicture<'_>, fused: &Fused, theme: Theme) -> String {
    let width = 1040.0;
    let caption = Caption { text: picture.caption, left: 24.0, width };
    let height = 536.0 + caption.extra_height();
    let mut canvas = Canvas::new(width, height, theme, &format!("Early and late fusion. {}", picture.caption));
    let views = picture.rx.len();
    let titles = [format!("early, N = {views}"), format!("late, N = {views}"), "contrast".to_owned()];
    let columns = picture.support.size().columns;
    let bounds = picture.support.bounds();
    let [x0, x1, y0, y1] = bounds;
    let dark = Ink::Fixed(Rgb(20, 20, 20));
    for (n, title) in titles.iter().enumerate() {
        let outer = [n as f64 * 300.0 + if n == 2 { 70.0 } else { 0.0 }, 0.0, 300.0, 470.0];
        let frame = Frame::equal(outer, ChartAxis::new("x / m", x0, x1), ChartAxis::new("y / m", y0, y1));
        frame.draw(&mut canvas, title);
        let ink = if n == 2 { dark } else { Ink::Fixed(Rgb(255, 255, 255)) };
        if n < 2 {
            let values = if n == 0 { &fused.early } else { &fused.late };
            let db = decibels(values.iter().copied(), peak(values.iter().copied()));
            let grid = Grid { values: &db, columns, bounds };
            heatmap(&mut canvas, &frame, grid, [FLOOR_DB, 0.0], viridis);
            for (mass, dash) in [(0.5, ""), (0.9, "4 2.5")] {
                let level = 10.0 * (hpd_threshold(values, mass) / peak(values.iter().copied())).log10();
                // Just under the threshold's own cell, so that the contour holds it.
                contours(&mut canvas, &frame, grid, &[level - 1e-6], Stroke::new(ink, 1.5).dash(dash));
            }
        } else {
            let top = peak(fused.early.iter().chain(&fused.late).copied());
            let values: Vec<f64> =
                fused.early.iter().zip(&fused.late).map(|(e, l)| shown_contrast(*e, *l, top)).collect();
            heatmap(&mut canvas, &frame, Grid { values: &values, columns, bounds }, [-1.0, 1.0], |t| {
                contrast(2.0 * t - 1.0)
            });
        }
        draw_room(&mut canvas, &frame, picture.room, picture.boxes);
        draw_devices(&mut canvas, &frame, picture.truth.as_ref(), picture.rx);
    }
    ColourBar { label: "mass under the peak / dB", range: [FLOOR_DB, 0.0] }.draw(
        &mut canvas,
        [604.0, 60.0, 12.0, 340.0],
        viridis,
    );
    let bar = ColourBar { label: "early (\u{2212}1)   late (+1)", range: [-1.0, 1.0] };
    bar.draw(&mut canvas, [974.0, 60.0, 12.0, 340.0], |t| contrast(2.0 * t - 1.0));
    key(&mut canvas, [24.0, 490.0], picture);
    caption.draw(&mut canvas, height, 12.0);
    canvas.finish()
}

/// What marks, lines and colours mean.
fn key(canvas: &mut Canvas, [x, y]: [f64; 2], picture: &PosteriorPicture<'_>) {
    let style = TextStyle::new(11.0, Ink::Text, Anchor::Start);
    let mut at = x;
    let views = format!("RX ({} views)", picture.rx.len());
    for (mark, name) in [(Marker::Tx, "true TX"), (Marker::Rx, views.as_str())] {
        if mark == Marker::Tx && picture.truth.is_none() {
            continue;
        }
        marker(canvas, [at + 8.0, y - 4.0], mark, 5.5);
        canvas.text([at + 19.0, y], name, style);
        at += 30.0 + 6.0 * name.chars().count() as f64;
    }
    let keys = [
        LegendKey { ink: Ink::Text, dash: "", name: "50 % HPD set" },
        LegendKey { ink: Ink::Text, dash: "4 2.5", name: "90 % HPD set" },
        LegendKey { ink: Ink::Wall, dash: "", name: "walls" },
        LegendKey { ink: Ink::Board, dash: "", name: "boards" },
    ];
    let shown = if picture.boxes.is_empty() { 3 } else { 4 };
    legend(canvas, [at, y], 640.0, &keys[..shown]);
    let contrast = "contrast = (late \u{2212} early) / (late + early): blue where late fusion has more, blank where both are 40 dB under the peak";
    canvas.text([x, y + 17.0], contrast, style);
}

/// The contrast of a cell, blank where neither order puts any mass worth a colour.
fn shown_contrast(early: f64, late: f64, top: f64) -> f64 {
    if early.max(late) < 1e-4 * top { f64::NAN } else { (late - early) / (late + early) }
}
