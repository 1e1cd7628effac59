//! What candidates are sorted by: their place in the layout, or how well the direct path from them fits the strongest arrival.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use magnetar_dataset::{Recipe, Record};
use magnetar_posterior::{PosteriorError, SupportSize, Target};
use magnetar_scene::{BoxShape, SPEED_OF_LIGHT, wrap};

use super::binned::BinnedRow;
use crate::{ReceiverView, truth};

/// Everything two questions share: candidates, what the receiver believes, the truth.
struct Candidates {
    view: ReceiverView,
    truth: Target,
    valid: Vec<bool>,
    cells: Vec<Cell>,
    headings: usize,
    first_heading: f64,
}

/// Where a candidate stands.
#[derive(Clone, Copy)]
struct Cell {
    at: [f64; 2],
    /// From the RX to it: distance and bearing.
    range: f64,
    bearing: f64,
}

impl Candidates {
    fn new(record: &Record, size: SupportSize) -> Result<Self, PosteriorError> {
        let view = ReceiverView::of(record);
        let support = view.support(size)?;
        let mask = support.mask(&view.rx);
        let truth = Target::evaluation(&support, &mask, &truth(record))?;
        let valid = (0..size.rows * size.columns).map(|cell| mask.is_valid(cell)).collect();
        let rx = &view.rx.position;
        let cell = |x: f64, y: f64| {
            let (dx, dy) = (x - rx.x, y - rx.y);
            Cell { at: [x, y], range: libm::hypot(dx, dy), bearing: libm::atan2(dy, dx) }
        };
        let mut cells = Vec::with_capacity(size.rows * size.columns);
        for y in support.ys() {
            cells.extend(support.xs().iter().map(|x| cell(*x, *y)));
        }
        let first_heading = support.heading(0);
        Ok(Self { view, truth, valid, cells, headings: size.headings, first_heading })
    }

    /// One bin for every cell.
    fn cells(&self, bin: impl Fn(&Cell) -> usize) -> Vec<u16> {
        self.cells.iter().map(|cell| narrow(bin(cell))).collect()
    }

    /// One bin for every cell and, within it, heading, from something of the cell and the heading against the way from there to
    /// the RX, in [-pi, pi).
    fn poses<T>(&self, of: impl Fn(&Cell) -> T, bin: impl Fn(&T, f64) -> usize) -> Vec<u16> {
        let step = TAU / self.headings as f64;
        let mut bins = Vec::with_capacity(self.cells.len() * self.headings);
        for cell in &self.cells {
            let (of_cell, first) = (of(cell), wrap(self.first_heading - cell.bearing - PI));
            bins.extend((0..self.headings).map(|d| {
                let facing = first + d as f64 * step;
                narrow(bin(&of_cell, if facing < PI { facing } else { facing - TAU }))
            }));
        }
        bins
    }

    fn row(&self, cells: Vec<Vec<u16>>, poses: &[u16]) -> BinnedRow {
        BinnedRow::new(cells, poses, self.valid.clone(), &self.truth.voxels)
    }
}

/// A row's candidates, sorted for both questions: by layout and RX pose alone, and by the direct path.
pub(super) fn sorted(recipe: &Recipe, record: &Record, size: SupportSize) -> Result<[BinnedRow; 2], PosteriorError> {
    let candidates = Candidates::new(record, size)?;
    Ok([layout_only(&candidates), direct_path(recipe, &candidates)])
}

/// Sorts by layout and RX pose alone: distance from the RX and the walls, where the board stands on the way from the RX to
/// the candidate, and the heading relative to the way to the RX.
fn layout_only(c: &Candidates) -> BinnedRow {
    let room = c.view.layout.room;
    let range = c.cells(|cell| steps(cell.range, &[0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0]));
    let wall = c.cells(|Cell { at: [x, y], .. }| {
        let nearest = (x - room.min.x).min(room.max.x - x).min(y - room.min.y).min(room.max.y - y);
        steps(nearest, &[0.2, 0.4, 0.8, 1.4, 2.0])
    });
    let rx = [c.view.rx.position.x, c.view.rx.position.y];
    let board = c.cells(|cell| match c.view.layout.boxes.first() {
        None => 0,
        Some(shape) => 1 + board_bin(shape, rx, cell.at),
    });
    let facing = c.poses(|_| (), |(), facing| part(facing + PI, TAU, 18));
    c.row(vec![range, wall, board], &facing)
}

/// Where a board stands relative to the link from the RX to a candidate.
fn board_bin(shape: &BoxShape, rx: [f64; 2], at: [f64; 2]) -> usize {
    let (link, to) = ([at[0] - rx[0], at[1] - rx[1]], [shape.center.x - rx[0], shape.center.y - rx[1]]);
    let length = libm::hypot(link[0], link[1]).max(1e-6);
    let along = (link[0] * to[0] + link[1] * to[1]) / length;
    let aside = (link[0] * to[1] - link[1] * to[0]).abs() / length;
    let face = wrap(2.0 * (libm::atan2(link[1], link[0]) - shape.yaw)).abs() / 2.0;
    // Behind the RX and behind the candidate distances count, in between the fraction of the link.
    let place = if along < 0.0 {
        steps(-along, &[0.3, 1.0, 2.0])
    } else if along > length {
        4 + steps(along - length, &[0.3, 1.0, 2.0])
    } else {
        8 + steps(along / length, &[0.2, 0.5, 0.8])
    };
    (place * 5 + steps(aside, &[0.15, 0.3, 1.0, 2.0])) * 9 + part(face, FRAC_PI_2, 9)
}

/// Sorts by how well the direct path explains the strongest arrival: its inter-element phase, its level over the free-space
/// one, and the directions that both antennas would see it in.
fn direct_path(recipe: &Recipe, c: &Candidates) -> BinnedRow {
    let rx = c.view.rx;
    let from = [rx.position.x, rx.position.y];
    let strongest = c.view.arrivals.found.first().copied();
    let turns = TAU * recipe.band.carrier_hz * recipe.array.spacing_m / SPEED_OF_LIGHT;
    let free = c.cells(|cell| usize::from(c.view.layout.planar_los(cell.at, from)));
    let mut phase = c.cells(|cell| {
        let Some(arrival) = strongest else { return 0 };
        let mismatch = wrap(turns * libm::sin(cell.bearing - rx.heading) - arrival.phase_rad).abs();
        1 + part(mismatch, PI, 20)
    });
    let level = recipe.link.reference_snr_db + recipe.link.input_power_adjustment_db;
    let mut poses = c.poses(
        |cell| {
            let over = strongest?.raw_snr_db + 20.0 * libm::log10(cell.range.max(0.05)) - level;
            let seen = wrap(cell.bearing - rx.heading).abs();
            Some(part(over + 42.0, 54.0, 18) * 6 + part(seen, PI, 6))
        },
        |heard, facing| heard.map_or(0, |of_cell| 1 + of_cell * 6 + part(facing.abs(), PI, 6)),
    );
    if strongest.is_some() {
        // Where the way is free, bins of their own.
        for ((phase, poses), free) in phase.iter_mut().zip(poses.chunks_exact_mut(c.headings)).zip(free) {
            *phase += 20 * free;
            poses.iter_mut().for_each(|bin| *bin += 18 * 6 * 6 * free);
        }
    }
    c.row(vec![phase], &poses)
}

/// How many of the ascending limits a value reaches.
fn steps(value: f64, limits: &[f64]) -> usize {
    limits.iter().filter(|limit| value >= **limit).count()
}

/// Which of `count` equal parts of 0 to `whole` a value lies in; what lies outside belongs to the nearest.
fn part(value: f64, whole: f64, count: usize) -> usize {
    let at = value / whole * count as f64;
    if at > 0.0 { (at as usize).min(count - 1) } else { 0 }
}

/// Bins are few.
fn narrow(bin: usize) -> u16 {
    u16::try_from(bin).unwrap_or(u16::MAX)
}
