//! Layers that look at a cell and its neighbours.

use super::dense::Affine;
use crate::Engine;
use crate::parameters::{Net, ParameterPlans, Start};

/// Groups of channels that are normalised together, at most; narrower layers have fewer.
const GROUPS: usize = 8;

/// A convolution, in the plane or, around the circle of headings, in three dimensions.
#[derive(Debug, Clone)]
pub(crate) struct Convolution {
    affine: Affine,
    inputs: usize,
    /// Side of the kernel, odd.
    kernel: usize,
    /// Every `stride`-th row and column.
    stride: usize,
    /// Whether images are headings in a circle, of which a kernel sees both neighbours.
    circular: bool,
}

impl Convolution {
    /// In the plane, of every row and column, with a kernel of this side (odd).
    pub(crate) fn new(name: String, [inputs, outputs]: [usize; 2], kernel: usize) -> Self {
        Self { affine: Affine::new(name, outputs), inputs, kernel, stride: 1, circular: false }
    }

    /// Of every `stride`-th row and column.
    pub(crate) fn with_stride(self, stride: usize) -> Self {
        Self { stride, ..self }
    }

    /// Whether images are headings in a circle.
    pub(crate) fn with_circle(self, circular: bool) -> Self {
        Self { circular, ..self }
    }

    /// Begins at zero: its output is then zero whatever comes in.
    pub(crate) fn silent(mut self) -> Self {
        self.affine.silent = true;
        self
    }

    pub(crate) fn list(&self, plans: &mut ParameterPlans) {
        self.affine.list(plans, &[self.channels(), self.kernel, self.kernel]);
    }

    /// Channels that the kernel sees: those of three headings where headings are a circle.
    fn channels(&self) -> usize {
        if self.circular { 3 * self.inputs } else { self.inputs }
    }

    pub(crate) fn apply<E: Engine>(&self, net: &Net<'_, E>, x: &E::Tensor) -> E::Tensor {
        let engine = net.engine;
        let [weight, bias] = self.affine.of(net);
        if !self.circular {
            return engine.convolve(x, weight, bias, self.stride);
        }
        // A three-dimensional kernel is three kernels in the plane, on the heading before, itself and the one after.
        let headings = engine.shape(x)[0];
        let turned = |by: usize| {
            let numbers: Vec<usize> = (0..headings).map(|d| (d + by) % headings).collect();
            engine.rows(x, &numbers)
        };
        engine.convolve(&engine.join(&[turned(headings - 1), x.clone(), turned(1)], 1), weight, bias, self.stride)
    }
}

/// Group normalisation and SiLU.
#[derive(Debug, Clone)]
pub(crate) struct NormAct {
    pub(crate) name: String,
    pub(crate) channels: usize,
}

impl NormAct {
    pub(crate) fn list(&self, plans: &mut ParameterPlans) {
        plans.push(format!("{}.weight", self.name), &[self.channels], Start::Constant(1.0));
        plans.push(format!("{}.bias", self.name), &[self.channels], Start::Constant(0.0));
    }

    pub(crate) fn apply<E: Engine>(&self, net: &Net<'_, E>, x: &E::Tensor) -> E::Tensor {
        let groups = (1..=GROUPS).rev().find(|groups| self.channels.is_multiple_of(*groups)).unwrap_or(1);
        let [scale, shift] = net.weight_and_bias(&self.name);
        net.engine.silu(&net.engine.group_norm(x, groups, scale, shift))
    }
}
