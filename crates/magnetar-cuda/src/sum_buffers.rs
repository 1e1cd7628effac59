//! What the path-summation kernel needs for one batch, and how it is started.

use std::ops::Range;

use cudarc::driver::{CudaFunction, CudaSlice, DeviceRepr, LaunchConfig, PushKernelArg, ValidAsZeroBits};
use magnetar_signal::{Band, ELEMENTS, Observation, ReducedPath, ReducedRfChain, SignalRow};

use crate::CudaError;
use crate::buffer::{Buffer, scratch};
use crate::edge::Doing;
use crate::lane::Lane;
use crate::path_term::{PathTerm, RfChainTerm};

/// Bins of a tile of `kernels/sum_paths.cu`: more, and the kernel parks finished tiles in memory.
pub(crate) const TILE: usize = 512;

/// Planes of an observation: real and imaginary parts of each element.
pub(crate) const PLANES: usize = 2 * ELEMENTS;

/// Threads of a block of `kernels/sum_paths.cu`.
const THREADS: u32 = 128;

#[allow(unsafe_code, reason = "says that the kernel's own struct may be copied to it")]
// SAFETY: #[repr(C)] with the fields of the kernel's struct and no padding (`Pod`); zero bits are numbers.
unsafe impl DeviceRepr for PathTerm {}
#[allow(unsafe_code, reason = "as above")]
// SAFETY: as above.
unsafe impl ValidAsZeroBits for PathTerm {}
#[allow(unsafe_code, reason = "as above")]
// SAFETY: as above.
unsafe impl DeviceRepr for RfChainTerm {}
#[allow(unsafe_code, reason = "as above")]
// SAFETY: as above.
unsafe impl ValidAsZeroBits for RfChainTerm {}

/// What one lane holds for a batch.
#[derive(Default)]
pub(crate) struct SumBuffers {
    first: Option<Buffer<u32>>,
    paths: Option<Buffer<PathTerm>>,
    chains: Option<Buffer<RfChainTerm>>,
    observations: Option<Buffer<f32>>,
    parked: Option<CudaSlice<f32>>,
    /// The caller's rows that the lane is working on.
    rows: Range<usize>,
}

impl Lane<SumBuffers> {
    /// Queues one batch: `blocks` (noise) and `rows` up, the kernel, the observations down.
    pub fn start(
        &mut self,
        function: &CudaFunction,
        band: &Band,
        batch: Range<usize>,
        rows: &[SignalRow<'_>],
        blocks: &[Observation],
    ) -> Result<(), CudaError> {
        let (stream, buffers) = (&self.stream, &mut self.buffers);
        let path_count = rows.iter().map(|row| row.paths.len()).sum();
        let floats = rows.len() * PLANES * band.bins;
        let first = Buffer::reserve(&mut buffers.first, stream, rows.len() + 1)?;
        let paths = Buffer::reserve(&mut buffers.paths, stream, path_count)?;
        let chains = Buffer::reserve(&mut buffers.chains, stream, rows.len())?;
        let observations = Buffer::reserve(&mut buffers.observations, stream, floats)?;

        let mut end = 0;
        for ((first, chain), row) in first.host()?.iter_mut().zip(chains.host()?).zip(rows) {
            *first = end as u32;
            *chain = RfChainTerm::from(&ReducedRfChain::new(&row.rf_chain, band));
            end += row.paths.len();
        }
        first.host()?[rows.len()] = end as u32;
        let scaled = rows.iter().flat_map(|row| row.paths.iter().map(|path| ReducedPath::new(path, band, row.scale)));
        for (term, path) in paths.host()?.iter_mut().zip(scaled) {
            *term = PathTerm::from(&path);
        }
        for (planes, block) in observations.host()?.chunks_exact_mut(PLANES * band.bins).zip(blocks) {
            for (plane, part) in planes.chunks_exact_mut(band.bins).zip(planes_of(block)) {
                plane.copy_from_slice(part);
            }
        }

        first.upload(stream, rows.len() + 1)?;
        paths.upload(stream, path_count)?;
        chains.upload(stream, rows.len())?;
        observations.upload(stream, floats)?;
        if band.bins > TILE {
            scratch(&mut buffers.parked, stream, floats)?;
        }

        let config =
            LaunchConfig { grid_dim: (rows.len() as u32, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
        let bins = band.bins as u32;
        let nothing = 0u64;
        let mut launch = stream.launch_builder(function);
        launch.arg(&first.device).arg(&paths.device).arg(&chains.device).arg(&mut observations.device);
        match &mut buffers.parked {
            Some(parked) => launch.arg(parked),
            None => launch.arg(&nothing),
        };
        launch.arg(&bins);
        #[allow(unsafe_code, reason = "starts a kernel")]
        // SAFETY: the arguments are those of `sum_paths`, in order; every buffer holds what the kernel's header says
        // for `rows.len()` rows, and is used on this stream only.
        unsafe { launch.launch(config) }.doing("start the path summation")?;
        observations.download(stream, floats)?;
        buffers.rows = batch;
        Ok(())
    }

    /// Waits for the batch in flight, if there is one, and hands its observations over.
    pub fn finish(&mut self, blocks: &mut [Observation]) -> Result<(), CudaError> {
        let rows = std::mem::take(&mut self.buffers.rows);
        if rows.is_empty() {
            return Ok(());
        }
        self.wait()?;
        let Some(observations) = &mut self.buffers.observations else { return Ok(()) };
        let mut results: &[f32] = observations.host()?;
        for block in &mut blocks[rows] {
            for part in block.planes_mut() {
                let (plane, rest) = results.split_at(part.len());
                part.copy_from_slice(plane);
                results = rest;
            }
        }
        Ok(())
    }
}

/// The planes of a block, in the kernel's order.
fn planes_of(block: &Observation) -> [&[f32]; PLANES] {
    [block.re(0), block.im(0), block.re(1), block.im(1)]
}
