//! The joint volume's HPD sets: position across, heading upwards.

use super::caption::Caption;
use super::{PosteriorPicture, hpd_threshold};
use crate::colormap::{Rgb, viridis};
use crate::palette::{Ink, Theme};
use crate::svg::{Anchor, Canvas, Stroke, TextStyle};
use crate::ticks::{every, labels, nice};

/// Opacity of a face of the 90 % set.
const PALE: f64 = 0.07;

/// Which HPD set a voxel belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Set {
    Outside,
    /// Between the 50 % and the 90 % set.
    Pale,
    /// In the 50 % set, with its mass bin (0 to 3).
    Inner(u8),
}

/// A parallel projection of (x, y, heading) onto the page.
pub(super) struct View {
    bounds: [f64; 4],
    origin: [f64; 2],
    scale: f64,
    lift: f64,
}

impl View {
    /// That fits a rectangle `[x, y, width, height]` of the page.
    pub(super) fn fitting([left, top, width, height]: [f64; 4], bounds: [f64; 4]) -> Self {
        let (u, v) = (bounds[1] - bounds[0], bounds[3] - bounds[2]);
        let lift = 0.45 * height;
        let scale = (width / (0.87 * u + 0.62 * v)).min((height - lift) / (0.35 * u + 0.42 * v));
        let aside = (width - scale * (0.87 * u + 0.62 * v)) / 2.0;
        Self { bounds, origin: [left + aside, top + lift + scale * 0.42 * v], scale, lift }
    }

    /// `h` is the heading as a part of the full turn, 0 to 1.
    pub(super) fn at(&self, x: f64, y: f64, h: f64) -> [f64; 2] {
        let (u, v) = (x - self.bounds[0], y - self.bounds[2]);
        [
            self.origin[0] + self.scale * (0.87 * u + 0.62 * v),
            self.origin[1] + self.scale * (0.35 * u - 0.42 * v) - self.lift * h,
        ]
    }
}

/// Draws the voxels of the 50 % HPD set (by mass, brighter is more) inside the 90 % set (pale), seen from above and in front.
/// With a known truth, the plane of its heading and its position are marked.
#[must_use]
pub fn volume_figure(picture: &PosteriorPicture<'_>, theme: Theme) -> String {
    let width = 640.0;
    let caption = Caption { text: picture.caption, left: 24.0, width };
    let height = 640.0 + caption.extra_height();
    let mut canvas =
        Canvas::new(width, height, theme, &format!("HPD sets of the joint posterior. {}", picture.caption));
    let bounds = picture.support.bounds();
    let (u, v) = (bounds[1] - bounds[0], bounds[3] - bounds[2]);
    let lift = 260.0;
    let scale = (470.0 / (0.87 * u + 0.62 * v)).min(210.0 / (0.35 * u + 0.42 * v).max(1e-9) * 1.25);
    let bottom = 330.0 + scale * (0.42 * v);
    let view = View { bounds, origin: [90.0, bottom.min(530.0)], scale, lift };
    floor_and_axes(&mut canvas, &view);
    voxels(&mut canvas, &view, picture, 0);
    if let Some(truth) = picture.truth {
        let h = truth.heading.rem_euclid(std::f64::consts::TAU) / std::f64::consts::TAU;
        mark_truth(&mut canvas, &view, [truth.position.x, truth.position.y, h], 6.5);
    }
    let style = TextStyle::new(11.0, Ink::Text, Anchor::Start);
    canvas.text([24.0, 26.0], "Joint posterior: HPD sets", TextStyle::new(13.0, Ink::Text, Anchor::Start).bold());
    key(&mut canvas, [24.0, 40.0]);
    if picture.truth.is_some() {
        let mark = "dashed plane and triangle: true TX heading and position";
        canvas.text([24.0, 608.0], mark, style);
    }
    caption.draw(&mut canvas, height, 14.0);
    canvas.finish()
}

/// The plane of the true heading (`h`, a part of the turn) and the true position.
pub(super) fn mark_truth(canvas: &mut Canvas, view: &View, [x, y, h]: [f64; 3], radius: f64) {
    let [x0, x1, y0, y1] = view.bounds;
    let plane = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]].map(|[x, y]| view.at(x, y, h));
    canvas.polygon(&plane, Ink::Tx, 0.08, Stroke::new(Ink::Tx, 1.4).dash("6 3"));
    let (low, at) = (view.at(x, y, 0.0), view.at(x, y, h));
    canvas.line(low, at, Stroke::new(Ink::Tx, 1.2).dash("2 3"));
    crate::chart::marker(canvas, at, crate::chart::Marker::Tx, radius);
}

/// What the colours mean, a line each from a point on.
pub(super) fn key(canvas: &mut Canvas, [left, first]: [f64; 2]) {
    let style = TextStyle::new(11.0, Ink::Text, Anchor::Start);
    let names = [
        "90 % set",
        "50 % set: up to 1/8 of the peak mass",
        "50 % set: 1/8 to 1/4",
        "50 % set: 1/4 to 1/2",
        "50 % set: above 1/2",
    ];
    for (n, name) in names.into_iter().enumerate() {
        let set = if n == 0 { Set::Pale } else { Set::Inner(n as u8 - 1) };
        let top = first + 15.0 * n as f64;
        let corners = [[left, top], [left + 14.0, top], [left + 14.0, top + 13.0], [left, top + 13.0]];
        // The pale set is seen through several faces.
        let opacity = if n == 0 { 2.5 * PALE } else { 1.0 };
        canvas.polygon(&corners, fill(set, 1.0), opacity, Stroke::new(Ink::Muted, 0.8));
        canvas.text([left + 20.0, top + 11.0], name, style);
    }
}

/// The colour of a face; `shade` darkens those turned away from the light.
fn fill(set: Set, shade: f64) -> Ink {
    let dimmed = |t: f64| {
        let Rgb(r, g, b) = viridis(t);
        let [r, g, b] = [r, g, b].map(|c| (f64::from(c) * shade).round() as u8);
        Ink::Fixed(Rgb(r, g, b))
    };
    match set {
        Set::Outside => Ink::None,
        Set::Pale => Ink::Muted,
        // More mass is brighter, as in the marginal.
        Set::Inner(bin) => dimmed(0.1 + 0.29 * f64::from(bin)),
    }
}

fn floor_and_axes(canvas: &mut Canvas, view: &View) {
    let [x0, x1, y0, y1] = view.bounds;
    let thin = Stroke::new(Ink::Grid, 1.0);
    let tick = TextStyle::new(11.0, Ink::Muted, Anchor::Middle);
    let label = TextStyle::new(12.0, Ink::Text, Anchor::Middle);
    let floor = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]].map(|[x, y]| view.at(x, y, 0.0));
    canvas.polygon(&floor, Ink::Panel, 1.0, Stroke::new(Ink::Muted, 1.0));
    let xs = nice(x0, x1, 5);
    for (x, text) in xs.iter().zip(labels(&xs)) {
        canvas.line(view.at(*x, y0, 0.0), view.at(*x, y1, 0.0), thin);
        let [px, py] = view.at(*x, y0, 0.0);
        canvas.text([px - 6.0, py + 15.0], &text, tick);
    }
    let ys = nice(y0, y1, 6);
    for (y, text) in ys.iter().zip(labels(&ys)) {
        canvas.line(view.at(x0, *y, 0.0), view.at(x1, *y, 0.0), thin);
        let [px, py] = view.at(x1, *y, 0.0);
        canvas.text([px + 14.0, py + 10.0], &text, tick);
    }
    let hs = every(0.0, 360.0, 90.0);
    for (h, text) in hs.iter().zip(labels(&hs)) {
        let (a, b, c) = (view.at(x0, y0, h / 360.0), view.at(x0, y1, h / 360.0), view.at(x1, y1, h / 360.0));
        canvas.polyline([a, b, c], thin);
        canvas.text([a[0] - 8.0, a[1] + 4.0], &text, TextStyle { anchor: Anchor::End, ..tick });
    }
    for [x, y] in [[x0, y0], [x0, y1], [x1, y1]] {
        canvas.line(view.at(x, y, 0.0), view.at(x, y, 1.0), Stroke::new(Ink::Muted, 1.0));
    }
    let middle = |a: [f64; 2], b: [f64; 2]| [(a[0] + b[0]) / 2.0, (a[1] + b[1]) / 2.0];
    let [mx, my] = middle(view.at(x0, y0, 0.0), view.at(x1, y0, 0.0));
    canvas.text([mx - 16.0, my + 36.0], "x / m", label);
    let [mx, my] = middle(view.at(x1, y0, 0.0), view.at(x1, y1, 0.0));
    canvas.text([mx + 34.0, my + 26.0], "y / m", label);
    let [hx, hy] = view.at(x0, y0, 0.5);
    canvas.text([hx - 44.0, hy], "TX heading / deg", label.upright());
}

/// Paints the visible faces of the voxels, the far ones first; `lowest` is the heading bin at the bottom.
pub(super) fn voxels(canvas: &mut Canvas, view: &View, picture: &PosteriorPicture<'_>, lowest: usize) {
    let size = picture.support.size();
    let mass: Vec<f64> = picture.volume.mass().iter().map(|m| f64::from(*m)).collect();
    let (half, most) = (hpd_threshold(&mass, 0.5), hpd_threshold(&mass, 0.9));
    let top = super::peak(mass.iter().copied());
    let set = |d: usize, i: usize, j: usize| {
        let m = mass[picture.support.index((d + lowest) % size.headings, i, j)];
        if m >= half {
            // Mass bins of a factor two under the peak.
            Set::Inner(3 - ((top / m).log2().clamp(0.0, 3.0) as u8))
        } else if m >= most {
            Set::Pale
        } else {
            Set::Outside
        }
    };
    let ([x0, _, y0, _], [dx, dy]) = (picture.support.bounds(), picture.support.spacing());
    let dh = 1.0 / size.headings as f64;
    // Seen from small y and large x, from above: far is large y, then small x, then low heading.
    for i in (0..size.rows).rev() {
        for j in 0..size.columns {
            for d in 0..size.headings {
                let this = set(d, i, j);
                if this == Set::Outside {
                    continue;
                }
                let opacity = if this == Set::Pale { PALE } else { 1.0 };
                let (x, y, h) = (x0 + j as f64 * dx, y0 + i as f64 * dy, d as f64 * dh);
                let edge = if this == Set::Pale { Ink::None } else { Ink::Text };
                let edge = Stroke::new(edge, 0.3).opacity(0.5);
                let hides = |neighbour: Set| neighbour == this || (this == Set::Pale && neighbour != Set::Outside);
                let mut face = |visible: bool, corners: [[f64; 3]; 4], shade: f64| {
                    if visible {
                        let points = corners.map(|[a, b, c]| view.at(x + a * dx, y + b * dy, h + c * dh));
                        canvas.polygon(&points, fill(this, shade), opacity, edge);
                    }
                };
                let front = i == 0 || !hides(set(d, i - 1, j));
                face(front, [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 1.0], [0.0, 0.0, 1.0]], 0.85);
                let right = j + 1 == size.columns || !hides(set(d, i, j + 1));
                face(right, [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [1.0, 0.0, 1.0]], 0.7);
                let roof = d + 1 == size.headings || !hides(set(d + 1, i, j));
                face(roof, [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]], 1.0);
            }
        }
    }
}
