//! The interactive page: a small server on 127.0.0.1, or a file that needs none.

mod app;
mod http;
mod page;
mod picture;
mod protocol;
mod server;

pub use app::App;
pub use protocol::{ColourState, LinkState, MAX_VIEW_BOXES};
pub use server::Server;
