//! Object stores, in calls that wait: what files and datasets need of them. The asynchronous client is hidden here.

mod client;
mod error;
mod operations;
mod remote_file;
mod store_file;
#[cfg(test)]
mod tests;

pub(crate) use operations::{
    Version, exists, list, read, read_version, remove, remove_unfinished, rename, size, sizes, swap,
};
pub(crate) use remote_file::{RemoteFile, fetch};
pub(crate) use store_file::StoreFile;
