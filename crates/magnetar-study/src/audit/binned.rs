//! A log-linear model over candidates: each belongs to one bin of every feature, and weighs the product of its bins' weights.

use rayon::prelude::*;

/// Rounds over all features when weights are fitted.
const ROUNDS: usize = 10;

/// Rows that every bin is taken to have seen besides, as many as expected: what few rows say is not believed.
const PRIOR_ROWS: f64 = 8.0;

/// The candidates of one row, sorted into bins, and where its truth lies.
#[derive(Debug, Clone)]
pub(super) struct BinnedRow {
    /// For each feature of positions: its bin for every cell.
    pub(super) cells: Vec<Vec<u16>>,
    /// The bin of the one feature of poses for every heading and cell.
    pub(super) poses: Vec<u16>,
    /// Whether a cell is a candidate.
    pub(super) valid: Vec<bool>,
    /// The truth: candidate and weight.
    pub(super) truth: Vec<(usize, f64)>,
}

impl BinnedRow {
    /// Hands every candidate's weight to `take`.
    fn weigh(&self, weights: &[Vec<f64>], mut take: impl FnMut(usize, usize, f64)) {
        let plane = self.valid.len();
        let (poses, cells) = weights.split_last().map_or((&[][..], weights), |(last, rest)| (&last[..], rest));
        let of_cell: Vec<f64> = (0..plane)
            .map(|cell| {
                let product: f64 = self.cells.iter().zip(cells).map(|(bins, w)| w[usize::from(bins[cell])]).product();
                if self.valid[cell] { product } else { 0.0 }
            })
            .collect();
        for (n, bin) in self.poses.iter().enumerate() {
            take(n, n % plane, of_cell[n % plane] * poses[usize::from(*bin)]);
        }
    }

    /// The bin of a feature for a candidate.
    fn bin(&self, feature: usize, candidate: usize) -> usize {
        let plane = self.valid.len();
        usize::from(self.cells.get(feature).map_or_else(|| self.poses[candidate], |bins| bins[candidate % plane]))
    }
}

/// One weight per bin of every feature; that of poses comes last.
#[derive(Debug, Clone)]
pub(super) struct BinnedModel {
    weights: Vec<Vec<f64>>,
}

impl BinnedModel {
    /// Fits the weights by iterative scaling: a bin that holds the truth more often than it should weighs more.
    pub(super) fn fit(rows: &[&BinnedRow]) -> Self {
        let features = rows.first().map_or(0, |row| row.cells.len() + 1);
        let bins = |feature: usize| {
            let of = |row: &&BinnedRow| {
                let bins = row.cells.get(feature).unwrap_or(&row.poses);
                bins.iter().copied().max().map_or(1, |most| usize::from(most) + 1)
            };
            rows.iter().map(of).max().unwrap_or(1)
        };
        let mut weights: Vec<Vec<f64>> = (0..features).map(|feature| vec![1.0; bins(feature)]).collect();
        for _ in 0..ROUNDS {
            for feature in 0..features {
                let count = weights[feature].len();
                // Rows are added up in their order, so that the sums do not depend on the threads.
                let parts: Vec<[Vec<f64>; 2]> =
                    rows.par_chunks(64).map(|rows| counts(rows, &weights, feature, count)).collect();
                let sum = |which: usize, bin: usize| parts.iter().map(|part| part[which][bin]).sum::<f64>();
                for (bin, weight) in weights[feature].iter_mut().enumerate() {
                    *weight *= (sum(0, bin) + PRIOR_ROWS) / (sum(1, bin) + PRIOR_ROWS);
                }
            }
        }
        Self { weights }
    }

    /// What the model gains over the uniform posterior on a row, nat. A bin that no row had is worth 1.
    pub(super) fn gain(&self, row: &BinnedRow) -> f64 {
        let mut weights = self.weights.clone();
        for (feature, weights) in weights.iter_mut().enumerate() {
            let bins = row.cells.get(feature).unwrap_or(&row.poses);
            let most = bins.iter().copied().max().map_or(0, usize::from);
            weights.resize((most + 1).max(weights.len()), 1.0);
        }
        let (mut total, mut count) = (0.0, 0usize);
        let mut own = vec![0.0; row.poses.len()];
        row.weigh(&weights, |n, cell, weight| {
            total += weight;
            count += usize::from(row.valid[cell]);
            own[n] = weight;
        });
        let truth: f64 = row.truth.iter().map(|(n, share)| share * libm::log(own[*n] / total)).sum();
        libm::log(count as f64) + truth
    }
}

/// How often the truth is in each bin of a feature, and how often the model says.
fn counts(rows: &[&BinnedRow], weights: &[Vec<f64>], feature: usize, bins: usize) -> [Vec<f64>; 2] {
    let mut counts = [vec![0.0; bins], vec![0.0; bins]];
    for row in rows {
        for (candidate, share) in &row.truth {
            counts[0][row.bin(feature, *candidate)] += share;
        }
        let mut expected = vec![0.0; bins];
        let mut total = 0.0;
        row.weigh(weights, |n, _, weight| {
            expected[row.bin(feature, n)] += weight;
            total += weight;
        });
        for (sum, part) in counts[1].iter_mut().zip(expected) {
            *sum += part / total;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of four cells and two headings whose truth is in cell `n % 2` of a feature's bin 1, or anywhere.
    fn row(n: usize, told: bool) -> BinnedRow {
        let at = n % 4;
        let bins = (0..4).map(|cell| u16::from(told && cell == at)).collect();
        BinnedRow {
            cells: vec![bins],
            poses: vec![0; 8],
            valid: vec![true; 4],
            truth: vec![(at + 4 * (n / 4 % 2), 1.0)],
        }
    }

    #[test]
    fn a_feature_that_tells_the_cell_is_worth_its_entropy_and_one_that_does_not_nothing() {
        for (told, expected) in [(true, 4f64.ln()), (false, 0.0)] {
            let rows: Vec<BinnedRow> = (0..4000).map(|n| row(n, told)).collect();
            let model = BinnedModel::fit(&rows.iter().collect::<Vec<_>>());
            let gain = rows.iter().map(|row| model.gain(row)).sum::<f64>() / 4000.0;
            assert!((gain - expected).abs() < 0.02, "{told} {gain}");
        }
    }
}
