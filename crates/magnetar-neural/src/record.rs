//! What a model file says of itself.

use magnetar_posterior::TwinParameters;
use serde::{Deserialize, Serialize};

use crate::{Design, Widths};

/// Version of what a model file says of itself. Files of other versions are refused.
pub const MODEL_SCHEMA: u32 = 1;

/// What a model is and how it came to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRecord {
    /// [`MODEL_SCHEMA`].
    pub schema: u32,
    /// The design.
    pub design: Design,
    /// Its widths.
    pub widths: Widths,
    /// K: arrivals per row.
    pub keep: usize,
    /// Name of the recipe it was trained on.
    pub recipe: String,
    /// Hash of that recipe.
    pub recipe_hash: String,
    /// Parameters of the twin it is built on; NP6 alone has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twin: Option<TwinParameters>,
    /// What was chosen on validation rows after training.
    pub calibration: Calibration,
    /// How it was trained.
    pub training: TrainingRecord,
}

/// Turns logits into a posterior: `softmax(temperature logits)`, of which a share is spread evenly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Factor of the logits.
    pub temperature: f64,
    /// Share of the posterior that is spread evenly over all candidates.
    pub uniform_share: f64,
}

impl Calibration {
    /// Logits as they are.
    pub const NONE: Self = Self { temperature: 1.0, uniform_share: 0.0 };

    /// Whether the numbers can be used.
    pub(crate) fn is_sound(&self) -> bool {
        (0.01..=100.0).contains(&self.temperature) && (0.0..1.0).contains(&self.uniform_share)
    }
}

/// How a model was trained: everything that decided its weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingRecord {
    /// The command that made it.
    pub command: String,
    /// Version of magnetar.
    pub version: String,
    /// Whether it saw fewer exposures than the paper's protocol has, or fewer candidates of each.
    pub reduced: bool,
    /// Where the rows came from.
    pub rows: String,
    /// Seed of first weights, supports and samples, and of rows drawn from a recipe.
    pub seed: u64,
    /// Rows shown in all.
    pub exposures: u64,
    /// Real rows among them, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real: Option<RealRecord>,
    /// Rows per step.
    pub batch: u64,
    /// Largest learning rate.
    pub peak_rate: f64,
    /// Candidates (or headings) of a row that are scored, besides those of the truth; all where it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<String>,
    /// Whether the truth is inserted into redrawn supports, as the paper does; otherwise supports are those of evaluation.
    pub truth_inserted: bool,
    /// The stages.
    pub stages: Vec<StageRecord>,
    /// Number of the stage whose model this is, from 0 on.
    pub chosen_stage: usize,
    /// Rows of the validation split that the stages were judged on.
    pub validation_rows: u64,
    /// Time from beginning to end, seconds.
    pub seconds: f64,
}

/// Real rows that a model was shown: the paper's regime S+R.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RealRecord {
    /// How often one was shown.
    pub exposures: u64,
    /// How many there are.
    pub rows: u64,
    /// Where they came from.
    pub source: String,
    /// Whether TX and RX were moved together in the room.
    pub moved: bool,
}

/// One stage of training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageRecord {
    /// Rows and columns of the supports.
    pub cells: usize,
    /// Mean loss of the stage's last tenth, nat; 0 is the uniform posterior's.
    pub loss: f64,
    /// NLL of mass plus `ln V`, averaged over validation rows and support sizes, nat.
    pub density_nll: f64,
}
