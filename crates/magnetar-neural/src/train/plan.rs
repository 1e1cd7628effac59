//! What a training run does: every number that decides its weights.

use std::fmt;
use std::str::FromStr;

use magnetar_posterior::SupportSize;
use serde::{Deserialize, Serialize};

use crate::{Design, NeuralError, Widths};

/// Exposures of the paper's protocol.
const PAPER_EXPOSURES: u64 = 1_638_400;

/// Rows per step of preset `paper`; the paper does not say (ours).
const PAPER_BATCH: u64 = 64;

/// Heading bins of the supports.
const HEADINGS: usize = 18;

/// Cells a side of the four stages.
const STAGES: [usize; 4] = [33, 25, 33, 41];

/// A set of numbers to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// The paper's protocol.
    Paper,
    /// A reduced run that two cores end in minutes.
    Cpu,
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Paper => "paper",
            Self::Cpu => "cpu",
        })
    }
}

impl FromStr for Preset {
    type Err = NeuralError;

    fn from_str(name: &str) -> Result<Self, NeuralError> {
        match name {
            "paper" => Ok(Self::Paper),
            "cpu" => Ok(Self::Cpu),
            _ => Err(NeuralError::Request { problem: format!("no preset {name:?}; there are paper and cpu") }),
        }
    }
}

/// Which candidates of an exposure are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sampling {
    /// All.
    All,
    /// Those of the truth and so many others, one of each of as many strata; their part of the log-sum is weighed by the
    /// strata's sizes.
    Candidates(usize),
    /// The headings of the truth and so many others, likewise.
    Headings(usize),
}

impl Sampling {
    /// In words, for the record; `None` for all.
    pub(crate) fn described(self) -> Option<String> {
        match self {
            Self::All => None,
            Self::Candidates(count) => Some(format!("{count} candidates besides those of the truth")),
            Self::Headings(count) => Some(format!("{count} headings besides those of the truth")),
        }
    }
}

/// What a training run does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainingPlan {
    /// The design.
    pub design: Design,
    /// Its widths.
    pub widths: Widths,
    /// Seed of first weights, supports and samples, and of rows drawn from a recipe.
    pub seed: u64,
    /// Simulated rows shown in all.
    pub exposures: u64,
    /// Real rows shown besides, spread among them.
    #[serde(default)]
    pub real_exposures: u64,
    /// Rows per step.
    pub batch: u64,
    /// Largest learning rate.
    pub peak_rate: f64,
    /// Heading bins D of the supports.
    pub headings: usize,
    /// Cells a side of the supports, stage by stage; stages are equally long.
    pub stages: Vec<usize>,
    /// Which candidates are scored.
    pub sampling: Sampling,
    /// Whether supports are redrawn per exposure with the truth inserted, as the paper does. NP6 is trained on supports of
    /// evaluation: its twin integrates over cells, so that the truth need not be a candidate.
    pub truth_inserted: bool,
    /// Rows of the validation split that stages are judged on.
    pub validation_rows: u64,
    /// Rows of the training split that are shown again and again; all of them if not given.
    pub distinct_rows: Option<u64>,
}

impl TrainingPlan {
    /// The numbers of a preset.
    #[must_use]
    pub fn preset(preset: Preset, design: Design, seed: u64) -> Self {
        let paper = Self {
            design,
            widths: Widths::of_paper(design),
            seed,
            exposures: PAPER_EXPOSURES,
            real_exposures: 0,
            batch: PAPER_BATCH,
            peak_rate: match design {
                Design::Np3 => 1.5e-4,
                Design::Np4 | Design::Np5 | Design::Np6 => 2.25e-4,
                _ => 5e-4,
            },
            headings: HEADINGS,
            stages: STAGES.to_vec(),
            sampling: Sampling::All,
            truth_inserted: design != Design::Np6,
            validation_rows: 20_000,
            distinct_rows: None,
        };
        match preset {
            Preset::Paper => paper,
            Preset::Cpu => Self {
                widths: Widths::for_cpu(design),
                exposures: match design {
                    Design::Np1 | Design::Np2 => 64_000,
                    Design::Np3 => 16_000,
                    Design::Np5 => 40_000,
                    Design::Np4 => 96_000,
                    Design::Np6 => 24_000,
                    _ => 48_000,
                },
                batch: if design.sees_surroundings() { 8 } else { 16 },
                // Fewer steps: a larger rate.
                peak_rate: if design == Design::Np6 { 1e-3 } else { 2e-3 },
                sampling: match design {
                    // NP6: its network over all headings takes little longer than its twin over a row.
                    Design::Np3 | Design::Np6 => Sampling::All,
                    Design::Np5 => Sampling::Headings(3),
                    Design::Np4 => Sampling::Candidates(1024),
                    _ => Sampling::Candidates(512),
                },
                stages: if design == Design::Np6 { vec![SupportSize::EVALUATION.rows; 4] } else { STAGES.to_vec() },
                validation_rows: 150,
                ..paper
            },
        }
    }

    /// Whether it sees less than the paper's protocol.
    #[must_use]
    pub fn is_reduced(&self) -> bool {
        let full = Self::preset(Preset::Paper, self.design, self.seed);
        self.exposures < full.exposures || self.sampling != Sampling::All || self.widths != full.widths
    }

    /// Steps in all.
    #[must_use]
    pub fn steps(&self) -> u64 {
        (self.exposures + self.real_exposures) / self.batch
    }

    /// The stage that a step belongs to.
    pub(crate) fn stage(&self, step: u64) -> usize {
        let stages = self.stages.len() as u64;
        usize::try_from(step * stages / self.steps()).unwrap_or(0).min(self.stages.len() - 1)
    }

    /// Refuses numbers that make no run.
    ///
    /// # Errors
    /// Names the first.
    pub fn check(&self) -> Result<(), NeuralError> {
        let refuse = |problem: String| Err(NeuralError::Request { problem });
        self.widths.check()?;
        if self.batch == 0 || self.batch > 65_536 {
            return refuse(format!("--batch {}: expected 1 to 65536 rows per step", self.batch));
        }
        if self.stages.is_empty() || self.stages.len() > 64 || self.stages.iter().any(|c| !(2..=512).contains(c)) {
            return refuse(format!("--stages {:?}: expected 1 to 64 stages of 2 to 512 cells a side", self.stages));
        }
        if self.steps() < self.stages.len() as u64 {
            let least = self.batch * self.stages.len() as u64;
            return refuse(format!("--exposures {}: expected {least} at least, a step per stage", self.exposures));
        }
        if !(self.peak_rate.is_finite() && self.peak_rate > 0.0 && self.peak_rate <= 1.0) {
            return refuse(format!("--rate {}: expected more than 0, at most 1", self.peak_rate));
        }
        if !(2..=360).contains(&self.headings) {
            return refuse(format!("--headings {}: expected 2 to 360", self.headings));
        }
        match (self.sampling, self.design.scores_headings()) {
            (Sampling::Candidates(_), true) => {
                return refuse(format!("{} scores whole headings: sample headings, or none", self.design));
            }
            (Sampling::Headings(_), _) if self.design.needs_all_headings() => {
                return refuse(format!("{} needs all headings at once: sample nothing", self.design));
            }
            (Sampling::Candidates(0) | Sampling::Headings(0), _) => {
                return refuse("nothing besides the truth is sampled: every posterior would look right".into());
            }
            _ => {}
        }
        if self.distinct_rows == Some(0) {
            return refuse("--rows 0: a model learns from at least one row".into());
        }
        if self.validation_rows == 0 {
            return refuse("--validation-rows 0: a stage is chosen on at least one row".into());
        }
        Ok(())
    }
}
