//! What a network is given about one observation.

use magnetar_posterior::{Features, ScoreRow, SupportSize, Volume, query_channels, spatial_channels};
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

/// What a network is given: the paper's features, the candidates' poses about the RX, the arrivals, and for NP6 the twin.
#[derive(Debug, Clone)]
pub struct Inputs {
    pub(crate) size: SupportSize,
    pub(crate) features: Features,
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
        let features = Features::new(support, row.layout, row.rx, row.arrivals);
        let (sin, cos) = (libm::sin(row.rx.heading), libm::cos(row.rx.heading));
        let mut local = Vec::with_capacity(size.rows * size.columns);
        for y in support.ys() {
            for x in support.xs() {
                let (dx, dy) = (x - row.rx.position.x, y - row.rx.position.y);
                local.push([cos * dx + sin * dy, cos * dy - sin * dx]);
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
            features,
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

    /// The paper's features.
    #[must_use]
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// K: the arrivals that the estimator keeps.
    #[must_use]
    pub fn keep(&self) -> usize {
        self.features.keep
    }

    /// H W: candidates per heading.
    pub(crate) fn plane(&self) -> usize {
        self.size.rows * self.size.columns
    }

    /// A channel of the spatial field, then of the heading query, of one candidate.
    pub(crate) fn channel(&self, channel: usize, candidate: usize) -> f32 {
        let (plane, spatial) = (self.plane(), spatial_channels(self.keep()));
        match channel.checked_sub(spatial) {
            None => self.features.spatial[channel * plane + candidate % plane],
            Some(query) => self.features.query[query * self.size.len() + candidate],
        }
    }

    /// `[n, channels]`: some channels of some candidates.
    pub(crate) fn matrix(&self, candidates: &[usize], channels: &[usize]) -> Vec<f32> {
        let of =
            |candidate: &usize| channels.iter().map(|channel| self.channel(*channel, *candidate)).collect::<Vec<_>>();
        candidates.iter().flat_map(of).collect()
    }

    /// `[headings, 12 + 6K, H, W]`: all channels of some headings.
    pub(crate) fn images(&self, headings: &[usize]) -> Vec<f32> {
        let (plane, keep) = (self.plane(), self.keep());
        let mut images = Vec::with_capacity(headings.len() * (spatial_channels(keep) + query_channels(keep)) * plane);
        for d in headings {
            images.extend_from_slice(&self.features.spatial);
            for query in self.features.query.chunks_exact(self.size.len()) {
                images.extend_from_slice(&query[d * plane..(d + 1) * plane]);
            }
        }
        images
    }
}
