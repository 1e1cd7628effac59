//! A tape: networks computed in plain Rust, and remembered, so that a loss can be followed back to the parameters.
//!
//! Values are those of [`PlainEngine`], operation by operation; every operation adds how its inputs' gradients follow from
//! its output's.

mod images;
mod matrices;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use crate::plain::silu_slopes;
use crate::{Array, Engine, Parameters, PlainEngine};

/// An array on a tape.
#[derive(Debug, Clone)]
pub(crate) struct Taped {
    place: usize,
    /// Whether it depends on a parameter.
    tracked: bool,
    value: Rc<Array>,
}

/// Gradients by place on the tape, as far as the way back has come.
pub(crate) struct Gradients(Vec<Option<Vec<f32>>>);

impl Gradients {
    /// Adds to the gradient of an array that depends on a parameter.
    fn add(&mut self, to: &Taped, gradient: Vec<f32>) {
        if !to.tracked {
            return;
        }
        match &mut self.0[to.place] {
            Some(sum) => sum.iter_mut().zip(gradient).for_each(|(sum, g)| *sum += g),
            empty => *empty = Some(gradient),
        }
    }

    /// As [`Gradients::add`], made only if it is wanted.
    fn add_with(&mut self, to: &Taped, gradient: impl FnOnce() -> Vec<f32>) {
        if to.tracked {
            self.add(to, gradient());
        }
    }
}

/// From the gradient of an operation's output to those of its inputs.
type Back = Box<dyn FnOnce(&[f32], &mut Gradients)>;

/// Operations in the order they were made.
#[derive(Default)]
pub(crate) struct Tape {
    backs: RefCell<Vec<Option<Back>>>,
}

impl Tape {
    fn push(&self, value: Array, back: Option<Back>) -> Taped {
        let mut backs = self.backs.borrow_mut();
        let tracked = back.is_some();
        backs.push(back);
        Taped { place: backs.len() - 1, tracked, value: Rc::new(value) }
    }

    /// The output of an operation; `back` is kept only if an input depends on a parameter.
    fn record(&self, value: Array, inputs: &[&Taped], back: impl FnOnce(&[f32], &mut Gradients) + 'static) -> Taped {
        let tracked = inputs.iter().any(|input| input.tracked);
        self.push(value, tracked.then(|| Box::new(back) as Back))
    }

    /// Parameters whose gradients are wanted.
    pub(crate) fn parameters(&self, values: &Parameters<Array>) -> Parameters<Taped> {
        // What a parameter depends on is nothing: its way back ends.
        let track = |array: &Array| self.push(array.clone(), Some(Box::new(|_, _| {})));
        Parameters(values.0.iter().map(|(name, array)| (name.clone(), track(array))).collect())
    }

    /// The value of a loss `[1]` and its gradient by every parameter. The tape is used up.
    pub(crate) fn gradients(self, loss: &Taped, parameters: &Parameters<Taped>) -> (f32, BTreeMap<String, Vec<f32>>) {
        let mut backs = self.backs.into_inner();
        let mut gradients = Gradients(vec![None; backs.len()]);
        gradients.add(loss, vec![1.0]);
        let kept: Vec<usize> = parameters.0.values().map(|parameter| parameter.place).collect();
        for place in (0..=loss.place).rev().filter(|place| !kept.contains(place)) {
            if let (Some(gradient), Some(back)) = (gradients.0[place].take(), backs[place].take()) {
                back(&gradient, &mut gradients);
            }
        }
        let of = |(name, parameter): (&String, &Taped)| {
            // A parameter that the loss does not depend on has a gradient of zero: without an arrival nothing attends.
            let zero = || vec![0.0; parameter.value.values().len()];
            (name.clone(), gradients.0[parameter.place].take().unwrap_or_else(zero))
        };
        (loss.value.values()[0], parameters.0.iter().map(of).collect())
    }
}

/// The product of two slices, element by element.
fn times(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(a, b)| a * b).collect()
}

impl Engine for Tape {
    type Tensor = Taped;

    fn constant(&self, shape: &[usize], values: Vec<f32>) -> Taped {
        self.push(Array::new(shape, values), None)
    }

    fn shape(&self, x: &Taped) -> Vec<usize> {
        x.value.shape().to_vec()
    }

    fn reshape(&self, x: &Taped, shape: &[usize]) -> Taped {
        let to = x.clone();
        self.record(PlainEngine.reshape(&x.value, shape), &[x], move |g, all| all.add(&to, g.to_vec()))
    }

    fn linear(&self, x: &Taped, weight: &Taped, bias: Option<&Taped>) -> Taped {
        matrices::linear(self, x, weight, bias)
    }

    fn convolve(&self, x: &Taped, weight: &Taped, bias: &Taped, stride: usize) -> Taped {
        images::convolve(self, x, weight, bias, stride)
    }

    fn group_norm(&self, x: &Taped, groups: usize, scale: &Taped, shift: &Taped) -> Taped {
        images::group_norm(self, x, groups, scale, shift)
    }

    fn enlarge(&self, x: &Taped, rows: usize, columns: usize) -> Taped {
        images::enlarge(self, x, rows, columns)
    }

    fn silu(&self, x: &Taped) -> Taped {
        let to = x.clone();
        self.record(PlainEngine.silu(&x.value), &[x], move |g, all| {
            all.add_with(&to, || silu_slopes(to.value.values(), g));
        })
    }

    fn tanh(&self, x: &Taped) -> Taped {
        let (to, y) = (x.clone(), PlainEngine.tanh(&x.value));
        let slopes: Vec<f32> = y.values().iter().map(|y| 1.0 - y * y).collect();
        self.record(y, &[x], move |g, all| all.add(&to, times(g, &slopes)))
    }

    fn exp(&self, x: &Taped) -> Taped {
        let (to, y) = (x.clone(), PlainEngine.exp(&x.value));
        let slopes = y.values().to_vec();
        self.record(y, &[x], move |g, all| all.add(&to, times(g, &slopes)))
    }

    fn add(&self, a: &Taped, b: &Taped) -> Taped {
        let to = [a.clone(), b.clone()];
        self.record(PlainEngine.add(&a.value, &b.value), &[a, b], move |g, all| {
            to.iter().for_each(|to| all.add_with(to, || g.to_vec()));
        })
    }

    fn multiply(&self, a: &Taped, b: &Taped) -> Taped {
        let (to_a, to_b) = (a.clone(), b.clone());
        self.record(PlainEngine.multiply(&a.value, &b.value), &[a, b], move |g, all| {
            all.add_with(&to_a, || times(g, to_b.value.values()));
            all.add_with(&to_b, || times(g, to_a.value.values()));
        })
    }

    fn scale(&self, x: &Taped, factor: f32) -> Taped {
        let to = x.clone();
        self.record(PlainEngine.scale(&x.value, factor), &[x], move |g, all| {
            all.add(&to, g.iter().map(|g| g * factor).collect());
        })
    }

    fn join(&self, parts: &[Taped], axis: usize) -> Taped {
        matrices::join(self, parts, axis)
    }

    fn columns(&self, x: &Taped, range: Range<usize>) -> Taped {
        let (to, width) = (x.clone(), x.value.shape()[1]);
        self.record(PlainEngine.columns(&x.value, range.clone()), &[x], move |g, all| {
            let mut gradient = vec![0.0; to.value.values().len()];
            for (row, g) in gradient.chunks_exact_mut(width).zip(g.chunks_exact(range.len())) {
                row[range.clone()].copy_from_slice(g);
            }
            all.add(&to, gradient);
        })
    }

    fn rows(&self, x: &Taped, numbers: &[usize]) -> Taped {
        let (to, numbers) = (x.clone(), numbers.to_vec());
        let length: usize = x.value.shape()[1..].iter().product();
        self.record(PlainEngine.rows(&x.value, &numbers), &[x], move |g, all| {
            let mut gradient = vec![0.0; to.value.values().len()];
            for (n, g) in numbers.iter().zip(g.chunks_exact(length)) {
                gradient[n * length..(n + 1) * length].iter_mut().zip(g).for_each(|(sum, g)| *sum += g);
            }
            all.add(&to, gradient);
        })
    }

    fn transpose(&self, x: &Taped) -> Taped {
        let (to, shape) = (x.clone(), [x.value.shape()[1], x.value.shape()[0]]);
        self.record(PlainEngine.transpose(&x.value), &[x], move |g, all| {
            all.add(&to, PlainEngine.transpose(&Array::new(&shape, g.to_vec())).into_values());
        })
    }

    fn sum_of_columns(&self, x: &Taped) -> Taped {
        let (to, width) = (x.clone(), x.value.shape()[1]);
        self.record(PlainEngine.sum_of_columns(&x.value), &[x], move |g, all| {
            all.add(&to, g.iter().flat_map(|g| std::iter::repeat_n(*g, width)).collect());
        })
    }

    fn log_sum_exp(&self, x: &Taped) -> Taped {
        let (to, width) = (x.clone(), x.value.shape()[1]);
        self.record(PlainEngine.log_sum_exp(&x.value), &[x], move |g, all| {
            let mut gradient = PlainEngine.softmax(&to.value).into_values();
            for (row, g) in gradient.chunks_exact_mut(width).zip(g) {
                row.iter_mut().for_each(|v| *v *= g);
            }
            all.add(&to, gradient);
        })
    }

    fn softmax(&self, x: &Taped) -> Taped {
        let (to, width, y) = (x.clone(), x.value.shape()[1], PlainEngine.softmax(&x.value));
        let shares = y.values().to_vec();
        self.record(y, &[x], move |g, all| {
            let mut gradient = times(g, &shares);
            for (row, shares) in gradient.chunks_exact_mut(width).zip(shares.chunks_exact(width)) {
                let total: f32 = row.iter().sum();
                row.iter_mut().zip(shares).for_each(|(v, share)| *v -= share * total);
            }
            all.add(&to, gradient);
        })
    }
}
