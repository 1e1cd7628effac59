//! The bulk path summation and candidate scoring on a GPU, with an equal CPU path.
//!
//! The kernels (`kernels/`) are embedded as source and as PTX, the driver is opened at run time, and every failure
//! is a [`CudaError`]: a build with the `cuda` feature runs on machines that have no NVIDIA software at all, and a build
//! without it has the same functions, which say so.
//!
//! State of the evidence: assembled and CPU-emulated, not yet run on a GPU.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests compare with the platform's functions"))]

mod error;
mod info;
mod program;

#[cfg(feature = "cuda")]
mod buffer;
#[cfg(feature = "cuda")]
mod device;
#[cfg(feature = "cuda")]
mod edge;
#[cfg(feature = "cuda")]
mod lane;
#[cfg(feature = "cuda")]
mod nvrtc;
#[cfg(feature = "cuda")]
mod path_term;
#[cfg(feature = "cuda")]
mod score_buffers;
#[cfg(feature = "cuda")]
mod scoring;
#[cfg(feature = "cuda")]
mod sum_buffers;
#[cfg(feature = "cuda")]
mod synthesis;

pub use error::CudaError;
pub use info::DeviceInfo;
pub use program::{KernelSource, Program};

use magnetar_posterior::ScoringBackend;
use magnetar_signal::{Band, SynthesisBackend};

/// How a GPU is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Number of the GPU.
    pub device: usize,
    /// Where the kernels come from.
    pub kernels: KernelSource,
    /// Most rows of a batch; fewer where the GPU's memory asks for it.
    pub batch_rows: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { device: 0, kernels: KernelSource::Embedded, batch_rows: 1024 }
    }
}

/// The GPUs of this machine, and whether every kernel from `kernels` loads on each.
///
/// # Errors
/// When there is no driver or no GPU, or the driver fails.
pub fn devices(kernels: KernelSource) -> Result<Vec<DeviceInfo>, CudaError> {
    #[cfg(feature = "cuda")]
    return device::devices(kernels);
    #[cfg(not(feature = "cuda"))]
    {
        let _ = kernels;
        Err(CudaError::NotBuilt)
    }
}

/// Opens a GPU for path summation over a band (which should have been checked).
///
/// # Errors
/// When there is no driver or no such GPU, or the kernel does not load.
pub fn open_synthesis(options: &Options, band: Band) -> Result<Box<dyn SynthesisBackend>, CudaError> {
    #[cfg(feature = "cuda")]
    return Ok(Box::new(synthesis::CudaSynthesis::open(options, band)?));
    #[cfg(not(feature = "cuda"))]
    {
        let _ = (options, band);
        Err(CudaError::NotBuilt)
    }
}

/// Opens a GPU for candidate scoring.
///
/// # Errors
/// When there is no driver or no such GPU, or the kernels do not load.
pub fn open_scoring(options: &Options) -> Result<Box<dyn ScoringBackend>, CudaError> {
    #[cfg(feature = "cuda")]
    return Ok(Box::new(scoring::CudaScoring::open(options)?));
    #[cfg(not(feature = "cuda"))]
    {
        let _ = options;
        Err(CudaError::NotBuilt)
    }
}
