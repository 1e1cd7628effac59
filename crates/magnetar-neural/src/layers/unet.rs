//! The residual U-Net of NP3 to NP6.

use super::image::{Convolution, NormAct};
use crate::Engine;
use crate::parameters::{Net, ParameterPlans};

/// Normalise, SiLU, convolve, twice; what came in is added, through a 1 x 1 convolution if the width changes.
#[derive(Debug, Clone)]
struct Block {
    norms: [NormAct; 2],
    convolutions: [Convolution; 2],
    project: Option<Convolution>,
}

impl Block {
    fn new(name: &str, inputs: usize, outputs: usize, circular: bool) -> Self {
        let convolution =
            |part: &str, inputs, kernel| Convolution::new(format!("{name}.{part}"), [inputs, outputs], kernel);
        let norm = |part: &str, channels| NormAct { name: format!("{name}.{part}"), channels };
        Self {
            norms: [norm("norm1", inputs), norm("norm2", outputs)],
            convolutions: [convolution("conv1", inputs, 3), convolution("conv2", outputs, 3)]
                .map(|convolution| convolution.with_circle(circular)),
            project: (inputs != outputs).then(|| convolution("project", inputs, 1)),
        }
    }

    fn list(&self, plans: &mut ParameterPlans) {
        self.norms.iter().for_each(|norm| norm.list(plans));
        self.convolutions.iter().chain(&self.project).for_each(|convolution| convolution.list(plans));
    }

    fn apply<E: Engine>(&self, net: &Net<'_, E>, x: &E::Tensor) -> E::Tensor {
        let mut y = x.clone();
        for (norm, convolution) in self.norms.iter().zip(&self.convolutions) {
            y = convolution.apply(net, &norm.apply(net, &y));
        }
        let kept = self.project.as_ref().map_or_else(|| x.clone(), |project| project.apply(net, x));
        net.engine.add(&y, &kept)
    }
}

/// Down through levels of growing width, up again with skips; nearest-neighbour decoding.
#[derive(Debug, Clone)]
pub(crate) struct UNet {
    stem: Convolution,
    /// Blocks of every level on the way down.
    encoder: Vec<Vec<Block>>,
    /// Between levels, every second row and column.
    down: Vec<Convolution>,
    /// Blocks of every level but the last on the way up, in the order of levels.
    decoder: Vec<Vec<Block>>,
    last: NormAct,
}

impl UNet {
    /// From `inputs` channels to the width of the first level. `circular`: images are headings in a circle.
    pub(crate) fn new(name: &str, inputs: usize, widths: &[usize], blocks: usize, circular: bool) -> Self {
        let convolution = |part: &str, ends| Convolution::new(format!("{name}.{part}"), ends, 3).with_circle(circular);
        let level = |part: &str, n: usize, first: usize| -> Vec<Block> {
            let inputs = |b: usize| if b == 0 { first } else { widths[n] };
            (0..blocks).map(|b| Block::new(&format!("{name}.{part}.{n}.{b}"), inputs(b), widths[n], circular)).collect()
        };
        let deeper = || widths.windows(2).enumerate();
        Self {
            stem: convolution("stem", [inputs, widths[0]]),
            encoder: (0..widths.len()).map(|n| level("encoder", n, widths[n])).collect(),
            down: deeper()
                .map(|(n, pair)| convolution(&format!("down.{n}"), [pair[0], pair[1]]).with_stride(2))
                .collect(),
            decoder: deeper().map(|(n, pair)| level("decoder", n, pair[0] + pair[1])).collect(),
            last: NormAct { name: format!("{name}.last"), channels: widths[0] },
        }
    }

    pub(crate) fn list(&self, plans: &mut ParameterPlans) {
        self.stem.list(plans);
        self.encoder.iter().chain(&self.decoder).flatten().for_each(|block| block.list(plans));
        self.down.iter().for_each(|down| down.list(plans));
        self.last.list(plans);
    }

    /// `[b, inputs, h, w]` to `[b, width, h, w]`.
    pub(crate) fn apply<E: Engine>(&self, net: &Net<'_, E>, x: &E::Tensor) -> E::Tensor {
        let engine = net.engine;
        let through = |blocks: &[Block], x: E::Tensor| blocks.iter().fold(x, |x, block| block.apply(net, &x));
        let mut x = self.stem.apply(net, x);
        let mut skips = Vec::with_capacity(self.down.len());
        for (n, blocks) in self.encoder.iter().enumerate() {
            x = through(blocks, x);
            if let Some(down) = self.down.get(n) {
                skips.push(x.clone());
                x = down.apply(net, &x);
            }
        }
        for (skip, blocks) in skips.into_iter().zip(&self.decoder).rev() {
            let shape = engine.shape(&skip);
            let enlarged = engine.enlarge(&x, shape[2], shape[3]);
            x = through(blocks, engine.join(&[enlarged, skip], 1));
        }
        self.last.apply(net, &x)
    }
}
