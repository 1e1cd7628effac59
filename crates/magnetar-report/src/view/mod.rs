//! The interactive page: a small server on 127.0.0.1, or a file that needs none.

mod answers;
mod app;
mod command;
mod connections;
mod http;
pub(crate) mod links;
pub(crate) mod page;
pub(crate) mod picture;
mod protocol;
mod result;
mod rows;
mod server;
mod simulators;

pub use app::{App, Measurement};
pub use command::{Spoken, quoted};
pub use links::default_poses;
pub use protocol::{ColourState, LinkState, MAX_RECEIVERS, MAX_VIEW_BOXES};
pub use rows::Rows;
pub use server::{Server, respond};
