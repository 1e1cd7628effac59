//! How likely the arrivals of rows with known ends are for a receiver that is off by so much.

use std::f64::consts::TAU;

use magnetar_scene::wrap;
use magnetar_trace::Path;
use nalgebra::DMatrix;
use rayon::prelude::*;

use super::fading::Fading;
use super::link::{Link, Physics, Predicted};
use super::parameters::{COUNT, OFFSET_KEYS, Offsets, Point, WIDTHS, shown};

/// The levels over which an arrival that no path explains is spread, dB.
const STRAY_RANGE_DB: f64 = 60.0;

/// The share of strong paths that are not among the arrivals though nothing says why.
const MISSED: f64 = 0.02;
/// The most arrivals of a row that count, the strongest.
const MAX_ARRIVALS: usize = 6;

/// Buffers of a thread.
#[derive(Default)]
pub(super) struct Buffers {
    paths: Vec<Path>,
    /// Those of a receiver that stands elsewhere.
    moved: Vec<Path>,
    predicted: Vec<Predicted>,
    /// Sum over the ways to explain each subset of the arrivals.
    ways: Vec<f64>,
}

/// Logarithm of the likelihood of one row's arrivals, nat. The level of every component scatters about the one predicted, and
/// the strongest few are seen: each arrival is one of the components or a stray, a component is one arrival at most, and those
/// that are none are below the weakest arrival. Without that last part weak surfaces, which are seen only where they come out
/// strong, would be taken for stronger ones. Of the paths in one cell of delay the strongest is a component, and the others make
/// it fade.
fn log_likelihood(
    link: &Link,
    physics: &Physics,
    point: &Point,
    paths: &[Path],
    predicted: &mut Vec<Predicted>,
    ways: &mut Vec<f64>,
) -> f64 {
    link.ends.predict(physics, &Offsets(point), paths, predicted);
    let [(phase_deg, _), (level_sigma, _), (stray, _)] = [0, 1, 2].map(|n| shown(WIDTHS + n, point[WIDTHS + n]));
    let phase_variance = phase_deg.to_radians().powi(2);
    let arrivals = &link.arrivals[..link.arrivals.len().min(MAX_ARRIVALS)];
    let faintest_db = link.faintest_db(physics, MAX_ARRIVALS);
    ways.clear();
    ways.resize(1 << arrivals.len(), 0.0);
    ways[0] = 1.0;
    let mut log_unseen = 0.0;
    for path in predicted.iter() {
        let fading = Fading::of(path, predicted, physics.resolution_m());
        let level_variance = level_sigma * level_sigma + fading.level;
        let below = 0.5 * libm::erfc((path.level_db - faintest_db) / (2.0 * level_variance).sqrt());
        let unseen = 1.0 - fading.own * (1.0 - MISSED) * (1.0 - below);
        log_unseen += libm::log(unseen);
        let seen: [f64; MAX_ARRIVALS] = std::array::from_fn(|n| {
            arrivals.get(n).map_or(0.0, |arrival| {
                let snr = libm::exp10(arrival.raw_snr_db / 10.0).max(1e-3);
                let variance = phase_variance + fading.phase + 1.0 / (physics.bins() as f64 * snr);
                let phase = wrap(arrival.phase_rad - path.phase);
                let level = arrival.raw_snr_db - path.level_db;
                let density = libm::exp(-0.5 * (phase * phase / variance + level * level / level_variance));
                (1.0 - stray) * fading.own / unseen / (TAU * (variance * level_variance).sqrt()) * density
            })
        });
        // From the largest subset down: a path is added to ways that do not have it.
        for subset in (1..ways.len()).rev() {
            let of = (0..arrivals.len()).filter(|n| subset >> n & 1 == 1);
            ways[subset] += of.map(|n| ways[subset ^ (1 << n)] * seen[n]).sum::<f64>();
        }
    }
    let of_stray = stray / (TAU * STRAY_RANGE_DB);
    let strays = |subset: usize| arrivals.len() as i32 - subset.count_ones() as i32;
    let explained: f64 = ways.iter().enumerate().map(|(subset, sum)| sum * of_stray.powi(strays(subset))).sum();
    libm::log(explained) + log_unseen
}

/// What is thought of a point before any row is seen, nat.
fn log_prior(point: &Point) -> f64 {
    OFFSET_KEYS.iter().zip(point).map(|(key, value)| -0.5 * (value / key.prior).powi(2)).sum()
}

/// The logarithm of the likelihood of all rows, nat.
pub(super) fn total(links: &[Link], physics: &Physics, point: &Point) -> f64 {
    // Summed in order: the same for any number of threads.
    let rows: Vec<f64> = links
        .par_iter()
        .map_init(Buffers::default, |buffers, link| RowLikelihood::new(link, physics, point, buffers).at(point))
        .collect();
    rows.iter().sum()
}

/// The logarithm of the likelihood of all rows at each of many points with receivers that stand in one place, nat.
pub(super) fn totals(links: &[Link], physics: &Physics, points: &[Point]) -> Vec<f64> {
    let Some(first) = points.first() else { return Vec::new() };
    let of_row = |buffers: &mut Buffers, link: &Link| -> Vec<f64> {
        let mut row = RowLikelihood::new(link, physics, first, buffers);
        points.iter().map(|point| row.at(point)).collect()
    };
    let rows: Vec<Vec<f64>> = links.par_iter().map_init(Buffers::default, of_row).collect();
    (0..points.len()).map(|n| rows.iter().map(|row| row[n]).sum()).collect()
}

/// The same with the prior.
pub(super) fn objective(links: &[Link], physics: &Physics, point: &Point) -> f64 {
    total(links, physics, point) + log_prior(point)
}

/// The logarithm of a row's likelihood near a point.
struct RowLikelihood<'a> {
    link: &'a Link,
    physics: &'a Physics,
    base: &'a Point,
    buffers: &'a mut Buffers,
}

impl<'a> RowLikelihood<'a> {
    fn new(link: &'a Link, physics: &'a Physics, base: &'a Point, buffers: &'a mut Buffers) -> Self {
        link.ends.trace(&Offsets(base), &mut buffers.paths);
        Self { link, physics, base, buffers }
    }

    /// At a point; paths are traced anew only for a receiver that stands elsewhere.
    fn at(&mut self, point: &Point) -> f64 {
        let Buffers { paths, moved, predicted, ways } = &mut *self.buffers;
        let offsets = Offsets(point);
        if offsets.is_where(&Offsets(self.base)) {
            return log_likelihood(self.link, self.physics, point, paths, predicted, ways);
        }
        self.link.ends.trace(&offsets, moved);
        log_likelihood(self.link, self.physics, point, moved, predicted, ways)
    }

    /// With numbers of the base moved.
    fn moved(&mut self, by: &[(usize, f64)]) -> f64 {
        let mut point = *self.base;
        by.iter().for_each(|(n, step)| point[*n] += step);
        self.at(&point)
    }
}

/// The slopes of each row's logarithm at a point, by central differences.
pub(super) fn slopes(links: &[Link], physics: &Physics, point: &Point, free: &[bool; COUNT]) -> Vec<Point> {
    let of_row = |buffers: &mut Buffers, link: &Link| {
        let mut row = RowLikelihood::new(link, physics, point, buffers);
        std::array::from_fn(|n| {
            let step = OFFSET_KEYS[n].step;
            if free[n] { (row.moved(&[(n, step)]) - row.moved(&[(n, -step)])) / (2.0 * step) } else { 0.0 }
        })
    };
    links.par_iter().map_init(Buffers::default, of_row).collect()
}

/// The curvature of each row's logarithm over some of the numbers, a matrix by columns, by differences in both directions.
pub(super) fn curvatures(links: &[Link], physics: &Physics, point: &Point, places: &[usize]) -> Vec<DMatrix<f64>> {
    let of_row = |buffers: &mut Buffers, link: &Link| {
        let mut row = RowLikelihood::new(link, physics, point, buffers);
        let here = row.at(point);
        let step = |n: usize| 2.0 * OFFSET_KEYS[n].step;
        let alone: Vec<f64> =
            places.iter().map(|n| row.moved(&[(*n, step(*n))]) + row.moved(&[(*n, -step(*n))]) - 2.0 * here).collect();
        let mut curvature = DMatrix::zeros(places.len(), places.len());
        for (a, n) in places.iter().enumerate() {
            curvature[(a, a)] = alone[a] / (step(*n) * step(*n));
            for (b, m) in places.iter().enumerate().take(a) {
                let together = row.moved(&[(*n, step(*n)), (*m, step(*m))])
                    + row.moved(&[(*n, -step(*n)), (*m, -step(*m))])
                    - 2.0 * here;
                let mixed = (together - alone[a] - alone[b]) / (2.0 * step(*n) * step(*m));
                (curvature[(a, b)], curvature[(b, a)]) = (mixed, mixed);
            }
        }
        curvature
    };
    links.par_iter().map_init(Buffers::default, of_row).collect()
}

/// The slope of the prior.
pub(super) fn prior_slope(point: &Point) -> Point {
    std::array::from_fn(|n| -point[n] / OFFSET_KEYS[n].prior.powi(2))
}

/// How far the arrivals of a row are from the paths that explain them best: phase, radians, and level, dB.
pub(super) fn residuals(link: &Link, physics: &Physics, point: &Point, buffers: &mut Buffers) -> Vec<(f64, f64)> {
    let Buffers { paths, predicted, .. } = buffers;
    link.ends.trace(&Offsets(point), paths);
    link.ends.predict(physics, &Offsets(point), paths, predicted);
    let off = |arrival: &magnetar_signal::Arrival, path: &Predicted| {
        (wrap(arrival.phase_rad - path.phase).abs(), (arrival.raw_snr_db - path.level_db).abs())
    };
    // Ten degrees count as much as two decibels.
    let size = |(phase, level): (f64, f64)| (phase / 0.175).powi(2) + (level / 2.0).powi(2);
    let nearest = |arrival: &magnetar_signal::Arrival| {
        predicted.iter().map(|path| off(arrival, path)).min_by(|a, b| size(*a).total_cmp(&size(*b)))
    };
    link.arrivals.iter().filter_map(nearest).collect()
}
