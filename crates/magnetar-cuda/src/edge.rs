//! The one place where the driver's bindings may panic.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cudarc::driver::DriverError;

use crate::CudaError;

/// Runs `work` against the driver. The bindings panic where a library or one of its functions is missing; that is an
/// error of the machine, not of this program, and becomes a value here.
///
/// Nothing is left half-changed that is used again: what `work` was building is dropped with the panic.
pub(crate) fn guard<T>(work: impl FnOnce() -> Result<T, CudaError>) -> Result<T, CudaError> {
    if !driver_present() {
        return Err(CudaError::NoDriver);
    }
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(CudaError::Broken(message(&*panic))))
}

#[allow(unsafe_code, reason = "opens the driver library")]
fn driver_present() -> bool {
    // SAFETY: opening libcuda runs NVIDIA's own initialisers; the user asked for CUDA, or for `auto`.
    unsafe { cudarc::driver::sys::is_culib_present() }
}

#[allow(unsafe_code, reason = "opens the NVRTC library")]
pub(crate) fn nvrtc_present() -> bool {
    // SAFETY: as above, for NVRTC.
    unsafe { cudarc::nvrtc::sys::is_culib_present() }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("a driver function is missing").lines().next().unwrap_or_default().to_owned()
}

/// Names what was being done when a driver call failed.
pub(crate) trait Doing<T> {
    fn doing(self, action: &'static str) -> Result<T, CudaError>;
}

impl<T> Doing<T> for Result<T, DriverError> {
    fn doing(self, action: &'static str) -> Result<T, CudaError> {
        self.map_err(|error| {
            let text = |part: Result<&std::ffi::CStr, DriverError>| {
                part.map_or_else(|_| format!("code {}", error.0 as u32), |text| text.to_string_lossy().into_owned())
            };
            CudaError::Driver {
                action,
                error: format!("{} ({})", text(error.error_name()), text(error.error_string())),
            }
        })
    }
}
