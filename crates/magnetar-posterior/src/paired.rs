//! Two scorers on the same rows: differences row by row, which have smaller errors than the two means.

use serde::Serialize;

use crate::balanced::BalancedSums;
use crate::{BalancedMean, Score, Stratum};

/// Balanced mean differences of two scorers' metrics on the same rows: the second minus the first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PairedDifferences {
    /// Rows that both scored.
    pub samples: u64,
    /// Joint NLL, nat.
    pub nll: BalancedMean,
    /// Joint-MAP XY error, metres.
    pub map_xy_m: BalancedMean,
    /// Joint-MAP heading error, degrees.
    pub map_yaw_deg: BalancedMean,
    /// Joint hits (1 m and 20 degrees), percentage points.
    pub joint_hit_pp: BalancedMean,
    /// Mass within 1 m, percentage points.
    pub p1m_pp: BalancedMean,
}

/// Gathers the differences of two scorers; add in sample order.
#[derive(Debug, Clone, Default)]
pub struct PairedScores {
    sums: BalancedSums,
}

impl PairedScores {
    /// Adds a row's two scores.
    pub fn add(&mut self, stratum: Stratum, first: &Score, second: &Score) {
        let of = |s: &Score| [s.nll, s.map_xy_m, s.map_yaw_deg, 100.0 * s.joint_hit, 100.0 * s.p1m];
        let (first, second) = (of(first), of(second));
        let difference: Vec<f64> = first.iter().zip(second).map(|(a, b)| b - a).collect();
        self.sums.add(stratum, &difference);
    }

    /// The balanced differences, second minus first; `None` when nothing was added.
    #[must_use]
    pub fn differences(&self) -> Option<PairedDifferences> {
        let (samples, means) = self.sums.means(|_| true)?;
        let &[nll, map_xy_m, map_yaw_deg, joint_hit_pp, p1m_pp] = &means[..] else { return None };
        Some(PairedDifferences { samples, nll, map_xy_m, map_yaw_deg, joint_hit_pp, p1m_pp })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::score;

    #[test]
    fn rows_that_all_differ_alike_have_no_error() {
        let mut paired = PairedScores::default();
        for (board, nll) in [(false, 1.0), (false, 9.0), (true, 4.0), (true, 5.0)] {
            let stratum = Stratum { board, groups: vec!["g".into()] };
            paired.add(stratum, &score(nll), &score(nll - 0.5));
        }
        let found = paired.differences().unwrap();
        assert!((found.nll.mean + 0.5).abs() < 1e-12 && found.nll.stderr < 1e-9, "{found:?}");
        assert_eq!((found.samples, found.map_xy_m.mean), (4, 0.0));
        assert!(PairedScores::default().differences().is_none());
    }
}
