//! Small positive definite systems, one per lane.

#![allow(clippy::needless_range_loop, reason = "matrices and lanes read best by their indices")]

use wide::f64x2;

use super::MAX_PATHS;

/// Entries of a matrix of which the lower triangle is used; whole rows keep the indices cheap.
pub(super) const SQUARE: usize = MAX_PATHS * MAX_PATHS;

/// Index of row `i`, column `j`.
#[inline(always)]
pub(super) const fn at(i: usize, j: usize) -> usize {
    i * MAX_PATHS + j
}

/// Factors a positive definite matrix into a lower triangle whose diagonal holds the reciprocals; `false` if it
/// is not positive definite in either lane.
#[inline(always)]
pub(super) fn cholesky(n: usize, factor: &mut [f64x2; SQUARE], entry: impl Fn(usize, usize) -> f64x2) -> bool {
    extend_cholesky(0, n, factor, entry)
}

/// The same where the first `known` rows of the factor are there already.
#[inline(always)]
pub(super) fn extend_cholesky(
    known: usize,
    n: usize,
    factor: &mut [f64x2; SQUARE],
    entry: impl Fn(usize, usize) -> f64x2,
) -> bool {
    let n = n.min(MAX_PATHS);
    for i in known..n {
        for j in 0..=i {
            let whole = entry(i, j);
            let mut x = whole;
            for k in 0..j {
                x -= factor[at(i, k)] * factor[at(j, k)];
            }
            if i == j {
                let (pivot, scale) = (x.to_array(), whole.to_array());
                // A pivot lost to rounding means linear dependence.
                if !(pivot[0] > 1e-12 * scale[0] && pivot[1] > 1e-12 * scale[1]) {
                    return false;
                }
                factor[at(i, i)] = f64x2::splat(1.0) / x.sqrt();
            } else {
                factor[at(i, j)] = x * factor[at(j, j)];
            }
        }
    }
    true
}

/// Solves with a factor made by [`cholesky`], in place.
#[inline(always)]
pub(super) fn solve(n: usize, factor: &[f64x2; SQUARE], x: &mut [f64x2; MAX_PATHS]) {
    let n = n.min(MAX_PATHS);
    for i in 0..n {
        for j in 0..i {
            x[i] -= factor[at(i, j)] * x[j];
        }
        x[i] *= factor[at(i, i)];
    }
    for i in (0..n).rev() {
        for j in i + 1..n {
            x[i] -= factor[at(j, i)] * x[j];
        }
        x[i] *= factor[at(i, i)];
    }
}
