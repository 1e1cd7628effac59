//! Layers that look at one candidate at a time.

use crate::Engine;
use crate::parameters::{Net, ParameterPlans, Start};

/// The weights and biases of a layer.
#[derive(Debug, Clone)]
pub(super) struct Affine {
    name: String,
    outputs: usize,
    /// Whether it begins at zero: its output is then zero whatever comes in.
    pub(super) silent: bool,
}

impl Affine {
    pub(super) fn new(name: String, outputs: usize) -> Self {
        Self { name, outputs, silent: false }
    }

    /// Lists a bias per output, and weights of a shape.
    pub(super) fn list(&self, plans: &mut ParameterPlans, weights_per_output: &[usize]) {
        let most = 1.0 / (weights_per_output.iter().product::<usize>() as f32).sqrt();
        let start = if self.silent { Start::Constant(0.0) } else { Start::Uniform(most) };
        plans.push(format!("{}.weight", self.name), &[&[self.outputs], weights_per_output].concat(), start);
        plans.push(format!("{}.bias", self.name), &[self.outputs], start);
    }

    /// Weight and bias.
    pub(super) fn of<'n, E: Engine>(&self, net: &'n Net<'_, E>) -> [&'n E::Tensor; 2] {
        net.weight_and_bias(&self.name)
    }
}

/// A linear layer with a bias.
#[derive(Debug, Clone)]
pub(crate) struct Dense {
    affine: Affine,
    inputs: usize,
}

impl Dense {
    pub(crate) fn new(name: String, [inputs, outputs]: [usize; 2]) -> Self {
        Self { affine: Affine::new(name, outputs), inputs }
    }

    pub(crate) fn list(&self, plans: &mut ParameterPlans) {
        self.affine.list(plans, &[self.inputs]);
    }

    pub(crate) fn apply<E: Engine>(&self, net: &Net<'_, E>, x: &E::Tensor) -> E::Tensor {
        let [weight, bias] = self.affine.of(net);
        net.engine.linear(x, weight, Some(bias))
    }
}

/// Linear layers with SiLU between them.
#[derive(Debug, Clone)]
pub(crate) struct Mlp {
    layers: Vec<Dense>,
}

impl Mlp {
    /// Layers of the given widths, inputs first. `silent` is said of the last.
    pub(crate) fn new(name: &str, widths: &[usize], silent: bool) -> Self {
        let layer = |(n, pair): (usize, &[usize])| Dense::new(format!("{name}.{n}"), [pair[0], pair[1]]);
        let mut layers: Vec<Dense> = widths.windows(2).enumerate().map(layer).collect();
        if let Some(last) = layers.last_mut() {
            last.affine.silent = silent;
        }
        Self { layers }
    }

    pub(crate) fn list(&self, plans: &mut ParameterPlans) {
        self.layers.iter().for_each(|layer| layer.list(plans));
    }

    pub(crate) fn apply<E: Engine>(&self, net: &Net<'_, E>, x: &E::Tensor) -> E::Tensor {
        let mut x = x.clone();
        for (n, layer) in self.layers.iter().enumerate() {
            if n > 0 {
                x = net.engine.silu(&x);
            }
            x = layer.apply(net, &x);
        }
        x
    }
}
