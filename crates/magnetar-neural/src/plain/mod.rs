//! Networks computed in plain Rust.
//!
//! Every sum runs in one order, nothing is fused and elementary functions are our own, so that a posterior has the same
//! bits on every processor and for any number of threads.

mod convolution;
mod elementary;
mod product;
mod sums;

use std::ops::Range;

use crate::{Array, Engine};

use self::elementary::{exp, tanh};

pub(crate) use self::convolution::Kernel;
pub(crate) use self::elementary::{silu, silu_slopes};
pub(crate) use self::product::{Operand, product};
pub(crate) use self::sums::sum_in_lanes;

/// Added to a group's variance before its root is taken.
const NORM_EPSILON: f32 = 1e-5;

/// Computes networks in plain Rust.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlainEngine;

fn map(x: &Array, f: impl Fn(f32) -> f32) -> Array {
    Array::new(x.shape(), x.values().iter().map(|v| f(*v)).collect())
}

fn zip(a: &Array, b: &Array, f: impl Fn(f32, f32) -> f32) -> Array {
    assert_eq!(a.shape(), b.shape(), "two arrays of one shape are expected");
    Array::new(a.shape(), a.values().iter().zip(b.values()).map(|(a, b)| f(*a, *b)).collect())
}

/// What a group is normalised with: its mean, and one over its standard deviation.
pub(crate) fn mean_and_inverse_deviation(values: &[f32]) -> (f32, f32) {
    let count = values.len() as f32;
    let mean = sum_in_lanes(values, |_, v| v) / count;
    let variance = sum_in_lanes(values, |_, v| (v - mean) * (v - mean)) / count;
    (mean, 1.0 / (variance + NORM_EPSILON).sqrt())
}

/// The values of `x[n, c]` row by row.
fn by_row(x: &Array) -> impl Iterator<Item = &[f32]> {
    x.values().chunks_exact(x.shape()[1].max(1))
}

/// Sum in double precision, in order.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, value| sum + value)
}

/// The largest of a row, and the sum of the exponentials of what the others are below it.
fn top_and_sum(row: &[f32]) -> (f32, f64) {
    let top = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    (top, sum(row.iter().map(|v| f64::from(exp(v - top)))))
}

impl Engine for PlainEngine {
    type Tensor = Array;

    fn constant(&self, shape: &[usize], values: Vec<f32>) -> Array {
        Array::new(shape, values)
    }

    fn shape(&self, x: &Array) -> Vec<usize> {
        x.shape().to_vec()
    }

    fn reshape(&self, x: &Array, shape: &[usize]) -> Array {
        Array::new(shape, x.values().to_vec())
    }

    fn linear(&self, x: &Array, weight: &Array, bias: Option<&Array>) -> Array {
        let (rows, inputs, outputs) = (x.shape()[0], x.shape()[1], weight.shape()[0]);
        let mut y = vec![0f32; rows * outputs];
        if let Some(bias) = bias {
            y.chunks_exact_mut(outputs).for_each(|row| row.copy_from_slice(bias.values()));
        }
        let weights = Operand::rows(weight.values(), inputs).turned();
        product(rows, inputs, outputs, Operand::rows(x.values(), inputs), weights, &mut y);
        Array::new(&[rows, outputs], y)
    }

    fn convolve(&self, x: &Array, weight: &Array, bias: &Array, stride: usize) -> Array {
        convolution::convolve(x, weight, bias, stride)
    }

    fn group_norm(&self, x: &Array, groups: usize, scale: &Array, shift: &Array) -> Array {
        let [images, channels, rows, columns] = x.shape() else { panic!("[b, c, h, w] is expected") };
        let plane = rows * columns;
        let per_group = channels / groups;
        let mut y = x.values().to_vec();
        for group in 0..images * groups {
            let values = &mut y[group * per_group * plane..(group + 1) * per_group * plane];
            let (mean, inverse) = mean_and_inverse_deviation(values);
            let first = group % groups * per_group;
            for (c, plane) in values.chunks_exact_mut(plane).enumerate() {
                let (scale, shift) = (scale.values()[first + c], shift.values()[first + c]);
                plane.iter_mut().for_each(|v| *v = (*v - mean) * inverse * scale + shift);
            }
        }
        Array::new(x.shape(), y)
    }

    fn enlarge(&self, x: &Array, rows: usize, columns: usize) -> Array {
        let [images, channels, h, w] = *x.shape() else { panic!("[b, c, h, w] is expected") };
        let mut y = Vec::with_capacity(images * channels * rows * columns);
        for plane in x.values().chunks_exact(h * w) {
            for i in 0..rows {
                let row = &plane[i * h / rows * w..][..w];
                y.extend((0..columns).map(|j| row[j * w / columns]));
            }
        }
        Array::new(&[images, channels, rows, columns], y)
    }

    fn silu(&self, x: &Array) -> Array {
        Array::new(x.shape(), silu(x.values()))
    }

    fn tanh(&self, x: &Array) -> Array {
        map(x, tanh)
    }

    fn exp(&self, x: &Array) -> Array {
        map(x, exp)
    }

    fn add(&self, a: &Array, b: &Array) -> Array {
        zip(a, b, |a, b| a + b)
    }

    fn multiply(&self, a: &Array, b: &Array) -> Array {
        zip(a, b, |a, b| a * b)
    }

    fn scale(&self, x: &Array, factor: f32) -> Array {
        map(x, |v| v * factor)
    }

    fn join(&self, parts: &[Array], axis: usize) -> Array {
        let mut shape = parts[0].shape().to_vec();
        shape[axis] = parts.iter().map(|part| part.shape()[axis]).sum();
        let outer: usize = shape[..axis].iter().product();
        let mut values = Vec::with_capacity(shape.iter().product());
        for n in 0..outer {
            for part in parts {
                let length = part.values().len() / outer;
                values.extend_from_slice(&part.values()[n * length..(n + 1) * length]);
            }
        }
        Array::new(&shape, values)
    }

    fn columns(&self, x: &Array, range: Range<usize>) -> Array {
        let values = by_row(x).flat_map(|row| row[range.clone()].iter().copied()).collect();
        Array::new(&[x.shape()[0], range.len()], values)
    }

    fn rows(&self, x: &Array, numbers: &[usize]) -> Array {
        let mut shape = x.shape().to_vec();
        let length: usize = shape[1..].iter().product();
        shape[0] = numbers.len();
        let mut values = Vec::with_capacity(numbers.len() * length);
        numbers.iter().for_each(|n| values.extend_from_slice(&x.values()[n * length..(n + 1) * length]));
        Array::new(&shape, values)
    }

    fn transpose(&self, x: &Array) -> Array {
        let (rows, columns) = (x.shape()[0], x.shape()[1]);
        let mut y = vec![0f32; rows * columns];
        for (n, row) in x.values().chunks_exact(columns).enumerate() {
            row.iter().enumerate().for_each(|(c, v)| y[c * rows + n] = *v);
        }
        Array::new(&[columns, rows], y)
    }

    fn sum_of_columns(&self, x: &Array) -> Array {
        let sums = by_row(x).map(|row| sum(row.iter().map(|v| f64::from(*v))) as f32).collect();
        Array::new(&[x.shape()[0]], sums)
    }

    fn log_sum_exp(&self, x: &Array) -> Array {
        let of = |row: &[f32]| {
            let (top, sum) = top_and_sum(row);
            top + libm::log(sum) as f32
        };
        Array::new(&[x.shape()[0]], by_row(x).map(of).collect())
    }

    fn softmax(&self, x: &Array) -> Array {
        let mut y = Vec::with_capacity(x.values().len());
        for row in by_row(x) {
            let (top, sum) = top_and_sum(row);
            let sum = sum as f32;
            y.extend(row.iter().map(|v| exp(v - top) / sum));
        }
        Array::new(x.shape(), y)
    }
}
