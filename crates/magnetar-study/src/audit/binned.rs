//! A log-linear model over candidates: each belongs to one bin of every feature, and weighs the product of its bins' weights.

use std::collections::HashMap;

use rayon::prelude::*;

/// Rounds over all features when weights are fitted.
const ROUNDS: usize = 10;

/// Rows that every bin is taken to have seen besides, as many as expected: what few rows say is not believed.
const PRIOR_ROWS: f64 = 8.0;

/// The candidates of one row, sorted into bins, and where its truth lies.
#[derive(Debug, Clone)]
pub(super) struct BinnedRow {
    /// For each feature of positions: its bin for every cell.
    cells: Vec<Vec<u16>>,
    /// Whether a cell is a candidate.
    valid: Vec<bool>,
    /// Headings of a cell.
    headings: usize,
    /// The bins that a cell's headings are in by the one feature of poses, sorted. Many cells share them, and all that is asked
    /// of them are sums: each set stands here once, one after the other.
    fans: Vec<u16>,
    /// Which set is a cell's.
    fan_of_cell: Vec<u16>,
    truth: Vec<Truth>,
}

/// A candidate that holds some of the truth.
#[derive(Debug, Clone, Copy)]
struct Truth {
    cell: usize,
    /// By the feature of poses.
    pose_bin: u16,
    share: f64,
}

impl BinnedRow {
    /// A row: for each feature of positions its bin for every cell, the bin of the feature of poses for every cell and, within it,
    /// heading, which cells are candidates, and the truth as candidates (headings of cells, one after the other) with weights.
    pub(super) fn new(cells: Vec<Vec<u16>>, poses: &[u16], valid: Vec<bool>, truth: &[(usize, f64)]) -> Self {
        let plane = valid.len();
        let headings = poses.len() / plane.max(1);
        let mut fans: Vec<u16> = Vec::new();
        let mut known: HashMap<Vec<u16>, u16> = HashMap::new();
        let mut sorted = Vec::with_capacity(headings);
        let mut last = 0;
        let fan_of = |bins: &[u16]| {
            sorted.clear();
            sorted.extend_from_slice(bins);
            sorted.sort_unstable();
            // That of the cell before, mostly.
            if fans.get(usize::from(last) * headings..).is_some_and(|fans| fans.starts_with(&sorted))
                && !fans.is_empty()
            {
                return last;
            }
            last = known.get(&sorted).copied().unwrap_or_else(|| {
                fans.extend_from_slice(&sorted);
                known.insert(sorted.clone(), known.len() as u16);
                known.len() as u16 - 1
            });
            last
        };
        let fan_of_cell = poses.chunks_exact(headings.max(1)).map(fan_of).collect();
        let of_candidate = |(candidate, share): &(usize, f64)| {
            let (heading, cell) = (candidate / plane, candidate % plane);
            Truth { cell, pose_bin: poses[cell * headings + heading], share: *share }
        };
        let truth = truth.iter().map(of_candidate).collect();
        Self { cells, valid, headings, fans, fan_of_cell, truth }
    }

    /// The sets of bins, by their numbers.
    fn fans(&self) -> impl Iterator<Item = &[u16]> {
        self.fans.chunks_exact(self.headings.max(1))
    }

    /// The greatest bin of a feature; that of poses comes last.
    fn greatest_bin(&self, feature: usize) -> usize {
        self.cells.get(feature).unwrap_or(&self.fans).iter().copied().max().map_or(0, usize::from)
    }

    /// Weights of all cells by the features of positions; 0 for cells that are no candidates.
    fn cell_weights(&self, weights: &[Vec<f64>], of_cells: &mut Vec<f64>) {
        of_cells.clear();
        of_cells.extend(self.valid.iter().map(|valid| f64::from(u8::from(*valid))));
        for (bins, weights) in self.cells.iter().zip(weights) {
            of_cells.iter_mut().zip(bins).for_each(|(of_cell, bin)| *of_cell *= weights[usize::from(*bin)]);
        }
    }

    /// Sums of the weights of each cell's headings.
    fn heading_sums(&self, poses: &[f64]) -> Vec<f64> {
        let sums: Vec<f64> = self.fans().map(|bins| bins.iter().map(|bin| poses[usize::from(*bin)]).sum()).collect();
        self.fan_of_cell.iter().map(|fan| sums[usize::from(*fan)]).collect()
    }

    /// The bin of a feature for a candidate.
    fn bin(&self, feature: usize, truth: &Truth) -> usize {
        usize::from(self.cells.get(feature).map_or(truth.pose_bin, |bins| bins[truth.cell]))
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
        let bins = |feature: usize| rows.iter().map(|row| row.greatest_bin(feature) + 1).max().unwrap_or(1);
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
            weights.resize((row.greatest_bin(feature) + 1).max(weights.len()), 1.0);
        }
        let poses = weights.last().map_or(&[][..], Vec::as_slice);
        let mut of_cells = Vec::new();
        row.cell_weights(&weights, &mut of_cells);
        let total: f64 = of_cells.iter().zip(row.heading_sums(poses)).map(|(of_cell, sum)| of_cell * sum).sum();
        let own = |truth: &Truth| of_cells[truth.cell] * poses[usize::from(truth.pose_bin)];
        let truth: f64 = row.truth.iter().map(|truth| truth.share * libm::log(own(truth) / total)).sum();
        let count = row.valid.iter().filter(|valid| **valid).count() * row.headings;
        libm::log(count as f64) + truth
    }
}

/// How often the truth is in each bin of a feature, and how often the model says.
fn counts(rows: &[&BinnedRow], sums: &[Vec<f64>], weights: &[Vec<f64>], feature: usize) -> [Vec<f64>; 2] {
    let bins = weights[feature].len();
    let mut counts = [vec![0.0; bins], vec![0.0; bins]];
    let (mut of_cells, mut of_fans) = (Vec::new(), Vec::<f64>::new());
    for (row, sums) in rows.iter().zip(sums) {
        for truth in &row.truth {
            counts[0][row.bin(feature, truth)] += truth.share;
        }
        row.cell_weights(weights, &mut of_cells);
        let total: f64 = of_cells.iter().zip(sums).map(|(of_cell, sum)| of_cell * sum).sum();
        let expected = &mut counts[1];
        if let Some(bins) = row.cells.get(feature) {
            for ((bin, of_cell), sum) in bins.iter().zip(&of_cells).zip(sums) {
                expected[usize::from(*bin)] += of_cell * sum / total;
            }
        } else {
            of_fans.clear();
            of_fans.resize(row.fans.len() / row.headings.max(1), 0.0);
            for (fan, of_cell) in row.fan_of_cell.iter().zip(&of_cells) {
                of_fans[usize::from(*fan)] += of_cell / total;
            }
            for (bins, of_fan) in row.fans().zip(&of_fans) {
                for bin in bins.iter().map(|bin| usize::from(*bin)) {
                    expected[bin] += of_fan * weights[feature][bin];
                }
            }
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
        BinnedRow::new(vec![bins], &[0; 8], vec![true; 4], &[(at + 4 * (n / 4 % 2), 1.0)])
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
