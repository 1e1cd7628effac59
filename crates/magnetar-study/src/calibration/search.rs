//! The most likely point, and how surely it is known.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};

use super::likelihood::{objective, prior_slope, slopes};
use super::link::{Link, Physics};
use super::parameters::{COUNT, OFFSET_KEYS, Point, WIDTHS};

/// Most steps of a search.
const MAX_STEPS: usize = 200;
/// A search ends when a step gains less than this, nat.
const LEAST_GAIN: f64 = 1e-5;
/// Rows that the search for a beginning looks at.
const FIRST_ROWS: usize = 400;

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
    /// Tries receivers' phases and levels far and wide, with generous spreads, and returns the best.
    pub(super) fn beginning(&self, start: &Point, free: &[bool; COUNT]) -> Point {
        let some = &self.links[..self.links.len().min(FIRST_ROWS)];
        let phases = if free[1] { 36 } else { 1 };
        let levels = if free[0] { 13 } else { 1 };
        let mut best = (f64::NEG_INFINITY, *start);
        for phase in 0..phases {
            for level in 0..levels {
                let mut point = *start;
                point[1] +=
                    10.0 * if phase > phases / 2 { f64::from(phase) - f64::from(phases) } else { f64::from(phase) };
                point[0] += 5.0 * (f64::from(level) - f64::from(levels / 2));
                let value = objective(some, self.physics, &point);
                if value > best.0 {
                    best = (value, point);
                }
            }
            (self.progress)(1);
        }
        best.1
    }

    /// Climbs to the most likely point: steps by the rows' own slopes (their outer products stand for the curvature), shortened
    /// until they gain.
    pub(super) fn climb(&self, start: &Point, free: &[bool; COUNT]) -> Point {
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

    /// Standard errors at the most likely point: the curvature's inverse on both sides of what groups of rows that share one
    /// state of the receiver contribute; `None` where the rows do not say.
    pub(super) fn standard_errors(&self, point: &Point, free: &[bool; COUNT]) -> [Option<f64>; COUNT] {
        let Self { links, physics, progress } = *self;
        let places: Vec<usize> = (0..COUNT).filter(|n| free[*n]).collect();
        let gradient = |at: &Point| sums(&slopes(links, physics, at, free), at, free).0;
        let mut curvature = DMatrix::zeros(places.len(), places.len());
        for (column, n) in places.iter().enumerate() {
            let step = 2.0 * OFFSET_KEYS[*n].step;
            let [above, below] = [step, -step].map(|by| {
                let mut moved = *point;
                moved[*n] += by;
                gradient(&moved)
            });
            curvature.set_column(column, &((below - above) / (2.0 * step)));
            progress(1);
        }
        let curvature = (&curvature + curvature.transpose()) * 0.5;
        let rows = slopes(links, physics, point, free);
        let mut groups: BTreeMap<u64, DVector<f64>> = BTreeMap::new();
        for (link, row) in links.iter().zip(&rows) {
            let own = DVector::from_fn(places.len(), |n, _| row[places[n]]);
            *groups.entry(link.group).or_insert_with(|| DVector::zeros(places.len())) += own;
        }
        // Few groups say little of their spread: then rows stand for themselves.
        let information = sums(&rows, point, free).1;
        let mut spread = DMatrix::zeros(places.len(), places.len());
        if groups.len() >= 4 * places.len() {
            groups.values().for_each(|group| spread += group * group.transpose());
            spread *= groups.len() as f64 / (groups.len() - 1) as f64;
        } else {
            spread.copy_from(&information);
        }
        let mut errors = [None; COUNT];
        // Where paths change places the curvature by differences may be none of a summit: the slopes' products stand for it.
        let inverse = curvature.cholesky().or_else(|| information.cholesky()).map(|c| c.inverse());
        let Some(inverse) = inverse else { return errors };
        let covariance = &inverse * spread * &inverse;
        for (n, at) in places.iter().enumerate() {
            let error = covariance[(n, n)].sqrt();
            let prior = OFFSET_KEYS[*at].prior;
            // A number that is no better known than beforehand was not measured.
            errors[*at] = Some(error).filter(|e| e.is_finite() && inverse[(n, n)].sqrt() < 0.9 * prior);
        }
        errors
    }
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
fn sums(rows: &[Point], point: &Point, free: &[bool; COUNT]) -> (DVector<f64>, DMatrix<f64>) {
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
