//! The data's transform at single delays in double precision.
//!
//! The transform on the grid is rounded to single precision, and its slope more so: at 25 dB per bin that moves an arrival
//! by a thousandth of its standard error, at random from one build or backend to the next. The last refinement
//! therefore corrects the value and the slope at each component by sums over all bins.

#![allow(clippy::needless_range_loop, reason = "matrices and lanes read best by their indices")]

use std::f64::consts::TAU;

use num_complex::Complex;
use wide::f64x2;

use super::interpolate::ComplexPair;

/// Bins summed side by side.
const LANES: usize = 8;

/// One observation in double precision, channel by channel, in groups of [`LANES`] bins.
pub(super) struct ExactTransform {
    re: [Vec<[f64; LANES]>; 2],
    im: [Vec<[f64; LANES]>; 2],
    /// One phasor per group and channel.
    coarse: Vec<[Complex<f64>; 2]>,
    bins: usize,
}

impl ExactTransform {
    /// Room for `bins` bins.
    pub fn new(bins: usize) -> Self {
        let groups = bins.div_ceil(LANES);
        let empty = || std::array::from_fn(|_| vec![[0.0; LANES]; groups]);
        Self { re: empty(), im: empty(), coarse: vec![[Complex::default(); 2]; groups], bins }
    }

    /// Takes an observation; what pads the last group stays zero.
    #[inline(always)]
    pub fn load(&mut self, block: &[[Complex<f32>; 2]]) {
        for m in 0..2 {
            let (re, im) = (self.re[m].as_flattened_mut(), self.im[m].as_flattened_mut());
            for ((re, im), x) in re.iter_mut().zip(im).zip(block) {
                *re = f64::from(x[m].re);
                *im = f64::from(x[m].im);
            }
        }
    }

    /// Value and slope (a grid step of a grid of `len`) at one delay in each channel, grid steps.
    #[inline(always)]
    pub fn at(&mut self, delay: [f64; 2], len: usize) -> [ComplexPair; 2] {
        let step = TAU / len as f64;
        let (first, second) = (delay[0] * step, delay[1] * step);
        let fine = [fine_phasors(first), fine_phasors(second)];
        let centre = 0.5 * (self.bins as f64 - 1.0);
        // Side by side: each phasor of a channel waits for the one before.
        let mut phasors = [unit(-centre * first), unit(-centre * second)];
        let by_group = [fine[0].1, fine[1].1];
        for coarse in &mut self.coarse {
            *coarse = phasors;
            phasors[0] *= by_group[0];
            phasors[1] *= by_group[1];
        }
        // Written out: a closure that is not inlined would be compiled for narrow vectors.
        let a = self.channel(0, &fine[0].0, step);
        let b = self.channel(1, &fine[1].0, step);
        let pair = |a: Complex<f64>, b: Complex<f64>| ComplexPair {
            re: f64x2::from([a.re, b.re]),
            im: f64x2::from([a.im, b.im]),
        };
        [pair(a[0], b[0]), pair(a[1], b[1])]
    }

    /// `sum_k x_k exp(j n_k u)` with the phasors of a channel, bins numbered about their centre, and its derivative in units of
    /// `step`.
    #[inline(always)]
    fn channel(&self, m: usize, fine: &[Complex<f64>; LANES], step: f64) -> [Complex<f64>; 2] {
        let centre = 0.5 * (self.bins as f64 - 1.0);
        // From the last group to the first: the running sum, added up, weighs group g by g.
        let (mut re, mut im) = ([0.0; LANES], [0.0; LANES]);
        let (mut weighed_re, mut weighed_im) = ([0.0; LANES], [0.0; LANES]);
        for (z, (x, y)) in self.coarse.iter().zip(self.re[m].iter().zip(&self.im[m])).rev() {
            let z = z[m];
            for j in 0..LANES {
                weighed_re[j] += re[j];
                weighed_im[j] += im[j];
                re[j] += z.re * x[j] - z.im * y[j];
                im[j] += z.re * y[j] + z.im * x[j];
            }
        }
        let (mut value, mut numbered) = (Complex::<f64>::default(), Complex::<f64>::default());
        for j in 0..LANES {
            let sum = fine[j] * Complex::new(re[j], im[j]);
            value += sum;
            let weighed = fine[j] * Complex::new(weighed_re[j], weighed_im[j]);
            numbered += weighed * LANES as f64 + sum * (j as f64 - centre);
        }
        [value, Complex::new(-numbered.im, numbered.re) * step]
    }
}

/// `exp(j n u)` for the bins of a group, and for a whole group.
#[inline(always)]
fn fine_phasors(u: f64) -> ([Complex<f64>; LANES], Complex<f64>) {
    let turn = unit(u);
    let mut fine = [Complex::new(1.0, 0.0); LANES];
    for j in 1..LANES {
        fine[j] = fine[j - 1] * turn;
    }
    (fine, fine[LANES - 1] * turn)
}

/// `exp(j angle)`.
#[inline(always)]
fn unit(angle: f64) -> Complex<f64> {
    let (im, re) = libm::sincos(angle);
    Complex::new(re, im)
}
