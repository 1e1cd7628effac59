//! Candidate support, features, the twin scorer, metrics and fusion.
//!
//! From one observation (K ranked AoA-SNR pairs), the layout and the RX pose to a joint distribution over the TX's
//! planar position and heading.

mod arrivals;
mod backend;
mod error;
mod evaluation;
mod features;
mod fusion;
mod fusion_study;
mod hpd;
mod layout;
mod loss;
mod metrics;
mod post_index;
mod summary;
mod support;
mod table;
mod target;
#[cfg(test)]
mod testing;
mod twin;
mod twin_metrics;
mod view;
mod volume;

pub use arrivals::{Arrival, Arrivals};
pub use backend::{CpuScoring, ScoreRow, ScoringBackend};
pub use error::PosteriorError;
pub use evaluation::{Evaluation, EvaluationError, evaluate, map_posteriors, map_rows};
pub use features::{DISPLACEMENT_SCALE_M, Features, RANGE_FLOOR_M, SNR_SCALE_DB, query_channels, spatial_channels};
pub use fusion::{Fused, fuse};
pub use fusion_study::{FusionSummary, SetResult, fuse_all, fuse_set};
pub use hpd::{HpdCurve, LEVELS};
pub use layout::Layout;
pub use loss::uniform_referenced_loss;
pub use metrics::{CONE_OPENINGS_DEG, Score};
pub use post_index::{DesignMetrics, post_index};
pub use summary::{Estimate, REPLAY_LEVELS, Stratum, Summary, Tally};
pub use support::{COINCIDENT_M, MAX_CANDIDATES, Mask, Support, SupportSize};
pub use table::{PosteriorRow, PosteriorTable};
pub use target::Target;
pub use twin::{
    Ablation, FitRow, Grain, PARAMETER_RANGES, RoomSlabs, TwinBox, TwinFile, TwinModel, TwinParameters, TwinRow,
    TwinRows, TwinScorer, TwinShared, TwinTables, fit, withheld_nll,
};
pub use twin_metrics::TwinMetrics;
pub use view::View;
pub use volume::Volume;
