//! Every byte in and out of magnetar: files that appear whole or not at all, reads that stop at a limit, npy and npz arrays.
//!
//! Whatever takes a path takes the address of something in an object store, too (`s3://bucket/name`; feature `cloud`).

mod atomic_file;
mod atomic_folder;
mod bounded_read;
#[cfg(feature = "fault-injection")]
mod fault;
mod file_set;
mod folder;
mod guard;
mod input_file;
pub mod npy;
pub mod npz;
mod operation;
mod place;
mod sealed;
#[cfg_attr(not(feature = "cloud"), path = "no_store.rs")]
mod store;
mod temporary;
#[cfg(test)]
mod testing;
mod versioned;

pub use atomic_file::AtomicFile;
pub use atomic_folder::AtomicFolder;
pub use bounded_read::{BoundedReadError, open_file, read_bytes, read_text};
pub use file_set::FileSet;
pub use folder::{
    FolderLock, create_folder, create_passing_folder, exists, file_size, file_sizes, is_folder, list_folder, move_file,
    nearest_folder, remove_file, remove_unfinished, rename_file, replacement_path, sync_folder,
};
pub use guard::{ReaderPanicked, guard};
pub use input_file::{InputFile, InputReader};
pub use place::{PlaceError, is_in_store, place};
pub use sealed::{seal, unseal};
pub use temporary::TEMPORARY_PREFIX;
pub use versioned::{Version, read_version, write_version};
