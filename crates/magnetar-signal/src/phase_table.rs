//! Inter-channel phase of a receiver that depends on the angle of arrival.

use magnetar_scene::wrap;

use crate::{Arrival, Band, RxArray};

/// Steps over the principal branch in which solutions are looked for.
const STEPS: usize = 2048;
/// Halvings of a step around a solution.
const HALVINGS: usize = 40;

/// What a receiver adds to the inter-element phase (channel 1 minus channel 0) of a wave, by its AoA: a chamber
/// measurement. Straight lines between the rows, level beyond the first and the last.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseTable {
    /// AoA, radians, rising; and the phase there, radians.
    rows: Vec<(f64, f64)>,
}

impl PhaseTable {
    /// From rows of AoA and phase, degrees. `Err` says which row (from 0) is wrong and how.
    ///
    /// # Errors
    /// AoAs that do not rise, beyond +-180 degrees, or phases that are no numbers within +-3600 degrees.
    pub fn new(rows_deg: &[(f64, f64)]) -> Result<Self, (usize, &'static str)> {
        if rows_deg.is_empty() {
            return Err((0, "a row; there is none"));
        }
        for (n, (aoa, phase)) in rows_deg.iter().enumerate() {
            if !(aoa.abs() <= 180.0 && phase.abs() <= 3600.0) {
                return Err((n, "an AoA within +-180 deg and a phase within +-3600 deg"));
            }
            if n > 0 && rows_deg[n - 1].0 >= *aoa {
                return Err((n, "AoAs that rise from row to row"));
            }
        }
        Ok(Self { rows: rows_deg.iter().map(|(a, p)| (a.to_radians(), p.to_radians())).collect() })
    }

    /// The receiver's phase for a wave from `aoa`, radians.
    #[must_use]
    pub fn at(&self, aoa: f64) -> f64 {
        let next = self.rows.partition_point(|row| row.0 < aoa);
        match (next.checked_sub(1).map(|n| self.rows[n]), self.rows.get(next)) {
            (Some(left), Some(right)) => left.1 + (right.1 - left.1) * (aoa - left.0) / (right.0 - left.0),
            (Some(end), None) => end.1,
            (None, first) => first.map_or(0.0, |row| row.1),
        }
    }

    /// Takes the receiver's phase off an arrival. The angle is the one within the branch of the estimated AoA whose own
    /// phase and the receiver's together are the one found; where several are, the nearest to the estimated AoA, and where
    /// none is, the one that comes closest.
    pub fn correct(&self, band: &Band, array: &RxArray, arrival: &mut Arrival) {
        let phase = |aoa: f64| array.phase(aoa, band.carrier_hz);
        let mismatch = |aoa: f64| wrap(phase(aoa) + self.at(aoa) - arrival.phase_rad);
        let turn = phase(std::f64::consts::FRAC_PI_2);
        let sine = |phase: f64| (phase / turn).clamp(-1.0, 1.0);
        // The branch: phases within half a turn of the multiple of a turn that the estimate belongs to.
        let tau = std::f64::consts::TAU;
        let centre = tau * (phase(arrival.aoa_rad) / tau).round();
        let (low, high) = (sine(centre - 0.5 * tau), sine(centre + 0.5 * tau));
        let angle = |n: usize| libm::asin(low + (high - low) * n as f64 / STEPS as f64);
        let mut roots = Vec::new();
        let (mut closest, mut least) = (arrival.aoa_rad, f64::INFINITY);
        for n in 0..STEPS {
            let (mut a, mut b) = (angle(n), angle(n + 1));
            let (at_a, at_b) = (mismatch(a), mismatch(b));
            if at_a.abs() < least {
                (closest, least) = (a, at_a.abs());
            }
            if at_a * at_b > 0.0 || (at_a - at_b).abs() > std::f64::consts::PI {
                continue;
            }
            for _ in 0..HALVINGS {
                let middle = 0.5 * (a + b);
                if (mismatch(middle) > 0.0) == (at_b > 0.0) {
                    b = middle;
                } else {
                    a = middle;
                }
            }
            roots.push(0.5 * (a + b));
        }
        let off = |aoa: &f64| (aoa - arrival.aoa_rad).abs();
        let aoa = roots.into_iter().min_by(|a, b| off(a).total_cmp(&off(b))).unwrap_or(closest);
        arrival.aoa_rad = aoa;
        arrival.phase_rad = wrap(phase(aoa));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_true_angle_comes_back() {
        let (band, array) = (Band::default(), RxArray::default());
        let table = PhaseTable::new(&[(-60.0, 20.0), (-10.0, -5.0), (0.0, 3.0), (35.0, -25.0), (80.0, 10.0)]).unwrap();
        for aoa_deg in [-30.0, -12.0, 0.0, 7.5, 25.0f64] {
            let aoa = aoa_deg.to_radians();
            let phase_rad = wrap(array.phase(aoa, band.carrier_hz) + table.at(aoa));
            let sine = phase_rad / array.phase(std::f64::consts::FRAC_PI_2, band.carrier_hz);
            let mut arrival = Arrival { phase_rad, aoa_rad: sine.asin(), ..Arrival::default() };
            table.correct(&band, &array, &mut arrival);
            assert!((arrival.aoa_rad - aoa).abs() < 1e-9, "{aoa_deg}: {}", arrival.aoa_rad.to_degrees());
            assert!((wrap(arrival.phase_rad - array.phase(aoa, band.carrier_hz))).abs() < 1e-8);
        }
    }

    #[test]
    fn a_wrong_row_is_named() {
        assert_eq!(PhaseTable::new(&[]).unwrap_err().0, 0);
        assert_eq!(PhaseTable::new(&[(0.0, 1.0), (0.0, 2.0)]).unwrap_err().0, 1);
        assert_eq!(PhaseTable::new(&[(0.0, 1.0), (f64::NAN, 2.0)]).unwrap_err().0, 1);
        assert_eq!(PhaseTable::new(&[(0.0, 1e9)]).unwrap_err().0, 0);
    }
}
