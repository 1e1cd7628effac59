//! The likelihood with one of its terms taken away, to show what each is worth.

/// A term of the likelihood that can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ablation {
    /// Nothing is left out.
    #[default]
    None,
    /// Cells are points: position and heading are not integrated over.
    CellIntegral,
    /// Paths that merge do not fade and are all seen on their own.
    Fading,
    /// Stronger paths that were not retained are no contradiction.
    Ranking,
    /// Each arrival has a power offset of its own.
    SharedOffset,
    /// Only the first material assignment is considered.
    Materials,
    /// Phase noise does not depend on the SNR.
    PhaseNoise,
    /// SNRs are not used, only phases.
    Snr,
    /// The second arrival is not used.
    SecondArrival,
    /// The TX may stand anywhere, wall margin and least distance from the RX ignored.
    DevicePrior,
}

impl Ablation {
    /// All of them, the full likelihood first.
    pub const ALL: [Self; 10] = [
        Self::None,
        Self::CellIntegral,
        Self::Fading,
        Self::Ranking,
        Self::SharedOffset,
        Self::Materials,
        Self::PhaseNoise,
        Self::Snr,
        Self::SecondArrival,
        Self::DevicePrior,
    ];

    /// What is left out, in words.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::None => "full likelihood",
            Self::CellIntegral => "without the integral over the cell",
            Self::Fading => "without merging and fading",
            Self::Ranking => "without rank and detection",
            Self::SharedOffset => "without the shared power offset",
            Self::Materials => "with one material assignment",
            Self::PhaseNoise => "without SNR-dependent phase noise",
            Self::Snr => "without SNRs",
            Self::SecondArrival => "without the second arrival",
            Self::DevicePrior => "without the recipe's device distances",
        }
    }
}
