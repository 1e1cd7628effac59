//! The parameters of a design: their names, shapes and first values.

use std::collections::BTreeMap;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use crate::{Array, Engine};

/// How a parameter begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Start {
    /// Uniform within plus or minus this.
    Uniform(f32),
    /// All of one value.
    Constant(f32),
}

/// One parameter of a design.
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterPlan {
    /// Its name, such as `head.0.weight`.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// How it begins.
    pub start: Start,
}

/// All parameters of a design, in the order they are drawn in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ParameterPlans(pub Vec<ParameterPlan>);

impl ParameterPlans {
    pub(crate) fn push(&mut self, name: String, shape: &[usize], start: Start) {
        self.0.push(ParameterPlan { name, shape: shape.to_vec(), start });
    }

    /// How many numbers there are in all.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.iter().map(|plan| plan.shape.iter().product::<usize>()).sum()
    }

    /// First values for a seed.
    #[must_use]
    pub fn draw(&self, seed: u64) -> Parameters<Array> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let values = self.0.iter().map(|plan| {
            let count = plan.shape.iter().product();
            let values = match plan.start {
                Start::Constant(value) => vec![value; count],
                Start::Uniform(most) => (0..count).map(|_| rng.random_range(-most..=most)).collect(),
            };
            (plan.name.clone(), Array::new(&plan.shape, values))
        });
        Parameters(values.collect())
    }
}

/// Parameters by name.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters<T>(pub BTreeMap<String, T>);

impl Parameters<Array> {
    /// How many numbers there are in all.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.values().map(|values| values.values().len()).sum()
    }
}

/// A network being computed: an engine and the parameters on it.
pub struct Net<'a, E: Engine> {
    /// What computes.
    pub engine: &'a E,
    /// The parameters.
    pub parameters: &'a Parameters<E::Tensor>,
}

impl<E: Engine> Net<'_, E> {
    /// A parameter that the design lists.
    pub(crate) fn parameter(&self, name: &str) -> &E::Tensor {
        self.parameters.0.get(name).expect("parameters are checked against their plans when a model is made")
    }

    /// Weight and bias of a layer.
    pub(crate) fn weight_and_bias(&self, layer: &str) -> [&E::Tensor; 2] {
        ["weight", "bias"].map(|part| self.parameter(&format!("{layer}.{part}")))
    }
}
