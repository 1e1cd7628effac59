//! The XY marginal in dB with the field of conditional headings.

use super::caption::Caption;
use super::heading_modes::heading_modes;
use super::{FLOOR_DB, PosteriorPicture, decibels, peak};
use crate::chart::{ChartAxis, ColourBar, Frame, Grid, Marker, arrow, contours, heatmap, marker};
use crate::colormap::{Rgb, viridis};
use crate::palette::{Ink, Theme};
use crate::plan::draw_room;
use crate::svg::{Anchor, Canvas, Stroke, TextStyle};
use crate::ticks::number;

/// Contours of the paper's figure, dB under the peak.
const CONTOURS_DB: [f64; 6] = [-25.0, -20.0, -15.0, -10.0, -6.0, -3.0];

/// Arrows across the shorter side of the room.
const ARROWS: usize = 11;

/// The XY marginal of a posterior as one picture.
#[must_use]
pub fn marginal_figure(picture: &PosteriorPicture<'_>, theme: Theme) -> String {
    let caption = Caption { text: picture.caption, left: 16.0, width: 520.0 };
    let height = 662.0 + caption.extra_height();
    let mut canvas =
        Canvas::new(520.0, height, theme, &format!("XY marginal of the TX posterior. {}", picture.caption));
    draw_marginal(&mut canvas, [0.0, 0.0, 440.0, 600.0], picture, "p(x, y) and conditional heading");
    marginal_key(&mut canvas, [448.0, 600.0], picture);
    caption.draw(&mut canvas, height, 14.0);
    canvas.finish()
}

/// Draws the colour scale right of a marginal (from `x` on) and what its marks mean under it (from `y` on).
pub(crate) fn marginal_key(canvas: &mut Canvas, [x, y]: [f64; 2], picture: &PosteriorPicture<'_>) {
    let bar = ColourBar { label: "mass under the peak / dB", range: [FLOOR_DB, 0.0] };
    bar.draw(canvas, [x, 40.0, 14.0, (y - 130.0).max(60.0)], viridis);
    key(canvas, [16.0, y + 8.0], picture);
}

/// What the marks mean, in one row.
fn key(canvas: &mut Canvas, [x, y]: [f64; 2], picture: &PosteriorPicture<'_>) {
    let style = TextStyle::new(11.0, Ink::Text, Anchor::Start);
    let mut at = x;
    let mut entry = |canvas: &mut Canvas, mark: Marker, name: &str| {
        marker(canvas, [at + 8.0, y - 4.0], mark, 5.5);
        canvas.text([at + 19.0, y], name, style);
        at += 30.0 + 5.8 * name.chars().count() as f64;
    };
    if picture.truth.is_some() {
        entry(canvas, Marker::Tx, "true TX");
    }
    entry(canvas, Marker::Rx, "RX");
    let error = picture.truth.map(|truth| {
        let (x, y) = mode_xy(picture);
        (x - truth.position.x).hypot(y - truth.position.y)
    });
    let name = error.map_or("joint mode".into(), |e| format!("joint mode, {} m off", number(e, 2)));
    entry(canvas, Marker::Mode, &name);
    canvas.text([x, y + 17.0], "arrows: heading, two where it has two modes, none without", style);
}

fn mode_xy(picture: &PosteriorPicture<'_>) -> (f64, f64) {
    let (_, i, j) = picture.support.place(picture.volume.mode());
    (picture.support.xs()[j], picture.support.ys()[i])
}

/// Draws the marginal, its contours, the heading field, the room and the devices within `outer`; returns its frame.
pub fn draw_marginal(canvas: &mut Canvas, outer: [f64; 4], picture: &PosteriorPicture<'_>, title: &str) -> Frame {
    let [x0, x1, y0, y1] = picture.support.bounds();
    let frame = Frame::equal(outer, ChartAxis::new("x / m", x0, x1), ChartAxis::new("y / m", y0, y1));
    frame.draw(canvas, title);
    let marginal = picture.volume.position_marginal();
    let db = decibels(marginal.iter().copied(), peak(marginal.iter().copied()));
    let grid = Grid { values: &db, columns: picture.support.size().columns, bounds: picture.support.bounds() };
    heatmap(canvas, &frame, grid, [FLOOR_DB, 0.0], viridis);
    let pale = Stroke::new(Ink::Fixed(Rgb(255, 255, 255)), 0.9).opacity(0.55);
    contours(canvas, &frame, grid, &CONTOURS_DB, pale);
    heading_field(canvas, &frame, picture, &marginal, &db);
    draw_room(canvas, &frame, picture.room, picture.boxes);
    marks(canvas, &frame, picture);
    frame
}

/// The heading of cells here and there: an arrow where it has one mode, two where it has two, none where it has more or
/// none. Wide and opaque arrows are certain ones.
fn heading_field(canvas: &mut Canvas, frame: &Frame, picture: &PosteriorPicture<'_>, marginal: &[f64], db: &[f64]) {
    let size = picture.support.size();
    let block = (size.rows.min(size.columns) / ARROWS).max(1);
    let plane = size.rows * size.columns;
    canvas.begin_clip(frame.area);
    for i in (block / 2..size.rows).step_by(block) {
        for j in (block / 2..size.columns).step_by(block) {
            let cell = i * size.columns + j;
            if !(db[cell] > FLOOR_DB && marginal[cell] > 0.0) {
                continue;
            }
            let mass: Vec<f64> =
                (0..size.headings).map(|d| f64::from(picture.volume.mass()[d * plane + cell])).collect();
            let at = frame.at([picture.support.xs()[j], picture.support.ys()[i]]);
            let length = 0.8 * block as f64 * picture.support.spacing()[0] * frame.x_scale();
            let modes = heading_modes(&mass);
            for mode in &modes {
                let (sin, cos) = mode.heading.sin_cos();
                // One arrow lies about its cell, two begin in it.
                let back = if modes.len() == 1 { 0.5 * length } else { 0.0 };
                let reach = if modes.len() == 1 { length } else { 0.75 * length };
                let certain = mode.share * mode.concentration;
                let ink = Ink::Fixed(Rgb(255, 255, 255));
                let stroke = Stroke::new(ink, 0.5 + 1.5 * certain).opacity(0.25 + 0.75 * certain);
                let tail = [at[0] - back * cos, at[1] + back * sin];
                arrow(canvas, tail, mode.heading, reach, stroke);
            }
        }
    }
    canvas.end_clip();
}

fn marks(canvas: &mut Canvas, frame: &Frame, picture: &PosteriorPicture<'_>) {
    crate::plan::draw_devices(canvas, frame, picture.truth.as_ref(), picture.rx);
    let (x, y) = mode_xy(picture);
    let (d, ..) = picture.support.place(picture.volume.mode());
    let at = frame.at([x, y]);
    arrow(canvas, at, picture.support.heading(d), 20.0, Stroke::new(Ink::Mode, 2.2));
    marker(canvas, at, Marker::Mode, 5.5);
}
