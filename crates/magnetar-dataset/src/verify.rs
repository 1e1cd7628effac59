//! Verification: hashes, counts, schema, ranges, and rows made again bit for bit.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use magnetar_files::{BoundedReadError, list_folder, read_text};
use magnetar_scene::BoxShape;
use magnetar_signal::Arrival;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::index;
use rayon::prelude::*;
use serde::Serialize;

use crate::card;
use crate::columns::{self, ColumnError, leaves, wave_numbers};
use crate::dataset::{Columns, Dataset};
use crate::error::DatasetError;
use crate::folder::shard_number;
use crate::generator::Generator;
use crate::guarded::Batches;
use crate::manifest::{REFERENCE_BACKEND, ShardInfo, shard_name};
use crate::parquet_input::ParquetInput;
use crate::recipe::Split;
use crate::record::Record;
use crate::schema::SCHEMA_VERSION;
use crate::shard::digest_of;

/// A larger file is not a card.
const MAX_CARD_BYTES: u64 = 1 << 20;

/// How thorough a verification is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifyOptions {
    /// Rows of each split that are made again and compared.
    pub sample: u64,
    /// Chooses those rows.
    pub seed: u64,
    /// Accept a dataset that lacks shards, such as one slice of many.
    pub partial: bool,
}

/// What a verification found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Verification {
    /// Shards read.
    pub shards: u64,
    /// Rows read.
    pub rows: u64,
    /// Rows made again and compared.
    pub regenerated: u64,
    /// What is wrong, each with the file it is wrong in; empty if all is well.
    pub problems: Vec<String>,
    /// What a stopped run left behind, each with its file: no row is lost or changed by it.
    pub notes: Vec<String>,
}

/// Checks a dataset. `progress` hears of rows as they are read.
///
/// # Errors
/// Only if there is no readable manifest; everything else is listed as a problem.
pub fn verify(
    folder: &Path,
    options: VerifyOptions,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Verification, DatasetError> {
    let dataset = Dataset::open(folder)?;
    let folder = dataset.folder();
    let mut found = Verification::default();
    let recipe = Arc::new(dataset.recipe().clone());
    for (name, manifest) in &dataset.manifest().splits {
        let split = recipe.split(name)?;
        compare_listing(&dataset, name, options.partial, &mut found);
        let checks: Vec<Result<u64, String>> = manifest
            .shards
            .par_iter()
            .map(|shard| {
                let rows = check_shard(&dataset, name, split, shard)?;
                progress(rows);
                Ok(rows)
            })
            .collect();
        let mut whole = Vec::new();
        for (shard, check) in manifest.shards.iter().zip(checks) {
            found.shards += 1;
            match check {
                Ok(rows) => {
                    found.rows += rows;
                    whole.push(shard);
                }
                Err(problem) => found.problems.push(problem),
            }
        }
        if let Some(reason) = dataset.manifest().not_reproducible() {
            found.notes.push(format!("{}: rows were not made again: {reason}", folder.join(name).display()));
            continue;
        }
        let generator = match Generator::new(&recipe, dataset.manifest().seed, name) {
            Ok(generator) => generator,
            Err(e) => {
                found.problems.push(format!("rows cannot be made again: {e}"));
                continue;
            }
        };
        regenerate(&dataset, name, &generator, &whole, options, &mut found);
    }
    check_card(&dataset, options.partial, &mut found);
    Ok(found)
}

/// The card follows from the manifest, to the byte, but for an audit's figures at its end; another version of the program may word it differently. A run that
/// was stopped has not come to its card: there is none, or that of an earlier state.
fn check_card(dataset: &Dataset, partial: bool, found: &mut Verification) {
    let (path, manifest) = (dataset.folder().join(card::CARD), dataset.manifest());
    let at =
        |problem: &str| format!("{}: {problem}; the same generate (or merge) command writes it anew", path.display());
    match read_text(&path, MAX_CARD_BYTES) {
        Err(BoundedReadError::Io(e)) if e.kind() == ErrorKind::NotFound && partial => {}
        Err(e) => found.problems.push(at(&e.to_string())),
        Ok(_) if manifest.version != env!("CARGO_PKG_VERSION") || manifest.schema_version != SCHEMA_VERSION => {}
        Ok(text) if card::is_present_card(&text, manifest) => {}
        Ok(text) if card::is_card_of(&text, manifest) => found.notes.push(at("the card of an earlier state")),
        Ok(_) => found.problems.push(at("not the card of this manifest, edited or damaged")),
    }
}

/// Files that should not be there, shards that should.
fn compare_listing(dataset: &Dataset, split: &str, partial: bool, found: &mut Verification) {
    let folder = dataset.folder().join(split);
    let manifest = &dataset.manifest().splits[split];
    let known: BTreeSet<String> = manifest.shards.iter().map(|shard| shard_name(shard.number)).collect();
    let count = manifest.rows.div_ceil(u64::from(dataset.recipe().store.shard_rows));
    for path in list_folder(&folder).unwrap_or_default() {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if !name.ends_with(".parquet") || known.contains(name) {
            continue;
        }
        if shard_number(name).is_some_and(|number| number < count) {
            let note = "written but not recorded when a run was stopped; the same generate (or merge) command goes on";
            found.notes.push(format!("{}: {note}", path.display()));
        } else {
            found.problems.push(format!("{}: not in the manifest", path.display()));
        }
    }
    if !manifest.is_complete() && !partial {
        found.problems.push(format!(
            "{}: {} of {} rows; run generate again, or put slices together with magnetar merge",
            folder.display(),
            manifest.present_rows(),
            manifest.rows
        ));
    }
}

fn check_shard(dataset: &Dataset, split: &str, recipe: &Split, shard: &ShardInfo) -> Result<u64, String> {
    let path = shard.file(dataset.folder(), split);
    let at = |problem: String| format!("{}: {problem}", path.display());
    // Open until the rows have been read, so that an object is fetched once.
    let input = ParquetInput::open(&path).map_err(|e| at(e.to_string()))?;
    let (bytes, sha256) = digest_of(input.file()).map_err(|e| at(e.to_string()))?;
    if bytes != shard.bytes || sha256 != shard.sha256 {
        return Err(at(format!("{bytes} bytes, SHA-256 {sha256}; expected {} bytes, {}", shard.bytes, shard.sha256)));
    }
    let builder = dataset.builder(split, shard, Columns::All).map_err(|e| e.to_string())?;
    let batches = Batches::new(builder, path.clone(), shard, 0, u64::MAX).map_err(|e| e.to_string())?;
    let mut next = shard.start;
    for batch in batches {
        let batch = batch.map_err(|e| e.to_string())?;
        for record in columns::records(&batch).map_err(|e| at(e.to_string()))? {
            check_record(&record, next, recipe, dataset.manifest().measured.is_some())
                .map_err(|problem| at(format!("row {next}: {problem}")))?;
            next += 1;
        }
    }
    if next != shard.start + shard.rows {
        return Err(at(format!("ends at row {next}, expected {}", shard.start + shard.rows)));
    }
    Ok(shard.rows)
}

/// What every row must satisfy, whatever the recipe. Measured rows come with boards in any order.
fn check_record(record: &Record, index: u64, split: &Split, measured: bool) -> Result<(), String> {
    let views = u64::from(split.views);
    if record.index != index || record.set != index / views || u64::from(record.view) != index % views {
        return Err(format!("index {}, set {}, view {} are out of order", record.index, record.set, record.view));
    }
    if !measured && record.layout.board.is_some() != split.has_board(record.set) {
        return Err("has a board where it should have none, or none where it should".into());
    }
    for (name, pose) in [("tx", &record.tx), ("rx", &record.rx)] {
        if !record.layout.room.contains(&pose.position) {
            return Err(format!("{name} is outside the room"));
        }
        if !(-std::f64::consts::PI..std::f64::consts::PI).contains(&pose.heading) {
            return Err(format!("{name}.heading is outside [-pi, pi)"));
        }
    }
    let mut numbers = vec![record.tx_power_offset_db, record.rf_chain.timing_offset_s];
    for BoxShape { center, size, yaw } in record.layout.standing() {
        numbers.extend(center.iter().chain(size.iter()).chain([&yaw]));
    }
    for path in &record.paths {
        numbers.extend(wave_numbers(&path.wave));
        numbers.extend([path.aod.azimuth, path.aod.elevation]);
        if path.wave.delay_s <= 0.0 {
            return Err("a path's delay is not positive".into());
        }
    }
    let found = &record.arrivals.found;
    for arrival in found {
        if arrival.aoa_rad.abs() > std::f64::consts::FRAC_PI_2 {
            return Err("an AoA is beyond 90 degrees".into());
        }
        let Arrival { delay_s, phase_rad, aoa_rad, raw_snr_db, snr_db } = *arrival;
        numbers.extend([delay_s, phase_rad, aoa_rad, raw_snr_db, snr_db]);
    }
    let finite = numbers.iter().all(|x| x.is_finite());
    if !finite || record.csi.iter().flatten().any(|z| !z.re.is_finite() || !z.im.is_finite()) {
        return Err("holds a number that is not finite".into());
    }
    let strongest_first = found.windows(2).all(|pair| pair[0].raw_snr_db >= pair[1].raw_snr_db);
    if strongest_first { Ok(()) } else { Err("arrivals are not strongest first".into()) }
}

/// Makes some rows again and compares them bit for bit.
fn regenerate(
    dataset: &Dataset,
    split: &str,
    generator: &Generator,
    whole: &[&ShardInfo],
    options: VerifyOptions,
    found: &mut Verification,
) {
    let total: u64 = whole.iter().map(|shard| shard.rows).sum();
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    // Without replacement: so many different rows.
    let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let picks: BTreeSet<usize> =
        index::sample(&mut rng, size(total), size(options.sample.min(total))).into_iter().collect();
    let index_of = |mut pick: u64| {
        whole.iter().find_map(|shard| {
            let row = (pick < shard.rows).then_some(shard.start + pick);
            pick = pick.saturating_sub(shard.rows);
            row
        })
    };
    let exact = dataset.manifest().backend == REFERENCE_BACKEND;
    let indices: Vec<u64> = picks.into_iter().filter_map(|pick| index_of(pick as u64)).collect();
    let checks: Vec<Result<(), String>> = indices
        .par_iter()
        .map_init(
            || generator.rows(),
            |rows, index| {
                let stored = dataset.read_batch(split, *index, Columns::All).map_err(|e| e.to_string())?;
                let made = rows.batch(dataset.manifest().shape(), *index, index + 1).map_err(|e| e.to_string())?;
                let compared = if exact { same(&stored, &made) } else { close(&stored, &made) };
                compared.map_err(|difference| {
                    format!("{}: row {index}: {difference}", dataset.folder().join(split).display())
                })
            },
        )
        .collect();
    found.regenerated += indices.len() as u64;
    found.problems.extend(checks.into_iter().filter_map(Result::err));
}

/// How a stored row differs from one made again.
#[derive(Debug, thiserror::Error)]
enum Difference {
    #[error("column {0} is not what this program makes of the recipe and seed")]
    Column(String),
    #[error("{0}")]
    Columns(#[from] ColumnError),
    #[error("{0}")]
    Arrow(#[from] ArrowError),
}

/// The values of both, to the bit.
fn same(stored: &RecordBatch, made: &RecordBatch) -> Result<(), Difference> {
    let (stored, made) = (leaves(stored)?, leaves(made)?);
    let differs = made.iter().find(|leaf| !stored.contains(leaf));
    differs.map_or(Ok(()), |leaf| Err(Difference::Column(leaf.name.clone())))
}

/// Rows of another backend: what was drawn and traced to the bit, observations within rounding of ours. Estimates are
/// left alone: they follow from the observations.
fn close(stored: &RecordBatch, made: &RecordBatch) -> Result<(), Difference> {
    const ESTIMATED: [&str; 7] = ["aoa", "snr_db", "raw_snr_db", "delay_s", "phase_rad", "valid", "csi"];
    let (stored_schema, made_schema) = (stored.schema(), made.schema());
    let drawn = |names: &arrow::datatypes::Schema| -> Vec<usize> {
        (0..names.fields().len()).filter(|i| !ESTIMATED.contains(&names.field(*i).name().as_str())).collect()
    };
    same(&stored.project(&drawn(&stored_schema))?, &made.project(&drawn(&made_schema))?)?;
    let observations = columns::csi::observations;
    let (Some(ours), Some(theirs)) = (observations(made)?, observations(stored)?) else { return Ok(()) };
    for (ours, theirs) in ours.iter().zip(&theirs) {
        let power: f64 = ours.iter().map(|z| f64::from(z.norm_sqr())).sum();
        let apart: f64 = ours.iter().zip(theirs).map(|(a, b)| f64::from((a - b).norm_sqr())).sum();
        // Half precision rounds to 5e-4, single far below.
        if ours.len() != theirs.len() || apart.is_nan() || apart > 1e-6 * power {
            return Err(Difference::Column("csi".to_owned()));
        }
    }
    Ok(())
}
