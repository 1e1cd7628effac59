//! What commands about measured observations share: the files, the receiver, and what is done to the data before.

mod poses;
mod receiver;
mod source;

pub use poses::Poses;
pub use receiver::{Preparation, ReceiverArgs};
pub use source::ObservationSource;
