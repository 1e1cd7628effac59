//! NP3 to NP6: networks that see a candidate's surroundings.

use magnetar_posterior::{query_channels, spatial_channels};

use crate::layers::{Convolution, Mlp, UNet};
use crate::parameters::{Net, ParameterPlans, Start};
use crate::{Design, Engine, Inputs, Picked, Widths};

/// NP4: a U-Net over the spatial field; at each cell its features and the heading query go through an MLP.
#[derive(Debug, Clone)]
pub(super) struct HeadingQueries {
    field: UNet,
    head: Mlp,
    width: usize,
}

impl HeadingQueries {
    pub(super) fn new(widths: &Widths, keep: usize) -> Self {
        let width = widths.levels[0];
        let head: Vec<usize> =
            [width + query_channels(keep)].into_iter().chain(widths.hidden.iter().copied()).chain([1]).collect();
        Self {
            field: UNet::new("field", spatial_channels(keep), &widths.levels, widths.blocks, false),
            head: Mlp::new("head", &head, true),
            width,
        }
    }

    pub(super) fn list(&self, plans: &mut ParameterPlans) {
        self.field.list(plans);
        self.head.list(plans);
    }

    pub(super) fn logits<E: Engine>(&self, net: &Net<'_, E>, inputs: &Inputs, picked: &[usize]) -> E::Tensor {
        let engine = net.engine;
        let (plane, spatial) = (inputs.plane(), spatial_channels(inputs.keep()));
        let shape = [1, spatial, inputs.size.rows, inputs.size.columns];
        let field = self.field.apply(net, &engine.constant(&shape, inputs.spatial.clone()));
        let cells = engine.transpose(&engine.reshape(&field, &[self.width, plane]));
        let numbers: Vec<usize> = picked.iter().map(|candidate| candidate % plane).collect();
        let channels: Vec<usize> = (spatial..spatial + query_channels(inputs.keep())).collect();
        let query = engine.constant(&[picked.len(), channels.len()], inputs.matrix(picked, &channels));
        let x = engine.join(&[engine.rows(&cells, &numbers), query], 1);
        engine.reshape(&self.head.apply(net, &x), &[picked.len()])
    }
}

/// Centre and unit of the channel with the logarithm of the twin's mass: masses of a support of some 20,000 candidates are
/// then of order one.
const LOG_TWIN_CENTRE: f32 = -10.0;
const LOG_TWIN_UNIT: f32 = 5.0;

/// NP3, NP5 and NP6: a U-Net over all channels, heading by heading.
#[derive(Debug, Clone)]
pub(super) struct HeadingUNet {
    field: UNet,
    logit: Convolution,
    twin: bool,
}

impl HeadingUNet {
    pub(super) fn new(design: Design, widths: &Widths, keep: usize) -> Self {
        let twin = design.uses_twin();
        let inputs = spatial_channels(keep) + query_channels(keep) + usize::from(twin);
        let logit = Convolution::new("logit".into(), [widths.levels[0], 1], 1).silent();
        let circular = design.needs_all_headings();
        Self { field: UNet::new("field", inputs, &widths.levels, widths.blocks, circular), logit, twin }
    }

    pub(super) fn list(&self, plans: &mut ParameterPlans) {
        self.field.list(plans);
        self.logit.list(plans);
        if self.twin {
            plans.push("twin.exponent".into(), &[1, 1], Start::Constant(1.0));
        }
    }

    pub(super) fn logits<E: Engine>(&self, net: &Net<'_, E>, inputs: &Inputs, headings: &[usize]) -> E::Tensor {
        let engine = net.engine;
        let (rows, columns) = (inputs.size.rows, inputs.size.columns);
        let count = headings.len() * inputs.plane();
        let channels = spatial_channels(inputs.keep()) + query_channels(inputs.keep());
        let mut x = engine.constant(&[headings.len(), channels, rows, columns], inputs.images(headings));
        let picked = Picked::Headings(headings.to_vec()).candidates(inputs.size);
        let log_twin: Option<Vec<f32>> =
            inputs.log_twin.as_ref().filter(|_| self.twin).map(|all| picked.iter().map(|n| all[*n]).collect());
        if let Some(log_twin) = &log_twin {
            let scaled = log_twin.iter().map(|v| (v - LOG_TWIN_CENTRE) / LOG_TWIN_UNIT).collect();
            x = engine.join(&[x, engine.constant(&[headings.len(), 1, rows, columns], scaled)], 1);
        }
        let logits = engine.reshape(&self.logit.apply(net, &self.field.apply(net, &x)), &[count]);
        match log_twin {
            Some(log_twin) => {
                let prior = engine.constant(&[count, 1], log_twin);
                let prior = engine.linear(&prior, net.parameter("twin.exponent"), None);
                engine.add(&logits, &engine.reshape(&prior, &[count]))
            }
            None => logits,
        }
    }
}
