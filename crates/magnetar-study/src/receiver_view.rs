//! A dataset row split into what the receiver knows and what is true.

use magnetar_dataset::{Record, Reported};
use magnetar_posterior::{Layout, PosteriorError, ScoreRow, Stratum, Support, SupportSize};
use magnetar_scene::Pose;
use magnetar_signal::{Arrivals, Observation};

/// What the receiver knows of one observation. Scorers see nothing else of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceiverView {
    /// Room bounds and boxes, as reported.
    pub layout: Layout,
    /// The RX's own pose, as reported.
    pub rx: Pose,
    /// The retained arrivals.
    pub arrivals: Arrivals,
    /// The observation, where the dataset stores it and it was read.
    pub observation: Option<Observation>,
}

impl ReceiverView {
    /// The receiver's part of a row.
    #[must_use]
    pub fn of(record: &Record) -> Self {
        let Reported { room, rx, .. } = record.reported();
        Self {
            layout: Layout { room, boxes: record.reported_standing().collect() },
            rx,
            arrivals: record.arrivals.clone(),
            observation: record.csi.as_deref().map(Observation::from_interleaved),
        }
    }

    /// Candidates at cell centres over the room that the receiver believes in.
    ///
    /// # Errors
    /// If the support cannot be made.
    pub fn support(&self, size: SupportSize) -> Result<Support, PosteriorError> {
        Support::centred(&self.layout.room, size)
    }

    /// The view with candidates, to be scored.
    #[must_use]
    pub fn on<'a>(&'a self, support: &'a Support) -> ScoreRow<'a> {
        ScoreRow {
            number: None,
            layout: &self.layout,
            rx: &self.rx,
            arrivals: &self.arrivals,
            observation: self.observation.as_ref(),
            support,
        }
    }
}

/// Where the TX of a row truly is, held within the room that the receiver believes in.
#[must_use]
pub fn truth(record: &Record) -> Pose {
    record.reported().hold(&record.tx)
}

/// The balanced group of a row: board condition and material assignment; in replays also placement, protocol and site.
#[must_use]
pub fn stratum(record: &Record) -> Stratum {
    let m = &record.materials;
    let mut groups = vec![format!("{}/{}/{}", m.wall, m.ceiling, m.floor)];
    if let Some(replayed) = &record.replayed {
        let site = format!("{:05}", replayed.site);
        groups.extend([replayed.placement.to_string(), replayed.protocol.label().to_owned(), site]);
    }
    Stratum { board: record.layout.board.is_some(), groups }
}
