//! The networks, each written once for every engine.

mod density;
mod network;
mod pointwise;
mod spatial;

pub use network::Network;
