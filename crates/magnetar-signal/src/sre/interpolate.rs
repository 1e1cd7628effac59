//! The data's transform between grid points: local polynomials of a band-limited function on an oversampled grid.
//!
//! The transform is known at `oversampling >= 4` points a resolution cell, so a few samples around a grid point fix it
//! near that point to single precision. The samples give a polynomial once; value, slope and second derivative at any
//! nearby delay then cost a few multiplications, which is what the refinement asks for again and again.

#![allow(clippy::needless_range_loop, reason = "matrices and lanes read best by their indices")]

use std::f64::consts::PI;

use nalgebra::{DMatrix, DVector};
use wide::f64x2;

/// Samples used on either side of the central one.
pub(super) const REACH: usize = 6;
/// Degree of the local polynomial.
const DEGREE: usize = 8;
/// Coefficients of the local polynomial.
const TERMS: usize = DEGREE + 1;

/// A complex value in each channel, one channel a lane.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ComplexPair {
    /// Real parts.
    pub re: f64x2,
    /// Imaginary parts.
    pub im: f64x2,
}

/// The transform around one grid point, as polynomials in grid steps for `|t| <= 1`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LocalTransform {
    coefficients: [ComplexPair; TERMS],
}

impl LocalTransform {
    /// Value, first and second derivative at `t` grid steps from the central point.
    #[inline(always)]
    pub fn at(&self, t: f64x2) -> [ComplexPair; 3] {
        let (mut re, mut im) = ([f64x2::splat(0.0); 3], [f64x2::splat(0.0); 3]);
        for c in self.coefficients.iter().rev() {
            for (x, add) in [(&mut re, c.re), (&mut im, c.im)] {
                x[2] = x[2] * t + x[1];
                x[1] = x[1] * t + x[0];
                x[0] = x[0] * t + add;
            }
        }
        // The third row of Horner's scheme is half the second derivative.
        std::array::from_fn(|d| {
            let scale = if d == 2 { 2.0 } else { 1.0 };
            ComplexPair { re: re[d] * scale, im: im[d] * scale }
        })
    }
}

impl LocalTransform {
    /// Changes the polynomials so that value and slope at `t` are these.
    #[inline(always)]
    pub fn correct(&mut self, t: f64x2, exact: &[ComplexPair; 2]) {
        let [value, slope, _] = self.at(t);
        let part = |value: f64x2, slope: f64x2, c0: &mut f64x2, c1: &mut f64x2| {
            *c0 += value - slope * t;
            *c1 += slope;
        };
        let [c0, c1, ..] = &mut self.coefficients;
        part(exact[0].re - value.re, exact[1].re - slope.re, &mut c0.re, &mut c1.re);
        part(exact[0].im - value.im, exact[1].im - slope.im, &mut c0.im, &mut c1.im);
    }
}

/// Turns samples into local polynomials.
#[derive(Debug, Clone)]
pub(super) struct Interpolator {
    /// Weight of the central sample in each even coefficient (zero in the odd ones).
    centre: [f64; TERMS],
    /// Weight of the sum (even coefficients) or difference (odd) of the samples `j + 1` steps either side.
    sides: [[f64; REACH]; TERMS],
}

impl Interpolator {
    /// For a function whose spectrum fills `1 / oversampling` of the sampling rate.
    pub fn new(oversampling: usize) -> Self {
        let band = PI / oversampling as f64;
        let nodes: Vec<f64> = (0..TERMS).map(|i| libm::cos((i as f64 + 0.5) * PI / TERMS as f64)).collect();
        let taps: Vec<Vec<f64>> = nodes.iter().map(|&t| weights(band, t)).collect();
        let vandermonde = DMatrix::from_fn(TERMS, TERMS, |row, d| nodes[row].powi(d as i32));
        let lu = vandermonde.lu();
        let mut this = Self { centre: [0.0; TERMS], sides: [[0.0; REACH]; TERMS] };
        let solve = |j: usize| {
            let values = DVector::from_fn(TERMS, |row, _| taps[row][j]);
            lu.solve(&values).expect("Chebyshev nodes are distinct, so the Vandermonde matrix is regular")
        };
        let centre = solve(REACH);
        let right: Vec<_> = (1..=REACH).map(|j| solve(REACH + j)).collect();
        for d in 0..TERMS {
            this.centre[d] = if d % 2 == 0 { centre[d] } else { 0.0 };
            for j in 0..REACH {
                this.sides[d][j] = right[j][d];
            }
        }
        this
    }

    /// The polynomials around the middle of `2 REACH + 1` samples: real and imaginary parts of both channels.
    #[inline(always)]
    pub fn local(&self, re: [&[f32]; 2], im: [&[f32]; 2]) -> LocalTransform {
        const TAPS: usize = 2 * REACH + 1;
        let load = |x: [&[f32]; 2]| -> [f64x2; TAPS] {
            let (a, b) = (&x[0][..TAPS], &x[1][..TAPS]);
            std::array::from_fn(|j| f64x2::from([f64::from(a[j]), f64::from(b[j])]))
        };
        let (re, im) = (load(re), load(im));
        let fold = |x: &[f64x2; TAPS], sign: f64| -> [f64x2; REACH] {
            std::array::from_fn(|j| x[REACH + 1 + j] + x[REACH - 1 - j] * sign)
        };
        let (re_sum, re_difference) = (fold(&re, 1.0), fold(&re, -1.0));
        let (im_sum, im_difference) = (fold(&im, 1.0), fold(&im, -1.0));
        let mut local = LocalTransform::default();
        for d in 0..TERMS {
            let (re_side, im_side) = if d % 2 == 0 { (&re_sum, &im_sum) } else { (&re_difference, &im_difference) };
            let mut c = ComplexPair { re: re[REACH] * self.centre[d], im: im[REACH] * self.centre[d] };
            for j in 0..REACH {
                c.re += re_side[j] * self.sides[d][j];
                c.im += im_side[j] * self.sides[d][j];
            }
            local.coefficients[d] = c;
        }
        local
    }
}

/// Weights on samples `-REACH..=REACH` that give the value at `t` for every frequency up to `band` (radians a step),
/// in the least-squares sense over the band. The problem is nearly rank-deficient, since the samples are redundant; the
/// cut on the singular values keeps the weights small, so that rounding in the samples is not amplified.
fn weights(band: f64, t: f64) -> Vec<f64> {
    const FREQUENCIES: usize = 64;
    const TAPS: usize = 2 * REACH + 1;
    let frequency = |i: usize| band * libm::sin((i as f64 + 0.5) / FREQUENCIES as f64 * PI / 2.0);
    let offset = |j: usize| j as f64 - REACH as f64;
    let wave = |i: usize, x: f64| {
        let phase = frequency(i / 2) * x;
        if i.is_multiple_of(2) { libm::cos(phase) } else { libm::sin(phase) }
    };
    let matrix = DMatrix::from_fn(2 * FREQUENCIES, TAPS, |i, j| wave(i, offset(j)));
    let target = DVector::from_fn(2 * FREQUENCIES, |i, _| wave(i, t));
    let svd = matrix.svd(true, true);
    let cut = 1e-10 * svd.singular_values.max();
    svd.solve(&target, cut).map_or_else(|_| vec![0.0; TAPS], |w| w.iter().copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any frequency of the band is followed to single precision with its derivatives, anywhere within a step.
    #[test]
    fn waves_are_followed() {
        for oversampling in [4, 7, 16] {
            let interpolator = Interpolator::new(oversampling);
            for f in [-1.0, -0.71, -0.2, 0.0, 0.4, 0.9, 1.0] {
                let w = f * PI / oversampling as f64;
                let sample = |x: f64| ((w * x).cos(), (w * x).sin());
                let taps: Vec<(f64, f64)> = (0..=2 * REACH).map(|j| sample(j as f64 - REACH as f64)).collect();
                let re: Vec<f32> = taps.iter().map(|x| x.0 as f32).collect();
                let im: Vec<f32> = taps.iter().map(|x| x.1 as f32).collect();
                let local = interpolator.local([&re, &re], [&im, &im]);
                for t in [-1.0, -0.6, -0.1, 0.0, 0.33, 0.5, 1.0] {
                    let got = local.at(f64x2::splat(t));
                    let (c, s) = sample(t);
                    for (d, (re, im)) in [(c, s), (-w * s, w * c), (-w * w * c, -w * w * s)].into_iter().enumerate() {
                        let error = (got[d].re.to_array()[0] - re).hypot(got[d].im.to_array()[1] - im);
                        assert!(error < [2e-7, 6e-7, 4e-6][d], "{oversampling} {f} {t} {d}: {error:e}");
                    }
                }
            }
        }
    }
}
