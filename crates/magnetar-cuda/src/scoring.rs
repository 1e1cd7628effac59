//! Candidate scoring on a GPU.

use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::CudaFunction;
use magnetar_posterior::{ScoreRow, ScoringBackend, SupportSize, TwinScorer, TwinShared, TwinTables};
use magnetar_signal::BackendError;

use crate::device::Device;
use crate::edge::guard;
use crate::lane::{LANES, Lane};
use crate::score_buffers::{DeviceTables, ScoreBuffers, row_bytes, table_bytes};
use crate::{CudaError, Options, Program};

/// Most rows of a batch: sixteen evaluation supports are 44,000 blocks of threads, enough for the largest GPU, and more
/// would only take memory from others.
const MAX_BATCH: usize = 16;

/// The twin scorer's evidence on a GPU.
pub(crate) struct CudaScoring {
    // Dropped before the device, whose memory it holds.
    state: Mutex<State>,
    kernels: [CudaFunction; 3],
    device: Device,
    max_rows: usize,
    lane_bytes: usize,
}

#[derive(Default)]
struct State {
    lanes: Vec<Lane<ScoreBuffers>>,
    /// The tables of the last scorer, on the host to be recognised and on the device.
    tables: Option<(TwinTables, Arc<DeviceTables>)>,
}

impl CudaScoring {
    pub fn open(options: &Options) -> Result<Self, CudaError> {
        guard(|| {
            let device = Device::open(options.device)?;
            let load = |program| device.load(program, options.kernels);
            let kernels = [
                load(&Program::TRACE_CANDIDATES)?,
                load(&Program::SCORE_CANDIDATES)?,
                load(&Program::GATHER_EVIDENCE)?,
            ];
            let lane_bytes = device.lane_bytes(LANES)?;
            let max_rows = options.batch_rows.clamp(1, MAX_BATCH);
            Ok(Self { state: Mutex::default(), kernels, device, max_rows, lane_bytes })
        })
    }

    fn run(&self, scorer: &TwinScorer, rows: &[ScoreRow<'_>]) -> Result<Vec<Vec<f64>>, CudaError> {
        let propagation = scorer.model().propagation;
        if !propagation.is_default() {
            return Err(CudaError::Propagation(propagation.describe()));
        }
        guard(|| {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let mut evidence = vec![Vec::new(); rows.len()];
            let mut done = Ok(());
            let mut start = 0;
            // Rows of one support size at a time: they share grids and tables.
            for group in rows.chunk_by(|a, b| a.support.size() == b.support.size()) {
                let end = start + group.len();
                done = done.and_then(|()| {
                    self.run_group(&mut state, scorer, group[0].support.size(), group, &mut evidence[start..end])
                });
                start = end;
            }
            if done.is_err() {
                state.lanes.clear(); // a lane may still owe rows of this call: none of it may reach the next
            }
            done.map(|()| evidence)
        })
    }

    fn run_group(
        &self,
        state: &mut State,
        scorer: &TwinScorer,
        size: SupportSize,
        rows: &[ScoreRow<'_>],
        evidence: &mut [Vec<f64>],
    ) -> Result<(), CudaError> {
        while state.lanes.len() < LANES {
            state.lanes.push(Lane::new(&self.device.context)?);
        }
        let shared = scorer.flat_shared(size);
        let tables = scorer.flat_tables(size);
        let batch_len = self.batch_len(&shared, &tables)?;
        let tables = self.tables(state, tables)?;
        for (turn, start) in (0..rows.len()).step_by(batch_len).enumerate() {
            let lane = &mut state.lanes[turn % LANES];
            lane.finish(evidence)?;
            let end = (start + batch_len).min(rows.len());
            lane.start(&self.kernels, &tables, &shared, start..end, &scorer.flat_rows(&rows[start..end]))?;
        }
        state.lanes.iter_mut().try_for_each(|lane| lane.finish(evidence))
    }

    /// The scorer's tables on the device, uploaded if they are not those of the last call.
    fn tables(&self, state: &mut State, tables: TwinTables) -> Result<Arc<DeviceTables>, CudaError> {
        if let Some((_, device)) = state.tables.as_ref().filter(|(host, _)| *host == tables) {
            return Ok(Arc::clone(device));
        }
        state.tables = None; // frees before it allocates
        let device = Arc::new(DeviceTables::new(&state.lanes[0].stream, &tables)?);
        state.tables = Some((tables, Arc::clone(&device)));
        Ok(device)
    }

    /// How many rows fit one lane beside the tables.
    fn batch_len(&self, shared: &TwinShared, tables: &TwinTables) -> Result<usize, CudaError> {
        let needed = row_bytes(shared);
        let free = self.lane_bytes.saturating_sub(table_bytes(tables));
        match free / needed {
            0 => Err(CudaError::TooLarge { needed, free }),
            fitting => Ok(fitting.min(self.max_rows)),
        }
    }
}

impl ScoringBackend for CudaScoring {
    fn description(&self) -> String {
        self.device.description()
    }

    fn evidence(&self, scorer: &TwinScorer, rows: &[ScoreRow<'_>]) -> Result<Vec<Vec<f64>>, BackendError> {
        self.run(scorer, rows).map_err(|error| BackendError(error.into()))
    }
}
