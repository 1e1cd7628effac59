//! A dataset row split into what the receiver knows and what is true.

use magnetar_dataset::Record;
use magnetar_posterior::{Layout, ScoreRow, Stratum, Support};
use magnetar_scene::Pose;
use magnetar_signal::{Arrivals, Observation};

/// What the receiver knows of one observation. Scorers see nothing else of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceiverView {
    /// Room bounds and boxes.
    pub layout: Layout,
    /// The RX's own pose.
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
        Self {
            layout: Layout { room: record.room, boxes: record.standing().collect() },
            rx: record.rx,
            arrivals: record.arrivals.clone(),
            observation: record.csi.as_deref().map(Observation::from_interleaved),
        }
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

/// The balanced group of a row: board condition and material assignment; in replays also placement, protocol and site.
#[must_use]
pub fn stratum(record: &Record) -> Stratum {
    let m = &record.materials;
    let mut groups = vec![format!("{}/{}/{}", m.wall, m.ceiling, m.floor)];
    if let Some(replayed) = &record.replayed {
        let site = format!("{:05}", replayed.site);
        groups.extend([replayed.placement.to_string(), replayed.protocol.label().to_owned(), site]);
    }
    Stratum { board: record.board.is_some(), groups }
}
