//! Building materials: permittivity and conductivity over frequency.

use std::fmt::Write as _;

use crate::error::SceneError;

/// One frequency range of a material with the power laws of ITU-R P.2040 in it.
///
/// `eps_r = a f^b` and `sigma = c f^d` with f in GHz.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MaterialRange {
    /// Lowest valid frequency, Hz (0 if unbounded).
    pub min_hz: f64,
    /// Highest valid frequency, Hz (infinite if unbounded).
    pub max_hz: f64,
    /// Real relative permittivity at 1 GHz.
    pub a: f64,
    /// Exponent of the permittivity over frequency.
    pub b: f64,
    /// Conductivity at 1 GHz, S/m.
    pub c: f64,
    /// Exponent of the conductivity over frequency.
    pub d: f64,
}

/// A building material.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Its name, the one scenes use.
    pub name: String,
    /// Where its numbers come from.
    pub source: String,
    /// Its frequency ranges; the first that holds the frequency is used.
    pub ranges: Vec<MaterialRange>,
}

impl Material {
    /// A material known by its measured permittivity and conductivity (S/m), taken as valid at every frequency.
    #[must_use]
    pub fn measured(name: &str, eps_r: f64, sigma: f64) -> Self {
        let range = MaterialRange { min_hz: 0.0, max_hz: f64::INFINITY, a: eps_r, b: 0.0, c: sigma, d: 0.0 };
        Self { name: name.to_owned(), source: String::new(), ranges: vec![range] }
    }

    /// Real relative permittivity and conductivity (S/m) at a frequency in Hz.
    ///
    /// # Errors
    /// [`SceneError::FrequencyOutOfRange`] outside every range; it names the ranges.
    pub fn at(&self, frequency_hz: f64) -> Result<(f64, f64), SceneError> {
        let value = self.ranges.iter().find(|range| range.contains(frequency_hz)).map(|range| range.at(frequency_hz));
        // Exponents come from files: a law that leaves the numbers' range has no value there.
        value.filter(|(eps_r, sigma)| eps_r.is_finite() && *eps_r > 0.0 && sigma.is_finite()).ok_or_else(|| {
            SceneError::FrequencyOutOfRange {
                material: self.name.clone(),
                frequency_ghz: frequency_hz / 1e9,
                ranges: self.ranges_label(),
            }
        })
    }

    /// The ranges for reading: `1-100 GHz, 110-330 GHz`.
    #[must_use]
    pub fn ranges_label(&self) -> String {
        let mut label = String::new();
        for range in &self.ranges {
            let separator = if label.is_empty() { "" } else { ", " };
            // Writing to a String cannot fail.
            let _ = match (range.min_hz > 0.0, range.max_hz.is_finite()) {
                (false, false) => write!(label, "{separator}all frequencies"),
                (false, true) => write!(label, "{separator}up to {} GHz", range.max_hz / 1e9),
                (true, false) => write!(label, "{separator}from {} GHz", range.min_hz / 1e9),
                (true, true) => write!(label, "{separator}{}-{} GHz", range.min_hz / 1e9, range.max_hz / 1e9),
            };
        }
        label
    }
}

impl MaterialRange {
    /// Whether a frequency in Hz lies in the range, both ends included.
    #[must_use]
    pub fn contains(&self, frequency_hz: f64) -> bool {
        frequency_hz > 0.0 && frequency_hz.is_finite() && self.min_hz <= frequency_hz && frequency_hz <= self.max_hz
    }

    /// Real relative permittivity and conductivity (S/m) by the power laws, at a frequency in Hz.
    #[must_use]
    pub fn at(&self, frequency_hz: f64) -> (f64, f64) {
        let f_ghz = frequency_hz / 1e9;
        (self.a * libm::pow(f_ghz, self.b), self.c * libm::pow(f_ghz, self.d))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outside_every_range_the_error_names_the_ranges() {
        let range = |lo: f64, hi: f64, a| MaterialRange { min_hz: lo, max_hz: hi, a, b: 0.0, c: 0.1, d: 0.0 };
        let material = Material {
            name: "stuff".into(),
            source: String::new(),
            ranges: vec![range(1e9, 100e9, 2.0), range(110e9, 330e9, 3.0), range(100e9, 400e9, 4.0)],
        };
        assert_eq!(material.at(1e9).unwrap().0, 2.0);
        assert_eq!(material.at(100e9).unwrap().0, 2.0);
        assert_eq!(material.at(105e9).unwrap().0, 4.0);
        assert_eq!(material.at(120e9).unwrap().0, 3.0);
        let message = material.at(0.9e9).unwrap_err().to_string();
        assert!(message.contains("`stuff`") && message.contains("0.9 GHz"), "{message}");
        assert!(message.contains("1-100 GHz, 110-330 GHz, 100-400 GHz"), "{message}");
    }

    #[test]
    fn a_frequency_that_is_no_frequency_is_refused() {
        let material = Material::measured("board", 6.0, 0.08);
        for frequency in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
            assert!(material.at(frequency).is_err());
        }
        assert_eq!(material.at(10e9).unwrap(), (6.0, 0.08));
    }
}
