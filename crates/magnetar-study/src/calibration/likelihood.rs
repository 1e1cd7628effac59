//! How likely the arrivals of rows with known ends are for a receiver that is off by so much.

use std::f64::consts::TAU;

use magnetar_scene::wrap;
use magnetar_trace::Path;
use rayon::prelude::*;

use super::link::{Link, Physics, Predicted};
use super::parameters::{COUNT, OFFSET_KEYS, Offsets, Point, WIDTHS, shown};

/// The levels over which an arrival that no path explains is spread, dB.
const STRAY_RANGE_DB: f64 = 60.0;

/// Buffers of a thread.
#[derive(Default)]
pub(super) struct Buffers {
    paths: Vec<Path>,
    predicted: Vec<Predicted>,
}

/// Logarithm of the likelihood of one row's arrivals, nat: each is explained by one of the paths, the stronger ones rather
/// than the weaker, or by none.
pub(super) fn log_likelihood(link: &Link, physics: &Physics, point: &Point, buffers: &mut Buffers) -> f64 {
    let Buffers { paths, predicted } = buffers;
    link.predict(physics, &Offsets::of(point), paths, predicted);
    let [(phase_deg, _), (level_sigma, _), (stray, _)] = [0, 1, 2].map(|n| shown(WIDTHS + n, point[WIDTHS + n]));
    let phase_sigma = phase_deg.to_radians();
    let strongest = predicted.iter().map(|p| p.level_db).fold(f64::NEG_INFINITY, f64::max);
    let weight = |p: &Predicted| libm::exp10((p.level_db - strongest) / 20.0);
    let total: f64 = predicted.iter().map(weight).sum();
    let of_arrival = |arrival: &magnetar_signal::Arrival| {
        let snr = libm::exp10(arrival.raw_snr_db / 10.0).max(1e-3);
        let variance = phase_sigma * phase_sigma + 1.0 / (physics.bins() as f64 * snr);
        let normal = 1.0 / (TAU * (variance * level_sigma * level_sigma).sqrt());
        let explained: f64 = predicted
            .iter()
            .map(|path| {
                let phase = wrap(arrival.phase_rad - path.phase);
                let level = (arrival.raw_snr_db - path.level_db) / level_sigma;
                weight(path) / total * normal * libm::exp(-0.5 * (phase * phase / variance + level * level))
            })
            .sum();
        libm::log((1.0 - stray) * explained + stray / (TAU * STRAY_RANGE_DB))
    };
    link.arrivals.iter().map(of_arrival).sum()
}

/// What is thought of a point before any row is seen, nat.
fn log_prior(point: &Point) -> f64 {
    OFFSET_KEYS.iter().zip(point).map(|(key, value)| -0.5 * (value / key.prior).powi(2)).sum()
}

/// The logarithm of the likelihood of all rows, nat.
pub(super) fn total(links: &[Link], physics: &Physics, point: &Point) -> f64 {
    // Summed in order: the same for any number of threads.
    let rows: Vec<f64> =
        links.par_iter().map_init(Buffers::default, |b, link| log_likelihood(link, physics, point, b)).collect();
    rows.iter().sum()
}

/// The same with the prior.
pub(super) fn objective(links: &[Link], physics: &Physics, point: &Point) -> f64 {
    total(links, physics, point) + log_prior(point)
}

/// The slopes of each row's logarithm at a point, by central differences.
pub(super) fn slopes(links: &[Link], physics: &Physics, point: &Point, free: &[bool; COUNT]) -> Vec<Point> {
    let of_row = |buffers: &mut Buffers, link: &Link| {
        std::array::from_fn(|n| {
            if !free[n] {
                return 0.0;
            }
            let step = OFFSET_KEYS[n].step;
            let mut at = |by: f64| {
                let mut moved = *point;
                moved[n] += by;
                log_likelihood(link, physics, &moved, buffers)
            };
            (at(step) - at(-step)) / (2.0 * step)
        })
    };
    links.par_iter().map_init(Buffers::default, of_row).collect()
}

/// The slope of the prior.
pub(super) fn prior_slope(point: &Point) -> Point {
    std::array::from_fn(|n| -point[n] / OFFSET_KEYS[n].prior.powi(2))
}

/// How far the arrivals of a row are from the paths that explain them best: phase, radians, and level, dB.
pub(super) fn residuals(link: &Link, physics: &Physics, point: &Point, buffers: &mut Buffers) -> Vec<(f64, f64)> {
    let Buffers { paths, predicted } = buffers;
    link.predict(physics, &Offsets::of(point), paths, predicted);
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
