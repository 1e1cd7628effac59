//! What can go wrong between here and a GPU.

use thiserror::Error;

/// A failure of the CUDA backend; the CPU backend does all the same work without it.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum CudaError {
    /// This build has no CUDA code.
    #[error("this magnetar was built without CUDA; build it with `--features cuda`, or use the CPU")]
    NotBuilt,
    /// No driver library.
    #[error("no NVIDIA driver (libcuda) was found; install one, or use the CPU")]
    NoDriver,
    /// A driver, but no device that it can use.
    #[error("the NVIDIA driver found no usable GPU ({0}); the CPU does the same work")]
    NoDevice(String),
    /// The device's ordinal is out of range.
    #[error("there is no GPU number {ordinal}: this machine has {count}")]
    NoSuchDevice {
        /// The number asked for.
        ordinal: usize,
        /// How many there are.
        count: usize,
    },
    /// The kernels trace first order in an opaque world.
    #[error("the GPU scores paths of order 1 in an opaque world, not of {0}; use the CPU")]
    Propagation(String),
    /// A driver call failed.
    #[error("the CUDA driver failed to {action}: {error}")]
    Driver {
        /// What was being done.
        action: &'static str,
        /// The driver's name for the error, and its text.
        error: String,
    },
    /// The driver library lacks a function or broke in another way that its bindings treat as a panic.
    #[error("the CUDA driver library is unusable: {0}; update the NVIDIA driver, or use the CPU")]
    Broken(String),
    /// NVRTC is not installed.
    #[error("NVRTC (libnvrtc) was not found; install the CUDA toolkit, or use the embedded kernels")]
    NoNvrtc,
    /// NVRTC refused a kernel.
    #[error("NVRTC could not compile {program} for {architecture}: {log}")]
    Compile {
        /// The kernel file.
        program: &'static str,
        /// The GPU's architecture, as the compiler calls it.
        architecture: String,
        /// The compiler's log.
        log: String,
    },
    /// Not even one row fits the device.
    #[error("one row needs {needed} bytes of GPU memory and {free} are free; close other programs, or use the CPU")]
    TooLarge {
        /// Bytes one row needs.
        needed: usize,
        /// Bytes the device has free.
        free: usize,
    },
    /// The caller's slices do not fit together.
    #[error("{what}: expected {expected}, got {got}")]
    Shape {
        /// Which slice.
        what: &'static str,
        /// Its expected length.
        expected: usize,
        /// Its length.
        got: usize,
    },
}
