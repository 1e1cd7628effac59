//! Bins that a Wi-Fi transmitter turns against the others.

use num_complex::Complex32;

use crate::noise_floor;

/// The floor must fall by this factor when a turn is taken back.
const FALL: f64 = 0.5;

/// A part of the band that is turned against the rest. IEEE 802.11 turns 20 MHz parts of wider bands so that their sum has
/// lower peaks; chips report what they hear divided by what all of them sent, and the turn is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnedBins {
    /// Those from the carrier on, by 90 deg: of 40 MHz.
    UpperHalf,
    /// The lowest quarter, by 180 deg: of 80 MHz.
    LowestQuarter,
}

impl TurnedBins {
    /// The turn that an observation (all channels of bin 0 first) looks as if it had: without it the paths are far fewer
    /// delays wide, which the power between them shows.
    #[must_use]
    pub fn of(block: &[Complex32], channels: usize, skipped: &[usize]) -> Option<Self> {
        let floor = |block: &[Complex32]| -> Option<f64> {
            let floors = noise_floor(block, channels, skipped)?;
            Some(floors.iter().sum::<f64>())
        };
        let as_heard = floor(block)?;
        let taken_back = |turn: Self| floor(&turn.taken_back(block, channels)).map(|floor| (turn, floor));
        let best = [Self::UpperHalf, Self::LowestQuarter].into_iter().filter_map(taken_back);
        let (turn, found) = best.min_by(|a, b| a.1.total_cmp(&b.1))?;
        (found < FALL * as_heard).then_some(turn)
    }

    /// The turn that more than half of the observations look as if they had.
    #[must_use]
    pub fn of_most(found: &[Option<Self>]) -> Option<Self> {
        let many = |turn: &Self| 2 * found.iter().filter(|one| **one == Some(*turn)).count() > found.len();
        [Self::UpperHalf, Self::LowestQuarter].into_iter().find(many)
    }

    /// What a chip of such a band does to which bins, and the factor that a calibration has there.
    #[must_use]
    pub fn in_words(self) -> String {
        let (turn, bins, factor) = match self {
            Self::UpperHalf => ("90 deg against those below, as Wi-Fi of 40 MHz", "from the carrier on", "1j"),
            Self::LowestQuarter => ("180 deg against the others, as Wi-Fi of 80 MHz", "of the lowest quarter", "-1"),
        };
        format!(
            "the bins {bins} look turned by {turn} sends them, which makes paths up; divide it out with a calibration whose \
             factors are {factor} there and 1 elsewhere"
        )
    }

    /// An observation without the turn.
    fn taken_back(self, block: &[Complex32], channels: usize) -> Vec<Complex32> {
        let bins = block.len() / channels.max(1);
        let turned = |k: usize| match self {
            Self::UpperHalf if k >= bins / 2 => -Complex32::i(),
            Self::LowestQuarter if k < bins / 4 => Complex32::new(-1.0, 0.0),
            _ => Complex32::new(1.0, 0.0),
        };
        block.iter().enumerate().map(|(n, z)| z * turned(n / channels.max(1))).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::f32::consts::TAU;

    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};
    use rand_distr::StandardNormal;

    use super::*;

    /// Three channels, two paths, noise 25 dB below them; bins of a Wi-Fi chip of 40 MHz and of 80 MHz.
    #[test]
    fn a_turn_is_seen_and_nothing_else_is() {
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        for bins in [30, 114, 256] {
            for sent in [None, Some(TurnedBins::UpperHalf), Some(TurnedBins::LowestQuarter)] {
                let mut seen = [0; 3];
                for _ in 0..50 {
                    let starts: Vec<f32> = (0..6).map(|_| rng.random_range(0.0..TAU)).collect();
                    let mut block = Vec::new();
                    for (k, m) in (0..bins).flat_map(|k| [(k, 0), (k, 1), (k, 2)]) {
                        let path = |gain: f32, delay: f32, start: f32| {
                            Complex32::from_polar(gain, start - TAU * k as f32 * delay / bins as f32)
                        };
                        let mut normal = || rng.sample::<f32, _>(StandardNormal) * 0.04;
                        let noise = Complex32::new(normal(), normal());
                        block.push(path(1.0, 3.2, starts[m]) + path(0.5, 4.9, starts[3 + m]) + noise);
                    }
                    // A turn is its own opposite but for its sign, three times is once the other way.
                    let block =
                        sent.map_or(block.clone(), |turn| (0..3).fold(block, |block, _| turn.taken_back(&block, 3)));
                    seen[TurnedBins::of(&block, 3, &[]).map_or(0, |turn| 1 + turn as usize)] += 1;
                }
                assert!(seen[sent.map_or(0, |turn| 1 + turn as usize)] >= 45, "{bins} {sent:?}: {seen:?}");
            }
        }
    }
}
