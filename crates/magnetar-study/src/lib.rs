//! Where scorers meet datasets: evaluation, fusion, fit, audit and sweeps.
//!
//! A dataset's rows are split into what the receiver knows ([`ReceiverView`]), which is all a scorer sees, and what is
//! true, which its posterior is judged by.
//!
//! ```
//! use std::sync::Arc;
//! use magnetar_dataset::{Recipe, generate_record};
//! use magnetar_posterior::SupportSize;
//! use magnetar_study::{ScorerSettings, open_scorer, score_record};
//!
//! let recipe = Arc::new(Recipe::paper());
//! let row = generate_record(&recipe, 1, "test", 0)?;
//! let scorer = open_scorer("twin", &recipe, &ScorerSettings::shipped()?)?;
//! let (support, volume) = score_record("test", &row, &*scorer, SupportSize::EVALUATION)?;
//! let (heading, y, x) = support.place(volume.mode());
//! println!("{:.2} m, {:.2} m, {:.2} rad", support.xs()[x], support.ys()[y], support.heading(heading));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests compare with the platform's functions"))]

mod audit;
mod calibration;
mod candidates;
mod chunk;
mod error;
mod evaluation;
mod evaluation_json;
mod fit;
mod fit_checkpoint;
mod fusion_study;
mod posterior_table;
mod receiver_view;
mod scorers;
pub mod sweep;
mod twin_model;

pub use audit::{Audit, AuditedSplits, ConditionAudit, Mean, audit, audit_onto_card, audit_rows};
pub use calibration::{
    CalibrationSettings, FoundOffsets, HeldOut, OFFSET_KEYS, OffsetEstimate, OffsetKey, calibrate_receiver,
    calibrate_receiver_rows,
};
pub use candidates::{Candidates, support_stream};
pub use error::StudyError;
pub use evaluation::{
    Evaluation, evaluate, map_posteriors, map_rows, needed_columns, post_indices, score_aligned, score_record,
};
pub use evaluation_json::{evaluation_json, scores_json};
pub use fit::{Fit, FitRow, FitState, LEAST_GAIN, TwinCalibration, calibrate, withheld_nll};
pub use fit_checkpoint::FitOrigin;
pub use fusion_study::{FusionSummary, SetResult, fuse_all, fuse_set};
pub use posterior_table::{PosteriorOrigin, PosteriorRow, PosteriorTable};
pub use receiver_view::{ReceiverView, stratum, truth};
pub use scorers::{
    NamedScorer, OpenScorer, SCORERS, SceneDevices, ScorerSettings, ScorerSource, VolumeFile, VolumeFileError,
    is_volume_file, open_scorer, open_twin, scene_twin, twin_parameters, uses_twin,
};
pub use twin_model::{assignment_index, known_split, twin_model};

/// The snippets of the book's page on libraries, compiled and run as doctests.
#[cfg(doctest)]
#[doc = include_str!("../library.md")]
struct LibraryPage;
