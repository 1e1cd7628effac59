//! A fast `atan2` for pattern lookups, right to 1e-12 rad: far below any pattern's resolution.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// tan(pi/8): beyond it the argument is turned back by pi/4.
const TAN_PI_8: f64 = 0.414_213_562_373_095_03;

/// Chebyshev fit of atan(r)/r in powers of r^2 on |r| <= tan(pi/8); its error is 3e-13.
const COEFFICIENTS: [f64; 8] = [
    0.9999999999992696,
    -0.33333333278354244,
    0.1999999318709339,
    -0.1428539121474528,
    0.111035343556627,
    -0.08993213569800078,
    0.06976992928596643,
    -0.03770157790744665,
];

/// The angle of the point (x, y), radians in [-pi, pi]; 0 at the origin.
#[inline]
pub(crate) fn atan2(y: f64, x: f64) -> f64 {
    let (ax, ay) = (x.abs(), y.abs());
    let (small, large) = if ay > ax { (ax, ay) } else { (ay, ax) };
    let turned = small > TAN_PI_8 * large;
    let (above, below) = if turned { (small - large, small + large) } else { (small, large) };
    let r = if below == 0.0 { 0.0 } else { above / below };
    let w = r * r;
    let [c0, c1, c2, c3, c4, c5, c6, c7] = COEFFICIENTS;
    // Estrin's scheme: half the latency of Horner's.
    let w2 = w * w;
    let low = (c0 + c1 * w) + (c2 + c3 * w) * w2;
    let high = (c4 + c5 * w) + (c6 + c7 * w) * w2;
    let mut angle = r * (low + high * (w2 * w2)) + if turned { FRAC_PI_4 } else { 0.0 };
    if ay > ax {
        angle = FRAC_PI_2 - angle;
    }
    if x < 0.0 {
        angle = PI - angle;
    }
    angle.copysign(y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_agrees_with_the_library(x in -2.0..2.0f64, y in -2.0..2.0f64) {
            prop_assert!((atan2(y, x) - y.atan2(x)).abs() < 1e-12);
        }
    }

    #[test]
    fn it_agrees_on_the_axes_and_diagonals() {
        for (y, x) in [(0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0), (1.0, 1.0), (-1.0, -1.0), (0.0, 0.0)] {
            let (y, x): (f64, f64) = (y, x);
            assert!((atan2(y, x) - y.atan2(x)).abs() < 1e-12, "{y} {x}");
        }
    }
}
