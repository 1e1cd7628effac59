//! The interactive page: a small server on 127.0.0.1, or a file that needs none.

mod app;
mod connections;
mod http;
pub(crate) mod page;
pub(crate) mod picture;
mod protocol;
mod rows;
mod server;

pub use app::{App, Measurement};
pub use protocol::{ColourState, LinkState, MAX_VIEW_BOXES};
pub use rows::Rows;
pub use server::{Server, respond};
