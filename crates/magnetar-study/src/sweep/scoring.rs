//! A scorer's metrics as columns of a sweep.

use std::sync::Arc;

use magnetar_dataset::{Recipe, Record};
use magnetar_posterior::{CpuScoring, Score, Scorer, SupportSize, TwinFile};
use serde::{Deserialize, Serialize};

use super::definition::{Definition, Posterior};
use crate::StudyError;
use crate::chunk::Chunk;
use crate::scorers::{SCORERS, ScorerSettings, ScorerSource, is_volume_file, open_scorer};

/// Names and units of the columns that a scorer adds.
pub(super) const SCORE_COLUMNS: [(&str, &str); 5] =
    [("nll", "nat"), ("map_xy_m", "m"), ("map_yaw_deg", "deg"), ("joint_hit", ""), ("p1m", "")];

/// The metric that is made of all rows' HPD coverage.
pub(super) const HPD_GAP: &str = "hpd_gap_pp";

/// Nominal masses at which the HPD gap is taken: 0.1 to 0.9.
pub(super) const HPD_LEVELS: usize = 9;

/// What a sweep's manifest says of the scorer, enough to score its points again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepScorerRecord {
    /// Its name.
    pub name: String,
    /// Where it computed; other devices differ by rounding.
    pub device: String,
    /// D, H and W of the support.
    pub support: [usize; 3],
    /// The parameters of the twin's likelihood.
    pub parameters: TwinFile,
}

/// Scores the rows of a sweep, by scorers that know each point's recipe or one that knows the base recipe only.
pub struct SweepScorer {
    name: String,
    settings: ScorerSettings,
    size: SupportSize,
    /// Identity of a scorer that its name and the twin's parameters do not describe: a model's weights.
    model: Option<String>,
    /// The scorer that knows the base recipe, and that recipe's hash.
    base: Option<(Arc<dyn Scorer>, String)>,
}

impl SweepScorer {
    /// The scorer a sweep asks for; `None` if it asks for none.
    ///
    /// # Errors
    /// If there is no such scorer, or it cannot be made for the base recipe.
    pub fn new(
        sweep: &Definition,
        base: &Recipe,
        name: &str,
        settings: ScorerSettings,
    ) -> Result<Option<Self>, StudyError> {
        Self::on_support(sweep, base, name, settings, SupportSize::EVALUATION)
    }

    fn on_support(
        sweep: &Definition,
        base: &Recipe,
        name: &str,
        settings: ScorerSettings,
        size: SupportSize,
    ) -> Result<Option<Self>, StudyError> {
        if is_volume_file(name) {
            return Err(StudyError::VolumesOfSweep { name: name.to_owned() });
        }
        // Made here in any case, so that a wrong name is found before any work.
        let scorer = open_scorer(name, base, &settings)?;
        let described = SCORERS.iter().any(|known| known.name == name);
        let model = (!described).then(|| scorer.identity());
        let base = match sweep.posterior {
            Posterior::None => return Ok(None),
            Posterior::Own => None,
            Posterior::Base => Some((scorer, base.hash())),
        };
        Ok(Some(Self { name: name.to_owned(), settings, size, model, base }))
    }

    /// The scorer of a finished sweep, on the CPU.
    pub(super) fn again(
        sweep: &Definition,
        base: &Recipe,
        record: &SweepScorerRecord,
        source: Option<Arc<dyn ScorerSource>>,
    ) -> Result<Option<Self>, StudyError> {
        let settings = ScorerSettings { parameters: record.parameters.clone(), backend: Arc::new(CpuScoring), source };
        let [headings, rows, columns] = record.support;
        Self::on_support(sweep, base, &record.name, settings, SupportSize { headings, rows, columns })
    }

    /// What the manifest says of it.
    pub(super) fn record(&self) -> SweepScorerRecord {
        SweepScorerRecord {
            name: self.name.clone(),
            device: self.settings.backend.description(),
            support: [self.size.headings, self.size.rows, self.size.columns],
            parameters: self.settings.parameters.clone(),
        }
    }

    /// Everything that the scores depend on besides a point's recipe.
    pub(super) fn identity(&self) -> String {
        let knows = self.base.as_ref().map_or("own", |(_, hash)| hash);
        let SupportSize { headings, rows, columns } = self.size;
        let parameters = self.settings.parameters.parameters.to_array();
        let device = match self.settings.backend.description().as_str() {
            "cpu" => String::new(),
            other => format!(", on {other}"),
        };
        let model = self.model.as_ref().map_or_else(String::new, |identity| format!(", {identity}"));
        format!("{} v1, {headings} x {rows} x {columns}, knows {knows}, {parameters:?}{device}{model}", self.name)
    }

    /// The scorer for the rows of a point.
    pub(super) fn of_point(&self, recipe: &Recipe) -> Result<PointScorer, StudyError> {
        let scorer = match &self.base {
            Some((scorer, _)) => Arc::clone(scorer),
            None => open_scorer(&self.name, recipe, &self.settings)?,
        };
        Ok(PointScorer { scorer, size: self.size })
    }
}

/// Scores the rows of one point.
pub(super) struct PointScorer {
    scorer: Arc<dyn Scorer>,
    size: SupportSize,
}

impl PointScorer {
    /// The values of [`SCORE_COLUMNS`] for each row, and its HPD coverage at [`HPD_LEVELS`] nominal masses.
    pub(super) fn scores(&self, split: &str, records: Vec<Record>) -> Result<Vec<Vec<f64>>, StudyError> {
        let chunk = Chunk::new(split, records, self.size)?;
        let scores = chunk.scores(&[chunk.volumes(&*self.scorer)?])?;
        let values = |s: &Score| {
            let mut values = vec![s.nll, s.map_xy_m, s.map_yaw_deg, s.joint_hit, s.p1m];
            values.extend((1..=HPD_LEVELS).map(|n| s.hpd.coverage[10 * n]));
            values
        };
        Ok(scores.iter().flatten().map(values).collect())
    }
}
