//! What a network is given about one observation.

use std::f64::consts::PI;

use magnetar_posterior::{
    ScoreRow, SupportSize, Volume, heading_channels, query_channels, spatial_channels, write_heading, write_spatial,
};
use magnetar_scene::wrap;

use crate::NeuralError;

/// Masses below this are taken as this when their logarithm is: masked candidates have none.
const LEAST_MASS: f32 = 1e-30;

/// Which candidates are scored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Picked {
    /// All candidates, in order.
    All,
    /// Some candidates, by flat index, in this order.
    Candidates(Vec<usize>),
    /// All candidates of some headings, heading by heading.
    Headings(Vec<usize>),
}

impl Picked {
    /// Flat indices of what is scored, in order.
    #[must_use]
    pub fn candidates(&self, size: SupportSize) -> Vec<usize> {
        let plane = size.rows * size.columns;
        match self {
            Self::All => (0..size.len()).collect(),
            Self::Candidates(some) => some.clone(),
            Self::Headings(some) => some.iter().flat_map(|d| d * plane..(d + 1) * plane).collect(),
        }
    }

    /// The headings that are scored whole.
    pub(crate) fn headings(&self, size: SupportSize) -> Vec<usize> {
        match self {
            Self::Headings(some) => some.clone(),
            // Designs that score headings are never given single candidates; `Design::scores_headings` says so.
            Self::All | Self::Candidates(_) => (0..size.headings).collect(),
        }
    }
}

/// One arrival as the conditioner of a density sees it: SNR in the unit of the features, cosine and sine of the AoA.
pub(crate) const ARRIVAL_CHANNELS: usize = 3;

/// Channels of the heading query that depend on heading and cell: cosine and sine of the heading against the way from the
/// candidate to the RX. The others depend on the heading alone.
const FACING: std::ops::Range<usize> = 2..4;

/// What a network is given: the paper's features, the candidates' poses about the RX, the arrivals, and for NP6 the twin.
///
/// Of the features only what does not depend on heading and cell at once is kept; the rest is worked out for the candidates
/// that are scored.
#[derive(Debug, Clone)]
pub struct Inputs {
    pub(crate) size: SupportSize,
    keep: usize,
    /// The spatial field, (8 + 4K) x H x W.
    pub(crate) spatial: Vec<f32>,
    /// What of the heading query depends on the heading alone, (2 + 2K) x D.
    pub(crate) heading: Vec<f32>,
    /// Bearings from the cells to the RX, radians, cell by cell.
    to_rx: Vec<f64>,
    /// Headings, radians, bin by bin.
    pub(crate) world_headings: Vec<f64>,
    /// Arrivals that were found; the others are missing.
    pub(crate) found: usize,
    /// Displacements from the RX in its own frame, metres, cell by cell.
    pub(crate) local: Vec<[f64; 2]>,
    /// Headings minus that of the RX, radians, bin by bin.
    pub(crate) headings: Vec<f64>,
    /// Spacing of the cells, metres.
    pub(crate) spacing: [f64; 2],
    /// `ARRIVAL_CHANNELS` per arrival that was found.
    pub(crate) arrivals: Vec<f32>,
    /// Logarithm of the twin's masses, candidate by candidate.
    pub(crate) log_twin: Option<Vec<f32>>,
}

impl Inputs {
    /// The inputs of a row. `twin` is the twin's posterior on the row's support, for designs that look at it.
    ///
    /// # Errors
    /// If the twin's posterior is on another support.
    pub fn new(row: &ScoreRow<'_>, twin: Option<&Volume>) -> Result<Self, NeuralError> {
        let (support, size) = (row.support, row.support.size());
        let keep = row.arrivals.keep;
        let mut spatial = vec![0f32; spatial_channels(keep) * size.rows * size.columns];
        write_spatial(support, row.layout, row.rx, row.arrivals, &mut spatial);
        let mut heading = vec![0f32; heading_channels(keep) * size.headings];
        write_heading(support, row.rx, row.arrivals, &mut heading);
        let (sin, cos) = (libm::sin(row.rx.heading), libm::cos(row.rx.heading));
        let mut local = Vec::with_capacity(size.rows * size.columns);
        let mut to_rx = Vec::with_capacity(size.rows * size.columns);
        for y in support.ys() {
            for x in support.xs() {
                let (dx, dy) = (x - row.rx.position.x, y - row.rx.position.y);
                local.push([cos * dx + sin * dy, cos * dy - sin * dx]);
                to_rx.push(libm::atan2(dy, dx) + PI);
            }
        }
        let found = row.arrivals.found.len().min(row.arrivals.keep);
        let scaled = |db: f64| (db / magnetar_posterior::SNR_SCALE_DB) as f32;
        let arrivals = row.arrivals.found[..found].iter().flat_map(|arrival| {
            [scaled(arrival.snr_db), libm::cos(arrival.aoa_rad) as f32, libm::sin(arrival.aoa_rad) as f32]
        });
        let log_twin = match twin {
            Some(twin) if twin.size() != size => {
                return Err(NeuralError::Request { problem: "the twin's posterior is on another support".into() });
            }
            Some(twin) => Some(twin.mass().iter().map(|mass| libm::logf(mass.max(LEAST_MASS))).collect()),
            None => None,
        };
        Ok(Self {
            size,
            keep,
            spatial,
            heading,
            to_rx,
            world_headings: (0..size.headings).map(|d| support.heading(d)).collect(),
            found,
            local,
            headings: (0..size.headings).map(|d| wrap(support.heading(d) - row.rx.heading)).collect(),
            spacing: support.spacing(),
            arrivals: arrivals.collect(),
            log_twin,
        })
    }

    /// D, H and W.
    #[must_use]
    pub fn size(&self) -> SupportSize {
        self.size
    }

    /// K: the arrivals that the estimator keeps.
    #[must_use]
    pub fn keep(&self) -> usize {
        self.keep
    }

    /// H W: candidates per heading.
    pub(crate) fn plane(&self) -> usize {
        self.size.rows * self.size.columns
    }

    /// A channel of the spatial field, then of the heading query, of one candidate: the paper's features.
    #[must_use]
    pub fn channel(&self, channel: usize, candidate: usize) -> f32 {
        let (plane, spatial) = (self.plane(), spatial_channels(self.keep));
        let (heading, cell) = (candidate / plane, candidate % plane);
        match channel.checked_sub(spatial) {
            None => self.spatial[channel * plane + cell],
            Some(query) if FACING.contains(&query) => self.facing(query, heading, cell),
            Some(query) => self.of_heading(query, heading),
        }
    }

    /// A channel of the heading query that depends on the heading alone.
    fn of_heading(&self, query: usize, heading: usize) -> f32 {
        let place = if query < FACING.start { query } else { query - FACING.len() };
        self.heading[place * self.size.headings + heading]
    }

    /// A channel of the heading query that depends on heading and cell.
    fn facing(&self, query: usize, heading: usize, cell: usize) -> f32 {
        let angle = self.world_headings[heading] - self.to_rx[cell];
        (if query == FACING.start { libm::cos(angle) } else { libm::sin(angle) }) as f32
    }

    /// `[n, channels]`: some channels of some candidates.
    pub(crate) fn matrix(&self, candidates: &[usize], channels: &[usize]) -> Vec<f32> {
        let mut values = Vec::with_capacity(candidates.len() * channels.len());
        for candidate in candidates {
            values.extend(channels.iter().map(|channel| self.channel(*channel, *candidate)));
        }
        values
    }

    /// `[headings, 12 + 6K, H, W]`: all channels of some headings.
    pub(crate) fn images(&self, headings: &[usize]) -> Vec<f32> {
        let (plane, queries) = (self.plane(), query_channels(self.keep));
        let mut images = Vec::with_capacity(headings.len() * (spatial_channels(self.keep) + queries) * plane);
        for d in headings {
            images.extend_from_slice(&self.spatial);
            for query in 0..queries {
                if FACING.contains(&query) {
                    images.extend((0..plane).map(|cell| self.facing(query, *d, cell)));
                } else {
                    images.extend(std::iter::repeat_n(self.of_heading(query, *d), plane));
                }
            }
        }
        images
    }
}
