//! The likelihood summed over the area and the headings of every candidate, on the CPU.

use magnetar_scene::Pose;
use nalgebra::Point3;
use rayon::prelude::*;

use super::TwinScorer;
use super::geometry::{CandidateTracer, DB_PER_OCTAVE, DIRECT, MAX_PATHS, Paths};
use super::lanes::{LANES, log2};
use super::likelihood::{Matches, Observed, Widths, likelihood};
use super::tables::HeadingTable;
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
        let tracer = CandidateTracer::new(&world, rx, self.model(), &self.shared.rx_gain, (&table, first));
        let assignments = self.kept_assignments(left_out);
        let job = Job { scorer: self, assignments, tracer: &tracer, table: &table, widths, seen, support, rx };
        let lines = size.rows * self.grain.position;
        let width = size.columns * table.blocks() * LANES;
        let mut sums = vec![0f32; lines * width];
        sums.par_chunks_mut(width).enumerate().for_each(|(line, out)| job.line(line, out));
        self.gather(support, &sums, width, table.blocks() * LANES)
    }

    /// Spreads lines over rows and fine headings over bins with the weights of the evaluation target.
    fn gather(&self, support: &Support, sums: &[f32], width: usize, lanes: usize) -> Vec<f64> {
        let size = support.size();
        let fine = size.headings * self.grain.heading;
        let mut rows = vec![0f64; size.rows * width];
        for (line, values) in sums.chunks_exact(width).enumerate() {
            let y = line_coordinate(support, line, self.grain.position, 1);
            for (i, weight) in crate::target::linear(support.ys(), y) {
                for (sum, v) in rows[i * width..(i + 1) * width].iter_mut().zip(values) {
                    *sum += weight * f64::from(*v);
                }
            }
        }
        let mut evidence = vec![0.0; size.len()];
        for h in 0..fine {
            let (d, part) = (h / self.grain.heading, (h % self.grain.heading) as f64 / self.grain.heading as f64);
            for (bin, weight) in [(d, 1.0 - part), ((d + 1) % size.headings, part)] {
                if weight == 0.0 {
                    continue;
                }
                for i in 0..size.rows {
                    for j in 0..size.columns {
                        evidence[support.index(bin, i, j)] += weight * rows[i * width + j * lanes + h];
                    }
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
struct Job<'a> {
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

impl Job<'_> {
    /// One line of fine positions (constant y), accumulated onto columns: `out[j lanes + h]`.
    fn line(&self, line: usize, out: &mut [f32]) {
        #[cfg(target_arch = "x86_64")]
        if magnetar_signal::has_avx2() {
            // SAFETY: the processor was just found to have AVX2.
            #[allow(unsafe_code, reason = "the same code compiled for a wider vector unit, chosen at run time")]
            unsafe {
                self.line_avx2(line, out);
            }
            return;
        }
        self.line_plain(line, out);
    }

    /// [`Job::line_plain`] with eight lanes to a register; the same operations, so the same bits.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn line_avx2(&self, line: usize, out: &mut [f32]) {
        self.line_plain(line, out);
    }

    #[inline(always)]
    fn line_plain(&self, line: usize, out: &mut [f32]) {
        let model = self.scorer.model();
        let grain = self.scorer.grain.position;
        let lanes = self.table.blocks() * LANES;
        let y = line_coordinate(self.support, line, grain, 1);
        let [x0, x1, y0, y1] = self.support.bounds();
        let (margin, apart) = self.scorer.distances();
        if y < y0 + margin || y > y1 - margin {
            return;
        }
        let patch2 = self.scorer.patch2(self.support);
        let kappa = model.phase_per_unit() as f32;
        let (mut paths, mut matches) = (Paths::new(), Matches::new());
        let mut point = vec![0f32; lanes];
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
            self.tracer.trace(&tx, &mut paths);
            matches.compare(&paths, &self.seen, &self.widths, kappa, patch2);
            self.point(&paths, &matches, &mut point);
            for (j, weight) in crate::target::linear(self.support.xs(), x) {
                let weight = weight as f32;
                for (sum, value) in out[j * lanes..(j + 1) * lanes].iter_mut().zip(&point) {
                    *sum += weight * value;
                }
            }
        }
    }

    /// Likelihood at one position for all fine headings, averaged over the materials.
    #[inline(always)]
    fn point(&self, paths: &Paths, matches: &Matches, out: &mut [f32]) {
        out.fill(0.0);
        // Where no two paths explain both arrivals, materials make no difference worth its time: the first stands for all.
        let used = if matches.complete(&self.seen) { self.assignments.len() } else { 1 };
        let assignments = &self.assignments[..used.min(self.assignments.len())];
        let share = 1.0 / assignments.len().max(1) as f32;
        for m in assignments {
            let mut base = [0f32; MAX_PATHS];
            for (i, base) in base.iter_mut().enumerate().take(paths.count) {
                *base = paths.snr_db[i];
                if paths.surface[i] != DIRECT {
                    let reflection = self.scorer.shared.slabs.table(*m, paths.surface[i]);
                    let power = reflection.power(paths.cos_incidence[i], paths.te[i], paths.tm[i]);
                    *base += DB_PER_OCTAVE * log2(power + 1e-9);
                }
            }
            for (block, out) in out.chunks_exact_mut(LANES).enumerate() {
                let l = likelihood(paths, &base, matches, self.table, block, &self.seen, &self.widths);
                for (sum, value) in out.iter_mut().zip(l.0) {
                    *sum += share * value;
                }
            }
        }
    }
}
