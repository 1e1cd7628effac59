//! Memory in two places: pinned on the host, and on the device.

use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream, DeviceRepr, PinnedHostSlice, ValidAsZeroBits};

use crate::CudaError;
use crate::edge::Doing;

/// A device array with a pinned mirror on the host, so that the copies between them run beside other work.
///
/// Copies are only queued on the lane's stream. The host side may be touched again after the stream was waited for;
/// `Lane` sees to that.
pub(crate) struct Buffer<T> {
    pinned: PinnedHostSlice<T>,
    pub device: CudaSlice<T>,
}

impl<T: DeviceRepr + ValidAsZeroBits> Buffer<T> {
    /// `len` elements (at least one: the driver refuses empty allocations).
    #[allow(unsafe_code, reason = "the driver hands out memory that is not set")]
    pub fn new(stream: &Arc<CudaStream>, len: usize) -> Result<Self, CudaError> {
        let len = len.max(1);
        // SAFETY: written by an upload, or by a kernel, before a kernel or a download reads it.
        let device = unsafe { stream.alloc::<T>(len) }.doing("allocate GPU memory")?;
        let context = stream.context();
        // SAFETY: set to zero below. Flags 0: not write-combined, because the host reads results from it.
        let mut pinned = unsafe { context.alloc_pinned_with_flags::<T>(len, 0) }.doing("allocate pinned memory")?;
        let start = pinned.as_mut_ptr().doing("reach pinned memory")?;
        // SAFETY: `len` elements were allocated, and zero bits are a valid T (`ValidAsZeroBits`).
        unsafe { start.write_bytes(0, len) };
        Ok(Self { pinned, device })
    }

    /// Makes room for `len` elements; what it held is lost.
    pub fn reserve<'a>(
        buffer: &'a mut Option<Self>,
        stream: &Arc<CudaStream>,
        len: usize,
    ) -> Result<&'a mut Self, CudaError> {
        match buffer.take_if(|buffer| buffer.device.len() >= len.max(1)) {
            Some(large_enough) => Ok(buffer.insert(large_enough)),
            None => {
                *buffer = None; // frees before it allocates
                Ok(buffer.insert(Self::new(stream, len)?))
            }
        }
    }

    /// The host side. Only while nothing is queued.
    pub fn host(&mut self) -> Result<&mut [T], CudaError> {
        self.pinned.as_mut_slice().doing("reach pinned memory")
    }

    /// Queues a copy of the first `len` elements to the device.
    pub fn upload(&mut self, stream: &Arc<CudaStream>, len: usize) -> Result<(), CudaError> {
        let source = self.pinned.as_mut_slice().doing("reach pinned memory")?;
        stream.memcpy_htod(&source[..len], &mut self.device).doing("copy to the GPU")
    }

    /// Queues a copy of the first `len` elements to the host.
    pub fn download(&mut self, stream: &Arc<CudaStream>, len: usize) -> Result<(), CudaError> {
        let target = self.pinned.as_mut_slice().doing("reach pinned memory")?;
        stream.memcpy_dtoh(&self.device.slice(..len), &mut target[..len]).doing("copy from the GPU")
    }
}

/// Device memory that only kernels touch.
pub(crate) fn scratch<'a, T: DeviceRepr>(
    memory: &'a mut Option<CudaSlice<T>>,
    stream: &Arc<CudaStream>,
    len: usize,
) -> Result<&'a mut CudaSlice<T>, CudaError> {
    if memory.as_ref().is_none_or(|memory| memory.len() < len) {
        *memory = None; // frees before it allocates
    }
    match memory {
        Some(memory) => Ok(memory),
        None => {
            #[allow(unsafe_code, reason = "the driver hands out memory that is not set")]
            // SAFETY: the kernels write every element before they read it.
            let made = unsafe { stream.alloc(len) }.doing("allocate GPU memory")?;
            Ok(memory.insert(made))
        }
    }
}
