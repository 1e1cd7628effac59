//! Verification of a sweep's folder: hashes, stored datasets, and points measured again.

use std::path::Path;
use std::sync::Arc;

use magnetar_dataset::{GENERATOR_VERSION, Recipe, Verification, VerifyOptions, digest, verify};
use magnetar_files::replacement_path;
use magnetar_signal::PROCESSOR_CLASS;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::measure::Metric;
use super::run::{measure_point, point_folder, read_result, result_path};
use super::scoring::{HPD_GAP, SCORE_COLUMNS, SweepScorer};
use super::table::{ListedPoint, SWEEP_TABLE, SweepManifest};
use crate::{ScorerSource, StudyError};

/// Log posteriors of devices differ by rounding, within 1e-3 nat; a MAP may then move to an equal neighbour.
const DEVICE_TOLERANCE: f64 = 1e-2;

/// Checks a sweep: every file's hash, every stored dataset like any other, and as many points measured again as hold
/// `options.sample` rows (at least one), scores included. `source` opens scorers that this crate does not know.
///
/// # Errors
/// Only if there is no readable manifest; everything else is listed as a problem.
pub fn verify_sweep(
    folder: &Path,
    options: VerifyOptions,
    source: Option<Arc<dyn ScorerSource>>,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Verification, StudyError> {
    let manifest = SweepManifest::read(folder)?;
    let mut found = Verification::default();
    let table = folder.join(SWEEP_TABLE);
    let waiting = replacement_path(&table);
    if digest(&waiting).is_ok_and(|(_, sha256)| sha256 == manifest.table_sha256) {
        let note = "the table, which has not got its name; the same sweep command gives it";
        found.notes.push(format!("{}: {note}", waiting.display()));
    } else {
        check_hash(&table, &manifest.table_sha256, &mut found);
    }
    for point in &manifest.points {
        check_hash(&result_path(folder, &point.hash), &point.sha256, &mut found);
        found.rows += manifest.sweep.rows;
        progress(manifest.sweep.rows);
        if manifest.sweep.store {
            let of_point = verify(&point_folder(folder, &point.hash), options, &|_| {})?;
            found.shards += of_point.shards;
            found.regenerated += of_point.regenerated;
            found.problems.extend(of_point.problems);
            found.notes.extend(of_point.notes);
        }
    }
    if manifest.generator_version != GENERATOR_VERSION || manifest.processor_class != PROCESSOR_CLASS {
        found.notes.push(format!(
            "{}: points were not measured again: generator version {} made them, this program has {GENERATOR_VERSION}; or \
             on processors of another class",
            folder.display(),
            manifest.generator_version
        ));
    } else if found.problems.is_empty() && !manifest.points.is_empty() {
        measure_again(folder, &manifest, options, source, &mut found);
    }
    Ok(found)
}

fn check_hash(path: &Path, expected: &str, found: &mut Verification) {
    match digest(path) {
        Ok((_, sha256)) if sha256 == expected => {}
        Ok((_, sha256)) => found.problems.push(format!("{}: SHA-256 {sha256}, expected {expected}", path.display())),
        Err(e) => found.problems.push(format!("{}: {e}", path.display())),
    }
}

fn measure_again(
    folder: &Path,
    manifest: &SweepManifest,
    options: VerifyOptions,
    source: Option<Arc<dyn ScorerSource>>,
    found: &mut Verification,
) {
    let wanted = options.sample.div_ceil(manifest.sweep.rows.max(1)).clamp(1, manifest.points.len() as u64);
    let scorer = manifest.scorer.as_ref().map(|record| {
        let base = checked(&manifest.base, folder)?;
        SweepScorer::again(&manifest.sweep, &base, record, source)
    });
    let scorer = match scorer.transpose() {
        Ok(scorer) => scorer.flatten(),
        Err(e) => {
            found.problems.push(format!("{}: its scorer cannot be made: {e}", folder.display()));
            return;
        }
    };
    let elsewhere = manifest.scorer.as_ref().is_some_and(|record| record.device != "cpu");
    for point in sample(&manifest.points, usize::try_from(wanted).unwrap_or(usize::MAX), options.seed) {
        let path = result_path(folder, &point.hash);
        let again = read_result(folder, &point.hash).and_then(|result| {
            let recipe = Arc::new(checked(&result.recipe, &path)?);
            Ok((measure_point(&manifest.sweep, &recipe, &point.hash, scorer.as_ref())?, result))
        });
        match again {
            Err(e) => found.problems.push(format!("{}: cannot be measured again: {e}", path.display())),
            Ok((again, result)) => {
                found.regenerated += manifest.sweep.rows;
                let differs = |again: &&Metric| match result.metric(&again.name) {
                    Some(before) => !same(before, again, elsewhere),
                    None => true,
                };
                if let Some(metric) = again.metrics.iter().find(differs) {
                    found.problems.push(format!("{}: {} differs when measured again", path.display(), metric.name));
                }
            }
        }
    }
}

/// So many of the points, none twice.
fn sample(points: &[ListedPoint], wanted: usize, seed: u64) -> Vec<&ListedPoint> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut points: Vec<&ListedPoint> = points.iter().collect();
    let wanted = wanted.min(points.len());
    for n in 0..wanted {
        let other = rng.random_range(n..points.len());
        points.swap(n, other);
    }
    points.truncate(wanted);
    points
}

/// Whether a metric is the same when measured again: to the bit, but scores of another device only to its rounding.
fn same(before: &Metric, again: &Metric, elsewhere: bool) -> bool {
    let scored = before.name == HPD_GAP || SCORE_COLUMNS.iter().any(|(name, _)| *name == before.name);
    if !(scored && elsewhere) {
        return before == again;
    }
    let near = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= DEVICE_TOLERANCE * a.abs().max(1.0),
        (a, b) => a == b,
    };
    near(before.value, again.value) && near(before.stderr, again.stderr) && before.count == again.count
}

fn checked(recipe: &Recipe, path: &Path) -> Result<Recipe, StudyError> {
    let json = serde_json::to_string(recipe).map_err(|e| StudyError::file(path, e))?;
    Ok(Recipe::from_json(&json, &path.display().to_string())?)
}
