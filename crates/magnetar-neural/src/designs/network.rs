//! One of the designs, of given widths.

use super::density::Structured;
use super::pointwise::{CandidateAttention, CandidateMlp};
use super::spatial::{HeadingQueries, HeadingUNet};
use crate::parameters::{Net, ParameterPlans};
use crate::{Design, Engine, Inputs, NeuralError, Picked, Widths};

/// A design of given widths for a given number of arrivals. It has no parameters of its own; [`Network::plans`] lists them.
#[derive(Debug, Clone)]
pub struct Network {
    design: Design,
    keep: usize,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    CandidateMlp(CandidateMlp),
    CandidateAttention(CandidateAttention),
    HeadingQueries(HeadingQueries),
    HeadingUNet(HeadingUNet),
    Structured(Structured),
}

/// The most arrivals a model may take.
const MOST_ARRIVALS: usize = 16;

impl Network {
    /// A design of given widths for `keep` arrivals.
    ///
    /// # Errors
    /// If no network can be made of them.
    pub fn new(design: Design, widths: &Widths, keep: usize) -> Result<Self, NeuralError> {
        widths.check()?;
        if !(1..=MOST_ARRIVALS).contains(&keep) {
            let problem = format!("{keep} arrivals; a network takes 1 to {MOST_ARRIVALS}");
            return Err(NeuralError::Widths { problem });
        }
        let kind = match design {
            Design::Np1 => Kind::CandidateMlp(CandidateMlp::new(widths, keep)),
            Design::Np2 => Kind::CandidateAttention(CandidateAttention::new(widths, keep)),
            Design::Np4 => Kind::HeadingQueries(HeadingQueries::new(widths, keep)),
            Design::Np3 | Design::Np5 | Design::Np6 => Kind::HeadingUNet(HeadingUNet::new(design, widths, keep)),
            _ => Kind::Structured(Structured::new(design, widths, keep)),
        };
        let network = Self { design, keep, kind };
        Widths::check_count(network.plans().count())?;
        Ok(network)
    }

    /// Which design it is.
    #[must_use]
    pub fn design(&self) -> Design {
        self.design
    }

    /// K: the arrivals it takes.
    #[must_use]
    pub fn keep(&self) -> usize {
        self.keep
    }

    /// All its parameters.
    #[must_use]
    pub fn plans(&self) -> ParameterPlans {
        let mut plans = ParameterPlans::default();
        match &self.kind {
            Kind::CandidateMlp(kind) => kind.list(&mut plans),
            Kind::CandidateAttention(kind) => kind.list(&mut plans),
            Kind::HeadingQueries(kind) => kind.list(&mut plans),
            Kind::HeadingUNet(kind) => kind.list(&mut plans),
            Kind::Structured(kind) => kind.list(&mut plans),
        }
        plans
    }

    /// One logit per candidate that was picked, in the order of [`Picked::candidates`].
    ///
    /// # Errors
    /// If the inputs are not those of this design.
    pub fn logits<E: Engine>(
        &self,
        net: &Net<'_, E>,
        inputs: &Inputs,
        picked: &Picked,
    ) -> Result<E::Tensor, NeuralError> {
        if inputs.keep() != self.keep {
            return Err(NeuralError::Arrivals { expected: self.keep, got: inputs.keep() });
        }
        if self.design.uses_twin() && inputs.log_twin.is_none() {
            return Err(NeuralError::Request { problem: format!("{} needs the twin's posterior", self.design) });
        }
        Ok(match &self.kind {
            Kind::CandidateMlp(kind) => kind.logits(net, inputs, &picked.candidates(inputs.size())),
            Kind::CandidateAttention(kind) => kind.logits(net, inputs, &picked.candidates(inputs.size())),
            Kind::HeadingQueries(kind) => kind.logits(net, inputs, &picked.candidates(inputs.size())),
            Kind::HeadingUNet(kind) => kind.logits(net, inputs, &picked.headings(inputs.size())),
            Kind::Structured(kind) => kind.logits(net, inputs, &picked.candidates(inputs.size())),
        })
    }
}
