//! Sums over bins of data and atoms: what everything else is made of.

#![allow(clippy::needless_range_loop, reason = "lanes and matrices read best by their indices")]

use std::f64::consts::TAU;

use num_complex::Complex64;

/// Independent sums side by side; one alone would wait for its own additions.
const LANES: usize = 4;

/// The bins that are looked at, numbered about the centre of their span.
pub(super) struct BinNumbers {
    /// Number of the first bin of the span.
    pub first: f64,
    /// Per bin of the span: 1 where it is looked at, else 0.
    pub weights: Vec<f64>,
    /// How many are looked at.
    pub count: f64,
}

impl BinNumbers {
    /// For a span of bins of which `gaps` (counted from its start) are left out.
    pub fn new(span: usize, gaps: &[usize]) -> Self {
        let mut weights = vec![1.0; span];
        gaps.iter().for_each(|gap| weights[*gap] = 0.0);
        let count = weights.iter().sum();
        Self { first: -0.5 * (span as f64 - 1.0), weights, count }
    }

    /// `sum_k w_k n_k^r exp(j n_k angle)` for r = 0, 1, 2: inner products of two atoms in one channel.
    pub fn kernel(&self, angle: f64) -> [Complex64; 3] {
        self.sums(angle, |k| Complex64::new(self.weights[k], 0.0))
    }

    /// `sum_k x_k n_k^r exp(j n_k angle)` for r = 0, 1, 2: the data of one channel (zero in gaps) against an atom.
    pub fn transform(&self, data: &[Complex64], angle: f64) -> [Complex64; 3] {
        self.sums(angle, |k| data[k])
    }

    #[inline(always)]
    fn sums(&self, angle: f64, value: impl Fn(usize) -> Complex64) -> [Complex64; 3] {
        let len = self.weights.len();
        let mut turns = [Complex64::default(); LANES];
        for (lane, turn) in turns.iter_mut().enumerate() {
            *turn = unit(angle * (self.first + lane as f64));
        }
        let step = unit(angle * LANES as f64);
        let mut sums = [[Complex64::default(); 3]; LANES];
        let mut start = 0;
        while start < len {
            for lane in 0..LANES.min(len - start) {
                let k = start + lane;
                let n = self.first + k as f64;
                let z = value(k) * turns[lane];
                sums[lane][0] += z;
                sums[lane][1] += z * n;
                sums[lane][2] += z * (n * n);
                turns[lane] *= step;
            }
            start += LANES;
        }
        std::array::from_fn(|r| (sums[0][r] + sums[1][r]) + (sums[2][r] + sums[3][r]))
    }
}

/// `exp(j angle)`.
pub(super) fn unit(angle: f64) -> Complex64 {
    // Angles of many turns lose digits in the function; these are a few hundred turns at most.
    let (im, re) = libm::sincos(angle);
    Complex64::new(re, im)
}

/// `angle` in [-pi, pi).
pub(super) fn wrapped(angle: f64) -> f64 {
    angle - TAU * (angle / TAU + 0.5).floor()
}

/// Cholesky factor of a symmetric matrix in place (lower triangle, row after row); `false` if it is not positive.
pub(super) fn cholesky(n: usize, a: &mut [f64]) -> bool {
    for i in 0..n {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| a[i * n + k] * a[j * n + k]).sum();
            let value = a[i * n + j] - dot;
            if i == j {
                if value.is_nan() || value <= 1e-13 * a[i * n + i].abs() {
                    return false;
                }
                a[i * n + i] = value.sqrt();
            } else {
                a[i * n + j] = value / a[j * n + j];
            }
        }
    }
    true
}

/// Solves with the factor of [`cholesky`], in place.
pub(super) fn solve(n: usize, factor: &[f64], x: &mut [f64]) {
    for i in 0..n {
        let dot: f64 = (0..i).map(|k| factor[i * n + k] * x[k]).sum();
        x[i] = (x[i] - dot) / factor[i * n + i];
    }
    for i in (0..n).rev() {
        let dot: f64 = (i + 1..n).map(|k| factor[k * n + i] * x[k]).sum();
        x[i] = (x[i] - dot) / factor[i * n + i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_definition() {
        for (span, gaps) in [(16, vec![]), (31, vec![3, 17]), (513, vec![256])] {
            let bins = BinNumbers::new(span, &gaps);
            for angle in [0.0, 1e-9, 0.3, -2.9] {
                let mut expected = [Complex64::default(); 3];
                for k in (0..span).filter(|k| !gaps.contains(k)) {
                    let n = k as f64 - 0.5 * (span as f64 - 1.0);
                    for (r, sum) in expected.iter_mut().enumerate() {
                        *sum += Complex64::from_polar(n.powi(r as i32), n * angle);
                    }
                }
                for (r, (found, expected)) in bins.kernel(angle).iter().zip(expected).enumerate() {
                    assert!((found - expected).norm() < 1e-9 * (span as f64).powi(r as i32 + 1), "{span} {angle} {r}");
                }
            }
        }
    }

    #[test]
    fn a_system_is_solved() {
        let matrix = [4.0, 0.0, 0.0, 1.0, 3.0, 0.0, 0.5, -0.2, 2.0];
        let mut factor = matrix;
        assert!(cholesky(3, &mut factor));
        let mut x = [1.0, 2.0, 3.0];
        solve(3, &factor, &mut x);
        let full = |i: usize, j: usize| matrix[i.max(j) * 3 + i.min(j)];
        for i in 0..3 {
            let sum: f64 = (0..3).map(|j| full(i, j) * x[j]).sum();
            assert!((sum - [1.0, 2.0, 3.0][i]).abs() < 1e-12);
        }
        assert!(!cholesky(2, &mut [1.0, 0.0, 1.0, 1.0]));
    }
}
