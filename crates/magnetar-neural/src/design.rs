//! The designs: which networks there are, and how wide they are.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::NeuralError;

/// A learned scorer's design, by its name in the paper; NP6 is ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Design {
    /// An MLP on one candidate's channels.
    Np1,
    /// Attention from each candidate to the arrivals.
    Np2,
    /// A residual U-Net in three dimensions, headings in a circle.
    Np3,
    /// A residual U-Net over the spatial field, heading queries pointwise.
    Np4,
    /// A residual U-Net in the plane, shared by all headings: the paper's MAGNETAR.
    Np5,
    /// The twin as a prior, corrected by a small NP5.
    Np6,
    /// A wrapped Cartesian Gaussian from an MLP.
    Sm1,
    /// An area-polar Gaussian from an MLP.
    Sm2,
    /// A Cartesian mixture of two from an MLP.
    Sm3,
    /// A Cartesian mixture of three from an MLP.
    Sm4,
    /// A wrapped Cartesian Gaussian from attention over the arrivals.
    Sa1,
    /// An area-polar Gaussian from attention over the arrivals.
    Sa2,
    /// A Cartesian mixture of two from attention over the arrivals.
    Sa3,
    /// A Cartesian mixture of three from attention over the arrivals.
    Sa4,
}

impl Design {
    /// All designs.
    pub const ALL: [Self; 14] = [
        Self::Np1,
        Self::Np2,
        Self::Np3,
        Self::Np4,
        Self::Np5,
        Self::Np6,
        Self::Sm1,
        Self::Sm2,
        Self::Sm3,
        Self::Sm4,
        Self::Sa1,
        Self::Sa2,
        Self::Sa3,
        Self::Sa4,
    ];

    /// Its name: `np1` to `np6`, `sm1` to `sm4`, `sa1` to `sa4`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Np1 => "np1",
            Self::Np2 => "np2",
            Self::Np3 => "np3",
            Self::Np4 => "np4",
            Self::Np5 => "np5",
            Self::Np6 => "np6",
            Self::Sm1 => "sm1",
            Self::Sm2 => "sm2",
            Self::Sm3 => "sm3",
            Self::Sm4 => "sm4",
            Self::Sa1 => "sa1",
            Self::Sa2 => "sa2",
            Self::Sa3 => "sa3",
            Self::Sa4 => "sa4",
        }
    }

    /// What it is, in a few words.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Np1 => "independent candidate MLP",
            Self::Np2 => "candidate-to-arrival attention",
            Self::Np3 => "3D residual U-Net",
            Self::Np4 => "2D residual U-Net with pointwise heading queries",
            Self::Np5 => "heading-conditioned 2D U-Net",
            Self::Np6 => "the twin as a prior, corrected by a U-Net",
            Self::Sm1 => "wrapped Cartesian Gaussian, MLP",
            Self::Sm2 => "wrapped area-polar Gaussian, MLP",
            Self::Sm3 => "two-component Cartesian mixture, MLP",
            Self::Sm4 => "three-component Cartesian mixture, MLP",
            Self::Sa1 => "wrapped Cartesian Gaussian, attention",
            Self::Sa2 => "wrapped area-polar Gaussian, attention",
            Self::Sa3 => "two-component Cartesian mixture, attention",
            Self::Sa4 => "three-component Cartesian mixture, attention",
        }
    }

    /// Whether it looks at the twin's posterior.
    #[must_use]
    pub fn uses_twin(self) -> bool {
        self == Self::Np6
    }

    /// Whether the score of a candidate depends on the candidates around it at the same heading, so that whole headings
    /// are scored at once; of the others any candidate can be scored alone.
    #[must_use]
    pub fn scores_headings(self) -> bool {
        matches!(self, Self::Np3 | Self::Np5 | Self::Np6)
    }

    /// Whether the score of a candidate depends on other candidates at all.
    #[must_use]
    pub fn sees_surroundings(self) -> bool {
        self.scores_headings() || self == Self::Np4
    }

    /// Whether it needs all headings at once.
    #[must_use]
    pub fn needs_all_headings(self) -> bool {
        self == Self::Np3
    }
}

impl fmt::Display for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Design {
    type Err = NeuralError;

    fn from_str(name: &str) -> Result<Self, NeuralError> {
        let found = Self::ALL.into_iter().find(|design| design.name() == name);
        found.ok_or_else(|| NeuralError::UnknownDesign { name: name.to_owned() })
    }
}

/// How wide a design's layers are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Widths {
    /// Widths of the hidden layers of pointwise networks and conditioners.
    pub hidden: Vec<usize>,
    /// Channels of attention; even, as there are two heads.
    pub attention: usize,
    /// Channels of the levels of a U-Net, first to last; each level has half the rows and columns of the one before.
    pub levels: Vec<usize>,
    /// Residual blocks per level on either way.
    pub blocks: usize,
}

/// The most channels a layer may have: a bound on what a model file can make us compute.
const MOST_CHANNELS: usize = 1024;

/// The most layers or levels.
const MOST_LAYERS: usize = 8;

/// The most parameters a model may have.
const MOST_PARAMETERS: usize = 64 << 20;

impl Widths {
    /// The paper's widths where it gives them, ours elsewhere.
    #[must_use]
    pub fn of_paper(design: Design) -> Self {
        let levels = if design == Design::Np6 { vec![16, 32, 64] } else { vec![48, 96, 192] };
        let hidden = if design == Design::Np1 { vec![128, 128, 128] } else { vec![128, 128] };
        Self { hidden, attention: 64, levels, blocks: if design == Design::Np6 { 1 } else { 2 } }
    }

    /// Widths whose training ends on two cores.
    #[must_use]
    pub fn for_cpu(design: Design) -> Self {
        let (levels, blocks) = match design {
            Design::Np4 => (vec![24, 48, 96], 1),
            Design::Np3 => (vec![8, 16, 32], 1),
            Design::Np5 => (vec![16, 32, 64], 1),
            _ => (vec![8, 16, 32], 1),
        };
        let hidden = if design == Design::Np4 { vec![64, 64] } else { Self::of_paper(design).hidden };
        Self { hidden, attention: 32, levels, blocks }
    }

    /// Refuses what no network can be made of.
    ///
    /// # Errors
    /// If there are no layers or too many, or a width is 0 or too large.
    pub fn check(&self) -> Result<(), NeuralError> {
        let wide = |width: usize| (1..=MOST_CHANNELS).contains(&width);
        let list = |widths: &[usize]| (1..=MOST_LAYERS).contains(&widths.len()) && widths.iter().all(|w| wide(*w));
        let attention = wide(self.attention) && self.attention.is_multiple_of(2);
        if list(&self.hidden) && list(&self.levels) && attention && (1..=MOST_LAYERS).contains(&self.blocks) {
            return Ok(());
        }
        Err(NeuralError::Widths {
            problem: format!(
                "expected 1 to {MOST_LAYERS} layers, levels and blocks, and widths of 1 to {MOST_CHANNELS}, that of \
                 attention even; got {self:?}"
            ),
        })
    }

    /// Refuses more parameters than a model may have.
    pub(crate) fn check_count(count: usize) -> Result<(), NeuralError> {
        if count <= MOST_PARAMETERS {
            return Ok(());
        }
        Err(NeuralError::Widths { problem: format!("{count} parameters; a model has {MOST_PARAMETERS} at most") })
    }
}
