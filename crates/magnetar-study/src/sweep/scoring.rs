//! The twin posterior's scores as metrics of a sweep.

use magnetar_dataset::{Recipe, Record};
use magnetar_posterior::{SupportSize, TwinFile, TwinParameters, TwinScorer};

use super::measure::{RowMeter, RowMetrics};
use crate::evaluation::score_twin;
use crate::{StudyError, twin_model};

/// Scores the rows of a sweep, by a scorer that knows each point's recipe or one that knows the base recipe only.
#[derive(Debug, Clone)]
pub struct TwinMetrics {
    parameters: TwinParameters,
    size: SupportSize,
    /// The scorer that knows the base recipe, and that recipe's hash.
    base: Option<(TwinScorer, String)>,
}

impl TwinMetrics {
    /// By scorers that know each point's own recipe.
    #[must_use]
    pub fn own(file: &TwinFile, size: SupportSize) -> Self {
        Self { parameters: file.parameters, size, base: None }
    }

    /// By one scorer that knows the base recipe only.
    ///
    /// # Errors
    /// If the recipe gives no twin.
    pub fn base(file: &TwinFile, size: SupportSize, recipe: &Recipe) -> Result<Self, StudyError> {
        let scorer = scorer(recipe, file.parameters)?;
        Ok(Self { parameters: file.parameters, size, base: Some((scorer, recipe.hash())) })
    }
}

fn scorer(recipe: &Recipe, parameters: TwinParameters) -> Result<TwinScorer, StudyError> {
    Ok(TwinScorer::new(twin_model(recipe)?, parameters)?)
}

impl RowMetrics for TwinMetrics {
    fn identity(&self) -> String {
        let knows = self.base.as_ref().map_or("own", |(_, hash)| hash);
        let SupportSize { headings, rows, columns } = self.size;
        format!("twin v1, {headings} x {rows} x {columns}, knows {knows}, {:?}", self.parameters.to_array())
    }

    fn columns(&self) -> Vec<(&'static str, &'static str)> {
        vec![("nll", "nat"), ("map_xy_m", "m"), ("map_yaw_deg", "deg"), ("joint_hit", ""), ("p1m", "")]
    }

    fn meter(&self, recipe: &Recipe) -> Result<Box<dyn RowMeter>, StudyError> {
        let scorer = match &self.base {
            Some((scorer, _)) => scorer.clone(),
            None => scorer(recipe, self.parameters)?,
        };
        Ok(Box::new(Meter { scorer, size: self.size }))
    }
}

struct Meter {
    scorer: TwinScorer,
    size: SupportSize,
}

impl RowMeter for Meter {
    fn measure(&self, record: &Record) -> Result<Vec<f64>, StudyError> {
        let score = score_twin(record, &self.scorer, self.size).map_err(StudyError::at(record))?;
        Ok(vec![score.nll, score.map_xy_m, score.map_yaw_deg, score.joint_hit, score.p1m])
    }
}
