//! The synthetic Vivaldi: a made-up stand-in for the paper's antenna, whose chamber data are not public.

use super::{AntennaPattern, PatternInfo};

/// The figures that the pattern is made from.
struct Figures {
    /// Gain at boresight, dBi.
    peak_gain_db: f64,
    /// Half-power width in azimuth (H plane), degrees.
    azimuth_width_deg: f64,
    /// Half-power width in elevation (E plane), degrees.
    elevation_width_deg: f64,
    /// Gain at boresight over gain straight behind, dB.
    front_to_back_db: f64,
    /// Depth of the side minima, dB.
    side_depth_db: f64,
}

/// The depth of the side minima makes the mean gain over the sphere -0.16 dBi, an efficiency of 96 %.
const VIVALDI: Figures = Figures {
    peak_gain_db: 8.0,
    azimuth_width_deg: 95.0,
    elevation_width_deg: 65.0,
    front_to_back_db: 14.0,
    side_depth_db: 7.0,
};

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
    let back = |x: f64| VIVALDI.front_to_back_db / 2.0 * (1.0 - x);
    let side = |x: f64| (1.0 - x * x) * VIVALDI.side_depth_db * (1.0 - x);
    let x_az = libm::cos((VIVALDI.azimuth_width_deg / 2.0).to_radians());
    let k = (half_power - back(x_az) - side(x_az)) / (1.0 - x_az * x_az);
    let x_el = libm::cos((VIVALDI.elevation_width_deg / 2.0).to_radians());
    // In the elevation cut z^2 = 1 - x^2.
    let b = (half_power - back(x_el) - side(x_el)) / (1.0 - x_el * x_el) - k;
    let (x, z) = (libm::cos(elevation) * libm::cos(azimuth), libm::sin(elevation));
    VIVALDI.peak_gain_db - (back(x) + side(x) + k * (1.0 - x * x) + b * z * z)
}

/// The synthetic Vivaldi on the grid of `antenna_patterns/synthetic_vivaldi.csv`.
#[must_use]
pub fn synthetic_vivaldi() -> AntennaPattern {
    let Figures { peak_gain_db, azimuth_width_deg, elevation_width_deg, front_to_back_db, .. } = VIVALDI;
    let info = PatternInfo {
        name: "synthetic_vivaldi".into(),
        source: format!(
            "synthetic: {peak_gain_db} dBi, half-power widths {azimuth_width_deg} deg (azimuth) and \
             {elevation_width_deg} deg (elevation), {front_to_back_db} dB front-to-back"
        ),
        synthetic: true,
        frequency_hz: None,
    };
    AntennaPattern::from_fn(info, STEP_DEG, synthetic_vivaldi_gain_db)
}
