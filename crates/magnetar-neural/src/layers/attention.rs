//! Attention over the arrivals of an observation.

use super::Dense;
use crate::Engine;
use crate::parameters::{Net, ParameterPlans};

/// Attention from queries to arrivals, several heads. Arrivals that are missing are not given: that is the mask.
#[derive(Debug, Clone)]
pub(crate) struct Attention {
    query: Dense,
    key: Dense,
    value: Dense,
    heads: usize,
    width: usize,
}

impl Attention {
    /// From queries of `inputs` channels and arrivals of `arrival` channels to `width` channels.
    pub(crate) fn new(name: &str, inputs: usize, arrival: usize, width: usize, heads: usize) -> Self {
        let dense = |part: &str, inputs| Dense::new(format!("{name}.{part}"), [inputs, width]);
        Self { query: dense("query", inputs), key: dense("key", arrival), value: dense("value", arrival), heads, width }
    }

    pub(crate) fn list(&self, plans: &mut ParameterPlans) {
        [&self.query, &self.key, &self.value].into_iter().for_each(|part| part.list(plans));
    }

    /// `[n, inputs]` and, per arrival, `[n, arrival]` to `[n, width]` of the attended values, the queries beside them:
    /// `[n, 2 width]`. Without an arrival the values are zero.
    pub(crate) fn apply<E: Engine>(&self, net: &Net<'_, E>, x: &E::Tensor, arrivals: &[E::Tensor]) -> E::Tensor {
        let engine = net.engine;
        let query = self.query.apply(net, x);
        let rows = engine.shape(&query)[0];
        let mut attended = engine.constant(&[rows, self.width], vec![0.0; rows * self.width]);
        if !arrivals.is_empty() {
            let scores: Vec<E::Tensor> = arrivals
                .iter()
                .map(|arrival| {
                    let products = engine.multiply(&query, &self.key.apply(net, arrival));
                    engine.linear(&products, &self.head_sums(engine), None)
                })
                .collect();
            let weights = self.weights(engine, &scores);
            for (arrival, weight) in arrivals.iter().zip(weights) {
                let spread = engine.linear(&weight, &self.head_spread(engine), None);
                let part = engine.multiply(&spread, &self.value.apply(net, arrival));
                attended = engine.add(&attended, &part);
            }
        }
        engine.join(&[query, attended], 1)
    }

    /// Softmax over the arrivals, head by head: `[n, heads]` per arrival.
    fn weights<E: Engine>(&self, engine: &E, scores: &[E::Tensor]) -> Vec<E::Tensor> {
        let of_head = |head: usize| {
            let columns: Vec<E::Tensor> = scores.iter().map(|s| engine.columns(s, head..head + 1)).collect();
            engine.softmax(&engine.join(&columns, 1))
        };
        let heads: Vec<E::Tensor> = (0..self.heads).map(of_head).collect();
        let of_arrival = |n: usize| {
            let columns: Vec<E::Tensor> = heads.iter().map(|head| engine.columns(head, n..n + 1)).collect();
            engine.join(&columns, 1)
        };
        (0..scores.len()).map(of_arrival).collect()
    }

    /// `[heads, width]`: sums each head's channels and divides by the root of their number.
    fn head_sums<E: Engine>(&self, engine: &E) -> E::Tensor {
        let per_head = self.width / self.heads;
        let factor = 1.0 / (per_head as f32).sqrt();
        let value = |n: usize| if n % self.width / per_head == n / self.width { factor } else { 0.0 };
        engine.constant(&[self.heads, self.width], (0..self.heads * self.width).map(value).collect())
    }

    /// `[width, heads]`: gives each of a head's channels that head's weight.
    fn head_spread<E: Engine>(&self, engine: &E) -> E::Tensor {
        let per_head = self.width / self.heads;
        let value = |n: usize| if n / self.heads / per_head == n % self.heads { 1.0 } else { 0.0 };
        engine.constant(&[self.width, self.heads], (0..self.heads * self.width).map(value).collect())
    }
}
