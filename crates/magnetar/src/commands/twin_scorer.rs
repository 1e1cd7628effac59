//! What the posterior commands share: a dataset, its scorer, and the size of the support.

use std::path::PathBuf;

use anyhow::Context;
use magnetar_dataset::Dataset;
use magnetar_posterior::{SupportSize, TwinFile, TwinScorer};
use magnetar_study::twin_model;

use super::dataset_folder::open_dataset;

/// Flags of every command that scores the rows of a dataset.
#[derive(clap::Args)]
pub struct ScorerArgs {
    /// The dataset's folder.
    dataset: PathBuf,
    /// Fitted parameters of the twin's likelihood (made by `magnetar fit`); the shipped ones if not given.
    #[arg(long, value_name = "FILE")]
    parameters: Option<PathBuf>,
    /// Heading bins D of the support.
    #[arg(long, default_value_t = SupportSize::EVALUATION.headings, value_name = "D")]
    headings: usize,
    /// Rows H of the support, along y.
    #[arg(long, default_value_t = SupportSize::EVALUATION.rows, value_name = "H")]
    rows: usize,
    /// Columns W of the support, along x.
    #[arg(long, default_value_t = SupportSize::EVALUATION.columns, value_name = "W")]
    columns: usize,
}

impl ScorerArgs {
    /// D x H x W.
    pub fn size(&self) -> SupportSize {
        SupportSize { headings: self.headings, rows: self.rows, columns: self.columns }
    }

    /// The dataset, and the scorer for its recipe. Warns when the parameters were fitted to another recipe.
    pub fn open(&self) -> anyhow::Result<(Dataset, TwinScorer)> {
        let dataset = open_dataset(&self.dataset)?;
        let file = match &self.parameters {
            Some(path) => TwinFile::from_file(path)?,
            None => TwinFile::shipped()?,
        };
        let recipe = dataset.recipe();
        if file.recipe_hash != recipe.hash() {
            eprintln!(
                "warning: the parameters were fitted to recipe {:?}, not to this dataset's {:?}; \
                 `magnetar fit` makes parameters for it",
                file.recipe, recipe.name
            );
        }
        let model = twin_model(recipe).context("the dataset's recipe gives no twin")?;
        let scorer = TwinScorer::new(model, file.parameters)?;
        Ok((dataset, scorer))
    }
}
