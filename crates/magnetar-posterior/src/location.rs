//! Where one TX stands and which way it faces, from one or several snapshots of it.

use magnetar_scene::Pose;
use magnetar_signal::{Arrivals, Observation};

use crate::{
    Fused, HpdCurve, Layout, Mask, PosteriorError, ScoreRow, Scorer, Support, SupportSize, Target, Volume, fuse,
};

/// What a receiver has at one place.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Where it was taken: the RX's own pose.
    pub rx: Pose,
    /// The retained arrivals.
    pub arrivals: Arrivals,
    /// The observation itself, for scorers that look at it.
    pub observation: Option<Observation>,
}

/// The posterior of one TX.
#[derive(Debug, Clone, PartialEq)]
pub struct Location {
    /// The candidates.
    pub support: Support,
    /// The posterior of each snapshot alone.
    pub views: Vec<Volume>,
    /// What all of them say together: of a single snapshot its own posterior, of several the late fusion.
    pub joint: Volume,
    /// Early and late fusion and their compatibility, of several snapshots.
    pub fused: Option<Fused>,
    mask: Mask,
}

/// The most probable pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MostProbablePose {
    /// Metres in the global frame.
    pub x: f64,
    /// Metres in the global frame.
    pub y: f64,
    /// Degrees counter-clockwise from +x, in [-180, 180).
    pub heading_deg: f64,
    /// Its mass.
    pub mass: f64,
}

impl Location {
    /// Scores snapshots of one TX that does not move, and fuses them.
    ///
    /// # Errors
    /// Without a snapshot, when one cannot be scored, or when they exclude one another.
    pub fn new(
        layout: &Layout,
        snapshots: &[Snapshot],
        scorer: &dyn Scorer,
        size: SupportSize,
    ) -> Result<Self, PosteriorError> {
        let first = snapshots.first().ok_or(PosteriorError::NothingToFuse)?;
        let support = Support::centred(&layout.room, size)?;
        let rows: Vec<ScoreRow<'_>> = snapshots
            .iter()
            .map(|snapshot| ScoreRow {
                number: None,
                layout,
                rx: &snapshot.rx,
                arrivals: &snapshot.arrivals,
                observation: snapshot.observation.as_ref(),
                support: &support,
            })
            .collect();
        let views = scorer.score(&rows)?;
        let mask = support.mask(&first.rx);
        let fused = if views.len() > 1 { Some(fuse(&views)?) } else { None };
        let joint = match (&fused, views.first()) {
            (Some(fused), _) => Volume::from_weights(size, &mask, &fused.joint)?,
            (None, Some(view)) => view.clone(),
            (None, None) => return Err(PosteriorError::NothingToFuse),
        };
        Ok(Self { support, views, joint, fused, mask })
    }

    /// The most probable pose of the joint posterior.
    #[must_use]
    pub fn mode(&self) -> MostProbablePose {
        let n = self.joint.mode();
        let (d, i, j) = self.support.place(n);
        MostProbablePose {
            x: self.support.xs()[j],
            y: self.support.ys()[i],
            heading_deg: self.support.heading(d).to_degrees(),
            mass: f64::from(self.joint.mass()[n]),
        }
    }

    /// Candidates in the smallest sets that hold each of these percentages (0 to 100) of the joint posterior.
    #[must_use]
    pub fn hpd_cells(&self, percents: &[usize]) -> Vec<f64> {
        let curve = HpdCurve::new(&self.joint, &self.mask, &Target { voxels: Vec::new() });
        percents.iter().map(|percent| curve.support[(*percent).min(100)] * self.mask.count() as f64).collect()
    }

    /// Common-heading compatibility where late fusion puts its mass, in [0, 1]; of several snapshots.
    #[must_use]
    pub fn kappa(&self) -> Option<f64> {
        self.fused.as_ref().map(Fused::mean_kappa)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::UniformScorer;
    use crate::testing::room;

    fn snapshots(count: usize) -> Vec<Snapshot> {
        let at = |n: usize| Pose::new(0.3 * n as f64, 0.1, 1.08, 0.0);
        (0..count).map(|n| Snapshot { rx: at(n), arrivals: Arrivals::default(), observation: None }).collect()
    }

    #[test]
    fn one_snapshot_is_its_own_posterior_and_several_are_fused() {
        let layout = Layout { room: room(), boxes: Vec::new() };
        let size = SupportSize { headings: 4, rows: 5, columns: 3 };
        let one = Location::new(&layout, &snapshots(1), &UniformScorer, size).unwrap();
        assert_eq!((&one.joint, one.kappa()), (&one.views[0], None));
        let cells = one.hpd_cells(&[50, 90]);
        assert!((cells[0] - 30.0).abs() < 1e-4 && (cells[1] - 54.0).abs() < 1e-4, "{cells:?}");
        let three = Location::new(&layout, &snapshots(3), &UniformScorer, size).unwrap();
        assert_eq!(three.views.len(), 3);
        // Nothing is known of the heading: three views agree by chance alone.
        assert!((three.kappa().unwrap() - 4.0 / 64.0).abs() < 1e-6);
        assert!(Location::new(&layout, &[], &UniformScorer, size).is_err());
    }
}
