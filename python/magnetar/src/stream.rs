//! Exposures for training: rows drawn on the fly, with supports drawn anew for each exposure.

use std::sync::Arc;

use magnetar_dataset::{Generator, Record, RowGenerator};
use magnetar_posterior::{
    PosteriorError, SupportSize, heading_channels, spatial_channels, write_heading, write_spatial,
};
use magnetar_study::{Candidates, ReceiverView, StudyError, support_stream, truth};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use crate::error::{Failure, Outcome};
use crate::input;
use crate::recipe::Recipe;
use crate::rows::Rows;
use crate::run::run;

/// Voxels of a training target: two headings of one cell.
const TARGETS: usize = 2;

/// Draws exposures of a split of a recipe: row `number`, its own jittered support with the truth inserted.
#[pyclass(frozen, module = "magnetar")]
pub struct ExposureSource {
    recipe: Arc<magnetar_dataset::Recipe>,
    generator: Generator,
    support_seed: u64,
}

/// One thread's part of a batch.
struct Out<'a> {
    spatial: &'a mut [f32],
    heading: &'a mut [f32],
    index: &'a mut [i64],
    weight: &'a mut [f32],
    mask: &'a mut [bool],
    spacing: &'a mut [f32],
}

/// Memory of a batch.
struct Batch {
    size: SupportSize,
    keep: usize,
    spatial: Vec<f32>,
    heading: Vec<f32>,
    index: Vec<i64>,
    weight: Vec<f32>,
    mask: Vec<bool>,
    spacing: Vec<f32>,
}

impl Batch {
    fn new(count: usize, keep: usize, size: SupportSize) -> Outcome<Self> {
        let plane = size.rows * size.columns;
        let spatial = input::volume_of(&[count, spatial_channels(keep), size.rows, size.columns], "exposures")?;
        let heading = input::volume_of(&[count, heading_channels(keep), size.headings], "exposures")?;
        Ok(Self {
            size,
            keep,
            spatial: vec![0.0; spatial],
            heading: vec![0.0; heading],
            index: vec![0; TARGETS * count],
            weight: vec![0.0; TARGETS * count],
            mask: vec![true; count * plane],
            spacing: vec![0.0; 2 * count],
        })
    }

    /// The parts of single exposures.
    fn parts(&mut self) -> Vec<Out<'_>> {
        let plane = self.size.rows * self.size.columns;
        let spatial = self.spatial.chunks_exact_mut(spatial_channels(self.keep) * plane);
        let heading = self.heading.chunks_exact_mut(heading_channels(self.keep) * self.size.headings);
        let target = self.index.chunks_exact_mut(TARGETS).zip(self.weight.chunks_exact_mut(TARGETS));
        let rest = self.mask.chunks_exact_mut(plane).zip(self.spacing.chunks_exact_mut(2));
        (spatial.zip(heading).zip(target).zip(rest))
            .map(|(((spatial, heading), (index, weight)), (mask, spacing))| Out {
                spatial,
                heading,
                index,
                weight,
                mask,
                spacing,
            })
            .collect()
    }

    fn into_dict(self, py: Python<'_>, count: usize) -> PyResult<Bound<'_, PyDict>> {
        let SupportSize { headings: d, rows: h, columns: w } = self.size;
        let found = PyDict::new(py);
        found.set_item("spatial", input::shaped(py, self.spatial, &[count, spatial_channels(self.keep), h, w])?)?;
        found.set_item("heading", input::shaped(py, self.heading, &[count, heading_channels(self.keep), d])?)?;
        found.set_item("target_index", input::shaped(py, self.index, &[count, TARGETS])?)?;
        found.set_item("target_weight", input::shaped(py, self.weight, &[count, TARGETS])?)?;
        found.set_item("mask", input::shaped(py, self.mask, &[count, h, w])?)?;
        found.set_item("spacing_m", input::shaped(py, self.spacing, &[count, 2])?)?;
        Ok(found)
    }
}

/// Writes the exposure of a row; `number` decides its support.
fn expose(
    record: &Record,
    size: SupportSize,
    support_seed: u64,
    number: u64,
    out: &mut Out<'_>,
) -> Result<(), PosteriorError> {
    let (view, tx) = (ReceiverView::of(record), truth(record));
    let rng = &mut support_stream(support_seed, number);
    let Candidates { support, mask, target } = Candidates::training(&view, size, &tx, rng)?;
    write_spatial(&support, &view.layout, &view.rx, &view.arrivals, out.spatial);
    write_heading(&support, &view.rx, &view.arrivals, out.heading);
    for (place, (voxel, share)) in target.voxels.iter().take(TARGETS).enumerate() {
        (out.index[place], out.weight[place]) = (i64::try_from(*voxel).unwrap_or(i64::MAX), *share as f32);
    }
    out.mask.copy_from_slice(mask.spatial());
    for (place, spacing) in out.spacing.iter_mut().zip(support.spacing()) {
        *place = spacing as f32;
    }
    Ok(())
}

#[pymethods]
impl ExposureSource {
    /// Rows of a split of a recipe by (seed, number); supports by (support_seed, number).
    #[new]
    fn new(recipe: &Bound<'_, Recipe>, split: &str, seed: u64, support_seed: u64) -> PyResult<Self> {
        let recipe = Arc::clone(&recipe.get().recipe);
        let known = recipe.split(split).map_err(Failure::from)?;
        if !known.protocol.is_random() {
            let message = format!("split {split} replays a protocol, which has an end; a stream needs a drawn split");
            return Err(Failure::input(message).into());
        }
        let generator = Generator::new(&recipe, seed, split).map_err(Failure::from)?;
        Ok(Self { recipe, generator, support_seed })
    }

    /// The exposures of these numbers: row n of the split's endless sequence on its own support of D x H x W.
    fn exposures<'py>(
        &self,
        py: Python<'py>,
        numbers: Vec<u64>,
        size: (usize, usize, usize),
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut batch = Batch::new(numbers.len(), self.recipe.sre.keep, input::size(size))?;
        let size = batch.size;
        run(py, |stop| {
            let one = |rows: &mut (RowGenerator<'_>, Record), number: u64, mut out: Out<'_>| -> Outcome<()> {
                stop.check()?;
                let (rows, record) = rows;
                rows.row_into(number, record)?;
                expose(record, size, self.support_seed, number, &mut out)
                    .map_err(|source| StudyError::Row { index: number, source })?;
                Ok(())
            };
            let workspace = || {
                let rows = self.generator.rows();
                let blank = rows.blank();
                (rows, blank)
            };
            (batch.parts().into_par_iter().zip(&numbers).with_min_len(4))
                .map_init(workspace, |rows, (out, number)| one(rows, *number, out))
                .collect::<Outcome<Vec<()>>>()
        })?;
        batch.into_dict(py, numbers.len())
    }
}

/// The exposures of stored rows: each on its own support, drawn by (support_seed, number).
#[pyfunction]
pub fn expose_rows<'py>(
    py: Python<'py>,
    rows: &Bound<'py, Rows>,
    numbers: Vec<u64>,
    size: (usize, usize, usize),
    support_seed: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let rows = rows.get();
    if numbers.len() != rows.len() {
        let (found, expected) = (numbers.len(), rows.len());
        return Err(Failure::input(format!("{found} numbers for {expected} rows; give one each")).into());
    }
    let size = input::size(size);
    let batch = run(py, |stop| {
        let records = rows.records()?;
        let mut batch = Batch::new(records.len(), records.first().map_or(0, |record| record.arrivals.keep), size)?;
        let one = |(mut out, (record, number)): (Out<'_>, (&Record, &u64))| -> Outcome<()> {
            stop.check()?;
            expose(record, size, support_seed, *number, &mut out)
                .map_err(|source| StudyError::Row { index: record.index, source })?;
            Ok(())
        };
        batch.parts().into_par_iter().zip(records.par_iter().zip(&numbers)).map(one).collect::<Outcome<Vec<()>>>()?;
        Ok(batch)
    })?;
    batch.into_dict(py, numbers.len())
}
