//! Receive arrays of any number of elements on a line.

use crate::ConfigError;

/// Elements on the RX-local y axis, in the order of the channels.
#[derive(Debug, Clone, PartialEq)]
pub struct LineArray {
    /// Places on the y axis about their mean, metres.
    y_m: Vec<f64>,
    /// Distance of neighbours where all are equally far apart in channel order, metres.
    spacing_m: Option<f64>,
}

impl LineArray {
    /// Key of the places in errors.
    const KEY: &'static str = "array.positions_m";
    /// Fewest elements.
    pub const MIN_ELEMENTS: usize = 2;
    /// Most elements.
    pub const MAX_ELEMENTS: usize = 16;
    /// Elements closer than this are one, metres.
    const CLOSEST_M: f64 = 1e-4;
    /// No array is longer than this, metres.
    const LONGEST_M: f64 = 100.0;

    /// `elements` elements `spacing_m` metres apart; element 0 at the most negative y.
    ///
    /// # Errors
    /// Names what is out of range.
    pub fn uniform(elements: usize, spacing_m: f64) -> Result<Self, ConfigError> {
        crate::RxArray::SPACING_M.check(spacing_m)?;
        Self::at(&(0..elements).map(|m| m as f64 * spacing_m).collect::<Vec<_>>())
    }

    /// Elements at places on the y axis, metres, one per channel; only their distances matter.
    ///
    /// # Errors
    /// Fewer than two or more than sixteen, two in one place, or a number that is none.
    pub fn at(places_m: &[f64]) -> Result<Self, ConfigError> {
        let count = places_m.len();
        ConfigError::require(
            (Self::MIN_ELEMENTS..=Self::MAX_ELEMENTS).contains(&count),
            Self::KEY,
            format!("{count} elements"),
            format!("{} to {} elements", Self::MIN_ELEMENTS, Self::MAX_ELEMENTS),
        )?;
        let mut sorted = places_m.to_vec();
        sorted.sort_by(f64::total_cmp);
        let apart = sorted.windows(2).all(|pair| pair[1] - pair[0] >= Self::CLOSEST_M);
        let short = sorted[count - 1] - sorted[0] <= Self::LONGEST_M;
        ConfigError::require(
            apart && short,
            Self::KEY,
            format!("{places_m:?}"),
            "different places, at least 0.1 mm apart and within 100 m",
        )?;
        let mean = places_m.iter().sum::<f64>() / count as f64;
        let step = places_m[1] - places_m[0];
        let even = places_m.windows(2).all(|pair| (pair[1] - pair[0] - step).abs() <= 1e-6 * step.abs());
        Ok(Self { y_m: places_m.iter().map(|y| y - mean).collect(), spacing_m: (even && step > 0.0).then_some(step) })
    }

    /// As [`LineArray::at`], places in millimetres: how receivers are described in files and on the command line.
    ///
    /// # Errors
    /// As [`LineArray::at`].
    pub fn at_mm(places_mm: &[f64]) -> Result<Self, ConfigError> {
        Self::at(&places_mm.iter().map(|y| y * 1e-3).collect::<Vec<_>>())
    }

    /// The elements' places about their mean, metres, in the order of the channels.
    #[must_use]
    pub fn y(&self) -> &[f64] {
        &self.y_m
    }

    /// Number of elements, and so of channels.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.y_m.len()
    }

    /// Distance of neighbours, metres; `None` where it is not one distance in the order of the channels.
    #[must_use]
    pub fn spacing_m(&self) -> Option<f64> {
        self.spacing_m
    }

    /// From element 0 to element 1, whose phase is reported, metres; negative if element 1 is on the right.
    #[must_use]
    pub fn pair_spacing_m(&self) -> f64 {
        self.y_m[1] - self.y_m[0]
    }

    /// From the first to the last element, metres.
    #[must_use]
    pub fn length_m(&self) -> f64 {
        let (low, high) = self.y_m.iter().fold((f64::MAX, f64::MIN), |(a, b), y| (a.min(*y), b.max(*y)));
        high - low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_about_their_mean() {
        let array = LineArray::uniform(3, 0.026).unwrap();
        assert!((array.y()[0] + 0.026).abs() < 1e-15 && array.y()[1].abs() < 1e-15);
        assert_eq!(array.spacing_m().map(|d| (d * 1e6).round()), Some(26e3));
        let listed = LineArray::at(&[0.0, 0.03, 0.1]).unwrap();
        assert_eq!(listed.spacing_m(), None);
        assert!((listed.length_m() - 0.1).abs() < 1e-15);
        assert_eq!(LineArray::at(&[0.05, 0.0]).unwrap().spacing_m(), None);
    }

    #[test]
    fn what_is_no_array_is_named() {
        for bad in [&[0.0][..], &[0.0, 0.0], &[0.0, f64::NAN], &[0.0, 1e9], &[0.1; 17]] {
            assert_eq!(LineArray::at(bad).unwrap_err().key, "array.positions_m", "{bad:?}");
        }
        assert!(LineArray::uniform(4, -1.0).is_err() && LineArray::uniform(17, 0.02).is_err());
    }
}
