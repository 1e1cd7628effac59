//! Recipes, draws, records, Parquet shards, manifests and their verification.

mod component_writer;
mod csi_reader;

pub use component_writer::{ComponentWriter, ComponentWriterError};
pub use csi_reader::{CsiError, CsiReader};
