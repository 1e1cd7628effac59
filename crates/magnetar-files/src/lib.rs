//! Every byte in and out of magnetar: files that appear whole or not at all, reads that stop at a limit, npy and npz arrays.

mod atomic_file;
mod atomic_folder;
mod bounded_read;
#[cfg(feature = "fault-injection")]
mod fault;
mod folder;
mod guard;
pub mod npy;
pub mod npz;
mod operation;
mod sealed;
mod temporary;
#[cfg(test)]
mod testing;

pub use atomic_file::AtomicFile;
pub use atomic_folder::AtomicFolder;
pub use bounded_read::{BoundedReadError, open_file, read_bytes, read_text};
pub use folder::{
    FolderLock, create_folder, list_folder, nearest_folder, remove_file, remove_unfinished, rename_file,
    replacement_path,
};
pub use guard::{ReaderPanicked, guard};
pub use sealed::{seal, unseal};
pub use temporary::TEMPORARY_PREFIX;
