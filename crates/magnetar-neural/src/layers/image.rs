//! Layers that look at a cell and its neighbours.

use crate::Engine;
use crate::parameters::{Net, ParameterPlans, Start};

/// Groups of channels that are normalised together, at most; narrower layers have fewer.
const GROUPS: usize = 8;

/// A convolution, in the plane or, around the circle of headings, in three dimensions.
#[derive(Debug, Clone)]
pub(crate) struct Convolution {
    pub(crate) name: String,
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// Side of the kernel, odd.
    pub(crate) kernel: usize,
    /// Every `stride`-th row and column.
    pub(crate) stride: usize,
    /// Whether images are headings in a circle, of which a kernel sees both neighbours.
    pub(crate) circular: bool,
    /// Whether it begins at zero.
    pub(crate) silent: bool,
}

impl Convolution {
    pub(crate) fn list(&self, plans: &mut ParameterPlans) {
        let channels = self.channels();
        let most = 1.0 / ((channels * self.kernel * self.kernel) as f32).sqrt();
        let start = if self.silent { Start::Constant(0.0) } else { Start::Uniform(most) };
        plans.push(format!("{}.weight", self.name), &[self.outputs, channels, self.kernel, self.kernel], start);
        plans.push(format!("{}.bias", self.name), &[self.outputs], start);
    }

    /// Channels that the kernel sees: those of three headings where headings are a circle.
    fn channels(&self) -> usize {
        if self.circular { 3 * self.inputs } else { self.inputs }
    }

    pub(crate) fn apply<E: Engine>(&self, net: &Net<'_, E>, x: &E::Tensor) -> E::Tensor {
        let engine = net.engine;
        let weight = net.parameter(&format!("{}.weight", self.name));
        let bias = net.parameter(&format!("{}.bias", self.name));
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
        let scale = net.parameter(&format!("{}.weight", self.name));
        let shift = net.parameter(&format!("{}.bias", self.name));
        net.engine.silu(&net.engine.group_norm(x, groups, scale, shift))
    }
}
