//! One axis of a pattern's grid: which interval an angle lies in, and how far along.

use std::f64::consts::TAU;

/// Ascending knots, radians. Intervals may differ in width.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    knots: Vec<f64>,
    /// Bins of equal width, none wider than the narrowest interval, so that a bin holds at most one knot.
    bins_per_radian: f64,
    /// The interval at the lower edge of each bin; empty if all intervals are as wide as a bin.
    interval_of_bin: Vec<u32>,
}

impl Axis {
    /// An axis with at least two ascending knots in degrees, at least `min_step_deg` apart.
    pub(crate) fn new(knots_deg: &[f64], min_step_deg: f64) -> Self {
        let knots: Vec<f64> = knots_deg.iter().map(|knot| knot.to_radians()).collect();
        let (first, last) = (knots[0], knots[knots.len() - 1]);
        let intervals = (knots.len() - 1) as f64;
        let mean = (last - first) / intervals;
        let is_uniform = knots.windows(2).all(|pair| (pair[1] - pair[0] - mean).abs() < 1e-9);
        if is_uniform {
            return Self { knots, bins_per_radian: 1.0 / mean, interval_of_bin: Vec::new() };
        }
        let widths = knots.windows(2).map(|pair| pair[1] - pair[0]);
        let narrowest = widths.fold(TAU, f64::min).max(min_step_deg.to_radians());
        let bins = ((last - first) / narrowest).ceil();
        let bins_per_radian = bins / (last - first);
        let interval = |bin: usize| {
            let edge = first + bin as f64 / bins_per_radian;
            (knots.partition_point(|&knot| knot <= edge).clamp(1, knots.len() - 1) - 1) as u32
        };
        let interval_of_bin = (0..bins as usize).map(interval).collect();
        Self { knots, bins_per_radian, interval_of_bin }
    }

    /// The interval an angle in radians lies in and the fraction of it before the angle, in [0, 1]. Angles beyond the
    /// ends count as the ends.
    #[inline]
    pub(crate) fn locate(&self, angle: f64) -> (usize, f64) {
        let bins = (angle - self.knots[0]) * self.bins_per_radian;
        // The cast saturates: what lies before the first knot, and NaN, goes to bin 0.
        let bin = bins as usize;
        if self.interval_of_bin.is_empty() {
            let interval = bin.min(self.knots.len() - 2);
            return (interval, (bins - interval as f64).clamp(0.0, 1.0));
        }
        let start = self.interval_of_bin[bin.min(self.interval_of_bin.len() - 1)] as usize;
        let interval = (start + usize::from(angle >= self.knots[start + 1])).min(self.knots.len() - 2);
        let (low, high) = (self.knots[interval], self.knots[interval + 1]);
        (interval, ((angle - low) / (high - low)).clamp(0.0, 1.0))
    }

    /// The knots, radians.
    pub(crate) fn knots(&self) -> &[f64] {
        &self.knots
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_angle_lies_where_it_was_located(
            steps in proptest::collection::vec(0.01..20.0f64, 1..40),
            even in any::<bool>(),
            at in -0.1..1.1f64,
        ) {
            let mut knots = vec![-80.0];
            for step in &steps {
                knots.push(knots[knots.len() - 1] + if even { steps[0] } else { *step });
            }
            let axis = Axis::new(&knots, 0.01);
            let (first, last) = (axis.knots()[0], axis.knots()[knots.len() - 1]);
            let angle = first + at * (last - first);
            let (interval, fraction) = axis.locate(angle);
            let (low, high) = (axis.knots()[interval], axis.knots()[interval + 1]);
            let back = low + fraction * (high - low);
            prop_assert!((back - angle.clamp(first, last)).abs() < 1e-9);
        }
    }
}
