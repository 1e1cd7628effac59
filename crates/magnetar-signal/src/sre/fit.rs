//! Components fitted together: least-squares gains and joint Gauss-Newton steps on all delays.
//!
//! In one channel the data are `sum_i g_i a(u_i)` plus noise. For given delays the best gains solve `G g = b`, where
//! `G` holds the kernels of the delay differences and `b` the data's transform at the delays, and the energy they
//! explain is `b^H G^-1 b`. The gains are eliminated from the Gauss-Newton step as well (variable projection), so that
//! it solves a system in the delays alone. Both channels are computed at once, one per lane; only the bound on a
//! component's delay difference between them ties them together.

#![allow(clippy::needless_range_loop, reason = "matrices and lanes read best by their indices")]

use num_complex::Complex;
use wide::f64x2;

use super::MAX_PATHS;
use super::bounds::Held;
use super::exact::ExactTransform;
use super::interpolate::{ComplexPair, LocalTransform};
use super::kernel::{Angles, Dirichlet, Kernel};
use super::linear::{SQUARE, at, cholesky, solve};
use super::spectrum::{Atom, Grid, Spectrum};

pub(super) const ZERO: f64x2 = f64x2::splat(0.0);

/// A fall of the residual energy below this part of the explained energy is lost in rounding.
const ROUNDING: f64 = 1e-14;

/// Where one component is, in both channels: `q + t` grid steps, `|t| <= 1`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    /// Grid points.
    pub q: [usize; 2],
    /// Offsets from them, grid steps.
    pub t: f64x2,
    /// The grid points the local transform was made at.
    local: LocalTransform,
}

/// What does not change from observation to observation.
pub(super) struct Model {
    /// The transform's plan.
    pub grid: Grid,
    /// The atoms' inner products.
    pub dirichlet: Dirichlet,
    /// Bound on the delay difference between the channels, grid steps.
    pub max_difference: f64,
    /// Sine of half the angle between two components that are as close as they may be.
    pub min_sine: f64,
    /// Least distance of two components in a channel, grid steps.
    pub min_separation: f64,
    /// Longest move of a delay in one step, grid steps.
    pub max_step: f64,
}

/// The components of one observation and the quantities derived from them.
pub(super) struct ComponentFit {
    /// Number of components.
    pub count: usize,
    pub(super) places: [Place; MAX_PATHS],
    angles: [Angles; MAX_PATHS],
    transforms: [[ComplexPair; 3]; MAX_PATHS],
    kernels: [Kernel; SQUARE],
    /// Cholesky factor of the Gram matrix.
    factor: [f64x2; SQUARE],
    gains: [ComplexPair; MAX_PATHS],
    /// Energy explained by the components, both channels.
    pub explained: f64,
    /// Cholesky factor of the delays' information matrix.
    pub(super) information: [f64x2; SQUARE],
    pub(super) step: [f64x2; MAX_PATHS],
    pub(super) held: Held,
    /// Rows of `V = G^(-1/2) D'`, with `D'` the slopes of the kernels.
    slopes: [[f64x2; MAX_PATHS]; MAX_PATHS],
}

impl ComponentFit {
    /// No components. Some 50 kB, on the heap: a thread that waits for others while it works for them has many workspaces
    /// on its stack at once.
    #[inline(never)]
    pub fn new() -> Box<Self> {
        let pair = ComplexPair::default();
        Box::new(Self {
            count: 0,
            places: [Place::default(); MAX_PATHS],
            angles: [Angles::default(); MAX_PATHS],
            transforms: [[pair; 3]; MAX_PATHS],
            kernels: [Kernel::default(); SQUARE],
            factor: [ZERO; SQUARE],
            gains: [pair; MAX_PATHS],
            explained: 0.0,
            information: [ZERO; SQUARE],
            step: [ZERO; MAX_PATHS],
            held: Held::new(),
            slopes: [[ZERO; MAX_PATHS]; MAX_PATHS],
        })
    }

    /// Starts over.
    pub fn clear(&mut self) {
        self.count = 0;
        self.explained = 0.0;
    }

    /// Adds a component at the same delay in both channels, `q + t` grid steps.
    pub fn push(&mut self, model: &Model, spectrum: &Spectrum, q: usize, t: f64) {
        let q = [q; 2];
        self.places[self.count] = Place { q, t: f64x2::splat(t), local: model.grid.local(spectrum, q) };
        self.count += 1;
    }

    /// Takes component `i` out.
    pub fn remove(&mut self, i: usize) {
        self.places.copy_within(i + 1..self.count, i);
        self.count -= 1;
    }

    /// Reads the transform anew at all components, after it has changed.
    pub fn reload(&mut self, model: &Model, spectrum: &Spectrum) {
        for place in &mut self.places[..self.count] {
            place.local = model.grid.local(spectrum, place.q);
        }
    }

    /// Delays (grid steps) and gains of component `i`.
    pub fn atom(&self, i: usize) -> Atom {
        let place = &self.places[i];
        let t = place.t.to_array();
        let (re, im) = (self.gains[i].re.to_array(), self.gains[i].im.to_array());
        Atom {
            delay: [place.q[0] as f64 + t[0], place.q[1] as f64 + t[1]],
            gain: [Complex::new(re[0], im[0]), Complex::new(re[1], im[1])],
        }
    }

    /// Gains, explained energy and all inner products at the present delays; `false` if components are too close for
    /// them to be told apart.
    #[inline(always)]
    pub fn evaluate(&mut self, model: &Model) -> bool {
        let n = self.count.min(MAX_PATHS);
        let peak = f64x2::splat(model.dirichlet.peak.0);
        let mut closest = f64x2::splat(1.0);
        for i in 0..n {
            let place = &self.places[i];
            self.angles[i] = model.dirichlet.angles(place.q, place.t);
            self.transforms[i] = place.local.at(place.t);
            for j in 0..i {
                let kernel = model.dirichlet.kernel(&self.angles[i], &self.angles[j]);
                closest = closest.fast_min(kernel.sine.abs());
                self.kernels[at(i, j)] = kernel;
            }
        }
        if closest.to_array().iter().any(|&s| s < model.min_sine) {
            return false;
        }
        let kernels = &self.kernels;
        if !cholesky(n, &mut self.factor, |i, j| if i == j { peak } else { kernels[at(i, j)].value }) {
            return false;
        }
        let mut energy = ZERO;
        for i in 0..n {
            let mut y = self.transforms[i][0];
            for j in 0..i {
                let l = self.factor[at(i, j)];
                y.re -= l * self.gains[j].re;
                y.im -= l * self.gains[j].im;
            }
            let inverse = self.factor[at(i, i)];
            y.re *= inverse;
            y.im *= inverse;
            energy += y.re * y.re + y.im * y.im;
            self.gains[i] = y;
        }
        for i in (0..n).rev() {
            let mut g = self.gains[i];
            for j in i + 1..n {
                let l = self.factor[at(j, i)];
                g.re -= l * self.gains[j].re;
                g.im -= l * self.gains[j].im;
            }
            let inverse = self.factor[at(i, i)];
            self.gains[i] = ComplexPair { re: g.re * inverse, im: g.im * inverse };
        }
        let energy = energy.to_array();
        self.explained = energy[0] + energy[1];
        true
    }

    /// Half the gradient of the explained energy by the delays, and their information matrix into `self.information`;
    /// `None` if that is singular. After it [`Self::delay_variance`] is valid.
    #[inline(always)]
    pub fn inform(&mut self, model: &Model) -> Option<[f64x2; MAX_PATHS]> {
        let n = self.count.min(MAX_PATHS);
        let (bend_peak, tiny) = (f64x2::splat(model.dirichlet.peak.1), f64x2::splat(1e-300));
        let mut gradient = [ZERO; MAX_PATHS];
        for i in 0..n {
            let mut residual = self.transforms[i][1];
            for j in 0..n {
                let slope = self.slope(i, j);
                residual.re -= self.gains[j].re * slope;
                residual.im -= self.gains[j].im * slope;
                let mut v = slope;
                for k in 0..j {
                    v -= self.factor[at(j, k)] * self.slopes[i][k];
                }
                self.slopes[i][j] = v * self.factor[at(j, j)];
            }
            gradient[i] = self.gains[i].re * residual.re + self.gains[i].im * residual.im;
        }
        let (gains, kernels, slopes) = (&self.gains, &self.kernels, &self.slopes);
        let regular = cholesky(n, &mut self.information, |i, j| {
            let mut dot = ZERO;
            for k in 0..n {
                dot += slopes[i][k] * slopes[j][k];
            }
            let bend = if i == j { bend_peak } else { kernels[at(i, j)].bend };
            let product = gains[i].re * gains[j].re + gains[i].im * gains[j].im;
            let entry = product * (-bend - dot);
            if i == j { entry + tiny } else { entry }
        });
        regular.then_some(gradient)
    }

    /// The joint step on all delays, into `self.step`; returns the fall of the residual energy that it promises.
    #[inline(always)]
    pub(super) fn direction(&mut self, model: &Model) -> f64 {
        let n = self.count.min(MAX_PATHS);
        let Some(gradient) = self.inform(model) else { return 0.0 };
        self.step = gradient;
        solve(n, &self.information, &mut self.step);
        let held = self.hold_bounds(model);
        let mut promise = ZERO;
        let limit = f64x2::splat(model.max_step);
        for i in 0..n {
            promise += gradient[i] * self.step[i];
            self.step[i] = self.step[i].fast_max(-limit).fast_min(limit);
        }
        self.clip_differences(model); // a step that was cut short may miss the bounds once more
        let promise = promise.to_array();
        promise[0] + promise[1] - held
    }

    /// Slope of the kernel between components `i` and `j`.
    #[inline(always)]
    fn slope(&self, i: usize, j: usize) -> f64x2 {
        use std::cmp::Ordering::{Equal, Greater, Less};
        match i.cmp(&j) {
            Equal => ZERO,
            Greater => self.kernels[at(i, j)].slope,
            Less => -self.kernels[at(j, i)].slope,
        }
    }

    /// Moves all delays by `scale` times the step.
    #[inline(always)]
    fn advance(&mut self, model: &Model, spectrum: &Spectrum, scale: f64) {
        for i in 0..self.count {
            self.places[i].t += self.step[i] * scale;
            if self.places[i].t.to_array().iter().any(|t| t.abs() > 1.0) {
                self.centre(model, spectrum, i);
            }
        }
    }

    /// Puts component `i` on the grid points nearest to it.
    #[inline(always)]
    fn centre(&mut self, model: &Model, spectrum: &Spectrum, i: usize) {
        let place = &mut self.places[i];
        let len = model.grid.len as i64;
        let mut rest = place.t.to_array();
        for m in 0..2 {
            let whole = rest[m].round();
            rest[m] -= whole;
            place.q[m] = (place.q[m] as i64 + whole as i64).rem_euclid(len) as usize;
        }
        place.t = f64x2::from(rest);
        place.local = model.grid.local(spectrum, place.q);
    }

    /// Gauss-Newton steps on all delays, each kept only if the residual falls, until a step promises less than
    /// `tolerance` (in units of the noise variance) or `rounds` are done. Needs a valid [`Self::evaluate`] before.
    /// Returns the number of steps kept.
    #[inline(always)]
    pub fn refine(&mut self, model: &Model, spectrum: &Spectrum, tolerance: f64, rounds: usize) -> usize {
        for round in 0..rounds {
            let promise = self.direction(model);
            // The energies that judge a step are rounded.
            if promise.is_nan() || promise <= tolerance.max(ROUNDING * self.explained) {
                return round;
            }
            let before = self.explained;
            let mut scale = 1.0;
            self.advance(model, spectrum, scale);
            let mut halvings = 0;
            while !(self.evaluate(model) && self.explained >= before) {
                if halvings == 6 {
                    self.advance(model, spectrum, -scale);
                    self.evaluate(model);
                    return round;
                }
                halvings += 1;
                self.advance(model, spectrum, -0.5 * scale);
                scale *= 0.5;
            }
        }
        rounds
    }

    /// Refines to the end with the transform in double precision: value and slope at all components are summed over
    /// the bins, and again after a move that is long for them.
    #[inline(always)]
    pub fn finish(
        &mut self,
        model: &Model,
        spectrum: &Spectrum,
        exact: &mut ExactTransform,
        tolerance: f64,
        rounds: usize,
    ) {
        const REPEATS: usize = 3;
        const LONG_MOVE: f64 = 0.02;
        for _ in 0..REPEATS {
            for i in 0..self.count {
                self.centre(model, spectrum, i);
                let delay = [self.delay(i, 0), self.delay(i, 1)];
                let place = &mut self.places[i];
                place.local.correct(place.t, &exact.at(delay, model.grid.len));
            }
            let before = self.places;
            self.evaluate(model);
            self.refine(model, spectrum, tolerance, rounds);
            let moved = |(a, b): (&Place, &Place)| (a.t - b.t).abs().to_array().iter().any(|x| *x > LONG_MOVE);
            if !self.places[..self.count].iter().zip(&before).any(moved) {
                break;
            }
        }
    }

    /// The highest residual energy (both channels at one delay) near grid point `q`, starting at `t` grid steps from
    /// it: where it is and its value.
    #[inline(always)]
    pub fn peak(&self, model: &Model, spectrum: &Spectrum, q: usize, t: f64) -> (f64, f64) {
        const ROUNDS: usize = 3;
        let local = model.grid.local(spectrum, [q; 2]);
        let mut t = t.clamp(-1.0, 1.0);
        let mut best = (t, 0.0);
        for _ in 0..ROUNDS {
            let [r, r1, r2] = &self.residual(model, &local, q, t);
            let energy = product(r, r);
            if energy <= best.1 {
                break;
            }
            best = (t, energy);
            let curvature = product(r1, r1) + product(r, r2);
            if curvature >= 0.0 {
                break;
            }
            t = (t - product(r, r1) / curvature).clamp(-1.0, 1.0);
        }
        best
    }

    /// Residual energy at a grid point, both channels together.
    pub fn residual_energy(&self, model: &Model, spectrum: &Spectrum, q: usize) -> f64 {
        let [r, ..] = &self.residual(model, &model.grid.local(spectrum, [q; 2]), q, 0.0);
        product(r, r)
    }

    /// The residual's transform and its first two derivatives, at one delay in both channels.
    #[inline(always)]
    fn residual(&self, model: &Model, local: &LocalTransform, q: usize, t: f64) -> [ComplexPair; 3] {
        let t = f64x2::splat(t);
        let mut residual = local.at(t);
        let here = model.dirichlet.angles([q; 2], t);
        for (angles, gain) in self.angles.iter().zip(&self.gains).take(self.count) {
            let kernel = model.dirichlet.kernel(&here, angles);
            for (r, k) in residual.iter_mut().zip([kernel.value, kernel.slope, kernel.bend]) {
                r.re -= gain.re * k;
                r.im -= gain.im * k;
            }
        }
        residual
    }

    /// Variance of each delay of component `i` for unit noise variance, grid steps squared: the Cramer-Rao bound at
    /// the estimate, with all gains and all other delays unknown. Valid after [`Self::inform`].
    pub fn delay_variance(&self, i: usize) -> [f64; 2] {
        let mut column = [ZERO; MAX_PATHS];
        column[i] = f64x2::splat(1.0);
        solve(self.count, &self.information, &mut column);
        (column[i] * 0.5).to_array()
    }
}

/// Real part of the product of one and the conjugate of the other, both channels together.
#[inline(always)]
fn product(a: &ComplexPair, b: &ComplexPair) -> f64 {
    let x = (a.re * b.re + a.im * b.im).to_array();
    x[0] + x[1]
}
