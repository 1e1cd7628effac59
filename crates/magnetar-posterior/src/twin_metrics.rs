//! The twin posterior's scores as metrics of a sweep.

use magnetar_dataset::sweep::{RowMeter, RowMetrics};
use magnetar_dataset::{Error, Recipe, Record};

use crate::evaluation::score_twin;
use crate::{SupportSize, TwinFile, TwinModel, TwinParameters, TwinScorer};

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
    pub fn base(file: &TwinFile, size: SupportSize, recipe: &Recipe) -> Result<Self, Error> {
        let scorer = scorer(recipe, file.parameters)?;
        Ok(Self { parameters: file.parameters, size, base: Some((scorer, recipe.hash())) })
    }
}

fn scorer(recipe: &Recipe, parameters: TwinParameters) -> Result<TwinScorer, Error> {
    TwinModel::from_recipe(recipe)
        .and_then(|model| TwinScorer::new(model, parameters))
        .map_err(|e| Error::Request(e.to_string()))
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

    fn meter(&self, recipe: &Recipe) -> Result<Box<dyn RowMeter>, Error> {
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
    fn measure(&self, record: &Record) -> Result<Vec<f64>, Error> {
        let score = score_twin(record, &self.scorer, self.size)
            .map_err(|e| Error::Request(format!("row {}: {e}", record.index)))?;
        Ok(vec![score.nll, score.map_xy_m, score.map_yaw_deg, score.joint_hit, score.p1m])
    }
}
