//! The receiver's two-element array.

use magnetar_scene::SPEED_OF_LIGHT;
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::{ConfigError, KeyRange};

/// Two ordered elements on the RX-local y axis: element 0 at `-spacing / 2`, element 1 at `+spacing / 2`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RxArray {
    /// Distance between the elements, metres.
    pub spacing_m: f64,
}

/// Number of elements, and so of channels.
pub const ELEMENTS: usize = 2;

impl Default for RxArray {
    /// 26 mm.
    fn default() -> Self {
        Self { spacing_m: 0.026 }
    }
}

impl RxArray {
    /// Range of the distance between the elements.
    pub const SPACING_M: KeyRange<f64> = KeyRange::new("array.spacing_m", 1e-4, 1.0, "m");

    /// Checks the spacing.
    ///
    /// # Errors
    /// Names the key (`array.spacing_m`).
    pub fn check(&self) -> Result<(), ConfigError> {
        Self::SPACING_M.check(self.spacing_m)
    }

    /// The elements' places on the RX-local y axis, metres.
    #[must_use]
    pub fn y(&self) -> [f64; ELEMENTS] {
        [-self.spacing_m / 2.0, self.spacing_m / 2.0]
    }

    /// What each element's delay differs from that of the array's centre, seconds: `-(r_m . u) / c`, where `u` is the
    /// unit direction from the RX towards the source, in the RX's own frame.
    #[must_use]
    pub fn delay_offsets(&self, arrival_in_device: &Vector3<f64>) -> [f64; ELEMENTS] {
        self.y().map(|y| -y * arrival_in_device.y / SPEED_OF_LIGHT)
    }

    /// Largest delay difference between the elements, `spacing / c`, seconds.
    #[must_use]
    pub fn max_delay_difference_s(&self) -> f64 {
        self.spacing_m / SPEED_OF_LIGHT
    }

    /// Inter-element phase (element 1 minus element 0, not wrapped) at frequency `frequency_hz` of a plane wave from
    /// AoA `aoa` (radians, 0 is boresight) in the horizontal plane, radians: `2 pi f d sin(aoa) / c`.
    #[must_use]
    pub fn phase(&self, aoa: f64, frequency_hz: f64) -> f64 {
        std::f64::consts::TAU * frequency_hz * self.max_delay_difference_s() * libm::sin(aoa)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_element_nearer_to_the_source_hears_it_first() {
        let array = RxArray::default();
        // A source to the left (positive AoA) is nearer to element 1, on the positive y axis.
        let [first, second] = array.delay_offsets(&Vector3::new(0.6, 0.8, 0.0));
        assert!(second < 0.0 && first > 0.0);
        assert!((first - second - 0.8 * array.max_delay_difference_s()).abs() < 1e-22);
        assert!(array.phase(0.3, 10e9) > 0.0);
    }

    #[test]
    fn a_bad_spacing_is_named() {
        for spacing_m in [f64::NAN, 0.0, -0.026, 26.0] {
            assert_eq!(RxArray { spacing_m }.check().unwrap_err().key, "array.spacing_m");
        }
    }
}
