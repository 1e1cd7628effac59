//! Ranges of numeric settings, each stated once, beside the setting it bounds.

use std::fmt;

use crate::ConfigError;

/// The range of a numeric setting, both ends included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeyRange<T> {
    /// Dotted key of the setting as it stands in a recipe, such as `band.bins`.
    pub key: &'static str,
    /// Least value.
    pub min: T,
    /// Greatest value.
    pub max: T,
    /// Unit of the values, empty where they have none.
    pub unit: &'static str,
}

impl<T> KeyRange<T> {
    /// A range.
    #[must_use]
    pub const fn new(key: &'static str, min: T, max: T, unit: &'static str) -> Self {
        Self { key, min, max, unit }
    }
}

impl<T: PartialOrd + fmt::Display> KeyRange<T> {
    /// Whether a value lies in the range; one that is not a number never does.
    ///
    /// # Errors
    /// Names the key, the value and the range.
    pub fn check(&self, value: T) -> Result<(), ConfigError> {
        ConfigError::require(value >= self.min && value <= self.max, self.key, value, self)
    }
}

impl<T: fmt::Display> fmt::Display for KeyRange<T> {
    /// `a number from 0 to 180 (deg)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a number from {} to {}", self.min, self.max)?;
        if self.unit.is_empty() { Ok(()) } else { write!(f, " ({})", self.unit) }
    }
}

/// States the ranges of a section's settings, each with the settings that share it: for every setting a constant, and `check` for
/// all of them.
#[macro_export]
macro_rules! key_ranges {
    ($section:literal, $settings:ident {
        $($kind:ty: $min:expr, $max:expr, $unit:literal => $($name:ident = $field:ident),+;)+
    }) => {
        impl $settings {
            $($(
                #[doc = concat!("Range of `", $section, ".", stringify!($field), "`.")]
                pub const $name: $crate::KeyRange<$kind> =
                    $crate::KeyRange::new(concat!($section, ".", stringify!($field)), $min, $max, $unit);
            )+)+

            /// Checks every number.
            ///
            /// # Errors
            #[doc = concat!("Names the key (`", $section, ".*`) that is out of range.")]
            pub fn check(&self) -> Result<(), $crate::ConfigError> {
                $($(Self::$name.check(self.$field)?;)+)+
                Ok(())
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_belong_to_a_range_and_nan_does_not() {
        let range = KeyRange::new("a.b", -1.0, 2.5, "dB");
        for (value, inside) in [(-1.0, true), (2.5, true), (-1.1, false), (2.6, false), (f64::NAN, false)] {
            assert_eq!(range.check(value).is_ok(), inside, "{value}");
        }
        assert_eq!(range.check(3.0).unwrap_err().to_string(), "a.b = 3: expected a number from -1 to 2.5 (dB)");
    }
}
