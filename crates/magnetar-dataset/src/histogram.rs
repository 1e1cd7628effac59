//! Percentiles in flat memory.

/// Counts of values in equal bins; a percentile is right to half a bin.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    low: f64,
    width: f64,
    counts: Vec<u64>,
    total: u64,
}

impl Histogram {
    /// Bins of `width` from `low` to `high`; values beyond fall into the outermost.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "callers ask for a few thousand bins")]
    pub fn new(low: f64, high: f64, width: f64) -> Self {
        let bins = ((high - low) / width).ceil().clamp(1.0, 1e6) as usize;
        Self { low, width, counts: vec![0; bins], total: 0 }
    }

    /// Counts a value.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the bins")]
    pub fn add(&mut self, value: f64) {
        let last = self.counts.len() - 1;
        let bin = ((value - self.low) / self.width).floor().max(0.0) as usize;
        self.counts[bin.min(last)] += 1;
        self.total += 1;
    }

    /// Values counted.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.total
    }

    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Adds another's counts, which must have the same bins.
    pub fn merge(&mut self, other: &Self) {
        for (a, b) in self.counts.iter_mut().zip(&other.counts) {
            *a += b;
        }
        self.total += other.total;
    }

    /// The value that a share `q` of all values does not exceed; `None` if there are none.
    #[must_use]
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts far below 2^53"
    )]
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let rank = (q.clamp(0.0, 1.0) * self.total as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        self.counts
            .iter()
            .position(|count| {
                seen += count;
                seen >= rank
            })
            .map(|bin| self.low + (bin as f64 + 0.5) * self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_a_ramp() {
        let mut histogram = Histogram::new(0.0, 100.0, 0.1);
        assert_eq!(histogram.quantile(0.5), None);
        for i in 0..10_000 {
            histogram.add(f64::from(i) / 100.0);
        }
        histogram.add(1e9);
        histogram.add(-5.0);
        for q in [0.1, 0.5, 0.9] {
            assert!((histogram.quantile(q).unwrap() - 100.0 * q).abs() < 0.11);
        }
    }
}
