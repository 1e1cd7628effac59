//! A model: a network, its weights, and what it says of itself. On disk a safetensors file.

use std::path::Path;

use magnetar_files::AtomicFile;
use sha2::{Digest, Sha256};

use crate::record::{MODEL_SCHEMA, ModelRecord};
use crate::safetensors::TensorFile;
use crate::{Array, Inputs, Net, Network, NeuralError, Parameters, Picked, PlainEngine};

/// The largest model file that is read, bytes.
const MAX_FILE_BYTES: u64 = 320 << 20;

/// Where the record is in the file's metadata.
const RECORD_KEY: &str = "magnetar";

/// A network with weights.
#[derive(Debug, Clone)]
pub struct Model {
    record: ModelRecord,
    network: Network,
    parameters: Parameters<Array>,
}

impl Model {
    /// A model of weights that are there.
    ///
    /// # Errors
    /// If the weights are not those of the record's design, or not finite.
    pub fn new(record: ModelRecord, parameters: Parameters<Array>) -> Result<Self, NeuralError> {
        let network = Network::new(record.design, &record.widths, record.keep)?;
        check(&record, &network, &parameters).map_err(|problem| NeuralError::Request { problem })?;
        Ok(Self { record, network, parameters })
    }

    /// Reads a model file.
    ///
    /// # Errors
    /// If it cannot be read, is too large, cut off or damaged, of another schema, or its weights are not those of its
    /// design.
    pub fn from_file(path: &Path) -> Result<Self, NeuralError> {
        let place = path.display().to_string();
        let bytes = magnetar_files::read_bytes(path, MAX_FILE_BYTES)
            .map_err(|source| NeuralError::Read { place: place.clone(), source })?;
        Self::from_bytes(&bytes, &place)
    }

    /// Reads a model file's bytes; `place` names it in errors.
    ///
    /// # Errors
    /// As [`Model::from_file`].
    pub fn from_bytes(bytes: &[u8], place: &str) -> Result<Self, NeuralError> {
        let fault = |problem: String| NeuralError::Model { place: place.to_owned(), problem };
        let TensorFile { metadata, arrays } = TensorFile::from_bytes(bytes).map_err(fault)?;
        let text = metadata.get(RECORD_KEY);
        let text = text.ok_or_else(|| fault(format!("it has no record (metadata key {RECORD_KEY:?})")))?;
        let record = read_record(text).map_err(fault)?;
        let network = Network::new(record.design, &record.widths, record.keep).map_err(|e| fault(e.to_string()))?;
        let parameters = Parameters(arrays);
        check(&record, &network, &parameters).map_err(fault)?;
        Ok(Self { record, network, parameters })
    }

    /// The bytes of a model file.
    ///
    /// # Errors
    /// If the record cannot be written, which one of finite numbers can.
    pub fn to_bytes(&self) -> Result<Vec<u8>, NeuralError> {
        let fault = |problem: String| NeuralError::Model { place: "a model to be written".into(), problem };
        let text = serde_json::to_string(&self.record).map_err(|e| fault(e.to_string()))?;
        let metadata = [(RECORD_KEY.to_owned(), text)].into();
        Ok(TensorFile { metadata, arrays: self.parameters.0.clone() }.to_bytes())
    }

    /// Writes a model file, whole or not at all.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), NeuralError> {
        AtomicFile::write(path, &self.to_bytes()?)
            .map_err(|source| NeuralError::Write { path: path.to_owned(), source })
    }

    /// What it says of itself.
    #[must_use]
    pub fn record(&self) -> &ModelRecord {
        &self.record
    }

    /// How many numbers its weights are.
    #[must_use]
    pub fn parameter_count(&self) -> usize {
        self.parameters.count()
    }

    /// The logits of all candidates, in plain Rust.
    ///
    /// # Errors
    /// If the inputs are not for this model, or a logit is not finite.
    pub fn logits(&self, inputs: &Inputs) -> Result<Vec<f32>, NeuralError> {
        let net = Net { engine: &PlainEngine, parameters: &self.parameters };
        let logits = self.network.logits(&net, inputs, &Picked::All)?.into_values();
        match logits.iter().enumerate().find(|(_, score)| !score.is_finite()) {
            Some((index, score)) => Err(NeuralError::Score { index, score: *score }),
            None => Ok(logits),
        }
    }

    /// SHA-256 (hexadecimal) of all that decides its scores: design, widths, calibration, twin and weights.
    #[must_use]
    pub fn identity(&self) -> String {
        let mut hash = Sha256::new();
        let ModelRecord { design, widths, keep, twin, calibration, .. } = &self.record;
        hash.update(format!("model v1 {:?}", (design, widths, keep, twin, calibration)).as_bytes());
        for (name, array) in &self.parameters.0 {
            hash.update(name.as_bytes());
            array.values().iter().for_each(|v| hash.update(v.to_le_bytes()));
        }
        hex(hash)
    }
}

/// SHA-256 (hexadecimal) of texts, one after the other.
pub(crate) fn hash_of(texts: &[&str]) -> String {
    hex(texts.iter().fold(Sha256::new(), |hash, text| hash.chain_update(text.as_bytes())))
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The record of a file. Its schema is read first, as everything else depends on it.
fn read_record(text: &str) -> Result<ModelRecord, String> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|e| format!("its record is no JSON: {e}"))?;
    match value.get("schema").and_then(serde_json::Value::as_u64) {
        Some(schema) if schema == u64::from(MODEL_SCHEMA) => {}
        Some(schema) => {
            return Err(format!("its record is of schema {schema}, this magnetar reads schema {MODEL_SCHEMA}"));
        }
        None => return Err("its record has no schema".into()),
    }
    serde_json::from_value(value).map_err(|e| format!("its record: {e}"))
}

/// Weights must be those that the design lists, and numbers.
fn check(record: &ModelRecord, network: &Network, parameters: &Parameters<Array>) -> Result<(), String> {
    let design = record.design;
    if !record.calibration.is_sound() {
        return Err(format!("its calibration makes no sense: {:?}", record.calibration));
    }
    match (&record.twin, design.uses_twin()) {
        (Some(twin), true) => twin.check("the record's twin").map_err(|e| e.to_string())?,
        (None, false) => {}
        (None, true) => return Err(format!("{design} needs the parameters of its twin, and the record has none")),
        (Some(_), false) => return Err(format!("{design} uses no twin, but the record has one")),
    }
    let plans = network.plans();
    for plan in &plans.0 {
        let found = parameters.0.get(&plan.name);
        let found =
            found.ok_or_else(|| format!("{design} of these widths has weights {}, the file has not", plan.name))?;
        if found.shape() != plan.shape {
            return Err(format!("{}: expected shape {:?}, got {:?}", plan.name, plan.shape, found.shape()));
        }
        if let Some(value) = found.values().iter().find(|value| !value.is_finite()) {
            return Err(format!("{}: {value} among the weights; all must be finite", plan.name));
        }
    }
    if parameters.0.len() != plans.0.len() {
        let stranger = parameters.0.keys().find(|name| !plans.0.iter().any(|plan| plan.name == **name));
        return Err(format!("{design} of these widths has no weights {:?}", stranger.map_or("", String::as_str)));
    }
    Ok(())
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
