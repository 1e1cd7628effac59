//! Random streams: one for each purpose and sample, so that no draw depends on any other.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use sha2::{Digest, Sha256};

/// What a stream of random numbers is for. Separate streams keep draws comparable: a board that takes three tries
/// instead of two leaves the noise as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Size and translation of the room.
    Room,
    /// Assignment of materials.
    Materials,
    /// Positions of TX and RX.
    Positions,
    /// Headings of TX and RX.
    Headings,
    /// Size, region and yaw of the board.
    Board,
    /// Place of the board within its region.
    Placement,
    /// TX-power offset.
    Link,
    /// RF-chain perturbation.
    RfChain,
    /// Receiver noise.
    Noise,
    /// Arrivals that no traced path explains.
    Unmodelled,
    /// Antenna pattern errors of an outing.
    PatternError,
    /// Level offset of an outing.
    Level,
    /// RF chain of an outing.
    OutingRfChain,
    /// Error of the reported walls.
    ReportedWalls,
    /// Error of the reported board.
    ReportedBoard,
    /// Error of the reported RX pose.
    ReportedPose,
}

const PURPOSES: [(Purpose, &str); 16] = [
    (Purpose::Room, "room"),
    (Purpose::Materials, "materials"),
    (Purpose::Positions, "positions"),
    (Purpose::Headings, "headings"),
    (Purpose::Board, "board"),
    (Purpose::Placement, "placement"),
    (Purpose::Link, "link"),
    (Purpose::RfChain, "rf-chain"),
    (Purpose::Noise, "noise"),
    (Purpose::Unmodelled, "unmodelled"),
    (Purpose::PatternError, "pattern-error"),
    (Purpose::Level, "level"),
    (Purpose::OutingRfChain, "outing-rf-chain"),
    (Purpose::ReportedWalls, "reported-walls"),
    (Purpose::ReportedBoard, "reported-board"),
    (Purpose::ReportedPose, "reported-pose"),
];

/// The streams of one (seed, split).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Streams {
    keys: [[u8; 32]; PURPOSES.len()],
}

impl Streams {
    /// Keys for every purpose: SHA-256 of a fixed label, the seed, the split and the purpose.
    #[must_use]
    pub fn new(seed: u64, split: &str) -> Self {
        let key = |(_, purpose): (Purpose, &str)| {
            let mut hash = Sha256::new();
            hash.update(b"magnetar draws v1\0");
            hash.update(seed.to_le_bytes());
            hash.update(split.as_bytes());
            hash.update(b"\0");
            hash.update(purpose.as_bytes());
            hash.finalize().into()
        };
        Self { keys: PURPOSES.map(key) }
    }

    /// The generator for one purpose of one sample (a set's number for what its views share, else a row's index).
    #[must_use]
    pub fn rng(&self, purpose: Purpose, sample: u64) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::from_seed(self.keys[purpose as usize]);
        rng.set_stream(sample);
        rng
    }
}

/// Uniform in [low, high).
pub(crate) fn uniform(rng: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
    low + (high - low) * rng.random::<f64>()
}

/// One of `n` choices.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "n is a short list's length"
)]
pub(crate) fn choose(rng: &mut ChaCha8Rng, n: usize) -> usize {
    ((rng.random::<f64>() * n as f64) as usize).min(n - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_split_purpose_and_sample_and_repeat() {
        let first = |seed, split, purpose, sample| -> u64 { Streams::new(seed, split).rng(purpose, sample).random() };
        let base = first(1, "train", Purpose::Noise, 0);
        assert_eq!(base, first(1, "train", Purpose::Noise, 0));
        for other in [
            first(2, "train", Purpose::Noise, 0),
            first(1, "test", Purpose::Noise, 0),
            first(1, "train", Purpose::RfChain, 0),
            first(1, "train", Purpose::Noise, 1),
        ] {
            assert_ne!(base, other);
        }
        for (i, (purpose, _)) in PURPOSES.into_iter().enumerate() {
            assert_eq!(purpose as usize, i);
        }
    }
}
