//! Cross-crate laws and the real binary, one module a concern.

#![allow(clippy::disallowed_methods, reason = "tests compare with the platform's functions")]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[cfg(feature = "cuda")]
mod backend;
mod book;
mod calibrate;
mod campaign;
mod cli;
mod console;
mod damage;
mod dataset;
#[cfg(feature = "cuda")]
mod devices;
mod estimate;
#[cfg(feature = "fault-injection")]
mod faults;
mod folder;
mod from_map;
mod hostile_files;
mod learned;
mod locate;
mod measurement;
mod observe;
mod older_datasets;
mod pictures;
mod posterior;
mod propagation;
mod recovery;
mod replay;
mod scene_files;
mod sweep;
mod trace;
mod validate;
mod version;
#[cfg(not(feature = "cuda"))]
mod without_cuda;
mod wrong_inputs;
