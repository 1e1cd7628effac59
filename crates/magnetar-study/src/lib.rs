//! Where scorers meet datasets: evaluation, fusion, fit and sweeps.
//!
//! A dataset's rows are split into what the receiver knows ([`ReceiverView`]), which is all a scorer sees, and what is
//! true, which its posterior is judged by.

mod chunk;
mod error;
mod evaluation;
mod fit;
mod fusion_study;
mod posterior_table;
mod receiver_view;
mod scorers;
pub mod sweep;
mod twin_model;

pub use error::StudyError;
pub use evaluation::{Evaluation, evaluate, map_posteriors, map_rows, needed_columns, post_indices, score_record};
pub use fit::{FitRow, fit, withheld_nll};
pub use fusion_study::{FusionSummary, SetResult, fuse_all, fuse_set};
pub use posterior_table::{PosteriorOrigin, PosteriorRow, PosteriorTable};
pub use receiver_view::{ReceiverView, stratum};
pub use scorers::{
    OpenScorer, SCORERS, ScorerSettings, VolumeFile, VolumeFileError, is_volume_file, open_scorer, open_twin,
};
pub use twin_model::{assignment_index, known_split, twin_model};
