//! One stream of work on a GPU.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream};

use crate::CudaError;
use crate::edge::Doing;

/// Copy and compute overlap between this many lanes.
pub(crate) const LANES: usize = 2;

/// A stream with the buffers `B` that only it uses. While one lane computes, the host fills or copies the other's.
pub(crate) struct Lane<B> {
    // Dropped in this order, after `drop` has waited for the stream.
    pub buffers: B,
    pub stream: Arc<CudaStream>,
}

impl<B: Default> Lane<B> {
    pub fn new(context: &Arc<CudaContext>) -> Result<Self, CudaError> {
        Ok(Self { buffers: B::default(), stream: context.new_stream().doing("open a stream")? })
    }
}

impl<B> Lane<B> {
    /// Waits until everything queued has run; the host sides of the buffers are then the host's again.
    pub fn wait(&self) -> Result<(), CudaError> {
        self.stream.synchronize().doing("finish a batch")
    }
}

impl<B> Drop for Lane<B> {
    fn drop(&mut self) {
        // Copies may still be reading or writing the pinned buffers. An error was or will be reported by a call that can.
        let _ = self.stream.synchronize();
    }
}
