//! The most likely point.

use nalgebra::{DMatrix, DVector};

use super::likelihood::{objective, prior_slope, slopes, totals};
use super::link::{Link, Physics};
use super::parameters::{COUNT, OFFSET_KEYS, Point, WIDTHS};

/// Most steps of a search.
const MAX_STEPS: usize = 200;
/// A search ends when a step gains less than this, nat.
const LEAST_GAIN: f64 = 1e-5;
/// Rows that the search for a beginning looks at.
const FIRST_ROWS: usize = 400;
/// Phases, levels (5 dB apart) and headings of the receiver that it tries.
const PHASES: i32 = 36;
const LEVELS: i32 = 13;
const HEADINGS: i32 = 24;
/// Place of the receiver's heading in a point.
const RX_HEADING: usize = 3;

/// The search for the point under which rows are most likely.
pub(super) struct Search<'a> {
    /// The rows.
    pub links: &'a [Link],
    /// What predicts them.
    pub physics: &'a Physics,
    /// Called with 1 after every step.
    pub progress: &'a dyn Fn(u64),
}

impl Search<'_> {
    /// Tries receivers' phases, levels and headings far and wide, with generous spreads, and returns the best.
    pub(super) fn beginning(&self, start: &Point, free: &[bool; COUNT]) -> Point {
        let mut best = self.phase_and_level((f64::NEG_INFINITY, *start), start, free);
        if !free[RX_HEADING] {
            return best.1;
        }
        // A heading that is reported otherwise, or elements that are swapped, are far from any other receiver.
        let straight = best.1;
        for step in 1..HEADINGS {
            let mut turned = straight;
            turned[RX_HEADING] = start[RX_HEADING] + half_turn(step, HEADINGS);
            best = self.best_phase(best, &turned, free);
            (self.progress)(1);
        }
        if best.1[RX_HEADING] == straight[RX_HEADING] {
            return best.1;
        }
        let turned = best.1;
        self.phase_and_level(best, &turned, free).1
    }

    /// The best of phases all around and levels up and down from a point, or what was better before.
    fn phase_and_level(&self, best: (f64, Point), from: &Point, free: &[bool; COUNT]) -> (f64, Point) {
        let levels = if free[0] { LEVELS } else { 1 };
        let at = |level: i32| {
            let mut point = *from;
            point[0] += 5.0 * (f64::from(level) - f64::from(levels / 2));
            point
        };
        (0..levels).fold(best, |best, level| {
            let best = self.best_phase(best, &at(level), free);
            (self.progress)(1);
            best
        })
    }

    /// The best of phases all around from a point, or what was better before.
    fn best_phase(&self, best: (f64, Point), from: &Point, free: &[bool; COUNT]) -> (f64, Point) {
        let some = &self.links[..self.links.len().min(FIRST_ROWS)];
        let at = |phase: i32| {
            let mut point = *from;
            point[1] += half_turn(phase, PHASES);
            point
        };
        let points: Vec<Point> = (0..if free[1] { PHASES } else { 1 }).map(at).collect();
        let values = totals(some, self.physics, &points);
        values.into_iter().zip(points).fold(best, |best, found| if found.0 > best.0 { found } else { best })
    }

    /// Climbs to the most likely point: steps by the rows' own slopes (their outer products stand for the curvature), shortened
    /// until they gain.
    pub(super) fn climb(&self, start: &Point, free: &[bool; COUNT]) -> Point {
        if !free.contains(&true) {
            return *start;
        }
        let Self { links, physics, progress } = *self;
        let (mut point, mut value) = (*start, objective(links, physics, start));
        let mut damping = 1e-3_f64;
        for _ in 0..MAX_STEPS {
            let rows = slopes(links, physics, &point, free);
            let (gradient, information) = sums(&rows, &point, free);
            let mut gained = 0.0;
            for _ in 0..12 {
                let mut damped = information.clone();
                for n in 0..damped.nrows() {
                    damped[(n, n)] *= 1.0 + damping;
                }
                let Some(step) = damped.lu().solve(&gradient) else { break };
                let mut moved = point;
                for (n, at) in (0..COUNT).filter(|n| free[*n]).enumerate() {
                    moved[at] =
                        limited(at, point[at] + step[n].clamp(-OFFSET_KEYS[at].longest, OFFSET_KEYS[at].longest));
                }
                let new = objective(links, physics, &moved);
                if new > value {
                    gained = new - value;
                    (point, value) = (moved, new);
                    damping = (damping * 0.3).max(1e-6);
                    break;
                }
                damping *= 4.0;
            }
            progress(1);
            if gained < LEAST_GAIN {
                break;
            }
        }
        point
    }
}

/// Step `n` of `steps` around the circle, degrees from -180 to 180.
fn half_turn(n: i32, steps: i32) -> f64 {
    let n = if n > steps / 2 { n - steps } else { n };
    360.0 / f64::from(steps) * f64::from(n)
}

/// Spreads that are no more than rounding, or larger than anything, help nobody.
fn limited(n: usize, value: f64) -> f64 {
    match n {
        _ if n == WIDTHS => value.clamp(libm::log(0.05), libm::log(120.0)),
        _ if n == WIDTHS + 1 => value.clamp(libm::log(0.05), libm::log(30.0)),
        _ if n == WIDTHS + 2 => value.clamp(-9.0, 4.0),
        _ => value,
    }
}

/// The sum of the rows' slopes, and of their outer products, over the free numbers.
pub(super) fn sums(rows: &[Point], point: &Point, free: &[bool; COUNT]) -> (DVector<f64>, DMatrix<f64>) {
    let places: Vec<usize> = (0..COUNT).filter(|n| free[*n]).collect();
    let prior = prior_slope(point);
    let gradient = |n: usize| rows.iter().map(|row| row[places[n]]).sum::<f64>() + prior[places[n]];
    let product = |a: usize, b: usize| {
        let own = if a == b { OFFSET_KEYS[places[a]].prior.powi(-2) } else { 0.0 };
        // Nothing is known of a number that no row depends on: it stays where it is.
        rows.iter().map(|row| row[places[a]] * row[places[b]]).sum::<f64>() + own + if a == b { 1e-12 } else { 0.0 }
    };
    (DVector::from_fn(places.len(), |n, _| gradient(n)), DMatrix::from_fn(places.len(), places.len(), product))
}
