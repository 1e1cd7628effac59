//! What commands about measured observations share: the files, the receiver, and what is done to the data before.

mod poses;
mod receiver;
mod snapshots;
mod subcarriers;

pub use poses::Poses;
pub use receiver::{DOUBTS, ReceiverArgs, SnapshotArgs, noise_advice, turn_advice};
pub use snapshots::Snapshots;
pub use subcarriers::SubcarrierArgs;
