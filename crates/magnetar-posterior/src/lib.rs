//! Candidate support, features, the twin scorer, metrics and fusion.
//!
//! From one observation (K ranked AoA-SNR pairs), the layout and the RX pose to a joint distribution over the TX's
//! planar position and heading.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests compare with the platform's functions"))]

mod balanced;
mod balanced_metrics;
mod error;
mod features;
mod fusion;
mod hpd;
mod identity;
mod knowledge;
mod layout;
mod location;
mod loss;
mod metrics;
mod paired;
mod post_index;
mod scorer;
mod support;
mod target;
#[cfg(test)]
mod testing;
mod twin;
mod uniform;
mod volume;

pub use balanced::{BalancedMean, REPLAY_LEVELS, Stratum};
pub use balanced_metrics::{BalancedMetrics, BalancedScores, ConeMetrics, Reliability};
pub use error::PosteriorError;
pub use features::{
    DISPLACEMENT_SCALE_M, Features, RANGE_FLOOR_M, SNR_SCALE_DB, heading_channels, query_channels, spatial_channels,
    write_heading, write_spatial,
};
pub use fusion::{Fused, fuse};
pub use hpd::{HpdCurve, LEVELS};
pub use knowledge::{Knowledge, LevelKnowledge, MaterialKnowledge, ReportedErrors};
pub use layout::Layout;
pub use location::{Location, MostProbablePose, Snapshot};
pub use loss::uniform_referenced_loss;
pub use metrics::{CONE_OPENINGS_DEG, Score};
pub use paired::{PairedDifferences, PairedScores};
pub use post_index::{DesignMetrics, post_index};
pub use scorer::{RowNumber, ScoreRow, Scorer};
pub use support::{COINCIDENT_M, MAX_CANDIDATES, Mask, Support, SupportSize};
pub use target::Target;
pub use twin::{
    Ablation, CpuScoring, DILOGARITHM_TERMS, FADING_DB2, Grain, MAX_ARRIVALS, PARAMETER_RANGES, RoomSlabs,
    ScoringBackend, Twin, TwinBox, TwinFile, TwinModel, TwinParameters, TwinRow, TwinRows, TwinScorer, TwinShared,
    TwinTables,
};
pub use uniform::UniformScorer;
pub use volume::Volume;
