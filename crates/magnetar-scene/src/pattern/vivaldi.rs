//! The synthetic Vivaldi: a made-up stand-in for the paper's antenna, whose chamber data are not public.

use super::{AntennaPattern, PatternInfo};

/// Gain at boresight, dBi.
const PEAK_GAIN_DB: f64 = 8.0;
/// Half-power width in azimuth (H plane), degrees.
const AZIMUTH_WIDTH_DEG: f64 = 95.0;
/// Half-power width in elevation (E plane), degrees.
const ELEVATION_WIDTH_DEG: f64 = 65.0;
/// Gain at boresight over gain straight behind, dB.
const FRONT_TO_BACK_DB: f64 = 14.0;
/// Depth of the side minima, dB; this value makes the mean gain over the sphere -0.16 dBi, an efficiency of 96 %.
const SIDE_DEPTH_DB: f64 = 7.0;
/// Step of the shipped grid, degrees. Interpolated between, it is within 0.1 dB of the formula.
const STEP_DEG: u32 = 5;

/// Gain of the synthetic Vivaldi in dBi, at an azimuth and elevation in radians.
///
/// With the unit direction (x, y, z), x at boresight, the attenuation in dB is a polynomial, smooth on the whole sphere:
///
/// ```text
/// A = F/2 (1 - x) + (1 - x^2) (k + s (1 - x)) + b z^2
/// ```
///
/// F is the front-to-back ratio (at x = -1 all other terms vanish), s the depth of the side minima; k and b follow from
/// the half-power widths in azimuth (z = 0) and in elevation (y = 0).
#[must_use]
pub fn synthetic_vivaldi_gain_db(azimuth: f64, elevation: f64) -> f64 {
    let half_power = 10.0 * libm::log10(2.0);
    let back = |x: f64| FRONT_TO_BACK_DB / 2.0 * (1.0 - x);
    let side = |x: f64| (1.0 - x * x) * SIDE_DEPTH_DB * (1.0 - x);
    let x_az = libm::cos((AZIMUTH_WIDTH_DEG / 2.0).to_radians());
    let k = (half_power - back(x_az) - side(x_az)) / (1.0 - x_az * x_az);
    let x_el = libm::cos((ELEVATION_WIDTH_DEG / 2.0).to_radians());
    // In the elevation cut z^2 = 1 - x^2.
    let b = (half_power - back(x_el) - side(x_el)) / (1.0 - x_el * x_el) - k;
    let (x, z) = (libm::cos(elevation) * libm::cos(azimuth), libm::sin(elevation));
    PEAK_GAIN_DB - (back(x) + side(x) + k * (1.0 - x * x) + b * z * z)
}

/// The synthetic Vivaldi on the grid of `antenna_patterns/synthetic_vivaldi.csv`.
#[must_use]
pub fn synthetic_vivaldi() -> AntennaPattern {
    let info = PatternInfo {
        name: "synthetic_vivaldi".into(),
        source: "synthetic: 8 dBi, half-power widths 95 deg (azimuth) and 65 deg (elevation), 14 dB front-to-back"
            .into(),
        synthetic: true,
        frequency_hz: None,
    };
    AntennaPattern::from_fn(info, STEP_DEG, synthetic_vivaldi_gain_db)
}
