//! What candidates are sorted by: their place in the layout, or how well the direct path from them fits the strongest arrival.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use magnetar_dataset::{Recipe, Record};
use magnetar_posterior::{PosteriorError, Support, SupportSize, Target};
use magnetar_scene::{BoxShape, SPEED_OF_LIGHT, wrap};

use super::binned::BinnedRow;
use crate::{ReceiverView, truth};

/// Everything two questions share: candidates, what the receiver believes, the truth.
struct Candidates {
    view: ReceiverView,
    support: Support,
    truth: Target,
    valid: Vec<bool>,
}

impl Candidates {
    fn new(record: &Record, size: SupportSize) -> Result<Self, PosteriorError> {
        let view = ReceiverView::of(record);
        let support = view.support(size)?;
        let mask = support.mask(&view.rx);
        let truth = Target::evaluation(&support, &mask, &truth(record))?;
        let valid = (0..size.rows * size.columns).map(|cell| mask.is_valid(cell)).collect();
        Ok(Self { view, support, truth, valid })
    }

    /// Something of every cell, from its position.
    fn of_cells<T>(&self, of: impl Fn([f64; 2]) -> T) -> Vec<T> {
        let (xs, ys) = (self.support.xs(), self.support.ys());
        ys.iter().flat_map(|y| xs.iter().map(|x| of([*x, *y]))).collect()
    }

    /// One bin for every cell, from its position.
    fn cells(&self, bin: impl Fn([f64; 2]) -> usize) -> Vec<u16> {
        self.of_cells(|at| narrow(bin(at)))
    }

    /// One bin for every cell and, within it, heading, from something of the cell and the heading.
    fn poses<T>(&self, of: impl Fn([f64; 2]) -> T, bin: impl Fn(&T, f64) -> usize) -> Vec<u16> {
        let headings: Vec<f64> = (0..self.support.size().headings).map(|d| self.support.heading(d)).collect();
        let bins = |cell: T| headings.iter().map(|heading| narrow(bin(&cell, *heading))).collect::<Vec<_>>();
        self.of_cells(of).into_iter().flat_map(bins).collect()
    }

    /// From the RX to a point: distance and bearing.
    fn range_and_bearing(&self, [x, y]: [f64; 2]) -> (f64, f64) {
        let rx = &self.view.rx.position;
        (libm::hypot(x - rx.x, y - rx.y), libm::atan2(y - rx.y, x - rx.x))
    }

    fn row(self, cells: Vec<Vec<u16>>, poses: Vec<u16>) -> BinnedRow {
        BinnedRow { cells, poses, valid: self.valid, truth: self.truth.voxels }
    }
}

/// Sorts by layout and RX pose alone: distance from the RX and the walls, where the board stands on the way from the RX to
/// the candidate, and the heading relative to the way to the RX.
pub(super) fn layout_only(record: &Record, size: SupportSize) -> Result<BinnedRow, PosteriorError> {
    let c = Candidates::new(record, size)?;
    let room = c.view.layout.room;
    let range = c.cells(|at| steps(c.range_and_bearing(at).0, &[0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0]));
    let wall = c.cells(|[x, y]| {
        let nearest = (x - room.min.x).min(room.max.x - x).min(y - room.min.y).min(room.max.y - y);
        steps(nearest, &[0.2, 0.4, 0.8, 1.4, 2.0])
    });
    let rx = [c.view.rx.position.x, c.view.rx.position.y];
    let board = c.cells(|at| match c.view.layout.boxes.first() {
        None => 0,
        Some(shape) => 1 + board_bin(shape, rx, at),
    });
    let facing =
        c.poses(|at| c.range_and_bearing(at).1, |bearing, heading| part(wrap(heading - bearing - PI) + PI, TAU, 18));
    Ok(c.row(vec![range, wall, board], facing))
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
pub(super) fn direct_path(recipe: &Recipe, record: &Record, size: SupportSize) -> Result<BinnedRow, PosteriorError> {
    let c = Candidates::new(record, size)?;
    let rx = c.view.rx;
    let from = [rx.position.x, rx.position.y];
    let strongest = c.view.arrivals.found.first().copied();
    let turns = TAU * recipe.band.carrier_hz * recipe.array.spacing_m / SPEED_OF_LIGHT;
    let phase = c.cells(|at| {
        let Some(arrival) = strongest else { return 0 };
        let (_, bearing) = c.range_and_bearing(at);
        let mismatch = wrap(turns * libm::sin(bearing - rx.heading) - arrival.phase_rad).abs();
        let free = c.view.layout.planar_los(at, from);
        1 + 20 * usize::from(free) + part(mismatch, PI, 20)
    });
    let level = recipe.link.reference_snr_db + recipe.link.input_power_adjustment_db;
    let heard = |at| {
        let arrival = strongest?;
        let (range, bearing) = c.range_and_bearing(at);
        let over = arrival.raw_snr_db + 20.0 * libm::log10(range.max(0.05)) - level;
        let seen = wrap(bearing - rx.heading).abs();
        let free = usize::from(c.view.layout.planar_los(at, from));
        Some(((free * 18 + part(over + 42.0, 54.0, 18)) * 6 + part(seen, PI, 6), bearing))
    };
    let poses = c.poses(heard, |heard, heading| {
        let Some((of_cell, bearing)) = heard else { return 0 };
        1 + of_cell * 6 + part(wrap(heading - bearing - PI).abs(), PI, 6)
    });
    Ok(c.row(vec![phase], poses))
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
