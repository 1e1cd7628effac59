//! NP1 and NP2: networks that see one candidate at a time.

use magnetar_posterior::{query_channels, spatial_channels};

use crate::layers::{Attention, Mlp};
use crate::parameters::{Net, ParameterPlans};
use crate::{Engine, Inputs, Widths};

/// Channels of the spatial field and of the heading query that speak of no arrival.
const SPATIAL_GEOMETRY: usize = 8;
const QUERY_GEOMETRY: usize = 4;

/// Heads of attention.
pub(super) const HEADS: usize = 2;

/// NP1: an MLP on all channels of one candidate.
#[derive(Debug, Clone)]
pub(super) struct CandidateMlp {
    mlp: Mlp,
}

impl CandidateMlp {
    pub(super) fn new(widths: &Widths, keep: usize) -> Self {
        let inputs = spatial_channels(keep) + query_channels(keep);
        let all: Vec<usize> = [inputs].into_iter().chain(widths.hidden.iter().copied()).chain([1]).collect();
        Self { mlp: Mlp::new("mlp", &all, true) }
    }

    pub(super) fn list(&self, plans: &mut ParameterPlans) {
        self.mlp.list(plans);
    }

    pub(super) fn logits<E: Engine>(&self, net: &Net<'_, E>, inputs: &Inputs, picked: &[usize]) -> E::Tensor {
        let channels = spatial_channels(inputs.keep()) + query_channels(inputs.keep());
        let all: Vec<usize> = (0..channels).collect();
        let x = net.engine.constant(&[picked.len(), channels], inputs.matrix(picked, &all));
        net.engine.reshape(&self.mlp.apply(net, &x), &[picked.len()])
    }
}

/// NP2: a candidate's geometry asks, the arrivals answer.
#[derive(Debug, Clone)]
pub(super) struct CandidateAttention {
    attention: Attention,
    mlp: Mlp,
}

impl CandidateAttention {
    pub(super) fn new(widths: &Widths, _keep: usize) -> Self {
        let arrival = 4 + 2;
        let attention =
            Attention::new("attention", SPATIAL_GEOMETRY + QUERY_GEOMETRY, arrival, widths.attention, HEADS);
        let all: Vec<usize> =
            [2 * widths.attention].into_iter().chain(widths.hidden.iter().copied()).chain([1]).collect();
        Self { attention, mlp: Mlp::new("mlp", &all, true) }
    }

    pub(super) fn list(&self, plans: &mut ParameterPlans) {
        self.attention.list(plans);
        self.mlp.list(plans);
    }

    pub(super) fn logits<E: Engine>(&self, net: &Net<'_, E>, inputs: &Inputs, picked: &[usize]) -> E::Tensor {
        let spatial = spatial_channels(inputs.keep());
        let matrix =
            |channels: &[usize]| net.engine.constant(&[picked.len(), channels.len()], inputs.matrix(picked, channels));
        let geometry: Vec<usize> = (0..SPATIAL_GEOMETRY).chain(spatial..spatial + QUERY_GEOMETRY).collect();
        let arrivals: Vec<E::Tensor> = (0..inputs.found)
            .map(|k| {
                let field = SPATIAL_GEOMETRY + 4 * k;
                let query = spatial + QUERY_GEOMETRY + 2 * k;
                matrix(&[field, field + 1, field + 2, field + 3, query, query + 1])
            })
            .collect();
        let attended = self.attention.apply(net, &matrix(&geometry), &arrivals);
        net.engine.reshape(&self.mlp.apply(net, &attended), &[picked.len()])
    }
}
