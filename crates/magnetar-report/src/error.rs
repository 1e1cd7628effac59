//! What can go wrong with a picture or a page.

use thiserror::Error;

/// Why a picture or page could not be made.
#[derive(Debug, Error)]
pub enum ReportError {
    /// A picture could not be rendered.
    #[error("the picture cannot be rendered: {0}")]
    Picture(String),
}
