//! A sweep's folder: `sweep.json` (what it is), `sweep.parquet` (one row per point), `points/` (one result per point).

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow::datatypes::{Field, Schema};
use magnetar_dataset::recipe::hex;
use magnetar_dataset::{GENERATOR_VERSION, Recipe, digest};
use magnetar_files::{AtomicFile, read_text, rename_file, replacement_path};
use magnetar_signal::PROCESSOR_CLASS;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::axis::Setting;
use super::definition::Definition;
use super::design::PointDesign;
use super::file::Sweep;
use super::measure::Metric;
use super::point::PointResult;
use super::run::{read_result, result_path};
use super::scoring::SweepScorerRecord;
use crate::StudyError;

/// Name of a sweep's manifest.
pub const SWEEP_MANIFEST: &str = "sweep.json";
/// Name of its table.
pub const SWEEP_TABLE: &str = "sweep.parquet";
/// Name of its page.
pub const SWEEP_PAGE: &str = "sweep.html";

const FORMAT: &str = "magnetar-sweep";

/// A manifest larger than this is not one of ours.
const MAX_BYTES: u64 = 1 << 28;

/// A point in the manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedPoint {
    /// The value of each axis.
    pub settings: Vec<Setting>,
    /// Hash of all that its result depends on.
    pub hash: String,
    /// SHA-256 of its result's file.
    pub sha256: String,
}

/// What a sweep's folder holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepManifest {
    /// `magnetar-sweep`.
    pub format: String,
    /// Version of magnetar that made it.
    pub version: String,
    /// Version of the arithmetic that made its rows (1 if not recorded), see [`GENERATOR_VERSION`].
    #[serde(default = "first_generator_version", skip_serializing_if = "is_first_generator_version")]
    pub generator_version: u32,
    /// Class of the processors that made its rows; empty if not recorded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub processor_class: String,
    /// What the sweep is.
    pub sweep: Definition,
    /// SHA-256 of the table.
    pub table_sha256: String,
    /// The points.
    pub points: Vec<ListedPoint>,
    /// What scored the rows; not there if nothing did, or in a sweep of an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scorer: Option<SweepScorerRecord>,
    /// The base recipe.
    pub base: Recipe,
    /// SHA-256 of this manifest's text with this field empty: nothing else holds all of it.
    pub sha256: String,
}

fn first_generator_version() -> u32 {
    1
}

/// A manifest that did not record it is written as it was read: its own hash depends on it.
fn is_first_generator_version(version: &u32) -> bool {
    *version == first_generator_version()
}

/// A finished sweep.
#[derive(Debug, Clone)]
pub struct SweepTable {
    /// What it is.
    pub manifest: SweepManifest,
    /// One result per point.
    pub results: Vec<PointResult>,
}

impl SweepTable {
    /// Gathers the results of all points and writes table and manifest.
    pub(super) fn write(
        sweep: &Sweep,
        out: &Path,
        hashes: &[String],
        scorer: Option<SweepScorerRecord>,
    ) -> Result<Self, StudyError> {
        let mut results = Vec::with_capacity(hashes.len());
        let mut points = Vec::with_capacity(hashes.len());
        for (point, hash) in sweep.points.iter().zip(hashes) {
            results.push(needed(read_result(out, hash)?, &sweep.definition, hashes.len()));
            let path = result_path(out, hash);
            let (_, sha256) = digest(&path).map_err(StudyError::io(&path))?;
            points.push(ListedPoint { settings: point.settings.clone(), hash: hash.clone(), sha256 });
        }
        let mut manifest = SweepManifest {
            format: FORMAT.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            generator_version: GENERATOR_VERSION,
            processor_class: PROCESSOR_CLASS.into(),
            sweep: sweep.definition.clone(),
            table_sha256: String::new(),
            points,
            scorer,
            base: (*sweep.base).clone(),
            sha256: String::new(),
        };
        // The table waits beside the older one until the manifest that names it is there.
        let table = out.join(SWEEP_TABLE);
        let waiting = replacement_path(&table);
        manifest.table_sha256 = write_table(&waiting, &manifest, &results)?;
        let path = out.join(SWEEP_MANIFEST);
        manifest.sha256 = hex(&Sha256::digest(manifest.text(&path)?));
        AtomicFile::write(&path, manifest.text(&path)?.as_bytes()).map_err(StudyError::io(&path))?;
        match rename_file(&waiting, &table) {
            // Another process, which made the same table in a store, was faster.
            Err(e) if e.kind() == io::ErrorKind::NotFound && is_content(&table, &manifest.table_sha256) => {}
            renamed => renamed.map_err(StudyError::io(&table))?,
        }
        Ok(Self { manifest, results })
    }

    /// Opens a finished sweep's folder.
    ///
    /// # Errors
    /// If its manifest or a result is missing or damaged.
    pub fn open(folder: &Path) -> Result<Self, StudyError> {
        let manifest = SweepManifest::read(folder)?;
        let results =
            manifest.points.iter().map(|point| read_result(folder, &point.hash)).collect::<Result<Vec<_>, _>>()?;
        let results =
            results.into_iter().map(|result| needed(result, &manifest.sweep, manifest.points.len())).collect();
        Ok(Self { manifest, results })
    }
}

/// Rows' own values of all points are kept in memory for differences: all that a one-at-a-time sweep has, else up to so many.
const MAX_VALUES: u64 = 1 << 22;

fn needed(mut result: PointResult, sweep: &Definition, points: usize) -> PointResult {
    let values = (points as u64).saturating_mul(result.by_row.values().map(|values| values.len() as u64).sum());
    if sweep.design != PointDesign::OneAtATime && values > MAX_VALUES {
        result.by_row.clear();
    }
    result
}

impl SweepManifest {
    fn text(&self, path: &Path) -> Result<String, StudyError> {
        serde_json::to_string_pretty(self).map_err(|e| StudyError::file(path, e))
    }

    /// Reads and checks a manifest.
    pub(super) fn read(folder: &Path) -> Result<Self, StudyError> {
        let path = folder.join(SWEEP_MANIFEST);
        let text = read_text(&path, MAX_BYTES).map_err(StudyError::read(&path))?;
        let manifest: Self = serde_json::from_str(&text)
            .map_err(|e| StudyError::file(&path, format!("{e}; expected the manifest of a sweep")))?;
        if manifest.format != FORMAT {
            return Err(StudyError::file(&path, format!("format is {:?}, expected {FORMAT:?}", manifest.format)));
        }
        if manifest
            .points
            .iter()
            .any(|point| point.settings.len() != manifest.sweep.axes.len() || !is_hash(&point.hash))
        {
            return Err(StudyError::file(&path, "a point does not fit the axes, or has no hash: the file was edited"));
        }
        // The hash stands last, between the quotes that were empty when it was taken.
        let before = text.strip_suffix("\"\n}").and_then(|rest| rest.strip_suffix(&manifest.sha256));
        if before.is_none_or(|before| hex(&Sha256::digest(format!("{before}\"\n}}"))) != manifest.sha256) {
            let problem =
                "its own SHA-256 is not that of its text: edited or damaged; the same sweep command writes it anew";
            return Err(StudyError::file(&path, problem));
        }
        Ok(manifest)
    }
}

/// A hash becomes a file name: it must be one.
fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit())
}

fn is_content(path: &Path, expected: &str) -> bool {
    digest(path).is_ok_and(|(_, sha256)| sha256 == expected)
}

/// Writes the table; returns its SHA-256.
fn write_table(path: &Path, manifest: &SweepManifest, results: &[PointResult]) -> Result<String, StudyError> {
    let batch = batch(manifest, results).map_err(|e| StudyError::file(path, e))?;
    let note = |key: &str, value: String| KeyValue::new(format!("magnetar.{key}"), value);
    let properties = WriterProperties::builder()
        .set_created_by(format!("magnetar {}", manifest.version))
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_key_value_metadata(Some(vec![
            note("sweep", manifest.sweep.name.clone()),
            note("version", manifest.version.clone()),
            note("split", manifest.sweep.split.clone()),
            note("seed", manifest.sweep.seed.to_string()),
            note("rows", manifest.sweep.rows.to_string()),
            note("design", manifest.sweep.design.label().into()),
            note("posterior", manifest.sweep.posterior.label().into()),
            note("simulated", "everything in this table is simulated; nothing was measured".into()),
            note("base_recipe_hash", manifest.base.hash()),
        ]))
        .build();
    // One row per point: small enough to be made in memory.
    let bytes = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties))
        .and_then(|mut writer| {
            writer.write(&batch)?;
            writer.into_inner()
        })
        .map_err(|e| StudyError::file(path, e))?;
    AtomicFile::write(path, &bytes).map_err(StudyError::io(path))?;
    Ok(hex(&Sha256::digest(&bytes)))
}

fn batch(manifest: &SweepManifest, results: &[PointResult]) -> Result<RecordBatch, arrow::error::ArrowError> {
    let mut fields = Vec::new();
    let mut columns: Vec<ArrayRef> = Vec::new();
    let mut add = |name: String, column: ArrayRef, nullable: bool, unit: &str| {
        let mut field = Field::new(name, column.data_type().clone(), nullable);
        if !unit.is_empty() {
            field = field.with_metadata(HashMap::from([("unit".to_owned(), unit.to_owned())]));
        }
        fields.push(field);
        columns.push(column);
    };
    let points = &manifest.points;
    add("point".into(), Arc::new(UInt64Array::from_iter_values(0..points.len() as u64)), false, "");
    add("hash".into(), Arc::new(StringArray::from_iter_values(points.iter().map(|p| &p.hash))), false, "");
    for (i, axis) in manifest.sweep.axes.iter().enumerate() {
        let settings = points.iter().map(|point| &point.settings[i]);
        let column: ArrayRef = if axis.numeric {
            Arc::new(settings.map(|setting| setting.number).collect::<Float64Array>())
        } else {
            Arc::new(settings.map(|setting| Some(setting.label.as_str())).collect::<StringArray>())
        };
        add(axis.name.clone(), column, true, &axis.unit);
    }
    add("rows".into(), Arc::new(UInt64Array::from_iter_values(results.iter().map(|r| r.rows))), false, "");
    for (i, metric) in results.first().map_or(&[][..], |first| &first.metrics).iter().enumerate() {
        let of = |pick: fn(&Metric) -> Option<f64>| -> ArrayRef {
            Arc::new(results.iter().map(|r| r.metrics.get(i).and_then(pick)).collect::<Float64Array>())
        };
        add(metric.name.clone(), of(|m| m.value), true, &metric.unit);
        add(format!("{}_stderr", metric.name), of(|m| m.stderr), true, &metric.unit);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}
