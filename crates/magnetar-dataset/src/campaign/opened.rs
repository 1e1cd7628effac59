//! A recording of a campaign: its rows and where their observations come from.

use magnetar_signal::BinGrid;
use num_complex::Complex32;

use super::rows::{CampaignRow, campaign_rows};
use super::sigmf::IqRecording;
use super::{Campaign, Recording};
use crate::error::DatasetError;
use crate::manifest::read_whole;
use crate::observations::ObservationSource;
use crate::recipe::Recipe;

/// A larger table of rows is a mistake.
const MAX_TABLE_BYTES: u64 = 256 << 20;

/// Where a recording's observations come from.
pub(super) enum Source {
    File(Box<ObservationSource>),
    Iq(Box<IqRecording>),
}

impl Source {
    /// Opens a recording's observations, at the first of them.
    pub(super) fn open(campaign: &Campaign, recording: &Recording, recipe: &Recipe) -> Result<Self, DatasetError> {
        let path = campaign.path(&recording.observations);
        if path.extension().is_some_and(|ending| ending == "sigmf-meta") {
            let Some(iq) = &recording.iq else {
                return Err(DatasetError::invalid(&path, "a SigMF recording needs recording.iq: reference and domain"));
            };
            let reference = campaign.path(&iq.reference);
            let recording = IqRecording::open(&path, iq, &reference, recipe.band.bins, recipe.band.bandwidth_hz)?;
            return Ok(Self::Iq(Box::new(recording)));
        }
        let source = ObservationSource::open(&path, campaign.receiver.channels.as_deref());
        Ok(Self::File(Box::new(source.map_err(|e| DatasetError::invalid(&path, e))?)))
    }
}

/// A recording with its rows.
pub(super) struct Opened<'a> {
    pub(super) recording: &'a Recording,
    pub(super) rows: Vec<CampaignRow>,
    /// The split of each row.
    pub(super) splits: Vec<&'a str>,
    pub(super) source: Source,
    /// The grid of the file's bins, if they are not all neighbours.
    pub(super) grid: Option<BinGrid>,
}

impl<'a> Opened<'a> {
    /// Opens a recording's observations and reads its rows; there must be one of each.
    pub(super) fn open(campaign: &Campaign, recording: &'a Recording, recipe: &Recipe) -> Result<Self, DatasetError> {
        let table = campaign.path(&recording.rows);
        let text = read_whole(&table, MAX_TABLE_BYTES, "not a table of rows")?;
        let rows = campaign_rows(&text)
            .map_err(|(line, problem)| DatasetError::invalid(&table, format!("line {line}: {problem}")))?;
        let path = campaign.path(&recording.observations);
        let grid = campaign.receiver.grid();
        let bins = grid.as_ref().map_or(recipe.band.bins, BinGrid::bins);
        let source = Source::open(campaign, recording, recipe)?;
        let (count, found) = match &source {
            Source::Iq(recording) => (recording.rows(), bins),
            Source::File(source) => (source.rows(), source.bins()),
        };
        if found != bins {
            let problem = match &grid {
                Some(_) => format!("{found} bins; receiver.subcarriers lists {bins}: give one for each"),
                None => format!(
                    "{found} bins; the recipe's band has {bins}: give a recipe with the band of the measurement, or \
                     receiver.subcarriers"
                ),
            };
            return Err(DatasetError::invalid(&path, problem));
        }
        if count != rows.len() as u64 {
            let problem =
                format!("{count} observations, and {} rows in {}; expected one each", rows.len(), table.display());
            return Err(DatasetError::invalid(&path, problem));
        }
        if rows.is_empty() {
            return Err(DatasetError::invalid(&table, "there is no row in it; expected one for each observation"));
        }
        if !rows.len().is_multiple_of(recording.views as usize) {
            let problem = format!("{} rows are no whole sets of {} views", rows.len(), recording.views);
            return Err(DatasetError::invalid(&table, problem));
        }
        for (set, views) in rows.chunks(recording.views as usize).enumerate() {
            let tx = |row: &CampaignRow| [row.tx_x, row.tx_y, row.tx_z, row.tx_heading_deg];
            if let Some(n) = views.iter().position(|row| tx(row) != tx(&views[0])) {
                let row = set * recording.views as usize + n;
                let problem = format!("row {row}: another TX pose than the first of its {} views", recording.views);
                return Err(DatasetError::invalid(&table, problem));
            }
        }
        for (n, row) in rows.iter().enumerate() {
            let placement = row.placement.as_deref().unwrap_or("none");
            if campaign.board(placement).is_none() {
                let known: Vec<&str> = campaign.board.keys().map(String::as_str).collect();
                let problem =
                    format!("row {n}: placement {placement:?}; the campaign has none and {}", known.join(", "));
                return Err(DatasetError::invalid(&table, problem));
            }
        }
        let splits = vec![recording.split.as_str(); rows.len()];
        Ok(Self { recording, rows, splits, source, grid })
    }
}

impl Opened<'_> {
    /// Calls `take` with every row of a split, its number and its observation of so many bins and channels. Reads the observations from where they are on:
    /// all of them, once.
    pub(super) fn for_each(
        &mut self,
        split: &str,
        (bins, channels): (usize, usize),
        mut take: impl FnMut(&CampaignRow, usize, &mut [Complex32]) -> Result<(), DatasetError>,
    ) -> Result<(), DatasetError> {
        match &mut self.source {
            Source::Iq(recording) => {
                let mut block = Vec::new();
                for (n, row) in self.rows.iter().enumerate().filter(|(n, _)| self.splits[*n] == split) {
                    recording.read(n as u64, &mut block)?;
                    take(row, n, &mut block)?;
                }
            }
            Source::File(source) => {
                let (mut chunk, mut n) = (Vec::new(), 0);
                loop {
                    let place = &self.recording.observations;
                    source.next_chunk(&mut chunk).map_err(|e| DatasetError::invalid(place, e))?;
                    if chunk.is_empty() {
                        break;
                    }
                    if let Some(grid) = &self.grid {
                        chunk = grid.spread(&chunk, channels);
                    }
                    for block in chunk.chunks_exact_mut(bins * channels) {
                        let Some(row) = self.rows.get(n) else { break };
                        if self.splits[n] == split {
                            take(row, n, block)?;
                        }
                        n += 1;
                    }
                }
                if n != self.rows.len() {
                    let problem = format!("ends after {n} of {} observations", self.rows.len());
                    return Err(DatasetError::invalid(&self.recording.observations, problem));
                }
            }
        }
        Ok(())
    }
}
