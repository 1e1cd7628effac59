//! An export: the cases of one file, and what is checked of all of them at once.

use magnetar_scene::SPEED_OF_LIGHT;

use super::case::Case;
use super::error::Problem;
use super::schema::RawExport;

/// The cases of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct Export {
    /// Carrier frequency of all cases, Hz.
    pub frequency_hz: f64,
    /// The cases; never empty, their ids all different.
    pub cases: Vec<Case>,
    /// What was odd but harmless.
    pub warnings: Vec<String>,
}

/// Checks the values of the top level; the cases are checked one by one by the caller.
pub(super) fn check_top(raw: &RawExport) -> Result<(), Problem> {
    let frequency = raw.frequency_hz;
    if !(1e6..=1e12).contains(&frequency) {
        let message = format!("{frequency} is not a carrier frequency; expected 1e6 to 1e12 Hz");
        return Err(Problem::new("frequency_hz", message));
    }
    if let Some(wavelength) = raw.wavelength_m {
        let expected = SPEED_OF_LIGHT / frequency;
        // Sionna keeps the wavelength in float32.
        if (wavelength / expected - 1.0).abs() > 1e-6 {
            let message =
                format!("{wavelength} does not belong to frequency_hz; expected {expected} m, or leave it out");
            return Err(Problem::new("wavelength_m", message));
        }
    }
    if raw.cases.is_empty() {
        return Err(Problem::new("cases", "the list is empty; expected at least one case"));
    }
    Ok(())
}
