//! Candidate support, features, the twin scorer, metrics and fusion.
//!
//! From one observation (K ranked AoA-SNR pairs), the layout and the RX pose to a joint distribution over the TX's
//! planar position and heading.

mod backend;
mod error;
mod features;
mod fusion;
mod hpd;
mod layout;
mod loss;
mod metrics;
mod post_index;
mod summary;
mod support;
mod target;
#[cfg(test)]
mod testing;
mod twin;
mod volume;

pub use backend::{CpuScoring, ScoreRow, ScoringBackend};
pub use error::PosteriorError;
pub use features::{DISPLACEMENT_SCALE_M, Features, RANGE_FLOOR_M, SNR_SCALE_DB, query_channels, spatial_channels};
pub use fusion::{Fused, fuse};
pub use hpd::{HpdCurve, LEVELS};
pub use layout::Layout;
pub use loss::uniform_referenced_loss;
pub use metrics::{CONE_OPENINGS_DEG, Score};
pub use post_index::{DesignMetrics, post_index};
pub use summary::{Estimate, REPLAY_LEVELS, Stratum, Summary, Tally};
pub use support::{COINCIDENT_M, MAX_CANDIDATES, Mask, Support, SupportSize};
pub use target::Target;
pub use twin::{
    Ablation, Grain, PARAMETER_RANGES, RoomSlabs, TwinBox, TwinFile, TwinModel, TwinParameters, TwinRow, TwinRows,
    TwinScorer, TwinShared, TwinTables,
};
pub use volume::Volume;
