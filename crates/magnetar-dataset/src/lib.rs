//! Recipes, draws, records, Parquet shards, manifests and their verification.
//!
//! A row is a pure function of (recipe, seed, split, index): the same bits for any thread count, shard size, order or
//! resumption.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests compare with the platform's functions"))]

mod bulk;
mod campaign;
mod card;
mod checksum;
mod column_chunk;
mod columns;
mod component_writer;
mod csi_pages;
mod csi_reader;
mod dataset;
mod draw;
mod error;
mod finisher;
mod folder;
mod frame;
mod generate;
mod generator;
mod guarded;
mod histogram;
mod job;
mod layout;
mod leaf_pages;
mod levels;
mod manifest;
mod merge;
mod observations;
mod outing;
mod page_bounds;
mod page_encoding;
mod parquet_input;
mod placement;
mod plan;
mod pose_table;
mod receiver_files;
pub mod recipe;
mod record;
mod recorder;
pub mod replay;
mod reported;
mod row_batches;
mod row_stream;
mod schema;
mod shard;
mod shard_lists;
pub mod stats;
mod stream;
mod unmodelled;
mod verify;
mod wave;

#[cfg(test)]
mod checksum_tests;
#[cfg(test)]
mod model_error_tests;
#[cfg(test)]
mod propagation_tests;
#[cfg(test)]
mod scene_tests;
#[cfg(test)]
mod schema_tests;
#[cfg(test)]
mod shard_tests;
#[cfg(feature = "cloud")]
#[cfg(test)]
mod store_tests;
#[cfg(test)]
mod tests;

pub use campaign::{
    Campaign, CampaignRow, Imported, IqRecording, IqReference, Measured, MeasuredFile, SigMfMeta, campaign_rows, import,
};
pub use checksum::Checksums;
pub use columns::{ColumnError, records as records_of_batch};
pub use component_writer::{ComponentWriter, ComponentWriterError};
pub use csi_reader::{CsiError, CsiReader};
pub use dataset::{Columns, Dataset, Records};
pub use draw::{DrawError, Drawer, DrawnDevices, DrawnScene};
pub use error::DatasetError;
pub use generate::{SizeEstimate, Summary};
pub use generator::{Generator, RowGenerator, generate_record};
pub use histogram::Histogram;
pub use job::{Job, Slice};
pub use layout::{Board, SetLayout};
pub use manifest::{GENERATOR_VERSION, MANIFEST, Manifest, ShardInfo, SplitManifest, shard_name};
pub use merge::{Merged, Part, gather, merge};
pub use observations::{ObservationError, ObservationSource};
pub use page_bounds::{PageError, check_pages};
pub use parquet_input::{MAX_PART_BYTES, ParquetInput};
pub use placement::Region;
pub use plan::Plan;
pub use pose_table::{PoseProblem, PoseTableError, TablePose, poses_from_csv, poses_from_json_lines};
pub use receiver_files::{bin_list, phase_table, read_calibration, read_phase_table, subcarrier_list};
pub use recipe::{Assignment, Mounting, Recipe, RecipeError, RecipeProblem, ReflectionLevels, Slabs};
pub use record::{Materials, OutingRow, Record, RecordPath, surface_from_name, surface_name};
pub use replay::{Protocol, Replayed};
pub use reported::{Reported, half_turn};
pub use row_batches::RowBatches;
pub use schema::{SCHEMA_VERSION, SchemaVersion, Shape};
pub use shard::digest;
pub use shard_lists::ShardList;
pub use stream::{Purpose, Streams};
pub use verify::{Verification, VerifyOptions, verify};
pub use wave::{DeviceDirection, ReceivedWave};
