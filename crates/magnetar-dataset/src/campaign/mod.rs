//! A measurement campaign: observations of a real receiver with poses, scene and board condition, made a dataset.

mod destination;
mod import;
mod measured_world;
mod opened;
mod rows;
mod shards;
mod sigmf;
mod training_part;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use magnetar_scene::BoxShape;
use magnetar_signal::sre::SreOptions;
use magnetar_signal::{Band, BinGrid, LineArray, NoiseSource, Receiver, ReceiverSettings};
use nalgebra::{Point3, Vector3};
use serde::{Deserialize, Serialize};

use crate::error::DatasetError;
use crate::manifest::read_whole;
use crate::receiver_files::{bin_list, read_calibration, read_phase_table, subcarrier_list};
use crate::recipe::{Recipe, is_split_name};

pub use import::{Imported, import};
pub use rows::{CampaignRow, campaign_rows};
pub use sigmf::{IqRecording, IqReference, SigMfMeta};
pub use training_part::TrainingPart;

/// A larger campaign file is a mistake.
const MAX_BYTES: u64 = 4 << 20;

/// What a manifest says about measured rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Name of the campaign.
    pub campaign: String,
    /// Whether rows hold the true TX pose; without it their `tx` is the room's centre and means nothing.
    pub truth: bool,
    /// The files it came from, each with its SHA-256.
    pub files: Vec<MeasuredFile>,
}

/// A file of a campaign.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredFile {
    /// Its name, as the campaign gives it.
    pub name: String,
    /// SHA-256, hexadecimal.
    pub sha256: String,
}

/// A campaign as its file states it. Paths are relative to that file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Campaign {
    /// Its name.
    pub name: String,
    /// What was measured.
    #[serde(default)]
    pub description: String,
    /// The scene: a shipped one's name or a file.
    pub scene: String,
    /// The recipe whose radio (band, array, antennas, level) took the observations: a shipped one's name or a file.
    #[serde(default = "paper")]
    pub recipe: String,
    /// The receiver.
    #[serde(default)]
    pub receiver: ReceiverSection,
    /// Boards by the name of their placement.
    #[serde(default)]
    pub board: BTreeMap<String, BoardSection>,
    /// Rows that are set apart to learn from.
    pub training: Option<TrainingPart>,
    /// The recordings, in the order of their rows.
    pub recording: Vec<Recording>,
    /// The folder of the campaign's file.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// What is known about the receiver, as the flags of `estimate`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiverSection {
    /// Channels taken, element 0 first.
    pub channels: Option<Vec<usize>>,
    /// Places of the elements, millimetres.
    pub positions_mm: Option<Vec<f64>>,
    /// Subcarrier of each bin, where they are not all neighbours.
    pub subcarriers: Option<String>,
    /// Distance of neighbouring subcarriers, kHz, instead of the recipe's bandwidth.
    pub subcarrier_khz: Option<f64>,
    /// Calibration factors, `.npy`.
    pub calibration: Option<PathBuf>,
    /// `"auto"`, a number, or one per channel.
    pub noise_variance: Option<NoiseValue>,
    /// Bins of noise alone.
    pub inactive_bins: Option<String>,
    /// Bins that are not looked at.
    pub exclude_bins: Option<String>,
    /// Inter-channel phase, degrees.
    pub phase_offset_deg: Option<f64>,
    /// Inter-channel phase by angle, `.csv`.
    pub phase_table: Option<PathBuf>,
}

impl ReceiverSection {
    /// Says what is wrong with its subcarriers.
    fn check_subcarriers(&self) -> Result<(), String> {
        let Some(list) = &self.subcarriers else { return Ok(()) };
        subcarrier_list(list).map_err(|problem| format!("receiver.subcarriers: {problem}"))?;
        match self.subcarrier_khz {
            Some(_) => Ok(()),
            None => Err("receiver.subcarriers need receiver.subcarrier_khz, the distance of neighbours".into()),
        }
    }

    /// The grid of its bins, if they are not all neighbours.
    pub(crate) fn grid(&self) -> Option<BinGrid> {
        self.subcarriers.as_deref().and_then(|list| subcarrier_list(list).ok())
    }

    /// A band with its subcarriers in place of the bandwidth and, where they are listed, of the bins.
    fn band_of(&self, band: &Band) -> Band {
        self.subcarrier_khz.map_or(*band, |khz| band.with_subcarriers(1e3 * khz, self.grid().as_ref()))
    }
}

/// A noise variance in a campaign's file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum NoiseValue {
    /// `"auto"`.
    Word(String),
    /// One for all channels.
    One(f64),
    /// One per channel.
    Each(Vec<f64>),
}

/// A board that stood in the room.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardSection {
    /// Centre, metres in the scene's frame.
    pub center_m: [f64; 3],
    /// Width, thickness, height, metres.
    pub size_m: [f64; 3],
    /// Turn, degrees counter-clockwise.
    #[serde(default)]
    pub yaw_deg: f64,
}

/// One file of observations and what is known about its rows.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// `.npy`, `.parquet` or `.sigmf-meta`.
    pub observations: PathBuf,
    /// Poses and conditions, one line per observation: `.csv` or `.jsonl`.
    pub rows: PathBuf,
    /// The split it belongs to.
    #[serde(default = "test_split")]
    pub split: String,
    /// Consecutive rows that share TX pose and layout, to be fused.
    #[serde(default = "one_view")]
    pub views: u32,
    /// How samples become bins; of SigMF recordings.
    pub iq: Option<IqReference>,
}

fn paper() -> String {
    "paper".into()
}

fn test_split() -> String {
    "test".into()
}

fn one_view() -> u32 {
    1
}

impl Campaign {
    /// Reads a campaign's file.
    ///
    /// # Errors
    /// The file cannot be read, or names the key that is wrong.
    pub fn load(path: &Path) -> Result<Self, DatasetError> {
        let text = read_whole(path, MAX_BYTES, "not a campaign file")?;
        let mut campaign = Self::from_toml(&text).map_err(|problem| DatasetError::invalid(path, problem))?;
        campaign.folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Ok(campaign)
    }

    /// A campaign from its file's text.
    ///
    /// # Errors
    /// Says what is wrong, with the line where there is one.
    pub fn from_toml(text: &str) -> Result<Self, String> {
        let campaign: Self = toml::from_str(text).map_err(|e| {
            let line = e.span().map(|span| 1 + text.as_bytes()[..span.start].iter().filter(|b| **b == b'\n').count());
            let place = line.map(|line| format!("line {line}: ")).unwrap_or_default();
            format!("{place}{}", e.message().replace('\n', ", ").chars().take(400).collect::<String>())
        })?;
        if campaign.recording.is_empty() {
            return Err("no [[recording]]; expected one for each file of observations".into());
        }
        for recording in &campaign.recording {
            if !is_split_name(&recording.split) {
                return Err(format!("split {:?}; expected a name of letters, digits, - and _", recording.split));
            }
            if !(1..=1024).contains(&recording.views) {
                return Err(format!("views = {}; expected 1 to 1024", recording.views));
            }
            let same = campaign.recording.iter().filter(|other| other.split == recording.split);
            if same.clone().any(|other| other.views != recording.views) {
                return Err(format!("recordings of split {:?} differ in views", recording.split));
            }
        }
        if let Some(taken) = &campaign.receiver.channels
            && let Some(twice) = taken.iter().enumerate().find(|(n, channel)| taken[..*n].contains(channel))
        {
            return Err(format!("receiver.channels has channel {} twice; expected different ones", twice.1));
        }
        campaign.receiver.check_subcarriers()?;
        if campaign.receiver.subcarriers.is_some() && campaign.recording.iter().any(|recording| recording.iq.is_some())
        {
            return Err("receiver.subcarriers are for files of bins; a SigMF recording has all of its band's".into());
        }
        if let Some(training) = &campaign.training {
            training.check(&campaign.recording)?;
        }
        for (name, board) in &campaign.board {
            let sound = board.center_m.iter().chain(&board.size_m).chain([&board.yaw_deg]).all(|x| x.abs() <= 1e4);
            if !sound || board.size_m.iter().any(|size| *size <= 0.0) || name == "none" {
                return Err(format!(
                    "board.{name}: expected metres within +-1e4, sizes above 0, and another name than none"
                ));
            }
        }
        Ok(campaign)
    }

    /// A path of the campaign's file.
    #[must_use]
    pub fn path(&self, relative: &Path) -> PathBuf {
        self.folder.join(relative)
    }

    /// The recipe of its rows: the radio's, with the scene as the nominal world and one split for each it has.
    ///
    /// # Errors
    /// If recipe or scene cannot be read.
    pub fn recipe(&self) -> Result<Recipe, DatasetError> {
        let beside = self.folder.join(&self.recipe);
        let shipped = Recipe::shipped().any(|name| name == self.recipe);
        let recipe = if shipped || !beside.is_file() { self.recipe.clone() } else { beside.display().to_string() };
        let scene = if magnetar_scene::Scene::shipped_names().any(|name| name == self.scene) {
            self.scene.clone()
        } else {
            self.folder.join(&self.scene).display().to_string()
        };
        let mut set = vec![format!("scene={}", toml::Value::String(scene))];
        // Scorers see the phase of the first two elements.
        // Places that make no array are refused with the receiver.
        let listed = self.receiver.positions_mm.as_deref().and_then(|places| LineArray::at_mm(places).ok());
        set.extend(listed.map(|array| format!("array.spacing_m={:?}", array.pair_spacing_m().abs())));
        // What the receiver takes off the phase is part of what its rows were made with.
        set.extend(self.receiver.phase_offset_deg.map(|degrees| format!("sre.phase_offset_deg={degrees:?}")));
        let mut loaded = Recipe::load(&recipe, &set)?;
        let band = self.receiver.band_of(&loaded.band);
        if band != loaded.band {
            set.push(format!("band.carrier_hz={:?}", band.carrier_hz));
            set.push(format!("band.bandwidth_hz={:?}", band.bandwidth_hz));
            set.push(format!("band.bins={}", band.bins));
            loaded = Recipe::load(&recipe, &set)?;
        }
        Ok(loaded)
    }

    /// The estimator's options of its receiver.
    ///
    /// # Errors
    /// If a list of bins is wrong.
    pub fn options(&self, options: SreOptions) -> Result<SreOptions, DatasetError> {
        let bins = |text: &Option<String>, otherwise: Vec<usize>| match text {
            Some(text) => {
                bin_list(text).map_err(|problem| DatasetError::invalid(&self.folder, format!("receiver: {problem}")))
            }
            None => Ok(otherwise),
        };
        let options = SreOptions {
            inactive_bins: bins(&self.receiver.inactive_bins, options.inactive_bins)?,
            excluded_bins: bins(&self.receiver.exclude_bins, options.excluded_bins)?,
            phase_offset_deg: self.receiver.phase_offset_deg.unwrap_or(options.phase_offset_deg),
            ..options
        };
        let Some(grid) = self.receiver.grid() else { return Ok(options) };
        let wrong =
            |error| DatasetError::invalid(&self.folder, format!("receiver: inactive_bins, exclude_bins: {error}"));
        grid.options(options).map_err(wrong)
    }

    /// The receiver of so many channels with these options.
    ///
    /// # Errors
    /// If a file about it cannot be read, or a setting does not fit.
    pub fn receiver(&self, recipe: &Recipe, channels: usize, options: &SreOptions) -> Result<Receiver, DatasetError> {
        let wrong = |e: magnetar_signal::ConfigError| DatasetError::invalid(&self.folder, format!("receiver: {e}"));
        let array = match &self.receiver.positions_mm {
            None => LineArray::uniform(channels, recipe.array.spacing_m),
            Some(places) => LineArray::at_mm(places),
        };
        if let Some(places) = self.receiver.positions_mm.as_ref().filter(|places| places.len() != channels) {
            let problem = format!("receiver.positions_mm has {} places for {channels} channels", places.len());
            return Err(DatasetError::invalid(&self.folder, problem));
        }
        let noise = match &self.receiver.noise_variance {
            None => NoiseSource::Options,
            Some(NoiseValue::One(variance)) => NoiseSource::Known(vec![*variance]),
            Some(NoiseValue::Each(variances)) => NoiseSource::Known(variances.clone()),
            Some(NoiseValue::Word(word)) if word == "auto" => NoiseSource::Floor,
            Some(NoiseValue::Word(word)) => {
                let problem =
                    format!("receiver.noise_variance = {word:?}; expected \"auto\", a number or one per channel");
                return Err(DatasetError::invalid(&self.folder, problem));
            }
        };
        let section = &self.receiver;
        let calibration = section.calibration.as_ref().map(|path| {
            let calibration = read_calibration(&self.path(path))?;
            let calibration = match &section.channels {
                Some(taken) => calibration.of_channels(taken),
                None => calibration,
            };
            match section.grid() {
                Some(grid) => grid.spread_calibration(calibration).map_err(|e| DatasetError::invalid(path, e)),
                None => Ok(calibration),
            }
        });
        let settings = ReceiverSettings {
            calibration: calibration.transpose()?,
            noise,
            phase_table: section.phase_table.as_ref().map(|path| read_phase_table(&self.path(path))).transpose()?,
        };
        Receiver::new(&recipe.band, &array.map_err(wrong)?, options, settings).map_err(wrong)
    }

    /// The board of a placement; `None` for `none`.
    pub(crate) fn board(&self, placement: &str) -> Option<Option<BoxShape>> {
        if placement == "none" {
            return Some(None);
        }
        self.board.get(placement).map(|board| {
            Some(BoxShape {
                center: Point3::from(board.center_m),
                size: Vector3::from(board.size_m),
                yaw: magnetar_scene::wrap(board.yaw_deg.to_radians()),
            })
        })
    }
}
