//! Angles: radians inside, wrapped to [-pi, pi).

use std::f64::consts::{PI, TAU};

/// Maps an angle in radians to [-pi, pi).
#[must_use]
#[inline]
pub fn wrap(angle: f64) -> f64 {
    let turned = remainder(angle + PI) - PI;
    // The remainder may round up to TAU itself for tiny negative inputs.
    if turned >= PI { -PI } else { turned }
}

/// `rem_euclid(TAU)`, without a division where at most one turn is added or taken off, which is exact or rounded as there.
fn remainder(angle: f64) -> f64 {
    if (0.0..TAU).contains(&angle) {
        angle
    } else if (TAU..2.0 * TAU).contains(&angle) {
        angle - TAU
    } else if (-TAU..0.0).contains(&angle) && angle != -TAU {
        angle + TAU
    } else {
        angle.rem_euclid(TAU)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn remainders_have_the_bits_of_the_division(angle in -20f64..20.0, turns in -3i8..4, ulps in -2i64..3) {
            let edge = f64::from(turns) * TAU;
            let near = f64::from_bits(edge.to_bits().wrapping_add_signed(ulps));
            for angle in [angle, edge, near, 1e3 * angle, -0.0].into_iter().filter(|angle| angle.is_finite()) {
                prop_assert_eq!(remainder(angle).to_bits(), angle.rem_euclid(TAU).to_bits(), "{}", angle);
            }
        }

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
