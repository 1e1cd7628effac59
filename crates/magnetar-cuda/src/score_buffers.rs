//! What the scoring kernels need for one batch, and how they are started.

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DeviceRepr, LaunchConfig, PushKernelArg, ValidAsZeroBits};
use magnetar_posterior::{TwinBox, TwinRow, TwinRows, TwinShared, TwinTables};

use crate::CudaError;
use crate::buffer::{Buffer, scratch};
use crate::edge::Doing;
use crate::lane::Lane;

/// Threads of a block (`kernels/candidate.cuh`).
const THREADS: u32 = 128;

/// Bytes of `Candidate` and floats of a level row (`kernels/candidate.cuh`).
const CANDIDATE_BYTES: usize = 1104;
const MAX_PATHS: usize = 12;

/// A plain layout of the posterior crate, as the driver wants to have it named.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Flat<T>(pub T);

#[allow(unsafe_code, reason = "says that plain layouts may be copied to a kernel")]
// SAFETY: only made of `Pod` types (see the bounds), #[repr(C)] with the fields of the kernel's own structs.
unsafe impl<T: bytemuck::Pod> DeviceRepr for Flat<T> {}
#[allow(unsafe_code, reason = "as above")]
// SAFETY: `Pod` types are valid for any bits, zeros among them.
unsafe impl<T: bytemuck::Pod> ValidAsZeroBits for Flat<T> {}

/// The scorer's tables on the device.
pub(crate) struct DeviceTables {
    rx_gain: CudaSlice<f32>,
    tx_gain: CudaSlice<f32>,
    reflections: CudaSlice<f32>,
}

impl DeviceTables {
    pub fn new(stream: &Arc<CudaStream>, tables: &TwinTables) -> Result<Self, CudaError> {
        let upload = |values: &[f32]| stream.clone_htod(values).doing("copy a table to the GPU");
        let made = Self {
            rx_gain: upload(&tables.rx_gain)?,
            tx_gain: upload(&tables.tx_gain)?,
            reflections: upload(tables.reflections.as_flattened())?,
        };
        // Other streams use them too.
        stream.synchronize().doing("copy the tables")?;
        Ok(made)
    }
}

/// The parts of [`TwinRows`].
#[derive(Default)]
struct FlatBuffers {
    rows: Option<Buffer<Flat<TwinRow>>>,
    boxes: Option<Buffer<Flat<TwinBox>>>,
    lower: Option<Buffer<u32>>,
    weight: Option<Buffer<f32>>,
    range: Option<Buffer<u32>>,
}

/// What one lane holds for a batch.
#[derive(Default)]
pub(crate) struct ScoreBuffers {
    flat: FlatBuffers,
    evidence: Option<Buffer<f32>>,
    candidates: Option<CudaSlice<u8>>,
    base: Option<CudaSlice<f32>>,
    likelihoods: Option<CudaSlice<f32>>,
    /// The caller's rows that the lane is working on, and the candidates of each.
    batch: Range<usize>,
    row_candidates: usize,
}

/// Device memory of one row with no boxes.
pub(crate) fn row_bytes(shared: &TwinShared) -> usize {
    let float = size_of::<f32>();
    let position = CANDIDATE_BYTES + (MAX_PATHS * shared.materials as usize + shared.fine_headings()) * float;
    let support = (3 * shared.fine_points() + 2 * shared.representatives() + shared.candidates()) * float;
    shared.positions() * position + support + size_of::<TwinRow>()
}

/// Device memory of the tables.
pub(crate) fn table_bytes(tables: &TwinTables) -> usize {
    size_of_val(&tables.rx_gain[..]) + size_of_val(&tables.tx_gain[..]) + size_of_val(&tables.reflections[..])
}

impl Lane<ScoreBuffers> {
    /// Queues one batch: the rows up, the three kernels, the evidence down.
    pub fn start(
        &mut self,
        kernels: &[CudaFunction; 3],
        tables: &DeviceTables,
        shared: &TwinShared,
        batch: Range<usize>,
        flat: &TwinRows,
    ) -> Result<(), CudaError> {
        let (stream, buffers) = (&self.stream, &mut self.buffers);
        let rows = flat.rows.len();
        let (positions, headings) = (rows * shared.positions(), shared.fine_headings());
        let held = &mut buffers.flat;
        let flat_rows = fill(&mut held.rows, stream, flat.rows.iter().map(|row| Flat(*row)))?;
        let boxes = fill(&mut held.boxes, stream, flat.boxes.iter().map(|block| Flat(*block)))?;
        let lower = fill(&mut held.lower, stream, flat.lower.iter().copied())?;
        let weight = fill(&mut held.weight, stream, flat.weight.iter().copied())?;
        let range = fill(&mut held.range, stream, flat.range.iter().copied())?;
        let evidence = Buffer::reserve(&mut buffers.evidence, stream, rows * shared.candidates())?;
        let candidates = scratch(&mut buffers.candidates, stream, positions * CANDIDATE_BYTES)?;
        let base = scratch(&mut buffers.base, stream, positions * MAX_PATHS * shared.materials as usize)?;
        let likelihoods = scratch(&mut buffers.likelihoods, stream, positions * headings)?;

        let config = |threads: usize| LaunchConfig {
            grid_dim: ((threads as u32).div_ceil(THREADS), rows as u32, 1),
            block_dim: (THREADS, 1, 1),
            shared_mem_bytes: 0,
        };
        let shared_argument = Flat(*shared);
        let [trace, score, gather] = kernels;
        let mut launch = stream.launch_builder(trace);
        launch.arg(&flat_rows.device).arg(&boxes.device).arg(&tables.rx_gain).arg(&tables.reflections);
        launch.arg(&mut *candidates).arg(&mut *base).arg(&shared_argument);
        #[allow(unsafe_code, reason = "starts a kernel")]
        // SAFETY: the arguments are those of `trace_candidates`, in order; every buffer has the size that the kernel's
        // header gives for `rows` rows, and is used on this stream only (the tables are only read).
        unsafe { launch.launch(config(shared.positions())) }.doing("start the tracing of candidates")?;

        let mut launch = stream.launch_builder(score);
        launch.arg(&flat_rows.device).arg(&*candidates).arg(&*base).arg(&tables.tx_gain);
        launch.arg(&mut *likelihoods).arg(&shared_argument);
        #[allow(unsafe_code, reason = "starts a kernel")]
        // SAFETY: as above, for `score_candidates`.
        unsafe { launch.launch(config(shared.positions() * headings)) }.doing("start the scoring of candidates")?;

        let mut launch = stream.launch_builder(gather);
        launch.arg(&*likelihoods).arg(&lower.device).arg(&weight.device).arg(&range.device);
        launch.arg(&mut evidence.device).arg(&shared_argument);
        #[allow(unsafe_code, reason = "starts a kernel")]
        // SAFETY: as above, for `gather_evidence`.
        unsafe { launch.launch(config(shared.candidates())) }.doing("start the gathering of evidence")?;

        evidence.download(stream, rows * shared.candidates())?;
        buffers.batch = batch;
        buffers.row_candidates = shared.candidates();
        Ok(())
    }

    /// Waits for the batch in flight, if there is one, and hands its evidence over.
    pub fn finish(&mut self, evidence: &mut [Vec<f64>]) -> Result<(), CudaError> {
        let batch = std::mem::take(&mut self.buffers.batch);
        if batch.is_empty() {
            return Ok(());
        }
        self.wait()?;
        let Some(buffer) = &mut self.buffers.evidence else { return Ok(()) };
        let results = buffer.host()?.chunks_exact(self.buffers.row_candidates);
        for (row, result) in evidence[batch].iter_mut().zip(results) {
            *row = result.iter().map(|value| f64::from(*value)).collect();
        }
        Ok(())
    }
}

/// Makes room, writes the values to the host side and queues their copy.
fn fill<'a, T: DeviceRepr + ValidAsZeroBits>(
    buffer: &'a mut Option<Buffer<T>>,
    stream: &Arc<CudaStream>,
    values: impl ExactSizeIterator<Item = T>,
) -> Result<&'a mut Buffer<T>, CudaError> {
    let len = values.len();
    let buffer = Buffer::reserve(buffer, stream, len)?;
    for (slot, value) in buffer.host()?.iter_mut().zip(values) {
        *slot = value;
    }
    buffer.upload(stream, len)?;
    Ok(buffer)
}
