//! The plan view: a room from above, what stands in it, and the paths between TX and RX.

use magnetar_scene::{BoxShape, Pose, Room};
use magnetar_trace::{Path, Surface};

use crate::chart::{ChartAxis, Frame, LegendKey, Marker, arrow, legend, marker};
use crate::palette::{Ink, Theme, power_ink, surface_style};
use crate::simulator::LinkPath;
use crate::svg::{Anchor, Canvas, Stroke, TextStyle};

/// A path as a plan shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanPath {
    /// The surface it meets first; none for line of sight.
    pub surface: Option<Surface>,
    /// TX, points of interaction, RX: x and y in metres.
    pub points: Vec<[f64; 2]>,
    /// Power in dB relative to the strongest path (0 at most).
    pub relative_db: f64,
}

/// What a plan shows.
#[derive(Debug, Clone)]
pub struct FloorPlan<'a> {
    /// The room.
    pub room: &'a Room,
    /// What stands in it.
    pub boxes: &'a [BoxShape],
    /// The TX, if there is one.
    pub tx: Option<Pose>,
    /// The receivers.
    pub rx: &'a [Pose],
    /// The paths.
    pub paths: &'a [PlanPath],
}

/// What the colour of a path says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PathColour {
    /// The kind of surface it meets.
    #[default]
    Surface,
    /// Its power.
    Power,
}

/// Paths between two positions as a plan shows them. `power_db` gives each path's power in dB.
#[must_use]
pub fn plan_paths(tx: &Pose, rx: &Pose, paths: &[Path], power_db: &[f64]) -> Vec<PlanPath> {
    let strongest = power_db.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let flat = |p: &nalgebra::Point3<f64>| [p.x, p.y];
    let one = |(path, db): (&Path, &f64)| {
        let mut points = vec![flat(&tx.position)];
        points.extend(path.interactions().vertices().map(|v| flat(&v)));
        points.push(flat(&rx.position));
        PlanPath { surface: path.interactions().surfaces().next(), points, relative_db: db - strongest }
    };
    paths.iter().zip(power_db).map(one).collect()
}

/// Paths with antennas applied as a plan shows them.
#[must_use]
pub fn link_plan_paths(tx: &Pose, rx: &Pose, paths: &[LinkPath]) -> Vec<PlanPath> {
    let (traced, power): (Vec<Path>, Vec<f64>) = paths.iter().map(|p| (p.path, p.raw_snr_db)).unzip();
    plan_paths(tx, rx, &traced, &power)
}

/// The frame of a plan: both axes in metres at one scale.
#[must_use]
pub fn plan_frame(outer: [f64; 4], room: &Room) -> Frame {
    let air = 0.03 * (room.max.x - room.min.x).max(room.max.y - room.min.y);
    let axis = |label: &str, low: f64, high: f64| ChartAxis::new(label, low - air, high + air);
    Frame::equal(outer, axis("x / m", room.min.x, room.max.x), axis("y / m", room.min.y, room.max.y))
}

/// Draws a plan within `outer` (`[x, y, width, height]`, pixels).
pub fn draw_plan(canvas: &mut Canvas, frame: &Frame, plan: &FloorPlan<'_>, title: &str, colour: PathColour) {
    frame.draw(canvas, title);
    // A page lays a map of the floor under this.
    canvas.begin("data-room=\"\"");
    draw_room(canvas, frame, plan.room, plan.boxes);
    canvas.end();
    canvas.begin_clip(frame.area);
    // The strongest last, on top.
    let mut order: Vec<(usize, &PlanPath)> = plan.paths.iter().enumerate().collect();
    order.sort_by(|(_, a), (_, b)| a.relative_db.total_cmp(&b.relative_db));
    for (n, path) in order {
        // A page lights up what belongs together.
        canvas.begin(&format!("data-path=\"{n}\""));
        let (ink, dash, _) = surface_style(path.surface);
        let ink = if colour == PathColour::Power { power_ink(path.relative_db) } else { ink };
        let width = (2.6 + path.relative_db / 16.0).clamp(1.0, 2.6);
        canvas.polyline(path.points.iter().map(|p| frame.at(*p)), Stroke::new(ink, width).dash(dash));
        canvas.end();
    }
    canvas.end_clip();
    draw_devices(canvas, frame, plan.tx.as_ref(), plan.rx);
}

/// Draws the walls and boxes, without axes.
pub fn draw_room(canvas: &mut Canvas, frame: &Frame, room: &Room, boxes: &[BoxShape]) {
    let (a, b) = ([room.min.x, room.min.y], [room.max.x, room.max.y]);
    let corners = [a, [b[0], a[1]], b, [a[0], b[1]]].map(|p| frame.at(p));
    canvas.polygon(&corners, Ink::None, 1.0, Stroke::new(Ink::Wall, 2.0));
    for shape in boxes {
        let footprint = shape.footprint().map(|p| frame.at(p));
        // A thin board stays visible: its outline is at least two pixels wide.
        canvas.polygon(&footprint, Ink::Board, 0.55, Stroke::new(Ink::Board, 2.0));
    }
}

/// Draws the devices with their headings.
pub fn draw_devices(canvas: &mut Canvas, frame: &Frame, tx: Option<&Pose>, rx: &[Pose]) {
    let mut device = |pose: &Pose, ink: Ink, mark: Marker| {
        let at = frame.at([pose.position.x, pose.position.y]);
        arrow(canvas, at, pose.heading, 24.0, Stroke::new(Ink::Background, 5.0));
        arrow(canvas, at, pose.heading, 24.0, Stroke::new(ink, 2.4));
        marker(canvas, at, mark, 7.0);
    };
    for pose in rx {
        device(pose, Ink::Rx, Marker::Rx);
    }
    if let Some(pose) = tx {
        device(pose, Ink::Tx, Marker::Tx);
    }
}

/// Height that [`plan_legend`] takes, pixels.
pub(crate) fn plan_legend_height(width: f64, plan: &FloorPlan<'_>, colour: PathColour) -> f64 {
    plan_legend(&mut Canvas::new(1.0, 1.0, Theme::Page, ""), [0.0, 0.0], width, plan, colour)
}

/// Draws what the marks and lines of a plan mean, in rows of `width` pixels; returns its height.
pub fn plan_legend(canvas: &mut Canvas, [x, y]: [f64; 2], width: f64, plan: &FloorPlan<'_>, colour: PathColour) -> f64 {
    let style = TextStyle::new(11.0, Ink::Text, Anchor::Start);
    marker(canvas, [x + 8.0, y - 4.0], Marker::Tx, 5.5);
    canvas.text([x + 19.0, y], "TX", style);
    marker(canvas, [x + 52.0, y - 4.0], Marker::Rx, 5.5);
    canvas.text([x + 63.0, y], "RX", style);
    let mut keys: Vec<LegendKey<'_>> = Vec::new();
    for path in plan.paths {
        let (ink, dash, name) = surface_style(path.surface);
        if keys.iter().all(|key| key.name != name) {
            let ink = if colour == PathColour::Power { Ink::Text } else { ink };
            keys.push(LegendKey { ink, dash, name });
        }
    }
    if plan.paths.is_empty() {
        keys.push(LegendKey { ink: Ink::Wall, dash: "", name: "wall" });
    }
    if !plan.boxes.is_empty() && keys.iter().all(|key| key.name != "board") {
        keys.push(LegendKey { ink: Ink::Board, dash: "", name: "board" });
    }
    let power = ["0 dB (strongest)", "\u{2212}15 dB", "\u{2212}35 dB"];
    if colour == PathColour::Power && !plan.paths.is_empty() {
        for (db, name) in [0.0, -15.0, -35.0].into_iter().zip(power) {
            keys.push(LegendKey { ink: power_ink(db), dash: "", name });
        }
    }
    legend(canvas, [x + 92.0, y], width - 92.0, &keys)
}
