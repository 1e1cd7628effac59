//! Where the next wave is: the highest energy over all delays and phase slopes.

use std::f64::consts::TAU;

use num_complex::Complex64;

use super::fit::{LineModel, Wave};
use super::sums::{unit, wrapped};
use crate::fourier::power_of_two;

/// Grid points per resolution cell of delay (at least) and of phase slope.
const PER_CELL: usize = 4;
/// At least this part of a peak's energy is seen at the nearest grid point: an eighth of a cell away in delay and in
/// phase slope (0.95 each), an element's delay rounded to the grid (0.95).
const SCALLOP: f64 = 0.8;

/// The grid and its tables.
pub(super) struct Search {
    len: usize,
    slopes: Vec<SlopePoint>,
    /// Delay slope of a wave per phase slope.
    delay_per_phase: f64,
    span: usize,
    roots: Vec<Complex64>,
    /// The most points that an element's delay differs by.
    reach: usize,
}

/// A phase slope of the grid.
struct SlopePoint {
    slope: f64,
    /// For each element how many grid points later it hears the wave, and the turn that aligns it.
    elements: Vec<(i64, Complex64)>,
}

/// Room for a search: the transforms of all channels.
pub(super) struct Grids {
    transforms: Vec<Vec<Complex64>>,
    power: Vec<f64>,
}

impl Search {
    /// For a span of bins. `delay_per_phase` is the delay slope of a wave (radians per bin and metre) over its phase slope.
    pub fn new(model: &LineModel, span: usize, delay_per_phase: f64) -> Self {
        let len = (PER_CELL * span).next_power_of_two();
        let count = ((PER_CELL as f64 * model.turn / model.cells[1]).ceil() as usize).max(2);
        let count = if model.periodic { count } else { count + 1 };
        let step = model.turn / if model.periodic { count as f64 } else { (count - 1) as f64 };
        let per_point = TAU / len as f64;
        let slopes: Vec<SlopePoint> = (0..count)
            .map(|i| {
                let slope = -0.5 * model.turn + step * i as f64;
                let elements = model.y.iter().map(|y| {
                    let shift = -y * slope * delay_per_phase / per_point;
                    (shift.round() as i64, unit(-y * slope))
                });
                SlopePoint { slope, elements: elements.collect() }
            })
            .collect();
        let shifts = slopes.iter().flat_map(|point| point.elements.iter().map(|(shift, _)| shift.unsigned_abs()));
        let reach = shifts.max().unwrap_or(0) as usize;
        let roots = (0..len / 2).map(|k| unit(per_point * k as f64)).collect();
        Self { len, slopes, delay_per_phase, span, roots, reach }
    }

    /// Room for one search at a time.
    pub fn grids(&self, elements: usize) -> Grids {
        Grids { transforms: vec![vec![Complex64::default(); self.len]; elements], power: vec![0.0; self.len] }
    }

    /// Transforms all channels of a residual.
    pub fn load(&self, model: &LineModel, data: &[Vec<Complex64>], grids: &mut Grids) {
        for (x, transform) in data.iter().zip(&mut grids.transforms) {
            transform.fill(Complex64::default());
            transform[..self.span].copy_from_slice(x);
            power_of_two(transform, &self.roots);
            let centre = model.bins.first * TAU / self.len as f64;
            transform.iter_mut().enumerate().for_each(|(l, z)| *z *= unit(centre * l as f64));
        }
        let highest = |transform: &Vec<Complex64>, l: usize| {
            let around = (0..=2 * self.reach).map(|d| transform[(l + self.len + d - self.reach) % self.len].norm_sqr());
            around.fold(0.0, f64::max)
        };
        for l in 0..self.len {
            grids.power[l] = grids.transforms.iter().map(|transform| highest(transform, l)).sum();
        }
    }

    /// The grid's highest energy of at least the scalloped threshold, away from the waves given.
    pub fn highest(
        &self,
        model: &LineModel,
        grids: &Grids,
        threshold: f64,
        taken: &[Wave],
        apart: f64,
    ) -> Option<Wave> {
        let per_point = TAU / self.len as f64;
        // A transform over an even number of bins changes its sign from turn to turn.
        let wrap = if self.span.is_multiple_of(2) { -1.0 } else { 1.0 };
        let len = self.len as i64;
        let mut best = (SCALLOP * threshold * model.norm(), None);
        for l in 0..self.len {
            // The elements' powers bound what they can add up to.
            if grids.power[l] * (model.y.len() as f64) < best.0 {
                continue;
            }
            for SlopePoint { slope, elements } in &self.slopes {
                let mut sum = Complex64::default();
                for ((shift, turn), transform) in elements.iter().zip(&grids.transforms) {
                    let at = l as i64 + shift;
                    let value = transform[at.rem_euclid(len) as usize] * turn;
                    sum += if (0..len).contains(&at) { value } else { value * wrap };
                }
                let energy = sum.norm_sqr();
                if energy > best.0 {
                    let wave = [wrapped(per_point * l as f64), *slope, slope * self.delay_per_phase];
                    if !taken.iter().any(|other| near(model, &wave, other, apart)) {
                        best = (energy, Some(wave));
                    }
                }
            }
        }
        best.1
    }
}

/// Whether two waves are within so many cells of each other in delay and in phase slope.
fn near(model: &LineModel, a: &Wave, b: &Wave, cells: f64) -> bool {
    let delay = wrapped(a[0] - b[0]).abs();
    let slope = (a[1] - b[1]).abs();
    let slope = if model.periodic { slope.min((model.turn - slope).abs()) } else { slope };
    delay < cells * model.cells[0] && slope < cells * model.cells[1]
}
