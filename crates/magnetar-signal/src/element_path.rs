//! A path as the two elements of the receiver hear it.

use magnetar_scene::Pose;
use magnetar_trace::Path;
use nalgebra::Vector3;
use num_complex::Complex64;

use crate::array::{ELEMENTS, RxArray};

/// The two ends of a link: poses, the receiver's array and amplitude patterns.
///
/// A pattern maps a unit direction in the device's own frame (x along its heading) to an amplitude (the square root of
/// the gain); it has no phase.
#[derive(Debug, Clone, Copy)]
pub struct Link<T, R> {
    /// Where the TX stands.
    pub tx: Pose,
    /// Where the RX stands.
    pub rx: Pose,
    /// The RX's elements.
    pub array: RxArray,
    /// Amplitude pattern of the TX.
    pub tx_pattern: T,
    /// Amplitude pattern of each RX element.
    pub rx_patterns: [R; ELEMENTS],
}

/// One path at the two RX elements: `H_m(f) = gain_m exp(-j 2 pi f delay_m)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ElementPath {
    /// Delay at each element, seconds.
    pub delay: [f64; ELEMENTS],
    /// Passband coefficient at each element with both antennas applied, without the propagation phase.
    pub gain: [Complex64; ELEMENTS],
}

impl<T, R> Link<T, R>
where
    T: Fn(&Vector3<f64>) -> f64,
    R: Fn(&Vector3<f64>) -> f64,
{
    /// A traced path as the RX elements hear it: the coefficient times the TX's and each element's amplitude, and the
    /// exact delay `tau - (r_m . u) / c` of each element, `u` being the direction of arrival.
    #[must_use]
    pub fn element_path(&self, path: &Path) -> ElementPath {
        let departure = self.tx.device_from_global(&path.geometry.departure);
        let arrival = self.rx.device_from_global(&path.geometry.arrival);
        let sent = path.coefficient * (self.tx_pattern)(&departure);
        let delay = path.delay();
        ElementPath {
            delay: self.array.delay_offsets(&arrival).map(|offset| delay + offset),
            gain: [0, 1].map(|m| sent * (self.rx_patterns[m])(&arrival)),
        }
    }

    /// Amplitude of the two antennas facing each other: TX boresight times the rms of the RX elements' boresights.
    #[must_use]
    pub fn boresight_amplitude(&self) -> f64 {
        let ahead = Vector3::x();
        let [first, second] = [0, 1].map(|m| (self.rx_patterns[m])(&ahead));
        (self.tx_pattern)(&ahead) * ((first * first + second * second) / 2.0).sqrt()
    }
}
