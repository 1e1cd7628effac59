//! From a campaign to a dataset.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use magnetar_files::AtomicFolder;
use magnetar_scene::{BoxShape, Pose, ResolvedScene, Slab, wrap};
use magnetar_signal::sre::SreOptions;
use magnetar_signal::{LinkSimulator, Receiver};
use num_complex::Complex32;

use super::rows::{CampaignRow, campaign_rows};
use super::sigmf::IqRecording;
use super::{Campaign, Measured, MeasuredFile, Recording};
use crate::card;
use crate::columns::BatchBuilder;
use crate::draw::Board;
use crate::error::Error;
use crate::manifest::{Manifest, SplitManifest, read_whole, write_whole};
use crate::observations::ObservationSource;
use crate::placement::Region;
use crate::recipe::{Recipe, Split};
use crate::record::{Materials, Record};
use crate::replay::{Protocol, Replayed};
use crate::shard::{ShardPlan, ShardWriter, digest};

/// A larger table of rows is a mistake.
const MAX_TABLE_BYTES: u64 = 256 << 20;
/// Rows encoded at a time.
const CHUNK_ROWS: usize = 64;

/// What an import made.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// Rows.
    pub rows: u64,
    /// Rows in which no arrival was found.
    pub silent: u64,
    /// The floor of an observation whose noise was only assumed to be of unit variance, if it is far from that.
    pub doubtful_noise: Option<f64>,
    /// The manifest.
    pub manifest: Manifest,
}

/// Where a recording's observations come from.
enum Source {
    File(Box<ObservationSource>),
    Iq(Box<IqRecording>),
}

/// A recording with its rows.
struct Opened<'a> {
    recording: &'a Recording,
    rows: Vec<CampaignRow>,
    source: Source,
}

/// Makes a dataset of a campaign in a folder that is not there yet or empty. `progress` hears of rows.
///
/// # Errors
/// Whatever is wrong with a file, with its place; nothing is left behind then.
pub fn import(campaign: &Campaign, out: &Path, progress: &dyn Fn(u64)) -> Result<Imported, Error> {
    let mut recipe = campaign.recipe()?;
    let mut recordings = Vec::new();
    for recording in &campaign.recording {
        recordings.push(open(campaign, recording, &recipe)?);
    }
    let truth = recordings.iter().flat_map(|r| &r.rows).all(CampaignRow::has_truth);
    if !truth && recordings.iter().flat_map(|r| &r.rows).any(CampaignRow::has_truth) {
        let problem = "some rows have the TX's pose and some have not; give it for all of them, or for none";
        return Err(Error::invalid(&campaign.path(&campaign.recording[0].rows), problem));
    }
    recipe.splits = splits(&recordings, &recipe)?;
    recipe.name.clone_from(&campaign.name);
    recipe.description.clone_from(&campaign.description);
    let recipe = Arc::new(recipe);
    let receivers = receivers(campaign, &recipe, &recordings)?;
    let mut manifest = Manifest::new(&recipe, 0);
    manifest.measured = Some(Measured { campaign: campaign.name.clone(), truth, files: files(campaign)? });
    let folder = AtomicFolder::create(out, |_| false).map_err(Error::io(out))?;
    let mut world = MeasuredWorld::new(campaign, &recipe)?;
    let (mut rows, mut silent, mut doubtful_noise) = (0, 0, None);
    for (name, split) in &recipe.splits {
        let inside = folder.path().join(name);
        magnetar_files::create_folder(&inside).map_err(Error::io(&inside))?;
        let whole = SplitManifest { rows: split.rows(), views: split.views, shards: Vec::new() };
        manifest.splits.insert(name.clone(), whole);
        let mut shards = Shards::new(folder.path(), name, split.rows(), u64::from(recipe.store.shard_rows));
        for (opened, receiver) in recordings.iter_mut().zip(&receivers).filter(|(o, _)| o.recording.split == *name) {
            let mut workspace = receiver.workspace();
            let place = campaign.path(&opened.recording.observations);
            opened.for_each(receiver.channels() * recipe.band.bins, |row, number, block| {
                let at = |problem: String| Error::invalid(&place, format!("observation {number}: {problem}"));
                receiver.prepare(block).map_err(|e| at(e.to_string()))?;
                if doubtful_noise.is_none() {
                    doubtful_noise = receiver.doubtful_noise(block);
                }
                let mut record = world.record(row, shards.next, split.views).map_err(at)?;
                record.arrivals = receiver.arrivals(block, &mut workspace).map_err(|e| at(e.to_string()))?;
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
    manifest.write(folder.path())?;
    write_whole(&folder.path().join(card::CARD), card::card(&manifest).as_bytes())?;
    folder.commit().map_err(Error::io(out))?;
    Ok(Imported { rows, silent, doubtful_noise, manifest })
}

fn open<'a>(campaign: &Campaign, recording: &'a Recording, recipe: &Recipe) -> Result<Opened<'a>, Error> {
    let table = campaign.path(&recording.rows);
    let text = read_whole(&table, MAX_TABLE_BYTES, "not a table of rows")?;
    let rows =
        campaign_rows(&text).map_err(|(line, problem)| Error::invalid(&table, format!("line {line}: {problem}")))?;
    let path = campaign.path(&recording.observations);
    let bins = recipe.band.bins;
    let is_sigmf = path.extension().is_some_and(|ending| ending == "sigmf-meta");
    let (source, count, found) = if is_sigmf {
        let Some(iq) = &recording.iq else {
            return Err(Error::invalid(&path, "a SigMF recording needs recording.iq: reference and domain"));
        };
        let reference = campaign.path(&iq.reference);
        let recording = IqRecording::open(&path, iq, &reference, bins, recipe.band.bandwidth_hz)?;
        let count = recording.rows();
        (Source::Iq(Box::new(recording)), count, bins)
    } else {
        let source = ObservationSource::open(&path, campaign.receiver.channels.as_deref());
        let source = source.map_err(|e| Error::invalid(&path, e.to_string()))?;
        let (count, found) = (source.rows(), source.bins());
        (Source::File(Box::new(source)), count, found)
    };
    if found != bins {
        let problem =
            format!("{found} bins; the recipe's band has {bins}: give a recipe with the band of the measurement");
        return Err(Error::invalid(&path, problem));
    }
    if count != rows.len() as u64 {
        let problem =
            format!("{count} observations, and {} rows in {}; expected one each", rows.len(), table.display());
        return Err(Error::invalid(&path, problem));
    }
    if !rows.len().is_multiple_of(recording.views as usize) {
        let problem = format!("{} rows are no whole sets of {} views", rows.len(), recording.views);
        return Err(Error::invalid(&table, problem));
    }
    for (n, row) in rows.iter().enumerate() {
        let placement = row.placement.as_deref().unwrap_or("none");
        if campaign.board(placement).is_none() {
            let known: Vec<&str> = campaign.board.keys().map(String::as_str).collect();
            let problem = format!("row {n}: placement {placement:?}; the campaign has none and {}", known.join(", "));
            return Err(Error::invalid(&table, problem));
        }
    }
    Ok(Opened { recording, rows, source })
}

/// The splits of a recipe for so many measured rows.
fn splits(recordings: &[Opened<'_>], recipe: &Recipe) -> Result<indexmap::IndexMap<String, Split>, Error> {
    let mut splits = indexmap::IndexMap::new();
    let like = recipe.splits.get("test").or_else(|| recipe.splits.values().next()).cloned();
    let Some(like) = like else { return Err(Error::NothingToGenerate) };
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
        let split = splits.entry(opened.recording.split.clone()).or_insert(blank);
        for set in opened.rows.chunks(opened.recording.views as usize) {
            let with = set[0].placement.as_deref().is_some_and(|placement| placement != "none");
            *(if with { &mut split.board } else { &mut split.no_board }) += 1;
        }
    }
    Ok(splits)
}

/// The receiver of each recording.
fn receivers(campaign: &Campaign, recipe: &Recipe, recordings: &[Opened<'_>]) -> Result<Vec<Receiver>, Error> {
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
fn files(campaign: &Campaign) -> Result<Vec<MeasuredFile>, Error> {
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
        let (_, sha256) = digest(&path).map_err(Error::io(&path))?;
        Ok(MeasuredFile { name: name.display().to_string(), sha256 })
    };
    names.iter().map(hashed).collect()
}

impl Opened<'_> {
    /// Calls `take` with every row, its number and its observation.
    fn for_each(
        &mut self,
        length: usize,
        mut take: impl FnMut(&CampaignRow, usize, &mut [Complex32]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match &mut self.source {
            Source::Iq(recording) => {
                let mut block = Vec::new();
                for (n, row) in self.rows.iter().enumerate() {
                    recording.read(n as u64, &mut block)?;
                    take(row, n, &mut block)?;
                }
            }
            Source::File(source) => {
                let (mut chunk, mut n) = (Vec::new(), 0);
                loop {
                    let place = &self.recording.observations;
                    source.next_chunk(&mut chunk).map_err(|e| Error::invalid(place, e.to_string()))?;
                    if chunk.is_empty() {
                        break;
                    }
                    for block in chunk.chunks_exact_mut(length) {
                        let Some(row) = self.rows.get(n) else { break };
                        take(row, n, block)?;
                        n += 1;
                    }
                }
                if n != self.rows.len() {
                    let problem = format!("ends after {n} of {} observations", self.rows.len());
                    return Err(Error::invalid(&self.recording.observations, problem));
                }
            }
        }
        Ok(())
    }
}

/// What all rows of a campaign share.
struct MeasuredWorld<'a> {
    campaign: &'a Campaign,
    scene: ResolvedScene,
    height_m: f64,
    materials: Materials,
    board_material: Arc<str>,
    board_slab: Slab,
    simulator: LinkSimulator,
}

impl<'a> MeasuredWorld<'a> {
    fn new(campaign: &'a Campaign, recipe: &Arc<Recipe>) -> Result<Self, Error> {
        let nominal = recipe.nominal_scene()?.ok_or(Error::NothingToGenerate)?;
        let library = recipe.materials()?;
        let scene = recipe.resolved_scene(&library)?.ok_or(Error::NothingToGenerate)?;
        let [wall, ceiling, floor] = nominal.material_names().map(Arc::<str>::from);
        Ok(Self {
            campaign,
            height_m: nominal.scene.device_height,
            scene,
            materials: Materials { wall, ceiling, floor, board: None },
            board_material: recipe.surfaces.board_material.as_str().into(),
            board_slab: recipe.slabs()?.board()?,
            simulator: LinkSimulator::new(Arc::new(recipe.radio()?)),
        })
    }

    /// The record of a row, without arrivals and observation.
    fn record(&mut self, row: &CampaignRow, index: u64, views: u32) -> Result<Record, String> {
        let placement = row.placement.as_deref().unwrap_or("none");
        let shape = self.campaign.board(placement).flatten();
        let room = self.scene.room;
        let height = |z: Option<f64>| z.unwrap_or(self.height_m);
        let rx = Pose::new(row.x, row.y, height(row.z), wrap(row.heading_deg.to_radians()));
        let truth = match (row.tx_x, row.tx_y, row.tx_heading_deg) {
            (Some(x), Some(y), Some(heading)) => Some(Pose::new(x, y, height(row.tx_z), wrap(heading.to_radians()))),
            _ => None,
        };
        let mut boxes = self.scene.boxes.clone();
        boxes.extend(shape.map(|shape| (shape, self.board_slab)));
        for (name, pose) in [("receiver", Some(&rx)), ("transmitter", truth.as_ref())] {
            let Some(p) = pose.map(|pose| pose.position) else { continue };
            if !room.contains(&p) || boxes.iter().any(|(shape, _)| shape.contains(&p)) {
                let bounds = room.bounds();
                return Err(format!(
                    "the {name} at ({}, {}, {}) m is outside the room or in a box; bounds are {bounds:?}",
                    p.x, p.y, p.z
                ));
            }
        }
        let centre = room.min + 0.5 * (room.max - room.min);
        let tx = truth.unwrap_or(Pose::new(centre.x, centre.y, self.height_m, 0.0));
        let los = match &truth {
            Some(tx) => {
                self.simulator.trace(room, &self.scene.surfaces, &boxes, tx, &rx).map_err(|e| e.to_string())?;
                self.simulator.paths().first().is_some_and(|path| path.geometry.is_line_of_sight())
            }
            None => false,
        };
        let protocol = row.protocol.as_deref().and_then(Protocol::from_label).unwrap_or_default();
        let command = row.heading_deg.to_radians().rem_euclid(std::f64::consts::TAU);
        let board = shape.map(|shape: BoxShape| Board {
            shape,
            region: if truth.is_some() && !los { Region::Across } else { Region::Beside },
        });
        Ok(Record {
            index,
            set: index / u64::from(views),
            view: u32::try_from(index % u64::from(views)).unwrap_or(0),
            room,
            materials: Materials { board: board.map(|_| Arc::clone(&self.board_material)), ..self.materials.clone() },
            boxes: self.scene.boxes.iter().map(|(shape, _)| *shape).collect(),
            board: board.map(Board::seen_from_either_side),
            tx,
            rx,
            los,
            replayed: Some(Replayed { protocol, placement: placement.into(), site: row.site.unwrap_or(0), command }),
            ..Record::blank()
        })
    }
}

/// The shards of a split while they are written.
struct Shards<'a> {
    folder: &'a Path,
    split: &'a str,
    rows: u64,
    shard_rows: u64,
    /// Index of the next row.
    next: u64,
    writer: Option<Box<OpenShard>>,
}

struct OpenShard {
    records: Vec<Record>,
    batches: Vec<arrow::array::RecordBatch>,
    plan: (u64, u64, u64),
}

impl<'a> Shards<'a> {
    fn new(folder: &'a Path, split: &'a str, rows: u64, shard_rows: u64) -> Self {
        Self { folder, split, rows, shard_rows, next: 0, writer: None }
    }

    fn push(&mut self, manifest: &mut Manifest, record: &Record) -> Result<(), Error> {
        let number = self.next / self.shard_rows;
        let start = number * self.shard_rows;
        let plan = (number, start, self.shard_rows.min(self.rows - start));
        let open =
            self.writer.get_or_insert_with(|| Box::new(OpenShard { records: Vec::new(), batches: Vec::new(), plan }));
        open.records.push(record.clone());
        self.next += 1;
        if open.records.len() == CHUNK_ROWS {
            open.encode(manifest)?;
        }
        if self.next == start + plan.2 {
            self.finish(manifest)?;
        }
        Ok(())
    }

    /// Writes the open shard.
    fn finish(&mut self, manifest: &mut Manifest) -> Result<(), Error> {
        let Some(mut open) = self.writer.take() else { return Ok(()) };
        open.encode(manifest)?;
        let (number, start, rows) = open.plan;
        let path = Manifest::shard_path(self.folder, self.split, number);
        let mut writer = ShardWriter::create(path, manifest, ShardPlan { split: self.split, number, start, rows })?;
        for batch in &open.batches {
            writer.write(batch)?;
        }
        let info = writer.finish()?;
        manifest.add(self.split, info);
        Ok(())
    }
}

impl OpenShard {
    fn encode(&mut self, manifest: &Manifest) -> Result<(), Error> {
        if self.records.is_empty() {
            return Ok(());
        }
        let mut batch = BatchBuilder::new(manifest.shape(), self.records.len());
        self.records.iter().for_each(|record| batch.push(record));
        let (first, last) = (self.records[0].index, self.records[self.records.len() - 1].index);
        let batch = batch.finish().map_err(|source| Error::Batch { rows: first..last + 1, source })?;
        self.batches.push(batch);
        self.records.clear();
        Ok(())
    }
}
