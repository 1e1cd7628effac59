//! Replays of the paper's measurement campaign in a simulated room.
//!
//! A replayed split takes its poses from the campaign's protocol instead of drawing them: without a board first, then
//! with the board at each placement; RX sites in order, the TX always facing the RX. Everything after the poses (paths,
//! link scale, RF chain, noise, estimation) is as for any other row.

mod check;
mod scene;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::recipe::Replay;

/// How every replayed dataset is labelled.
pub const STAND_IN: &str = "Simulated stand-in for the paper's measurement campaign, replayed in the reference room";

/// Where the poses of a split come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Drawn at random.
    #[default]
    Random,
    /// The TX stands still; the RX turns through all headings at each of a few sites.
    FullRotation,
    /// The TX samples its track for each of a few random RX headings at every site of a grid.
    Track,
}

impl Protocol {
    /// The labels of all, in order.
    pub(crate) const LABELS: [&'static str; 3] = ["random", "full-rotation", "track"];

    /// `random`, `full-rotation` or `track`.
    #[must_use]
    pub fn label(self) -> &'static str {
        Self::LABELS[self as usize]
    }

    /// The protocol of that label.
    #[must_use]
    pub fn from_label(label: &str) -> Option<Self> {
        [Self::Random, Self::FullRotation, Self::Track].into_iter().find(|protocol| protocol.label() == label)
    }

    /// Whether poses are drawn.
    #[must_use]
    pub fn is_random(&self) -> bool {
        *self == Self::Random
    }
}

/// What was commanded for a replayed row.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// The protocol.
    pub protocol: Protocol,
    /// Name of the board's placement; `none` without one.
    pub placement: Arc<str>,
    /// Number of the RX site within its protocol.
    pub site: u32,
    /// Commanded RX heading in the global frame, radians in [0, 2 pi).
    pub command: f64,
}

/// One step of a protocol, all counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    /// 0 without a board, else one more than the placement's number.
    placement: usize,
    site: usize,
    heading: u64,
    sample: u64,
}

impl Replay {
    /// RX sites of a protocol, x and y in the global frame, metres.
    #[must_use]
    pub fn sites(&self, protocol: Protocol) -> Vec<[f64; 2]> {
        match protocol {
            Protocol::Random => Vec::new(),
            Protocol::FullRotation => {
                self.rotation_site_x_m.iter().zip(&self.rotation_site_y_m).map(|(x, y)| [*x, *y]).collect()
            }
            Protocol::Track => {
                let row = |y: &f64| self.track_site_x_m.iter().map(|x| [*x, *y]).collect::<Vec<_>>();
                self.track_site_y_m.iter().flat_map(row).collect()
            }
        }
    }

    /// Headings of a site (with the board), and TX positions of a heading.
    fn steps(&self, protocol: Protocol) -> (u64, u64) {
        match protocol {
            Protocol::Random => (0, 0),
            Protocol::FullRotation => (u64::from(self.rotation_headings), 1),
            Protocol::Track => (u64::from(self.track_headings), u64::from(self.track_samples)),
        }
    }

    /// Headings of a site without the board.
    fn headings_without_board(&self, protocol: Protocol, site: usize) -> u64 {
        let (with, _) = self.steps(protocol);
        let list = &self.track_headings_no_board;
        if protocol != Protocol::Track || list.is_empty() { with } else { u64::from(list[site % list.len()]) }
    }

    /// Rows of a protocol for one board placement.
    #[must_use]
    pub fn rows_per_placement(&self, protocol: Protocol) -> u64 {
        let (headings, samples) = self.steps(protocol);
        self.sites(protocol).len() as u64 * headings * samples
    }

    /// Rows of a protocol without a board.
    #[must_use]
    pub fn rows_without_board(&self, protocol: Protocol) -> u64 {
        let (_, samples) = self.steps(protocol);
        (0..self.sites(protocol).len()).map(|site| self.headings_without_board(protocol, site) * samples).sum()
    }

    /// The outing of a row: its site of a placement.
    pub(crate) fn outing(&self, protocol: Protocol, row: u64) -> u64 {
        let step = self.step(protocol, row);
        (step.placement * self.sites(protocol).len() + step.site) as u64
    }

    /// The step that a row replays: placement, then site, then heading, then TX position.
    fn step(&self, protocol: Protocol, row: u64) -> Step {
        let (headings, samples) = self.steps(protocol);
        let (headings, samples) = (headings.max(1), samples.max(1));
        let sites = (self.sites(protocol).len() as u64).max(1);
        let without = self.rows_without_board(protocol);
        let (mut block, sample) = (row / samples, row % samples);
        if row < without {
            let mut site = 0;
            while block >= self.headings_without_board(protocol, site).max(1) {
                block -= self.headings_without_board(protocol, site).max(1);
                site += 1;
            }
            return Step { placement: 0, site, heading: block, sample };
        }
        let block = (row - without) / samples;
        let (place, heading) = (block / headings, block % headings);
        let index = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        Step { placement: 1 + index(place / sites), site: index(place % sites), heading, sample }
    }
}
