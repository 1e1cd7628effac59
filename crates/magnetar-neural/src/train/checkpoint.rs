//! A training run that can be gone on with: its state in a file.

use std::collections::BTreeMap;
use std::path::Path;

use magnetar_files::AtomicFile;
use serde::{Deserialize, Serialize};

use super::adam::Moments;
use crate::record::StageRecord;
use crate::safetensors::TensorFile;
use crate::{Array, NeuralError, Parameters};

/// The largest checkpoint that is read, bytes: four times the weights of the largest model.
const MAX_FILE_BYTES: u64 = 1100 << 20;

/// Where the state is in the file's metadata.
const STATE_KEY: &str = "magnetar-training";

/// Where a run stands besides its arrays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunState {
    /// Hash of plan and rows: another run cannot be gone on with.
    pub(crate) run: String,
    /// Steps that were made.
    pub(crate) step: u64,
    /// Sum and number of the losses of the stage's last tenth so far.
    pub(crate) tail: (f64, u64),
    /// Stages that ended.
    pub(crate) stages: Vec<StageRecord>,
    /// Number of the best of them.
    pub(crate) best_stage: Option<usize>,
    /// Seconds spent.
    pub(crate) seconds: f64,
}

/// Everything a run needs to go on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Checkpoint {
    pub(crate) state: RunState,
    pub(crate) parameters: Parameters<Array>,
    pub(crate) moments: BTreeMap<String, Moments>,
    pub(crate) best: Option<Parameters<Array>>,
}

impl Checkpoint {
    pub(crate) fn write(&self, path: &Path) -> Result<(), NeuralError> {
        let fault = |problem: String| NeuralError::Model { place: path.display().to_string(), problem };
        let mut arrays = BTreeMap::new();
        let mut put = |part: &str, name: &str, array: Array| arrays.insert(format!("{part}/{name}"), array);
        for (name, array) in &self.parameters.0 {
            put("weights", name, array.clone());
        }
        for (name, Moments { first, second }) in &self.moments {
            put("first", name, Array::new(&[first.len()], first.clone()));
            put("second", name, Array::new(&[second.len()], second.clone()));
        }
        for (name, array) in self.best.iter().flat_map(|best| &best.0) {
            put("best", name, array.clone());
        }
        let state = serde_json::to_string(&self.state).map_err(|e| fault(e.to_string()))?;
        let bytes = TensorFile { metadata: [(STATE_KEY.to_owned(), state)].into(), arrays }.to_bytes();
        AtomicFile::write(path, &bytes).map_err(|source| NeuralError::Write { path: path.to_owned(), source })
    }

    /// The checkpoint of a run; `None` if there is no such file.
    pub(crate) fn read(path: &Path, run: &str, like: &Parameters<Array>) -> Result<Option<Self>, NeuralError> {
        if !path.exists() {
            return Ok(None);
        }
        let place = path.display().to_string();
        let fault = |problem: String| NeuralError::Request {
            problem: format!("{place}: no checkpoint of this run: {problem}; remove it to begin anew"),
        };
        let bytes = magnetar_files::read_bytes(path, MAX_FILE_BYTES).map_err(|e| fault(e.to_string()))?;
        let file = TensorFile::from_bytes(&bytes).map_err(&fault)?;
        let text = file.metadata.get(STATE_KEY).ok_or_else(|| fault("it has no state of a training run".into()))?;
        let state: RunState = serde_json::from_str(text).map_err(|e| fault(format!("its state: {e}")))?;
        if state.run != run {
            return Err(fault("it is of another plan or of other rows".into()));
        }
        let get = |name: String, count: usize| -> Result<Vec<f32>, NeuralError> {
            let values = file.arrays.get(&name).map(Array::values).unwrap_or_default();
            let sound = values.len() == count && values.iter().all(|v| v.is_finite());
            if sound { Ok(values.to_vec()) } else { Err(fault(format!("{name}: expected {count} finite numbers"))) }
        };
        let arrays = |part: &str| -> Result<Parameters<Array>, NeuralError> {
            let read = |(name, array): (&String, &Array)| {
                let values = get(format!("{part}/{name}"), array.values().len())?;
                Ok((name.clone(), Array::new(array.shape(), values)))
            };
            Ok(Parameters(like.0.iter().map(read).collect::<Result<_, NeuralError>>()?))
        };
        let moments = |(name, array): (&String, &Array)| {
            let of = |part: &str| get(format!("{part}/{name}"), array.values().len());
            Ok((name.clone(), Moments { first: of("first")?, second: of("second")? }))
        };
        Ok(Some(Self {
            parameters: arrays("weights")?,
            moments: like.0.iter().map(moments).collect::<Result<_, NeuralError>>()?,
            best: state.best_stage.map(|_| arrays("best")).transpose()?,
            state,
        }))
    }
}
