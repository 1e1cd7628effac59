//! The scorers that can be asked for by name, and those that are a file.
//!
//! A scorer of your own is one file here (or in a crate before this one) and one entry in [`SCORERS`].

mod scene_twin;
mod source;
mod twin;
mod volume_array;
mod volume_file;
mod volume_table;

use std::path::Path;
use std::sync::Arc;

use magnetar_dataset::Recipe;
use magnetar_posterior::{CpuScoring, PosteriorError, Scorer, ScoringBackend, TwinFile, UniformScorer};

pub use scene_twin::{SceneDevices, scene_twin};
pub use source::ScorerSource;
pub use twin::open_twin;
pub use volume_file::{VolumeFile, VolumeFileError};

use crate::StudyError;

/// What scorers are made with besides a recipe.
#[derive(Clone)]
pub struct ScorerSettings {
    /// Parameters of the twin's likelihood.
    pub parameters: TwinFile,
    /// What scores the twin's candidates.
    pub backend: Arc<dyn ScoringBackend>,
    /// Scorers that this crate does not know.
    pub source: Option<Arc<dyn ScorerSource>>,
}

impl ScorerSettings {
    /// The shipped parameters on the CPU.
    ///
    /// # Errors
    /// Never for a released build: a test reads the shipped parameters.
    pub fn shipped() -> Result<Self, PosteriorError> {
        Ok(Self { parameters: TwinFile::shipped()?, backend: Arc::new(CpuScoring), source: None })
    }

    /// The shipped parameters that were fitted to a recipe, or else those of recipe `paper`, on the CPU.
    ///
    /// # Errors
    /// As [`ScorerSettings::shipped`].
    pub fn shipped_for(recipe: &Recipe) -> Result<Self, PosteriorError> {
        Ok(Self { parameters: twin_parameters(None, Some(recipe))?, ..Self::shipped()? })
    }
}

/// Parameters of the twin: shipped ones by name, a file, or if neither is named those shipped for the recipe, or else those
/// of recipe `paper`.
///
/// # Errors
/// If the file cannot be read, or holds something else.
pub fn twin_parameters(named: Option<&Path>, recipe: Option<&Recipe>) -> Result<TwinFile, PosteriorError> {
    if let Some(path) = named {
        let shipped = path.to_str().and_then(TwinFile::shipped_named);
        return shipped.map_or_else(|| TwinFile::from_file(path), Ok);
    }
    recipe.and_then(|recipe| TwinFile::shipped_for(&recipe.hash())).map_or_else(TwinFile::shipped, Ok)
}

/// Makes a scorer for the rows of a recipe.
pub type OpenScorer = fn(&Recipe, &ScorerSettings) -> Result<Arc<dyn Scorer>, StudyError>;

/// A scorer that can be asked for by name.
pub struct NamedScorer {
    /// Its name, as [`Scorer::name`] says it.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub description: &'static str,
    /// Whether it is made with the settings: the twin's parameters and its device.
    pub uses_twin: bool,
    /// Makes it.
    pub open: OpenScorer,
}

/// Scorers by name.
pub const SCORERS: &[NamedScorer] = &[
    NamedScorer {
        name: "twin",
        description: "the likelihood of the arrivals under the room's traced paths; docs/posterior.md",
        uses_twin: true,
        open: |recipe, settings| Ok(Arc::new(open_twin(recipe, settings)?)),
    },
    NamedScorer {
        name: "uniform",
        description: "every candidate alike: what a posterior must beat",
        uses_twin: false,
        open: |_, _| Ok(Arc::new(UniformScorer)),
    },
];

/// Endings of the files that hold volumes.
const FILE_ENDINGS: [&str; 2] = ["parquet", "npy"];

/// Opens a scorer by name (one of this crate, or of the settings' source), or a file of volumes by path.
///
/// # Errors
/// If there is no such scorer or file, or it cannot be made for the recipe.
pub fn open_scorer(name: &str, recipe: &Recipe, settings: &ScorerSettings) -> Result<Arc<dyn Scorer>, StudyError> {
    if let Some(known) = named(name) {
        return (known.open)(recipe, settings);
    }
    if let Some(source) = settings.source.as_ref().filter(|source| source.opens(name)) {
        return source.open(name, recipe, settings);
    }
    if !is_volume_file(name) {
        let own = SCORERS.iter().map(|known| known.name.to_owned());
        let others = settings.source.iter().flat_map(|source| source.names());
        return Err(StudyError::UnknownScorer { name: name.to_owned(), names: own.chain(others).collect() });
    }
    Ok(Arc::new(VolumeFile::open(Path::new(name))?))
}

fn named(name: &str) -> Option<&'static NamedScorer> {
    SCORERS.iter().find(|known| known.name == name)
}

/// Whether the scorer of this name is made with the twin's parameters and its device.
#[must_use]
pub fn uses_twin(name: &str) -> bool {
    named(name).is_some_and(|known| known.uses_twin)
}

/// Whether a scorer's name is that of a file of volumes.
#[must_use]
pub fn is_volume_file(name: &str) -> bool {
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
    named(name).is_none() && ending.is_some_and(|ending| FILE_ENDINGS.contains(&ending))
}
