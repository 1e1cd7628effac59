//! Highest-posterior-density regions with soft truth and proportional boundary ties.

use crate::{Mask, Target, Volume};

/// Nominal masses 0, 0.01, ..., 1 at which regions are made; the HPD gap reads 0.1 ... 0.9 of them.
pub const LEVELS: usize = 101;

/// For each nominal mass: how much of the soft truth and which share of the valid candidates the region holds.
///
/// The region of mass q is all candidates above a density and, of those exactly at it (one or many), the fraction that
/// makes the mass q: coverage and support count that fraction.
#[derive(Debug, Clone, PartialEq)]
pub struct HpdCurve {
    /// Soft-truth mass inside, by level.
    pub coverage: Vec<f64>,
    /// Share of the valid candidates inside, by level.
    pub support: Vec<f64>,
}

impl HpdCurve {
    /// Sorts the candidates once and reads all levels off.
    #[must_use]
    pub fn new(volume: &Volume, mask: &Mask, target: &Target) -> Self {
        let valid = mask.count().max(1) as f64;
        let plane = volume.size().rows * volume.size().columns;
        // The bits of a non-negative float order like the float itself: integer keys sort faster.
        let mut order: Vec<(u32, u32)> = volume
            .mass()
            .iter()
            .enumerate()
            .filter(|(n, _)| mask.is_valid(n % plane))
            .map(|(n, m)| (m.to_bits(), n as u32))
            .collect();
        order.sort_unstable_by(|a, b| b.cmp(a));
        let mut truth = vec![0.0; volume.mass().len()];
        for &(n, w) in &target.voxels {
            truth[n] += w;
        }
        let (mut coverage, mut support) = (vec![0.0; LEVELS], vec![0.0; LEVELS]);
        let (mut mass, mut covered, mut count, mut level) = (0.0, 0.0, 0.0, 1);
        let mut start = 0;
        while start < order.len() && level < LEVELS {
            let key = order[start].0;
            let ties = order[start..].iter().take_while(|o| o.0 == key).count();
            let group = &order[start..start + ties];
            let group_mass = f64::from(f32::from_bits(key)) * ties as f64;
            let group_truth: f64 = group.iter().map(|o| truth[o.1 as usize]).sum();
            while level < LEVELS {
                let wanted = level as f64 / (LEVELS - 1) as f64;
                // Rounding must not push a region just past the end of its group.
                if wanted > mass + group_mass + 1e-9 {
                    break;
                }
                let part = if group_mass > 0.0 { ((wanted - mass) / group_mass).clamp(0.0, 1.0) } else { 1.0 };
                coverage[level] = covered + part * group_truth;
                support[level] = (count + part * ties as f64) / valid;
                level += 1;
            }
            mass += group_mass;
            covered += group_truth;
            count += ties as f64;
            start += ties;
        }
        for rest in level..LEVELS {
            coverage[rest] = covered;
            support[rest] = count / valid;
        }
        Self { coverage, support }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::small_open_support;
    use magnetar_scene::Pose;

    #[test]
    fn a_uniform_posterior_covers_what_it_says() {
        let (s, mask) = small_open_support();
        let truth = Target::evaluation(&s, &mask, &Pose::new(1.3, 1.1, 1.0, 0.4)).unwrap();
        let curve = HpdCurve::new(&Volume::uniform(s.size(), &mask).unwrap(), &mask, &truth);
        for level in 0..LEVELS {
            let q = level as f64 / 100.0;
            assert!((curve.coverage[level] - q).abs() < 1e-6 && (curve.support[level] - q).abs() < 1e-6);
        }
    }

    #[test]
    fn ties_share_the_boundary_in_proportion() {
        // Masses 0.4, then four ties of 0.15: the region of 0.7 holds the first and half of the ties.
        let (s, mask) = small_open_support();
        let mut weights = vec![0.0; 96];
        weights[0] = 0.4;
        weights[1..5].fill(0.15);
        let volume = Volume::from_weights(s.size(), &mask, &weights).unwrap();
        let target = Target { voxels: vec![(1, 0.5), (0, 0.25), (90, 0.25)] };
        let curve = HpdCurve::new(&volume, &mask, &target);
        assert!((curve.coverage[70] - (0.25 + 0.25)).abs() < 1e-6, "{}", curve.coverage[70]);
        assert!((curve.support[70] - 3.0 / 96.0).abs() < 1e-6);
        // Half of the top voxel makes 0.2.
        assert!((curve.coverage[20] - 0.125).abs() < 1e-6);
        assert!((curve.support[20] - 0.5 / 96.0).abs() < 1e-6);
        // The truth on a zero-mass voxel is not covered by the region of all the mass.
        assert!((curve.coverage[100] - 0.75).abs() < 1e-6);
    }
}
