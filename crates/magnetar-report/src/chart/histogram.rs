//! Histograms that are filled as rows stream by.

use super::Frame;
use crate::palette::Ink;
use crate::svg::{Canvas, Stroke};

/// Counts in equal bins; what lies outside is counted in the end bins, what is not finite not at all.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartHistogram {
    min: f64,
    max: f64,
    counts: Vec<u64>,
    total: u64,
    sum: f64,
}

impl ChartHistogram {
    /// An empty histogram of `bins` bins over a range.
    #[must_use]
    pub fn new(min: f64, max: f64, bins: usize) -> Self {
        Self { min, max, counts: vec![0; bins.max(1)], total: 0, sum: 0.0 }
    }

    /// Counts one value.
    pub fn add(&mut self, value: f64) {
        if value.is_finite() {
            let bin = ((value - self.min) / (self.max - self.min) * self.counts.len() as f64).max(0.0) as usize;
            let last = self.counts.len() - 1;
            self.counts[bin.min(last)] += 1;
            self.total += 1;
            self.sum += value;
        }
    }

    /// How many were counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Mean of what was counted; NaN if nothing was.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.sum / self.total as f64
    }

    /// Ends of the range.
    #[must_use]
    pub fn range(&self) -> [f64; 2] {
        [self.min, self.max]
    }

    /// Largest share of all in one bin, percent.
    #[must_use]
    pub fn peak_percent(&self) -> f64 {
        self.counts.iter().max().map_or(0.0, |c| self.percent(*c))
    }

    fn percent(&self, count: u64) -> f64 {
        if self.total == 0 { 0.0 } else { 100.0 * count as f64 / self.total as f64 }
    }
}

/// Draws a histogram as percent of its total: a stepped outline, filled if `fill_opacity` is above zero.
pub fn histogram(canvas: &mut Canvas, frame: &Frame, h: &ChartHistogram, stroke: Stroke<'_>, fill_opacity: f64) {
    if h.total == 0 {
        return;
    }
    let width = (h.max - h.min) / h.counts.len() as f64;
    let mut points = vec![frame.at([h.min, 0.0])];
    for (n, count) in h.counts.iter().enumerate() {
        let percent = h.percent(*count);
        points.push(frame.at([h.min + n as f64 * width, percent]));
        points.push(frame.at([h.min + (n + 1) as f64 * width, percent]));
    }
    points.push(frame.at([h.max, 0.0]));
    canvas.begin_clip(frame.area);
    let fill = if fill_opacity > 0.0 { stroke.ink } else { Ink::None };
    canvas.polygon(&points, fill, fill_opacity, stroke);
    canvas.end_clip();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_take_what_lies_outside_and_nan_is_not_counted() {
        let mut h = ChartHistogram::new(0.0, 10.0, 5);
        for v in [-1.0, 0.0, 9.99, 10.0, 99.0, f64::NAN, f64::INFINITY] {
            h.add(v);
        }
        assert_eq!((h.counts.clone(), h.total()), (vec![2, 0, 0, 0, 3], 5));
        assert_eq!(h.peak_percent(), 60.0);
        assert!(ChartHistogram::new(0.0, 1.0, 3).mean().is_nan());
    }
}
