//! Whole figures: each function returns one SVG.

mod caption;
mod cone;
mod fusion;
mod heading_modes;
mod marginal;
mod pattern;
mod room;
mod slices;
#[cfg(test)]
mod tests;
mod volume;
mod volumes;

use magnetar_posterior::{Support, Volume};
use magnetar_scene::{BoxShape, Pose, Room};

pub use cone::{ConeCurve, cone_figure};
pub use fusion::fusion_figure;
pub(crate) use marginal::marginal_key;
pub use marginal::{draw_marginal, marginal_figure};
pub use pattern::pattern_figure;
pub(crate) use room::plan_height;
pub use room::room_figure;
pub use slices::slices_figure;
pub use volume::volume_figure;
pub use volumes::{VolumeRow, volumes_figure};

/// Low end of the dB scales of posteriors, under the peak.
pub(crate) const FLOOR_DB: f64 = -30.0;

/// A posterior and the world it speaks of.
#[derive(Debug, Clone, Copy)]
pub struct PosteriorPicture<'a> {
    /// The candidates.
    pub support: &'a Support,
    /// Their masses.
    pub volume: &'a Volume,
    /// The room.
    pub room: &'a Room,
    /// What stands in it.
    pub boxes: &'a [BoxShape],
    /// Where the observations were made.
    pub rx: &'a [Pose],
    /// The true TX pose, where it is known.
    pub truth: Option<Pose>,
    /// What is shown, in a few words: the scorer, the record, that it is simulated.
    pub caption: &'a str,
}

/// Masses in dB under the largest of `reference`; zero mass is minus infinity.
pub(crate) fn decibels(mass: impl IntoIterator<Item = f64>, reference: f64) -> Vec<f64> {
    mass.into_iter().map(|m| 10.0 * (m / reference).log10()).collect()
}

/// The largest of some masses, never zero.
pub(crate) fn peak(mass: impl IntoIterator<Item = f64>) -> f64 {
    mass.into_iter().fold(f64::MIN_POSITIVE, f64::max)
}

/// The density above which a share `mass` of a distribution lies (its HPD threshold).
pub(crate) fn hpd_threshold(values: &[f64], mass: f64) -> f64 {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| *v > 0.0).collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let total: f64 = sorted.iter().sum();
    let mut sum = 0.0;
    for v in sorted {
        sum += v;
        if sum >= mass * total {
            return v;
        }
    }
    f64::INFINITY
}
