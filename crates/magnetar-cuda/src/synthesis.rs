//! Path summation on a GPU.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use cudarc::driver::CudaFunction;
use magnetar_signal::{BackendError, Band, Observation, SignalRow, SynthesisBackend};

use crate::device::{Device, NAME};
use crate::edge::guard;
use crate::lane::{LANES, Lane};
use crate::path_term::{PathTerm, RfChainTerm};
use crate::sum_buffers::{PLANES, SumBuffers, TILE};
use crate::{CudaError, Options, Program};

/// The path sum of `magnetar-signal` on a GPU.
pub(crate) struct CudaSynthesis {
    band: Band,
    // Dropped before the device, whose memory they hold.
    lanes: Mutex<Vec<Lane<SumBuffers>>>,
    function: CudaFunction,
    device: Device,
    max_rows: usize,
    lane_bytes: usize,
}

impl CudaSynthesis {
    pub fn open(options: &Options, band: Band) -> Result<Self, CudaError> {
        guard(|| {
            let device = Device::open(options.device)?;
            let function = device.load(&Program::SUM_PATHS, options.kernels)?;
            let lane_bytes = device.lane_bytes(LANES)?;
            Ok(Self {
                band,
                lanes: Mutex::new(Vec::new()),
                function,
                device,
                max_rows: options.batch_rows.max(1),
                lane_bytes,
            })
        })
    }

    fn run(&self, rows: &[SignalRow<'_>], blocks: &mut [Observation]) -> Result<(), CudaError> {
        check_shapes(&self.band, rows, blocks)?;
        guard(|| {
            let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
            while lanes.len() < LANES {
                lanes.push(Lane::new(&self.device.context)?);
            }
            let done = self.run_on(&mut lanes, rows, blocks);
            if done.is_err() {
                lanes.clear(); // a lane may still owe rows of this call: none of it may reach the next
            }
            done
        })
    }

    fn run_on(
        &self,
        lanes: &mut [Lane<SumBuffers>],
        rows: &[SignalRow<'_>],
        blocks: &mut [Observation],
    ) -> Result<(), CudaError> {
        let mut next = 0;
        for turn in 0.. {
            if next >= rows.len() {
                break;
            }
            let lane = &mut lanes[turn % LANES];
            lane.finish(blocks)?;
            let end = next + self.batch_len(&rows[next..])?;
            lane.start(&self.function, &self.band, next..end, &rows[next..end], &blocks[next..end])?;
            next = end;
        }
        lanes.iter_mut().try_for_each(|lane| lane.finish(blocks))
    }

    /// How many of the coming rows fit one lane.
    fn batch_len(&self, rows: &[SignalRow<'_>]) -> Result<usize, CudaError> {
        let mut bytes = size_of::<u32>();
        for (len, row) in rows.iter().enumerate().take(self.max_rows) {
            bytes += row_bytes(&self.band, row);
            if bytes > self.lane_bytes {
                return if len > 0 {
                    Ok(len)
                } else {
                    Err(CudaError::TooLarge { needed: bytes, free: self.lane_bytes })
                };
            }
        }
        Ok(rows.len().min(self.max_rows))
    }
}

impl fmt::Debug for CudaSynthesis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.device.description())
    }
}

impl SynthesisBackend for CudaSynthesis {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> String {
        self.device.description()
    }

    fn add_signals(&self, rows: &[SignalRow<'_>], blocks: &mut [Observation]) -> Result<(), BackendError> {
        self.run(rows, blocks).map_err(|error| BackendError(error.into()))
    }
}

/// Device memory of one row.
fn row_bytes(band: &Band, row: &SignalRow<'_>) -> usize {
    let planes = PLANES * band.bins * size_of::<f32>();
    let parked = if band.bins > TILE { planes } else { 0 };
    planes + parked + size_of::<u32>() + size_of::<RfChainTerm>() + row.paths.len() * size_of::<PathTerm>()
}

fn check_shapes(band: &Band, rows: &[SignalRow<'_>], blocks: &[Observation]) -> Result<(), CudaError> {
    let shape =
        |what, expected, got| if expected == got { Ok(()) } else { Err(CudaError::Shape { what, expected, got }) };
    shape("observation blocks", rows.len(), blocks.len())?;
    blocks.iter().try_for_each(|block| shape("bins of an observation block", band.bins, block.bins()))
}
