//! The candidates that a row is judged on: a support, what is masked on it, and where the truth lies.

use magnetar_posterior::{Mask, PosteriorError, Support, SupportSize, Target};
use magnetar_scene::Pose;
use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};

use crate::ReceiverView;

/// Candidates of one row.
#[derive(Debug, Clone)]
pub struct Candidates {
    /// Where they are.
    pub support: Support,
    /// Those that coincide with the RX.
    pub mask: Mask,
    /// The truth among them.
    pub target: Target,
}

impl Candidates {
    /// At cell centres, the truth spread over those about it.
    ///
    /// # Errors
    /// If support or target cannot be made.
    pub fn evaluation(view: &ReceiverView, size: SupportSize, truth: &Pose) -> Result<Self, PosteriorError> {
        let support = view.support(size)?;
        let mask = support.mask(&view.rx);
        let target = Target::evaluation(&support, &mask, truth)?;
        Ok(Self { support, mask, target })
    }

    /// Drawn in their strata, the truth inserted in its own.
    ///
    /// # Errors
    /// As for [`Candidates::evaluation`].
    pub fn training(
        view: &ReceiverView,
        size: SupportSize,
        truth: &Pose,
        rng: &mut impl Rng,
    ) -> Result<Self, PosteriorError> {
        let support = Support::training(&view.layout.room, size, [truth.position.x, truth.position.y], rng)?;
        let mask = support.mask(&view.rx);
        let target = Target::training(&support, &mask, truth)?;
        Ok(Self { support, mask, target })
    }
}

/// The random numbers of training support `number` of a seed: a stream of their own, so that any order and any number of
/// threads give the same supports.
#[must_use]
pub fn support_stream(seed: u64, number: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(number);
    rng
}
