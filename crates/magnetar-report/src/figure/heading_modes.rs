//! The modes of a heading: where its distribution over the bins of a turn has lobes of their own.

use std::f64::consts::TAU;

/// Least share of the mass in a lobe that counts.
const LEAST_SHARE: f64 = 0.2;

/// A valley this deep, relative to the lower of its two peaks, parts them.
const VALLEY: f64 = 0.6;

/// Least share of the mass that the lobes worth an arrow must hold together.
const LEAST_TOTAL: f64 = 0.65;

/// Least concentration (mean resultant length) of a lobe worth an arrow: a wide hump has no direction.
const LEAST_CONCENTRATION: f64 = 0.6;

/// One lobe of a heading's distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct HeadingMode {
    /// Its mean heading, radians.
    pub heading: f64,
    /// Its share of the mass.
    pub share: f64,
    /// Its mean resultant length, 0 to 1.
    pub concentration: f64,
}

/// One mode, or two, of masses over equal bins of a turn from heading 0 on; none where the heading has more lobes, or none
/// worth the name.
pub(crate) fn heading_modes(mass: &[f64]) -> Vec<HeadingMode> {
    let (bins, total) = (mass.len(), mass.iter().sum::<f64>());
    if bins < 4 || !(total.is_finite() && total > 0.0) {
        return Vec::new();
    }
    // Neighbouring bins share the mass of one heading, so that a dent of one bin is no valley.
    let smooth: Vec<f64> =
        (0..bins).map(|d| (mass[(d + bins - 1) % bins] + 2.0 * mass[d] + mass[(d + 1) % bins]) / 4.0).collect();
    let mut cuts = valleys(&smooth);
    if cuts.is_empty() {
        // A single hump: cut it at its lowest bin.
        let lowest = (0..bins).min_by(|a, b| smooth[*a].total_cmp(&smooth[*b])).unwrap_or(0);
        cuts.push(lowest);
    }
    let lobes: Vec<HeadingMode> =
        (0..cuts.len()).map(|n| lobe(mass, total, cuts[n], cuts[(n + 1) % cuts.len()])).collect();
    let kept: Vec<HeadingMode> = lobes.into_iter().filter(|lobe| lobe.share >= LEAST_SHARE).collect();
    let told = kept.iter().map(|lobe| lobe.share).sum::<f64>() >= LEAST_TOTAL;
    let narrow = kept.iter().all(|lobe| lobe.concentration >= LEAST_CONCENTRATION);
    if kept.len() <= 2 && told && narrow { kept } else { Vec::new() }
}

/// Bins at which the lobes part, in order: one between every two peaks that a deep enough valley separates.
fn valleys(smooth: &[f64]) -> Vec<usize> {
    let bins = smooth.len();
    let mut peaks: Vec<usize> = (0..bins)
        .filter(|d| smooth[*d] > smooth[(d + bins - 1) % bins] && smooth[*d] >= smooth[(d + 1) % bins])
        .collect();
    loop {
        if peaks.len() < 2 {
            return Vec::new();
        }
        let between = |n: usize| {
            let (a, b) = (peaks[n], peaks[(n + 1) % peaks.len()]);
            let steps = (b + bins - a - 1) % bins + 1;
            let low = (0..=steps).map(|k| (a + k) % bins).min_by(|x, y| smooth[*x].total_cmp(&smooth[*y]));
            let low = low.unwrap_or(a);
            (low, smooth[low] / smooth[a].min(smooth[b]))
        };
        let shallowest = (0..peaks.len()).max_by(|a, b| between(*a).1.total_cmp(&between(*b).1)).unwrap_or(0);
        if between(shallowest).1 <= VALLEY {
            let mut cuts: Vec<usize> = (0..peaks.len()).map(|n| between(n).0).collect();
            cuts.sort_unstable();
            return cuts;
        }
        // The lower of the two peaks is but a shoulder of the other.
        let next = (shallowest + 1) % peaks.len();
        peaks.remove(if smooth[peaks[shallowest]] < smooth[peaks[next]] { shallowest } else { next });
    }
}

/// The bins from one cut to the next.
fn lobe(mass: &[f64], total: f64, from: usize, to: usize) -> HeadingMode {
    let bins = mass.len();
    let count = if from == to { bins } else { (to + bins - from) % bins };
    let (mut sum, mut c, mut s) = (0.0, 0.0, 0.0);
    for d in (0..count).map(|k| (from + k) % bins) {
        let (sin, cos) = (d as f64 * TAU / bins as f64).sin_cos();
        (sum, c, s) = (sum + mass[d], c + mass[d] * cos, s + mass[d] * sin);
    }
    HeadingMode { heading: s.atan2(c), share: sum / total, concentration: c.hypot(s) / sum.max(1e-300) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Masses of wrapped humps: (heading in degrees, width in degrees, weight).
    fn humps(of: &[(f64, f64, f64)]) -> Vec<f64> {
        let at = |d: usize, (center, width, weight): &(f64, f64, f64)| {
            let apart = (d as f64 * 20.0 - center + 180.0).rem_euclid(360.0) - 180.0;
            weight * (-0.5 * (apart / width).powi(2)).exp()
        };
        (0..18).map(|d| of.iter().map(|hump| at(d, hump)).sum()).collect()
    }

    #[test]
    fn one_hump_is_one_mode_wherever_it_lies() {
        for center in [0.0, 5.0, 179.0, 355.0] {
            let found = heading_modes(&humps(&[(center, 25.0, 1.0)]));
            assert_eq!(found.len(), 1, "{center}");
            let off = (found[0].heading.to_degrees() - center + 180.0).rem_euclid(360.0) - 180.0;
            assert!(off.abs() < 2.0 && found[0].share > 0.99, "{center}: {found:?}");
        }
        // A small second one does not count.
        assert_eq!(heading_modes(&humps(&[(40.0, 20.0, 1.0), (220.0, 20.0, 0.1)])).len(), 1);
    }

    #[test]
    fn two_humps_are_two_modes_and_their_mean_is_none() {
        let found = heading_modes(&humps(&[(10.0, 20.0, 1.0), (190.0, 20.0, 0.8)]));
        assert_eq!(found.len(), 2);
        let mut at: Vec<f64> = found.iter().map(|mode| mode.heading.to_degrees().rem_euclid(360.0).round()).collect();
        at.sort_by(f64::total_cmp);
        assert!((at[0] - 10.0).abs() < 2.0 && (at[1] - 190.0).abs() < 2.0, "{at:?}");
    }

    #[test]
    fn what_has_no_direction_has_no_mode() {
        assert!(heading_modes(&[1.0; 18]).is_empty());
        assert!(heading_modes(&humps(&[(0.0, 18.0, 1.0), (120.0, 18.0, 1.0), (240.0, 18.0, 1.0)])).is_empty());
        assert!(heading_modes(&humps(&[(90.0, 90.0, 1.0)])).is_empty());
        assert!(heading_modes(&[0.0; 18]).is_empty());
        assert!(heading_modes(&[]).is_empty());
    }
}
