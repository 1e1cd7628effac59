//! A wave as it comes to the receiver, traced or not.

use magnetar_scene::wrap;
use magnetar_trace::{azimuth, elevation};
use nalgebra::Vector3;
use num_complex::Complex64;

/// A direction in a device's own frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceDirection {
    /// Azimuth, radians in [-pi, pi).
    pub azimuth: f64,
    /// Elevation, radians.
    pub elevation: f64,
}

impl DeviceDirection {
    /// Of a vector in the device's frame.
    pub(crate) fn of(vector: &Vector3<f64>) -> Self {
        Self { azimuth: wrap(azimuth(vector)), elevation: elevation(vector) }
    }
}

/// A wave as it is received.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReceivedWave {
    /// Delay to the array's centre, seconds.
    pub delay_s: f64,
    /// Passband coefficient at each RX element, antennas applied, before the link scale and without the propagation
    /// phase.
    pub coefficients: [Complex64; 2],
    /// Direction of arrival at the RX, from the RX towards the source.
    pub aoa: DeviceDirection,
}

impl ReceivedWave {
    /// Its power, mean over the RX elements, linear.
    #[must_use]
    pub fn power(&self) -> f64 {
        self.coefficients.iter().map(Complex64::norm_sqr).sum::<f64>() / 2.0
    }
}
