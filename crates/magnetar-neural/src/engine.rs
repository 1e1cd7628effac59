//! What a network is computed with: a few operations on arrays.
//!
//! Every design is written once, over this trait. [`crate::PlainEngine`] computes it, with the same bits on every processor;
//! the tape of training computes the same and remembers how, for the gradients. Another engine (a GPU's) is one more file.

use std::ops::Range;

/// Operations on arrays. Shapes are the callers' to keep: every design is run on every engine by tests.
pub trait Engine {
    /// An array of this engine.
    type Tensor: Clone;

    /// An array of given values, row-major.
    fn constant(&self, shape: &[usize], values: Vec<f32>) -> Self::Tensor;

    /// Lengths of the axes.
    fn shape(&self, x: &Self::Tensor) -> Vec<usize>;

    /// The same values in another shape.
    fn reshape(&self, x: &Self::Tensor, shape: &[usize]) -> Self::Tensor;

    /// `y[n, o] = sum_i x[n, i] weight[o, i] + bias[o]`.
    fn linear(&self, x: &Self::Tensor, weight: &Self::Tensor, bias: Option<&Self::Tensor>) -> Self::Tensor;

    /// Convolution of `x[b, c, h, w]` with `weight[o, c, k, k]`, k odd, zeros beyond the edges, every `stride`-th output.
    fn convolve(&self, x: &Self::Tensor, weight: &Self::Tensor, bias: &Self::Tensor, stride: usize) -> Self::Tensor;

    /// Group normalisation of `x[b, c, h, w]`: every group of channels of every image to mean 0 and variance 1, then
    /// `scale[c]` and `shift[c]`.
    fn group_norm(&self, x: &Self::Tensor, groups: usize, scale: &Self::Tensor, shift: &Self::Tensor) -> Self::Tensor;

    /// Nearest-neighbour enlargement of `x[b, c, h, w]` to `rows` x `columns`.
    fn enlarge(&self, x: &Self::Tensor, rows: usize, columns: usize) -> Self::Tensor;

    /// `x / (1 + exp(-x))`.
    fn silu(&self, x: &Self::Tensor) -> Self::Tensor;

    /// Hyperbolic tangent.
    fn tanh(&self, x: &Self::Tensor) -> Self::Tensor;

    /// Exponential.
    fn exp(&self, x: &Self::Tensor) -> Self::Tensor;

    /// Sum of two arrays of one shape.
    fn add(&self, a: &Self::Tensor, b: &Self::Tensor) -> Self::Tensor;

    /// Product, element by element, of two arrays of one shape.
    fn multiply(&self, a: &Self::Tensor, b: &Self::Tensor) -> Self::Tensor;

    /// All values times a number.
    fn scale(&self, x: &Self::Tensor, factor: f32) -> Self::Tensor;

    /// Arrays joined along an axis.
    fn join(&self, parts: &[Self::Tensor], axis: usize) -> Self::Tensor;

    /// Some columns of `x[n, c]`.
    fn columns(&self, x: &Self::Tensor, range: Range<usize>) -> Self::Tensor;

    /// Rows of `x[n, ...]` by number; a row may be taken many times.
    fn rows(&self, x: &Self::Tensor, numbers: &[usize]) -> Self::Tensor;

    /// `x[a, b]` with its axes exchanged.
    fn transpose(&self, x: &Self::Tensor) -> Self::Tensor;

    /// Sums over the columns of `x[n, c]`.
    fn sum_of_columns(&self, x: &Self::Tensor) -> Self::Tensor;

    /// `ln sum_c exp x[n, c]`, one value per row.
    fn log_sum_exp(&self, x: &Self::Tensor) -> Self::Tensor;

    /// Softmax over the columns of every row of `x[n, c]`.
    fn softmax(&self, x: &Self::Tensor) -> Self::Tensor;
}
