//! What a step may not do: part a component's two delays beyond the array's bound, or bring two components so close
//! that they cannot be told apart.

#![allow(clippy::needless_range_loop, reason = "matrices and lanes read best by their indices")]

use wide::f64x2;

use super::MAX_PATHS;
use super::estimate::wrap_steps;
use super::fit::{ComponentFit, Model, ZERO};
use super::linear::{SQUARE, extend_cholesky, solve};

/// Most changes to the set of bounds that are held; a handful is usual.
const CHANGES: usize = 48;
/// A bound may be passed by this many grid steps: rounding.
const SLACK: f64 = 1e-12;

/// A move of all delays, grid steps.
type Move = [f64x2; MAX_PATHS];

/// A bound on the step: a weighted sum of two components' moves is at least `least`.
#[derive(Clone, Copy, Default)]
struct Bound {
    terms: [(usize, f64x2); 2],
    least: f64,
}

impl Bound {
    /// The weighted sum.
    #[inline(always)]
    fn sum(&self, moves: &Move) -> f64 {
        let [(a, wa), (b, wb)] = self.terms;
        let sum = (moves[a] * wa + moves[b] * wb).to_array();
        sum[0] + sum[1]
    }

    /// By how much moves pass the bound.
    #[inline(always)]
    fn excess(&self, moves: &Move) -> f64 {
        self.least - self.sum(moves)
    }
}

/// Most pairs of components, once per channel.
const MAX_PAIRS: usize = MAX_PATHS * (MAX_PATHS - 1);

/// Two components that a step may bring too close in a channel.
#[derive(Clone, Copy, Default)]
struct Pair {
    components: [usize; 2],
    channel: usize,
    /// From the second to the first, grid steps.
    apart: f64,
}

/// The bounds that a step may pass, by where the components are before it.
struct Watched {
    /// Delay difference of each component, grid steps.
    differences: [f64; MAX_PATHS],
    /// Where the pairs of each component as the first of two end.
    ends: [usize; MAX_PATHS],
    pairs: [Pair; MAX_PAIRS],
}

/// The bounds that are held; kept from step to step for its room alone.
pub(super) struct Held {
    watched: Watched,
    count: usize,
    /// Rows of the factor that are those of the held bounds.
    factored: usize,
    bounds: [Bound; MAX_PATHS],
    /// What one unit of force against each does to all delays.
    columns: [Move; MAX_PATHS],
    /// The forces.
    forces: [f64; MAX_PATHS],
    /// Cholesky factor of what the forces do to each other's bounds.
    factor: [f64x2; SQUARE],
}

impl ComponentFit {
    /// Bends the step so that it keeps all bounds: the best step of the quadratic model under them. Returns the work of
    /// the forces that hold the bounds: the step promises a fall of the residual energy by its product with the
    /// gradient less this.
    #[inline(always)]
    pub(super) fn hold_bounds(&mut self, model: &Model) -> f64 {
        self.watch(model);
        match self.most_passed(model) {
            Some(bound) => self.hold(model, bound),
            None => 0.0,
        }
    }

    /// Looks which bounds a step may pass: components do not move while it is bent.
    #[inline(always)]
    fn watch(&mut self, model: &Model) {
        let n = self.count.min(MAX_PATHS);
        let len = model.grid.len as f64;
        let reach = model.min_separation + 2.0 * model.max_step;
        let mut delays = [[0.0; 2]; MAX_PATHS];
        let mut end = 0;
        for i in 0..n {
            delays[i] = [self.delay(i, 0), self.delay(i, 1)];
            let watched = &mut self.held.watched;
            watched.differences[i] = wrap_steps(delays[i][1] - delays[i][0], len);
            for j in 0..i {
                for m in 0..2 {
                    let apart = wrap_steps(delays[i][m] - delays[j][m], len);
                    if apart.abs() < reach {
                        watched.pairs[end] = Pair { components: [i, j], channel: m, apart };
                        end += 1;
                    }
                }
            }
            watched.ends[i] = end;
        }
    }

    /// Moves the two delays of a component together, without regard to the data, where a step would still part them
    /// too far.
    #[inline(always)]
    pub(super) fn clip_differences(&mut self, model: &Model) {
        for i in 0..self.count.min(MAX_PATHS) {
            let step = self.step[i].to_array();
            let difference = self.difference(model, i) + (step[1] - step[0]);
            let half = 0.5 * (difference - difference.clamp(-model.max_difference, model.max_difference));
            self.step[i] += f64x2::from([half, -half]);
        }
    }

    /// The dual method of Goldfarb and Idnani (1983): from the free step, the bound that is passed most is brought in
    /// with a growing force, while bounds whose force falls to zero are let go.
    fn hold(&mut self, model: &Model, first: Bound) -> f64 {
        let n = self.count.min(MAX_PATHS);
        (self.held.count, self.held.factored) = (0, 0);
        let mut next = Some(first);
        let mut changes = 0;
        while let Some(bound) = next {
            let mut column = [ZERO; MAX_PATHS];
            for (component, weights) in bound.terms {
                column[component] += weights;
            }
            solve(n, &self.information, &mut column);
            let mut force = 0.0;
            let held = &mut self.held;
            loop {
                changes += 1;
                let Some(relief) = held.relief(&column).filter(|_| changes < CHANGES && held.count < MAX_PATHS) else {
                    return held.work();
                };
                let mut direction = column;
                for k in 0..held.count {
                    for i in 0..n {
                        direction[i] -= held.columns[k][i] * relief[k];
                    }
                }
                let yields = bound.sum(&direction);
                // A bound that follows from the held ones cannot be met before one of them is let go.
                let whole =
                    if yields > 1e-9 * bound.sum(&column) { bound.excess(&self.step) / yields } else { f64::INFINITY };
                let (weakest, partial) = held.weakest(&relief);
                let length = whole.min(partial);
                if length == f64::INFINITY {
                    return held.work();
                }
                if whole < f64::INFINITY {
                    for i in 0..n {
                        self.step[i] += direction[i] * length;
                    }
                }
                for k in 0..held.count {
                    held.forces[k] -= length * relief[k];
                }
                force += length;
                if whole <= partial {
                    held.add(bound, column, force);
                    break;
                }
                held.remove(weakest);
            }
            next = self.most_passed(model);
        }
        self.held.work()
    }

    /// The bound that the step passes most.
    #[inline(always)]
    fn most_passed(&self, model: &Model) -> Option<Bound> {
        let n = self.count.min(MAX_PATHS);
        let watched = &self.held.watched;
        let (mut most, mut found) = (SLACK, None);
        let mut from = 0;
        for i in 0..n {
            let moves = self.step[i].to_array();
            let parted = watched.differences[i] + (moves[1] - moves[0]);
            let excess = parted.abs() - model.max_difference;
            if excess > most {
                (most, found) = (excess, Some((i, None)));
            }
            let end = watched.ends[i].min(MAX_PAIRS);
            for pair in &watched.pairs[from.min(end)..end] {
                let [m, j] = [pair.channel, pair.components[1]];
                let other = self.step[j].to_array();
                let excess = model.min_separation - pair.apart.signum() * (pair.apart + (moves[m] - other[m]));
                if excess > most {
                    (most, found) = (excess, Some((i, Some(pair))));
                }
            }
            from = end;
        }
        let (i, pair) = found?;
        Some(match pair {
            None => {
                let moves = self.step[i].to_array();
                let difference = watched.differences[i];
                let side = (difference + (moves[1] - moves[0])).signum();
                let terms = [(i, f64x2::from([side, -side])), (i, ZERO)];
                Bound { terms, least: side * difference - model.max_difference }
            }
            Some(pair) => {
                let mut weights = [0.0; 2];
                weights[pair.channel] = pair.apart.signum();
                let weights = f64x2::from(weights);
                let terms = [(i, weights), (pair.components[1], -weights)];
                Bound { terms, least: model.min_separation - pair.apart.abs() }
            }
        })
    }

    /// Delay of component `i` in channel `m`, grid steps.
    #[inline(always)]
    pub(super) fn delay(&self, i: usize, m: usize) -> f64 {
        self.places[i].q[m] as f64 + self.places[i].t.to_array()[m]
    }

    /// The delay difference of component `i`, grid steps.
    #[inline(always)]
    fn difference(&self, model: &Model, i: usize) -> f64 {
        wrap_steps(self.delay(i, 1) - self.delay(i, 0), model.grid.len as f64)
    }
}

impl Held {
    /// None.
    pub(super) fn new() -> Self {
        Self {
            watched: Watched {
                differences: [0.0; MAX_PATHS],
                ends: [0; MAX_PATHS],
                pairs: [Pair::default(); MAX_PAIRS],
            },
            count: 0,
            factored: 0,
            bounds: [Bound::default(); MAX_PATHS],
            columns: [[ZERO; MAX_PATHS]; MAX_PATHS],
            forces: [0.0; MAX_PATHS],
            factor: [ZERO; SQUARE],
        }
    }

    /// How the forces give way to one unit of force along `column` while their bounds stay met; `None` if the held
    /// bounds depend on each other.
    fn relief(&mut self, column: &Move) -> Option<[f64; MAX_PATHS]> {
        let (bounds, columns) = (&self.bounds, &self.columns);
        let entry = |k: usize, l: usize| f64x2::splat(bounds[k].sum(&columns[l]));
        if !extend_cholesky(self.factored, self.count, &mut self.factor, entry) {
            return None;
        }
        self.factored = self.count;
        let mut relief = [ZERO; MAX_PATHS];
        for (x, bound) in relief.iter_mut().zip(&self.bounds[..self.count]) {
            *x = f64x2::splat(bound.sum(column));
        }
        solve(self.count, &self.factor, &mut relief);
        Some(relief.map(|x| x.to_array()[0]))
    }

    /// Which force is the first to fall to zero, and how far away that is.
    fn weakest(&self, relief: &[f64; MAX_PATHS]) -> (usize, f64) {
        let mut weakest = (0, f64::INFINITY);
        for k in 0..self.count {
            if relief[k] > 0.0 && self.forces[k] < weakest.1 * relief[k] {
                weakest = (k, self.forces[k] / relief[k]);
            }
        }
        weakest
    }

    fn add(&mut self, bound: Bound, column: Move, force: f64) {
        self.bounds[self.count] = bound;
        self.columns[self.count] = column;
        self.forces[self.count] = force;
        self.count += 1;
    }

    fn remove(&mut self, k: usize) {
        self.count -= 1;
        self.factored = self.factored.min(k);
        self.bounds.swap(k, self.count);
        self.columns.swap(k, self.count);
        self.forces.swap(k, self.count);
    }

    /// What the forces do over the moves that meet their bounds.
    fn work(&self) -> f64 {
        (0..self.count).map(|k| self.forces[k] * self.bounds[k].least).sum()
    }
}
