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
    /// The bin of the one feature of poses for every cell and, within it, heading.
    pub(super) poses: Vec<u16>,
    /// Whether a cell is a candidate.
    pub(super) valid: Vec<bool>,
    /// The truth: candidate and weight.
    pub(super) truth: Vec<(usize, f64)>,
}

impl BinnedRow {
    /// Weights of all cells by the features of positions; 0 for cells that are no candidates.
    fn cell_weights(&self, weights: &[Vec<f64>]) -> Vec<f64> {
        let mut of_cells: Vec<f64> = self.valid.iter().map(|valid| f64::from(u8::from(*valid))).collect();
        for (bins, weights) in self.cells.iter().zip(weights) {
            of_cells.iter_mut().zip(bins).for_each(|(of_cell, bin)| *of_cell *= weights[usize::from(*bin)]);
        }
        of_cells
    }

    /// The bins of the feature of poses, cell by cell.
    fn headings(&self) -> impl Iterator<Item = &[u16]> {
        self.poses.chunks_exact(self.poses.len() / self.valid.len().max(1))
    }

    /// Sums of the weights of each cell's headings.
    fn heading_sums(&self, poses: &[f64]) -> Vec<f64> {
        self.headings().map(|bins| bins.iter().map(|bin| poses[usize::from(*bin)]).sum()).collect()
    }

    /// The bin of the feature of poses for a candidate.
    fn pose_bin(&self, candidate: usize) -> usize {
        let plane = self.valid.len();
        usize::from(self.poses[candidate % plane * (self.poses.len() / plane) + candidate / plane])
    }

    /// The bin of a feature for a candidate.
    fn bin(&self, feature: usize, candidate: usize) -> usize {
        let of_cell = |bins: &Vec<u16>| usize::from(bins[candidate % self.valid.len()]);
        self.cells.get(feature).map_or_else(|| self.pose_bin(candidate), of_cell)
    }

    /// The weight that the model gives to each bin of a feature. `sums` are those of [`BinnedRow::heading_sums`].
    fn expected(&self, weights: &[Vec<f64>], feature: usize, sums: &[f64]) -> Vec<f64> {
        let mut expected = vec![0.0; weights[feature].len()];
        let of_cells = self.cell_weights(weights);
        if let Some(bins) = self.cells.get(feature) {
            for ((bin, of_cell), sum) in bins.iter().zip(of_cells).zip(sums) {
                expected[usize::from(*bin)] += of_cell * sum;
            }
        } else {
            // A bin's own weight is the same for all that is in it.
            for (bins, of_cell) in self.headings().zip(of_cells) {
                bins.iter().for_each(|bin| expected[usize::from(*bin)] += of_cell);
            }
            expected.iter_mut().zip(&weights[feature]).for_each(|(sum, weight)| *sum *= weight);
        }
        expected
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
            // The weights of poses come last, so these hold for all other features of a round.
            let poses = weights.last().map_or(&[][..], Vec::as_slice);
            let sums: Vec<Vec<f64>> = rows.par_iter().map(|row| row.heading_sums(poses)).collect();
            for feature in 0..features {
                // Rows are added up in their order, so that the sums do not depend on the threads.
                let chunks = rows.par_chunks(64).zip(sums.par_chunks(64));
                let parts: Vec<[Vec<f64>; 2]> =
                    chunks.map(|(rows, sums)| counts(rows, sums, &weights, feature)).collect();
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
        let (poses, of_cells) = (weights.last().map_or(&[][..], Vec::as_slice), row.cell_weights(&weights));
        let total: f64 = of_cells.iter().zip(row.heading_sums(poses)).map(|(of_cell, sum)| of_cell * sum).sum();
        let plane = row.valid.len();
        let own = |candidate: usize| of_cells[candidate % plane] * poses[row.pose_bin(candidate)];
        let truth: f64 = row.truth.iter().map(|(n, share)| share * libm::log(own(*n) / total)).sum();
        let count = row.valid.iter().filter(|valid| **valid).count() * (row.poses.len() / plane);
        libm::log(count as f64) + truth
    }
}

/// How often the truth is in each bin of a feature, and how often the model says.
fn counts(rows: &[&BinnedRow], sums: &[Vec<f64>], weights: &[Vec<f64>], feature: usize) -> [Vec<f64>; 2] {
    let bins = weights[feature].len();
    let mut counts = [vec![0.0; bins], vec![0.0; bins]];
    for (row, sums) in rows.iter().zip(sums) {
        for (candidate, share) in &row.truth {
            counts[0][row.bin(feature, *candidate)] += share;
        }
        let expected = row.expected(weights, feature, sums);
        let total: f64 = expected.iter().sum();
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
