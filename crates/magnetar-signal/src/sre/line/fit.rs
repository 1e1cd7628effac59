//! Plane waves fitted together: least-squares gains and joint Gauss-Newton steps.
//!
//! A wave is `g exp(-j n (w - y v)) exp(j y p)` at bin `n` (about the centre of the span) and element place `y`: a delay
//! `w` at the array's centre (radians per bin), a phase slope `p` along the array (radians per metre) and a delay slope
//! `v` (radians per bin and metre), which the phase slope does not fix where it has aliases. Gains are eliminated from the
//! step (variable projection), as with two elements.

#![allow(clippy::needless_range_loop, reason = "matrices read best by their indices")]

use num_complex::Complex64;

use super::sums::{BinNumbers, cholesky, solve, unit, wrapped};

/// Nonlinear numbers of a wave: delay, phase slope, delay slope.
pub(super) const FREE: usize = 3;
/// Powers of bin number and place in an atom's derivative by each of them; the first entry is the atom itself.
const POWERS: [(usize, usize); FREE + 1] = [(0, 0), (1, 0), (0, 1), (1, 1)];
/// The derivatives' factors.
const FACTORS: [Complex64; FREE + 1] =
    [Complex64::new(1.0, 0.0), Complex64::new(0.0, -1.0), Complex64::new(0.0, 1.0), Complex64::new(0.0, 1.0)];
/// A fall of the residual energy below this part of the explained energy is lost in rounding.
const ROUNDING: f64 = 1e-14;
/// Times a step is halved before it is given up.
const HALVINGS: usize = 6;

/// One wave: `[w, p, v]` of the module's page.
pub(super) type Wave = [f64; FREE];

/// What does not change from observation to observation.
pub(super) struct LineModel {
    /// Elements' places about their mean, metres.
    pub y: Vec<f64>,
    /// The bins that are looked at.
    pub bins: BinNumbers,
    /// Resolution cells of delay and phase slope.
    pub cells: [f64; 2],
    /// Phase slopes are known modulo this where the elements are equally far apart; elsewhere they are within half of it.
    pub turn: f64,
    /// Whether they are.
    pub periodic: bool,
    /// Largest delay slope: that of a wave along the array.
    pub steepest: f64,
    /// Two waves may be as much alike as this (inner product of unit atoms).
    pub max_likeness: f64,
}

impl LineModel {
    /// Energy of one atom.
    pub fn norm(&self) -> f64 {
        self.y.len() as f64 * self.bins.count
    }

    /// `sum y^b exp(-j y p) sum n^a x exp(j n (w - y v))` for the powers of the atom and its derivatives.
    pub fn project(&self, data: &[Vec<Complex64>], wave: &Wave) -> [Complex64; FREE + 1] {
        let mut sums = [Complex64::default(); FREE + 1];
        for (y, x) in self.y.iter().zip(data) {
            let transform = self.bins.transform(x, wave[0] - y * wave[2]);
            let turn = unit(-y * wave[1]);
            for (sum, (a, b)) in sums.iter_mut().zip(POWERS) {
                *sum += turn * transform[a] * if b == 1 { *y } else { 1.0 };
            }
        }
        sums
    }

    /// Energy that a wave explains of data on its own.
    pub fn energy(&self, data: &[Vec<Complex64>], wave: &Wave) -> f64 {
        self.project(data, wave)[0].norm_sqr() / self.norm()
    }

    /// Inner products of two waves, `[power of n][power of y]`.
    fn products(&self, a: &Wave, b: &Wave) -> [[Complex64; 3]; 3] {
        let mut sums = [[Complex64::default(); 3]; 3];
        for y in &self.y {
            let kernel = self.bins.kernel(a[0] - b[0] - y * (a[2] - b[2]));
            let turn = unit(-y * (a[1] - b[1]));
            for (of_n, k) in sums.iter_mut().zip(kernel) {
                let z = turn * k;
                of_n[0] += z;
                of_n[1] += z * *y;
                of_n[2] += z * (y * y);
            }
        }
        sums
    }

    /// Brings a wave back into its range.
    fn held(&self, mut wave: Wave) -> Wave {
        wave[0] = wrapped(wave[0]);
        wave[1] = if self.periodic {
            wrapped(wave[1] / self.turn * std::f64::consts::TAU) / std::f64::consts::TAU * self.turn
        } else {
            wave[1].clamp(-0.5 * self.turn, 0.5 * self.turn)
        };
        wave[2] = wave[2].clamp(-self.steepest, self.steepest);
        wave
    }
}

/// The waves of one observation and what follows from them.
#[derive(Default)]
pub(super) struct LineFit {
    pub waves: Vec<Wave>,
    pub gains: Vec<Complex64>,
    /// Energy explained by all waves.
    pub explained: f64,
    projections: Vec<[Complex64; FREE + 1]>,
    products: Vec<[[Complex64; 3]; 3]>,
    /// Cholesky factor of the atoms' inner products.
    factor: Vec<Complex64>,
    /// Information of all free numbers and half the gradient of the explained energy.
    information: Vec<f64>,
    gradient: Vec<f64>,
}

/// Two waves too much alike to be told apart.
pub(super) struct Alike(pub usize, pub usize);

impl LineFit {
    /// Gains, explained energy and all inner products at the present waves.
    pub fn evaluate(&mut self, model: &LineModel, data: &[Vec<Complex64>]) -> Result<(), Alike> {
        let n = self.waves.len();
        self.projections.clear();
        self.projections.extend(self.waves.iter().map(|wave| model.project(data, wave)));
        self.products.clear();
        self.products.resize(n * n, Default::default());
        for i in 0..n {
            for j in 0..=i {
                let products = model.products(&self.waves[i], &self.waves[j]);
                let alike = model.max_likeness * model.norm();
                if i != j && products[0][0].norm_sqr() > alike * alike {
                    return Err(Alike(i, j));
                }
                self.products[i * n + j] = products;
                self.products[j * n + i] = products.map(|row| row.map(|z| z.conj()));
            }
        }
        if !self.factorise(n) {
            return Err(Alike(n.saturating_sub(1), n.saturating_sub(2)));
        }
        self.gains.clear();
        self.gains.extend(self.projections.iter().map(|b| b[0]));
        self.forward(n);
        self.explained = self.gains.iter().map(Complex64::norm_sqr).sum();
        for i in (0..n).rev() {
            let dot: Complex64 = (i + 1..n).map(|k| self.factor[k * n + i].conj() * self.gains[k]).sum();
            self.gains[i] = (self.gains[i] - dot) / self.factor[i * n + i].re;
        }
        Ok(())
    }

    fn factorise(&mut self, n: usize) -> bool {
        self.factor.clear();
        self.factor.resize(n * n, Complex64::default());
        for i in 0..n {
            for j in 0..=i {
                let dot: Complex64 = (0..j).map(|k| self.factor[i * n + k] * self.factor[j * n + k].conj()).sum();
                let value = self.products[i * n + j][0][0] - dot;
                if i == j {
                    if value.re.is_nan() || value.re <= 1e-9 * self.products[i * n + i][0][0].re {
                        return false;
                    }
                    self.factor[i * n + i] = Complex64::new(value.re.sqrt(), 0.0);
                } else {
                    self.factor[i * n + j] = value / self.factor[j * n + j].re;
                }
            }
        }
        true
    }

    fn forward(&mut self, n: usize) {
        for i in 0..n {
            let dot: Complex64 = (0..i).map(|k| self.factor[i * n + k] * self.gains[k]).sum();
            self.gains[i] = (self.gains[i] - dot) / self.factor[i * n + i].re;
        }
    }

    /// Information and gradient of the first `free` numbers of every wave.
    fn inform(&mut self, free: usize) {
        let n = self.waves.len();
        let size = free * n;
        // What each derivative has in common with the atoms, and its part along them.
        let mut along = vec![Complex64::default(); size * n];
        self.gradient.clear();
        for i in 0..n {
            for q in 1..=free {
                let (a, b) = POWERS[q];
                let factor = (self.gains[i] * FACTORS[q]).conj();
                let mut rest = self.projections[i][q];
                for j in 0..n {
                    rest -= self.products[i * n + j][a][b] * self.gains[j];
                }
                self.gradient.push((factor * rest).re);
                let row = &mut along[(i * free + q - 1) * n..][..n];
                for j in 0..n {
                    let dot: Complex64 = (0..j).map(|k| self.factor[j * n + k] * row[k]).sum();
                    let with_atom = (factor * self.products[i * n + j][a][b]).conj();
                    row[j] = (with_atom - dot) / self.factor[j * n + j].re;
                }
            }
        }
        self.information.clear();
        self.information.resize(size * size, 0.0);
        for (r, s) in (0..size).flat_map(|r| (0..=r).map(move |s| (r, s))) {
            let ((i, q), (j, t)) = ((r / free, r % free + 1), (s / free, s % free + 1));
            let ((a, b), (c, d)) = (POWERS[q], POWERS[t]);
            let factor = (self.gains[i] * FACTORS[q]).conj() * self.gains[j] * FACTORS[t];
            let whole = (factor * self.products[i * n + j][a + c][b + d]).re;
            let part: f64 = (0..n).map(|k| (along[r * n + k].conj() * along[s * n + k]).re).sum();
            self.information[r * size + s] = whole - part;
            self.information[s * size + r] = whole - part;
        }
    }

    /// Joint steps on the first `free` numbers of every wave until one promises less than `tolerance`.
    pub fn refine(&mut self, model: &LineModel, data: &[Vec<Complex64>], free: usize, tolerance: f64, rounds: usize) {
        for _ in 0..rounds {
            self.inform(free);
            let mut fixed: Vec<Option<f64>> = vec![None; free * self.waves.len()];
            let Some(mut step) = self.step(model, free, &mut fixed) else { return };
            let promise: f64 = step.iter().zip(&self.gradient).map(|(s, g)| s * g).sum();
            if promise.is_nan() || promise <= tolerance.max(ROUNDING * self.explained) {
                return;
            }
            let (before, start) = (self.explained, self.waves.clone());
            let mut scale = 1.0;
            let mut halvings = 0;
            loop {
                for (i, wave) in self.waves.iter_mut().enumerate() {
                    let mut moved = start[i];
                    moved.iter_mut().zip(&step[i * free..][..free]).for_each(|(x, s)| *x += scale * s);
                    *wave = model.held(moved);
                }
                match self.evaluate(model, data) {
                    Ok(()) if self.explained >= before => break,
                    Err(Alike(i, j)) if halvings == 0 => {
                        // These two stay where they are; the others may go on.
                        for k in [i, j] {
                            fixed[k * free..][..free].iter_mut().for_each(|x| *x = Some(0.0));
                        }
                        self.waves.clone_from(&start);
                        let _ = self.evaluate(model, data);
                        self.inform(free);
                        match self.step(model, free, &mut fixed) {
                            Some(other) => step = other,
                            None => return,
                        }
                    }
                    _ => scale *= 0.5,
                }
                halvings += 1;
                if halvings > HALVINGS {
                    self.waves.clone_from(&start);
                    let _ = self.evaluate(model, data);
                    return;
                }
            }
        }
    }

    /// The step of the quadratic model with some numbers' moves given; delay slopes stop at their bound.
    fn step(&self, model: &LineModel, free: usize, fixed: &mut [Option<f64>]) -> Option<Vec<f64>> {
        let size = fixed.len();
        loop {
            let open: Vec<usize> = (0..size).filter(|r| fixed[*r].is_none()).collect();
            let n = open.len();
            let mut matrix: Vec<f64> = Vec::with_capacity(n * n);
            let mut x = Vec::with_capacity(n);
            for &r in &open {
                matrix.extend(
                    open.iter().map(|s| self.information[r * size + s] * if r == *s { 1.0 + 1e-9 } else { 1.0 }),
                );
                let given: f64 = (0..size).filter_map(|s| fixed[s].map(|d| d * self.information[r * size + s])).sum();
                x.push(self.gradient[r] - given);
            }
            if !cholesky(n, &mut matrix) {
                return None;
            }
            solve(n, &matrix, &mut x);
            let mut step: Vec<f64> = fixed.iter().map(|d| d.unwrap_or(0.0)).collect();
            open.iter().zip(&x).for_each(|(r, d)| step[*r] = *d);
            let mut passed = false;
            for r in open.into_iter().filter(|r| r % free == 2) {
                let now = self.waves[r / free][2];
                let bound = (now + step[r]).clamp(-model.steepest, model.steepest);
                if bound != now + step[r] {
                    fixed[r] = Some(bound - now);
                    passed = true;
                }
            }
            if !passed {
                // Not further than the quadratic model holds.
                for (r, d) in step.iter_mut().enumerate().filter(|(r, _)| r % free < 2) {
                    let longest = 0.25 * model.cells[r % free];
                    *d = d.clamp(-longest, longest);
                }
                return Some(step);
            }
        }
    }

    /// Variances of the free numbers of every wave for unit noise variance: the Cramer-Rao bound at the estimate.
    pub fn variances(&mut self) -> Vec<[f64; FREE]> {
        self.inform(FREE);
        let size = FREE * self.waves.len();
        let mut factor = self.information.clone();
        if !cholesky(size, &mut factor) {
            return vec![[f64::INFINITY; FREE]; self.waves.len()];
        }
        let variance = |r: usize| {
            let mut x = vec![0.0; size];
            x[r] = 1.0;
            solve(size, &factor, &mut x);
            0.5 * x[r]
        };
        (0..self.waves.len()).map(|i| std::array::from_fn(|q| variance(i * FREE + q))).collect()
    }
}
