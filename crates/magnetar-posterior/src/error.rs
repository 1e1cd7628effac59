//! What can go wrong, reported so that a user can act.

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
pub enum PosteriorError {
    /// A support with no candidate, or too many.
    #[error("a support of {headings} x {rows} x {columns} candidates: each must be at least 1, their product at most {max}", max = crate::MAX_CANDIDATES)]
    SupportSize {
        /// D.
        headings: usize,
        /// H.
        rows: usize,
        /// W.
        columns: usize,
    },
    /// A true position outside the room.
    #[error("the position ({x} m, {y} m) is outside the room")]
    OutsideRoom {
        /// x, metres.
        x: f64,
        /// y, metres.
        y: f64,
    },
    /// Two things that should be on one grid are not.
    #[error("{what}: expected {expected} values, got {got}")]
    Shape {
        /// Which value.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        got: usize,
    },
    /// A volume that is no distribution.
    #[error("candidate {index} has mass {mass}: a posterior's mass is finite and not negative")]
    Mass {
        /// Flat index.
        index: usize,
        /// Its mass.
        mass: f64,
    },
    /// Nothing is left to normalise.
    #[error("no candidate has any mass, so the volume cannot be normalised")]
    NoMass,
    /// Every target voxel is masked.
    #[error("every voxel around the true pose is masked (the TX stands on the RX)")]
    MaskedTruth,
    /// Fusion of nothing.
    #[error("fusion needs at least one posterior")]
    NothingToFuse,
    /// Posteriors that exclude one another.
    #[error("the posteriors have no candidate in common: their {order} product is zero everywhere")]
    Conflict {
        /// `early` or `late`.
        order: &'static str,
    },
    /// More arrivals than the twin's likelihood takes.
    #[error(
        "the estimator keeps {keep} arrivals, but the twin's likelihood takes {most} at most: keep {most}, or use another scorer"
    )]
    TooManyArrivals {
        /// K.
        keep: usize,
        /// The most.
        most: usize,
    },
    /// The twin cannot reckon with such paths.
    #[error("the twin's paths: {0}")]
    Propagation(#[source] magnetar_trace::TraceError),
    /// The backend that was to score failed.
    #[error(transparent)]
    Backend(#[from] magnetar_signal::BackendError),
    /// A scorer that is not of this crate failed.
    #[error(transparent)]
    Scorer {
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A parameter file that cannot be used.
    #[error("{place}: {reason}")]
    Parameters {
        /// File and key.
        place: String,
        /// What was wrong and what to do.
        reason: String,
    },
}
