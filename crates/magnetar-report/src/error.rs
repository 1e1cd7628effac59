//! What can go wrong with a picture or a page.

use thiserror::Error;

/// Why a picture or page could not be made.
#[derive(Debug, Error)]
pub enum ReportError {
    /// A picture could not be rendered.
    #[error("the picture cannot be rendered: {0}")]
    Picture(String),
    /// The radio cannot be made.
    #[error(transparent)]
    Radio(#[from] magnetar_signal::RadioError),
    /// The recipe is wrong.
    #[error(transparent)]
    Recipe(#[from] magnetar_dataset::RecipeError),
    /// The scene, a material or a pattern is wrong.
    #[error(transparent)]
    Scene(#[from] magnetar_scene::SceneError),
    /// The link cannot be traced.
    #[error(transparent)]
    Trace(#[from] magnetar_trace::TraceError),
    /// The observation cannot be estimated.
    #[error(transparent)]
    Sre(#[from] magnetar_signal::sre::SreError),
    /// The dataset cannot be read.
    #[error(transparent)]
    Dataset(#[from] magnetar_dataset::DatasetError),
    /// The posterior cannot be computed.
    #[error(transparent)]
    Posterior(#[from] magnetar_posterior::PosteriorError),
    /// The dataset cannot be audited.
    #[error(transparent)]
    Study(#[from] magnetar_study::StudyError),
    /// A dataset without rows.
    #[error("{0} has no rows yet; run magnetar generate on it")]
    NoRows(String),
    /// More boxes than a page can show.
    #[error("the scene has {found} boxes; a page shows at most {most}")]
    TooManyBoxes {
        /// Boxes of the scene.
        found: usize,
        /// Boxes a page shows.
        most: usize,
    },
    /// The page asked for a state that makes no sense.
    #[error("{0}")]
    State(String),
    /// The page sent something that is not a request.
    #[error("malformed request: {0}")]
    Request(#[source] serde_json::Error),
    /// The server cannot listen.
    #[error("127.0.0.1:{port} cannot be listened on: {source}; choose another port (0 takes any that is free)")]
    Listen {
        /// The port.
        port: u16,
        /// What the system says.
        source: std::io::Error,
    },
}
