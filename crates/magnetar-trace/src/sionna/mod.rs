//! Validation against Sionna RT: reads exports of schema `sionna-box-v1` and compares them with the tracer.
//!
//! An export holds cases (a room, its materials, boxes, a TX and an RX) and the paths Sionna RT found in each. Every
//! case is traced with the material values as the export gives them, and paths are matched by the object they meet.

mod compare;
mod error;
mod export;
mod read;
mod schema;
mod validation;

#[cfg(test)]
mod tests;

pub use compare::{CaseComparison, PathComparison, PathErrors, TOLERANCE, compare_case};
pub use error::{ExportError, Problem};
pub use export::{Case, Direction, Export, ReferencePath};
pub use read::{MAX_BYTES, SCHEMA, parse_export, read_export};
pub use validation::{ErrorSummary, PathName, Untraced, Validation, validate};
