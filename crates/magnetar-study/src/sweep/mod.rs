//! Sweeps: the same rows under changed recipe keys, so that differences are due to the keys alone.
//!
//! Every point of a sweep makes rows 0 to n - 1 of one split with one seed. Draws come from separate streams that do not
//! depend on the recipe, so that all points share their random numbers: scenes, TX-power offsets, RF chains and noise
//! differ only by what an axis changes.

mod axis;
mod definition;
mod design;
mod file;
mod label;
mod measure;
mod outcome;
mod page_data;
mod point;
mod run;
mod scoring;
mod sensitivity;
mod shipped;
mod sobol;
mod table;
mod verify;

#[cfg(test)]
mod draw_tests;
#[cfg(test)]
mod tests;

pub use axis::{Axis, Setting};
pub use definition::{Definition, Posterior};
pub use design::{MAX_POINTS, PointDesign};
pub use file::{MAX_ROWS, Sweep};
pub use measure::Metric;
pub use outcome::{MeasuredPoints, Outcome, SweepStep};
pub use page_data::{Effect, main_effects, scattered};
pub use point::{Point, PointResult};
pub use run::result_path;
pub use scoring::{SweepScorer, SweepScorerRecord};
pub use sensitivity::{Sensitivity, sensitivities};
pub use shipped::{SHIPPED, shipped_names};
pub use sobol::{MAX_DIMENSIONS, Sobol};
pub use table::{SWEEP_MANIFEST, SWEEP_PAGE, SWEEP_TABLE, SweepManifest, SweepTable};
pub use verify::verify_sweep;
