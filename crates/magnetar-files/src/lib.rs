//! Every byte in and out of magnetar: files that appear whole or not at all, reads that stop at a limit, npy arrays.

mod atomic_file;
mod bounded_read;
pub mod npy;

pub use atomic_file::{AtomicFile, TEMPORARY_PREFIX};
pub use bounded_read::{BoundedReadError, read_bytes, read_text};
