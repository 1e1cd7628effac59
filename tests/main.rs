//! Cross-crate laws and the real binary, one module a concern.

mod cli;
mod version;
