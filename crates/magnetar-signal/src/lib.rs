//! From paths to 512 x 2 frequency observations, and from observations to arrivals (SRE).

mod array;
mod atomic_file;
mod band;
mod config_error;
pub mod npy;

pub use array::{ELEMENTS, RxArray};
pub use atomic_file::AtomicFile;
pub use band::Band;
pub use config_error::ConfigError;
