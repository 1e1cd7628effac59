//! Layers that look at one candidate at a time.

use crate::Engine;
use crate::parameters::{Net, ParameterPlans, Start};

/// A linear layer with a bias.
#[derive(Debug, Clone)]
pub(crate) struct Dense {
    pub(crate) name: String,
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// Whether it begins at zero: its output is then zero whatever comes in.
    pub(crate) silent: bool,
}

impl Dense {
    pub(crate) fn list(&self, plans: &mut ParameterPlans) {
        let most = 1.0 / (self.inputs as f32).sqrt();
        let start = if self.silent { Start::Constant(0.0) } else { Start::Uniform(most) };
        plans.push(format!("{}.weight", self.name), &[self.outputs, self.inputs], start);
        plans.push(format!("{}.bias", self.name), &[self.outputs], start);
    }

    pub(crate) fn apply<E: Engine>(&self, net: &Net<'_, E>, x: &E::Tensor) -> E::Tensor {
        let weight = net.parameter(&format!("{}.weight", self.name));
        net.engine.linear(x, weight, Some(net.parameter(&format!("{}.bias", self.name))))
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
        let last = widths.len().saturating_sub(2);
        let layer = |(n, pair): (usize, &[usize])| Dense {
            name: format!("{name}.{n}"),
            inputs: pair[0],
            outputs: pair[1],
            silent: silent && n == last,
        };
        Self { layers: widths.windows(2).enumerate().map(layer).collect() }
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
