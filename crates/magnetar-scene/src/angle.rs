//! Angles: radians inside, wrapped to [-pi, pi).

use std::f64::consts::{PI, TAU};

/// Maps an angle in radians to [-pi, pi).
#[must_use]
pub fn wrap(angle: f64) -> f64 {
    let turned = (angle + PI).rem_euclid(TAU) - PI;
    // rem_euclid may round up to TAU itself for tiny negative inputs.
    if turned >= PI { -PI } else { turned }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn wrap_lands_in_range_and_keeps_the_direction(angle in -1e4f64..1e4) {
            let w = wrap(angle);
            prop_assert!((-PI..PI).contains(&w));
            prop_assert!((w.cos() - angle.cos()).abs() < 1e-9);
            prop_assert!((w.sin() - angle.sin()).abs() < 1e-9);
        }
    }

    #[test]
    fn wrap_at_the_seam() {
        assert_eq!(wrap(PI), -PI);
        assert_eq!(wrap(-PI), -PI);
        assert_eq!(wrap(-PI - 1e-17), -PI);
        assert_eq!(wrap(0.0), 0.0);
    }
}
