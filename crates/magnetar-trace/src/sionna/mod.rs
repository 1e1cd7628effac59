//! Validation against Sionna RT: reads exports of schemas `sionna-box-v1` and `sionna-box-v2`, and plain arrays of
//! Sionna RT's `Paths`, and compares them with the tracer.
//!
//! An export holds cases (a room, its materials, boxes, a TX and an RX) and the paths Sionna RT found in each. Every
//! case is traced with the material values as the export gives them, and paths are matched by the object they meet.

mod arrays;
mod case;
mod compare;
mod error;
mod export;
mod judge;
mod names;
mod read;
mod reference;
mod schema;
mod unmatched;
mod validation;

#[cfg(test)]
mod arrays_tests;
#[cfg(test)]
mod tests;

pub use case::Case;
pub use compare::{CaseComparison, PathComparison, PathErrors, TOLERANCE, TOLERANCE_SEVERAL, compare_case};
pub use error::{ExportError, Problem};
pub use export::Export;
pub use judge::{EDGE_M, LeftOutReason};
pub use names::{BoxMode, ObjectNames};
pub use read::{MAX_BYTES, SCHEMA, SCHEMA_V2, parse_export, read_export};
pub use reference::{Direction, ReferencePath};
pub use unmatched::Unmatched;
pub use validation::{ErrorSummary, MOST_BEYOND, MOST_EXTRA, PathName, Untraced, Validation, validate};
