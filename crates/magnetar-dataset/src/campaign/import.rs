//! From a campaign to a dataset.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use magnetar_files::place;
use magnetar_signal::sre::SreOptions;
use magnetar_signal::{Receiver, ReceiverError, TurnedBins};
use num_complex::Complex32;

use super::destination::Destination;
use super::measured_world::MeasuredWorld;
use super::opened::{Opened, Source};
use super::rows::CampaignRow;
use super::shards::Shards;
use super::{Campaign, Measured, MeasuredFile};
use crate::error::DatasetError;
use crate::manifest::{Manifest, SplitManifest};
use crate::recipe::{Recipe, Split};
use crate::replay::Protocol;
use crate::shard::digest;

/// What an import made.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// Rows.
    pub rows: u64,
    /// Rows in which no arrival was found.
    pub silent: u64,
    /// The floor of an observation whose noise was only assumed to be of unit variance, if it is far from that.
    pub doubtful_noise: Option<f64>,
    /// The turn of some bins against the others that most of the first observations look as if they had.
    pub turned: Option<TurnedBins>,
    /// The manifest.
    pub manifest: Manifest,
}

/// So many observations, from the first, are asked whether bins are turned.
const ASKED: usize = 16;

/// Makes a dataset of a campaign in a folder that is not there yet or empty, or in a store. `progress` hears of rows.
///
/// # Errors
/// Whatever is wrong with a file, with its place. A folder is not there then; in a store lies what the same import, started
/// again, goes on from.
pub fn import(campaign: &Campaign, out: &Path, progress: &dyn Fn(u64)) -> Result<Imported, DatasetError> {
    let mut recipe = campaign.recipe()?;
    let mut recordings = Vec::new();
    for recording in &campaign.recording {
        recordings.push(Opened::open(campaign, recording, &recipe)?);
    }
    if let Some(training) = &campaign.training {
        let place = campaign.path(&campaign.recording[0].rows);
        training.set_apart(&mut recordings).map_err(|problem| DatasetError::invalid(&place, problem))?;
    }
    let truth = recordings.iter().flat_map(|r| &r.rows).all(CampaignRow::has_truth);
    if !truth && recordings.iter().flat_map(|r| &r.rows).any(CampaignRow::has_truth) {
        let problem = "some rows have the TX's pose and some have not; give it for all of them, or for none";
        return Err(DatasetError::invalid(&campaign.path(&campaign.recording[0].rows), problem));
    }
    recipe.splits = splits(&recordings, &recipe)?;
    recipe.name.clone_from(&campaign.name);
    recipe.description.clone_from(&campaign.description);
    let recipe = Arc::new(recipe);
    let receivers = receivers(campaign, &recipe, &recordings)?;
    let mut manifest = Manifest::new(&recipe, 0);
    manifest.measured = Some(Measured { campaign: campaign.name.clone(), truth, files: files(campaign)? });
    for (name, split) in &recipe.splits {
        let whole = SplitManifest { rows: split.rows(), views: split.views, ..SplitManifest::default() };
        manifest.splits.insert(name.clone(), whole);
    }
    let out = &*place(out)?;
    let destination = Destination::create(out, &mut manifest)?;
    let mut world = MeasuredWorld::new(campaign, &recipe)?;
    let (mut rows, mut silent, mut doubtful_noise, mut turns) = (0, 0, None, Vec::new());
    for (name, split) in &recipe.splits {
        let mut shards = Shards::new(&destination, name, split.rows(), u64::from(recipe.store.shard_rows));
        for (opened, receiver) in
            recordings.iter_mut().zip(&receivers).filter(|(o, _)| o.splits.contains(&name.as_str()))
        {
            let mut workspace = receiver.workspace();
            // A recording of several splits is read once for each.
            opened.source = Source::open(campaign, opened.recording, &recipe)?;
            let place = campaign.path(&opened.recording.observations);
            let grid = opened.grid.clone();
            let in_the_file = |error: ReceiverError| match &grid {
                Some(grid) => grid.in_the_file(error).to_string(),
                None => error.to_string(),
            };
            opened.for_each(name, (recipe.band.bins, receiver.channels()), |row, number, block| {
                let at = |problem: String| DatasetError::invalid(&place, format!("observation {number}: {problem}"));
                receiver.prepare(block).map_err(|e| at(in_the_file(e)))?;
                if doubtful_noise.is_none() {
                    doubtful_noise = receiver.doubtful_noise(block);
                }
                if turns.len() < ASKED {
                    turns.push(receiver.turned_bins(block));
                }
                let mut record = world.record(row, shards.next, split.views).map_err(at)?;
                record.arrivals = receiver.arrivals(block, &mut workspace).map_err(|e| at(in_the_file(e)))?;
                silent += u64::from(record.arrivals.found.is_empty());
                // Excluded bins may hold anything; a dataset holds numbers.
                let channels = receiver.channels();
                let bins = block.chunks_exact(channels).flat_map(|bin| [bin[0], bin[1]]);
                record.csi = Some(bins.map(|z| if z.is_finite() { z } else { Complex32::default() }).collect());
                shards.push(&mut manifest, &record)?;
                rows += 1;
                progress(1);
                Ok(())
            })?;
        }
        shards.finish(&mut manifest)?;
    }
    destination.commit(&mut manifest)?;
    Ok(Imported { rows, silent, doubtful_noise, turned: TurnedBins::of_most(&turns), manifest })
}

/// The splits of a recipe for so many measured rows.
fn splits(recordings: &[Opened<'_>], recipe: &Recipe) -> Result<indexmap::IndexMap<String, Split>, DatasetError> {
    let mut splits = indexmap::IndexMap::new();
    let like = recipe.splits.get("test").or_else(|| recipe.splits.values().next()).cloned();
    let Some(like) = like else { return Err(DatasetError::NothingToGenerate) };
    for opened in recordings {
        let blank = Split {
            no_board: 0,
            board: 0,
            views: opened.recording.views,
            translation_min_m: 0.0,
            translation_max_m: 0.0,
            protocol: Protocol::Random,
            ..like.clone()
        };
        let views = opened.recording.views as usize;
        for (set, name) in opened.rows.chunks(views).zip(opened.splits.iter().step_by(views)) {
            let split = splits.entry((*name).to_owned()).or_insert_with(|| blank.clone());
            let with = set[0].placement.as_deref().is_some_and(|placement| placement != "none");
            *(if with { &mut split.board } else { &mut split.no_board }) += 1;
        }
    }
    Ok(splits)
}

/// The receiver of each recording.
fn receivers(campaign: &Campaign, recipe: &Recipe, recordings: &[Opened<'_>]) -> Result<Vec<Receiver>, DatasetError> {
    let base = campaign.options(recipe.sre.clone())?;
    let receiver = |opened: &Opened<'_>| {
        let (channels, empty) = match &opened.source {
            Source::File(source) => (source.channels(), Vec::new()),
            Source::Iq(recording) => (recording.channels(), recording.empty_bins()),
        };
        let excluded: BTreeSet<usize> = base.excluded_bins.iter().copied().chain(empty).collect();
        let excluded = excluded.into_iter().filter(|bin| !base.inactive_bins.contains(bin));
        let options = SreOptions { excluded_bins: excluded.collect(), ..base.clone() };
        campaign.receiver(recipe, channels, &options)
    };
    recordings.iter().map(receiver).collect()
}

/// Names and hashes of all files.
fn files(campaign: &Campaign) -> Result<Vec<MeasuredFile>, DatasetError> {
    let mut names: BTreeSet<PathBuf> = BTreeSet::new();
    for recording in &campaign.recording {
        names.extend([recording.observations.clone(), recording.rows.clone()]);
        if let Some(iq) = &recording.iq {
            names.extend([iq.reference.clone(), recording.observations.with_extension("sigmf-data")]);
        }
    }
    names.extend(campaign.receiver.calibration.iter().chain(&campaign.receiver.phase_table).cloned());
    let hashed = |name: &PathBuf| {
        let path = campaign.path(name);
        let (_, sha256) = digest(&path).map_err(DatasetError::io(&path))?;
        Ok(MeasuredFile { name: name.display().to_string(), sha256 })
    };
    names.iter().map(hashed).collect()
}
