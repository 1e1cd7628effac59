//! Rows in bulk: many observations synthesised at once by a backend.

use magnetar_signal::{ElementPath, SignalRow, SynthesisBackend};

use crate::error::DatasetError;
use crate::generator::{RowGenerator, blank, link_draw};
use crate::record::Record;

impl RowGenerator<'_> {
    /// Rows `from` to `to`, their signals made by a backend. Draws, tracing, noise and estimation are those of
    /// [`RowGenerator::row`]; observations differ by the backend's rounding.
    ///
    /// # Errors
    /// If the recipe's constraints cannot be met for a row, or the backend fails.
    pub fn bulk(&mut self, backend: &dyn SynthesisBackend, from: u64, to: u64) -> Result<Vec<Record>, DatasetError> {
        let mut records = Vec::new();
        let mut paths: Vec<Vec<ElementPath>> = Vec::new();
        let mut blocks = Vec::new();
        for index in from..to {
            let mut record = blank(self.generator);
            self.draw(index, &mut record)?;
            self.trace(&mut record)?;
            let mut block = self.simulator.block();
            self.simulator.add_noise(&mut self.generator.noise(&record), &mut block);
            paths.push(self.simulator.element_paths().to_vec());
            blocks.push(block);
            records.push(record);
        }
        let rows: Vec<SignalRow<'_>> = records
            .iter()
            .zip(&paths)
            .map(|(record, paths)| self.simulator.signal_row(paths, &link_draw(record)))
            .collect();
        backend.add_signals(&rows, &mut blocks).map_err(|source| DatasetError::Backend { rows: from..to, source })?;
        for (record, block) in records.iter_mut().zip(&blocks) {
            self.generator.store(block, record);
            self.estimate(record)?;
        }
        Ok(records)
    }
}
