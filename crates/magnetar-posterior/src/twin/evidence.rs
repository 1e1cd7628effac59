//! The likelihood summed over the area and the headings of every candidate, on the CPU.

use magnetar_scene::Pose;
use nalgebra::Point3;
use rayon::prelude::*;

use super::TwinScorer;
use super::geometry::{CandidateTracer, DB_PER_OCTAVE, DIRECT, MAX_PATHS, Paths};
use super::lanes::{LANES, log2};
use super::likelihood::{HeadingBlock, likelihood};
use super::matches::Matches;
use super::tables::HeadingTable;
use super::widths::{Observed, Widths};
use crate::{ScoreRow, Support};

impl TwinScorer {
    /// Hat-weighted integral of the likelihood for every candidate.
    pub(crate) fn evidence(&self, left_out: Option<usize>, row: &ScoreRow<'_>) -> Vec<f64> {
        let ScoreRow { layout, rx, arrivals, support, .. } = *row;
        let size = support.size();
        let fine = size.headings * self.grain.heading;
        let table = self.heading_table(fine);
        let widths = self.widths();
        let seen = self.observed(arrivals, &widths);
        let world = layout.world();
        let first = support.first_heading();
        let tracer =
            CandidateTracer::new(&world, rx, self.model(), (&self.shared.rx_gain, &self.shared.slabs), (&table, first));
        let assignments = self.kept_assignments(left_out);
        let job = EvidenceJob { scorer: self, assignments, tracer: &tracer, table: &table, widths, seen, support, rx };
        let lines = size.rows * self.grain.position;
        let width = size.columns * fine;
        let mut sums = vec![0f32; lines * width];
        sums.par_chunks_mut(width).enumerate().for_each(|(line, out)| job.line(line, out));
        self.gather(support, &sums)
    }

    /// Spreads lines over rows and fine headings over bins with the weights of the evaluation target.
    fn gather(&self, support: &Support, sums: &[f32]) -> Vec<f64> {
        let (size, grain) = (support.size(), self.grain.heading);
        let fine = size.headings * grain;
        let width = size.columns * fine;
        // The fine headings that reach a bin, counted from its own, with their weights.
        let shares: Vec<(usize, f64)> = (0..grain)
            .map(|part| (part, 1.0 - part as f64 / grain as f64))
            .chain((1..grain).map(|part| (fine - grain + part, part as f64 / grain as f64)))
            .collect();
        let mut reaching = vec![Vec::new(); size.rows];
        for line in 0..size.rows * self.grain.position {
            let y = line_coordinate(support, line, self.grain.position, 1);
            for (i, weight) in crate::target::linear(support.ys(), y) {
                reaching[i].push((line, weight));
            }
        }
        let mut evidence = vec![0.0; size.len()];
        let mut row = vec![0f64; width];
        for (i, lines) in reaching.iter().enumerate() {
            row.fill(0.0);
            for (line, weight) in lines {
                for (sum, v) in row.iter_mut().zip(&sums[line * width..(line + 1) * width]) {
                    *sum += weight * f64::from(*v);
                }
            }
            for (j, headings) in row.chunks_exact(fine).enumerate() {
                for d in 0..size.headings {
                    let at = |from: usize| headings[(d * grain + from) % fine];
                    evidence[support.index(d, i, j)] = shares.iter().map(|(from, weight)| weight * at(*from)).sum();
                }
            }
        }
        evidence
    }
}

/// Coordinate of fine line `n` along x (axis 0) or y (axis 1), metres.
pub(super) fn line_coordinate(support: &Support, n: usize, grain: usize, axis: usize) -> f64 {
    let low = support.bounds()[2 * axis];
    low + (n as f64 + 0.5) * support.spacing()[axis] / grain as f64
}

/// One observation being scored: what every line needs.
struct EvidenceJob<'a> {
    scorer: &'a TwinScorer,
    /// Material assignments averaged over.
    assignments: Vec<usize>,
    tracer: &'a CandidateTracer<'a>,
    table: &'a HeadingTable,
    widths: Widths,
    seen: Observed,
    support: &'a Support,
    rx: &'a Pose,
}

impl EvidenceJob<'_> {
    /// One line of fine positions (constant y), accumulated onto columns: `out[j fine + h]`.
    fn line(&self, line: usize, out: &mut [f32]) {
        magnetar_signal::with_avx2!(self.line_avx2(line, out), self.line_plain(line, out));
    }

    /// [`EvidenceJob::line_plain`] with wider registers; the same operations, so the same bits.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn line_avx2(&self, line: usize, out: &mut [f32]) {
        self.line_plain(line, out);
    }

    #[inline(always)]
    fn line_plain(&self, line: usize, out: &mut [f32]) {
        let model = self.scorer.model();
        let grain = self.scorer.grain.position;
        let fine = self.table.headings();
        let y = line_coordinate(self.support, line, grain, 1);
        let [x0, x1, y0, y1] = self.support.bounds();
        let (margin, apart) = self.scorer.distances();
        if y < y0 + margin || y > y1 - margin {
            return;
        }
        let patch2 = self.scorer.patch2(self.support);
        let kappa = model.phase_per_unit() as f32;
        let mut point = FinePoint::new(self.assignments.len(), fine);
        for column in 0..self.support.size().columns * grain {
            let x = line_coordinate(self.support, column, grain, 0);
            let away = libm::hypot(x - self.rx.position.x, y - self.rx.position.y);
            if x < x0 + margin || x > x1 - margin || away < apart {
                continue;
            }
            let tx = Point3::new(x, y, model.tx_height_m);
            if !self.tracer.admits(&tx) {
                continue;
            }
            self.tracer.trace(&tx, &mut point.paths);
            point.matches.compare(&point.paths, &self.seen, &self.widths, kappa, patch2);
            let value = self.score(&mut point);
            for (j, weight) in crate::target::linear(self.support.xs(), x) {
                let weight = weight as f32;
                for (sum, value) in out[j * fine..(j + 1) * fine].iter_mut().zip(value) {
                    *sum += weight * value;
                }
            }
        }
    }

    /// Likelihood at one position for all fine headings, averaged over the materials.
    #[inline(always)]
    fn score<'p>(&self, point: &'p mut FinePoint) -> &'p [f32] {
        let FinePoint { paths, matches, block, snr_db, values } = point;
        let fine = self.table.headings();
        // Where no two paths explain both arrivals, materials make no difference worth its time: the first stands for all.
        let used = if matches.complete(&self.seen) { self.assignments.len() } else { 1 };
        let assignments = &self.assignments[..used.min(self.assignments.len())];
        for (n, m) in assignments.iter().enumerate() {
            let base = self.base_levels(paths, *m);
            for (i, snr_db) in snr_db.iter_mut().enumerate().take(paths.count) {
                let gains = self.table.gains(paths.row[i] as usize);
                for (snr_db, gain) in snr_db[n * fine..(n + 1) * fine].iter_mut().zip(gains) {
                    *snr_db = gain + base[i];
                }
            }
        }
        // Materials and headings side by side, so that every lane but the last few has work.
        for start in (0..assignments.len() * fine).step_by(LANES) {
            for (snr, snr_db) in block.snr.iter_mut().zip(snr_db.iter()).take(paths.count) {
                snr.0.copy_from_slice(&snr_db[start..start + LANES]);
            }
            let l = likelihood(block, paths.count, matches, &self.seen, &self.widths);
            values[start..start + LANES].copy_from_slice(&l.0);
        }
        let (first, others) = values.split_at_mut(fine);
        for other in others.chunks_exact(fine).take(assignments.len().saturating_sub(1)) {
            for (sum, value) in first.iter_mut().zip(other) {
                *sum += value;
            }
        }
        let share = 1.0 / assignments.len().max(1) as f32;
        for value in first.iter_mut() {
            *value *= share;
        }
        first
    }

    /// Raw SNRs of the paths without the TX pattern in a material assignment, dB.
    #[inline(always)]
    fn base_levels(&self, paths: &Paths, assignment: usize) -> [f32; MAX_PATHS] {
        if let Some(response_db) = paths.response_db.get(assignment) {
            return std::array::from_fn(|i| paths.snr_db[i] + response_db[i]);
        }
        let mut power = [1.0f32; MAX_PATHS];
        for (i, power) in power.iter_mut().enumerate().take(paths.count) {
            if paths.surface[i] != DIRECT {
                let reflection = self.scorer.shared.slabs.table(assignment, paths.surface[i]);
                *power = reflection.power(paths.cos_incidence[i], paths.te[i], paths.tm[i]) + 1e-9;
            }
        }
        let mut base = paths.snr_db;
        for (base, power) in base.iter_mut().zip(power) {
            *base += DB_PER_OCTAVE * log2(power);
        }
        base
    }
}

/// One fine position being scored.
struct FinePoint {
    paths: Paths,
    matches: Matches,
    block: HeadingBlock,
    /// Raw SNR of each path, dB, material by material and heading by heading.
    snr_db: [Vec<f32>; MAX_PATHS],
    /// Likelihoods in the same order; in the end, in place of the first material's, the mean of all.
    values: Vec<f32>,
}

impl FinePoint {
    /// Room for so many material assignments and fine headings.
    fn new(assignments: usize, headings: usize) -> Self {
        let each = vec![0.0; (assignments.max(1) * headings).next_multiple_of(LANES)];
        Self {
            paths: Paths::new(),
            matches: Matches::new(),
            block: HeadingBlock::new(),
            snr_db: std::array::from_fn(|_| each.clone()),
            values: each,
        }
    }
}
