//! Inner products of atoms in closed form.
//!
//! An atom is `exp(-j n u)` on `N` bins numbered `n` about their centre, so that the inner product of two atoms is the
//! real Dirichlet kernel of their delay difference. Delays are in steps of the oversampled grid: `p` steps are
//! `u = 2 pi p / L` radians per bin, `L = oversampling * N`. Each value holds both channels, one per lane.

use std::f64::consts::PI;

use wide::f64x2;

use crate::vector_math::sin_cos_of_eighth;

/// Sines and cosines of half a component's delay angle and of `N` times that: what its kernels are made of.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Angles {
    /// Of `pi p / L`.
    pub half: (f64x2, f64x2),
    /// Of `pi p / oversampling`.
    pub full: (f64x2, f64x2),
}

/// The Dirichlet kernel and its first two derivatives with respect to the difference in grid steps.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Kernel {
    /// Inner product of the atoms.
    pub value: f64x2,
    /// First derivative.
    pub slope: f64x2,
    /// Second derivative.
    pub bend: f64x2,
    /// Sine of half the delay angle between the atoms: how far apart they are on the circle.
    pub sine: f64x2,
}

/// Tables for one number of bins and one oversampling.
#[derive(Debug, Clone)]
pub(super) struct Dirichlet {
    /// `(sin, cos)` of `pi q / L` for each grid point.
    half: Vec<(f64, f64)>,
    /// `(sin, cos)` of `pi q / oversampling`, one period.
    full: Vec<(f64, f64)>,
    /// `pi / L` and `pi / oversampling`.
    step: (f64, f64),
    /// The kernel's value and second derivative at zero.
    pub peak: (f64, f64),
}

impl Dirichlet {
    /// Tables for `bins` bins and `oversampling` grid points per cell.
    pub fn new(bins: usize, oversampling: usize) -> Self {
        let grid = bins * oversampling;
        let step = (PI / grid as f64, PI / oversampling as f64);
        let table = |step: f64, len: usize| (0..len).map(|q| libm::sincos(q as f64 * step)).collect();
        let n = bins as f64;
        Self {
            half: table(step.0, grid),
            full: table(step.1, 2 * oversampling),
            step,
            peak: (n, -n * (n * n - 1.0) / 12.0 * (2.0 * step.0).powi(2)),
        }
    }

    /// The angles of delay `q + t` grid steps, `|t| <= 1` and `q` on the grid.
    #[inline(always)]
    pub fn angles(&self, q: [usize; 2], t: f64x2) -> Angles {
        let rotate = |[a, b]: [(f64, f64); 2], x: f64x2| {
            let (s, c) = (f64x2::from([a.0, b.0]), f64x2::from([a.1, b.1]));
            let (sx, cx) = sin_cos_of_eighth(x);
            (cx * s + sx * c, cx * c - sx * s)
        };
        Angles {
            half: rotate(q.map(|q| self.half[q]), t * self.step.0),
            full: rotate(q.map(|q| self.full[q % self.full.len()]), t * self.step.1),
        }
    }

    /// The kernel of the difference `a - b`, which must not be a multiple of the whole circle.
    #[inline(always)]
    pub fn kernel(&self, a: &Angles, b: &Angles) -> Kernel {
        let sine = |a: (f64x2, f64x2), b: (f64x2, f64x2)| a.0 * b.1 - a.1 * b.0;
        let cosine = |a: (f64x2, f64x2), b: (f64x2, f64x2)| a.1 * b.1 + a.0 * b.0;
        let (alpha, beta) = self.step;
        let sine_half = sine(a.half, b.half);
        let inverse = f64x2::splat(1.0) / sine_half;
        let cotangent = cosine(a.half, b.half) * inverse;
        // D sin(alpha p) = sin(beta p), differentiated once and twice.
        let value = sine(a.full, b.full) * inverse;
        let slope = cosine(a.full, b.full) * inverse * beta - value * cotangent * alpha;
        let bend = value * (alpha * alpha - beta * beta) - slope * cotangent * (2.0 * alpha);
        Kernel { value, slope, bend, sine: sine_half }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The closed forms against sums over the bins, close by and far away, odd and even numbers of bins.
    #[test]
    fn closed_forms_equal_sums() {
        for (bins, oversampling) in [(512, 4), (480, 8), (33, 16)] {
            let tables = Dirichlet::new(bins, oversampling);
            let grid = (bins * oversampling) as f64;
            for (qa, ta, qb, tb) in [(7, 0.3, 6, -0.5), (0, 0.9, 100, 0.1), (161, -1.0, 3, 0.25)] {
                let a = tables.angles([qa; 2], f64x2::splat(ta));
                let b = tables.angles([qb; 2], f64x2::splat(tb));
                let kernel = tables.kernel(&a, &b);
                let u = 2.0 * PI / grid;
                let p = qa as f64 + ta - qb as f64 - tb;
                let sum = |f: &dyn Fn(f64) -> f64| -> f64 {
                    (0..bins).map(|k| f(k as f64 - (bins as f64 - 1.0) / 2.0)).sum()
                };
                let scale = bins as f64;
                let expect = [
                    sum(&|n| (n * u * p).cos()),
                    sum(&|n| -n * u * (n * u * p).sin()),
                    sum(&|n| -(n * u).powi(2) * (n * u * p).cos()),
                ];
                for (got, want) in [kernel.value, kernel.slope, kernel.bend].iter().zip(expect) {
                    assert!((got.to_array()[0] - want).abs() < 1e-9 * scale, "{bins} {p}: {got:?} {want}");
                }
            }
        }
    }
}
