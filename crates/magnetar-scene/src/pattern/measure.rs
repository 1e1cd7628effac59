//! The usual numbers of a pattern: half-power widths, front-to-back ratio, radiated power.

use std::f64::consts::{FRAC_PI_2, PI};

use super::AntennaPattern;

/// A principal cut through boresight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The horizontal plane.
    Azimuth,
    /// The vertical plane through boresight.
    Elevation,
}

impl AntennaPattern {
    /// Gain in dBi on a principal cut, at an angle from boresight in radians; in the elevation cut, angles beyond
    /// pi/2 lie behind.
    #[must_use]
    pub fn cut_gain_db(&self, cut: Cut, angle: f64) -> f64 {
        match cut {
            Cut::Azimuth => self.gain_db(angle, 0.0),
            Cut::Elevation => {
                let angle = crate::wrap(angle);
                if angle.abs() <= FRAC_PI_2 {
                    self.gain_db(0.0, angle)
                } else {
                    self.gain_db(PI, angle.signum() * PI - angle)
                }
            }
        }
    }

    /// Half-power width of the main lobe in radians: between the nearest directions either side of boresight with half
    /// its power. `None` if the gain does not fall so far, or if boresight is not in the main lobe.
    #[must_use]
    pub fn half_power_width(&self, cut: Cut) -> Option<f64> {
        let half = self.cut_gain_db(cut, 0.0) - 10.0 * libm::log10(2.0);
        let edge = |side: f64| {
            let step = PI / 1800.0;
            let below = (1..=1800).find(|&i| self.cut_gain_db(cut, side * f64::from(i) * step) < half)?;
            let (mut inside, mut outside) = (f64::from(below - 1) * step, f64::from(below) * step);
            for _ in 0..40 {
                let middle = (inside + outside) / 2.0;
                if self.cut_gain_db(cut, side * middle) < half { outside = middle } else { inside = middle }
            }
            Some(inside)
        };
        Some(edge(1.0)? + edge(-1.0)?)
    }

    /// Gain at boresight over gain straight behind, dB.
    #[must_use]
    pub fn front_to_back_db(&self) -> f64 {
        self.gain_db(0.0, 0.0) - self.gain_db(PI, 0.0)
    }

    /// Mean gain over the sphere, dBi: the radiation efficiency, so above 0 only if the gains are too high.
    #[must_use]
    pub fn mean_gain_db(&self) -> f64 {
        let (mut power, mut weight) = (0.0, 0.0);
        for row in 0..180 {
            let elevation = (f64::from(row) + 0.5).to_radians() - FRAC_PI_2;
            for column in 0..360 {
                let amplitude = self.at((f64::from(column) + 0.5).to_radians() - PI, elevation);
                power += libm::cos(elevation) * amplitude * amplitude;
                weight += libm::cos(elevation);
            }
        }
        10.0 * libm::log10(power / weight)
    }
}
