//! Where scorers meet datasets: evaluation, fusion, fit and sweeps.
//!
//! A dataset's rows are split into what the receiver knows ([`ReceiverView`]), which is all a scorer sees, and what is
//! true, which its posterior is judged by.

mod error;
mod evaluation;
mod fit;
mod fusion_study;
mod posterior_table;
mod receiver_view;
pub mod sweep;
mod twin_model;

pub use error::StudyError;
pub use evaluation::{Evaluation, evaluate, map_posteriors, map_rows};
pub use fit::{FitRow, fit, withheld_nll};
pub use fusion_study::{FusionSummary, SetResult, fuse_all, fuse_set};
pub use posterior_table::{PosteriorRow, PosteriorTable};
pub use receiver_view::{ReceiverView, stratum};
pub use twin_model::{assignment_index, known_split, twin_model};
