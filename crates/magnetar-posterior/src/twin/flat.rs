//! The twin's scoring job as flat arrays, for devices that run it as a kernel.
//!
//! `kernels/candidate.cuh` has exactly these layouts. Everything that is worked out once an observation is worked
//! out here, by the functions the CPU uses itself; the kernel restates only what runs for every position and heading.

use bytemuck::{Pod, Zeroable};

use super::TwinScorer;
use super::evidence::line_coordinate;
use super::geometry::CandidateTracer;
use super::tables::flat_stride;
use super::widths::USED;
use crate::{ScoreRow, SupportSize};

/// One observation and what its receiver knows.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct TwinRow {
    pub(super) room_min: [f64; 3],
    pub(super) room_max: [f64; 3],
    pub(super) rx: [f64; 3],
    pub(super) rx_sin: f64,
    pub(super) rx_cos: f64,
    low: [f64; 2],
    spacing: [f64; 2],
    /// Where a TX may stand: xmin, xmax, ymin, ymax.
    inside: [f64; 4],
    first_box: u32,
    box_count: u32,
    pub(super) rx_heading: f32,
    patch2: f32,
    first_heading: f32,
    unused: f32,
    seen: u32,
    phase: [f32; USED],
    snr_db: [f32; USED],
    phase_variance: [f32; USED],
    cut_db: f32,
}

/// One box in its own frame.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct TwinBox {
    pub(super) center: [f64; 3],
    pub(super) half: [f64; 3],
    pub(super) rx_local: [f64; 3],
    pub(super) sin: f64,
    pub(super) cos: f64,
    /// Its number among the reflection tables.
    pub(super) surface: u32,
    pub(super) unused: u32,
}

/// What all rows of a batch share.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct TwinShared {
    tx_height: f64,
    separation_min: f64,
    snr_at_one_metre_db: f32,
    kappa: f32,
    los_variance: f32,
    reflection_variance: f32,
    merge_m: f32,
    merge_softness_m: f32,
    fading: f32,
    rank_variance: f32,
    outlier_first: f32,
    outlier_second: f32,
    offset_max: f32,
    stray: f32,
    heading_variance: f32,
    position_variance: f32,
    map_variance: f32,
    unused: f32,
    /// Fine positions along x.
    pub columns: u32,
    /// Fine positions along y.
    pub lines: u32,
    grain: u32,
    headings: u32,
    heading_grain: u32,
    lanes: u32,
    /// Material assignments averaged over.
    pub materials: u32,
    support_rows: u32,
    support_columns: u32,
    ranking: u32,
    shared_offset: u32,
    /// Reflection tables of an assignment.
    surfaces: u32,
}

impl TwinShared {
    /// Fine headings.
    #[must_use]
    pub fn fine_headings(&self) -> usize {
        (self.headings * self.heading_grain) as usize
    }

    /// Fine positions of a row.
    #[must_use]
    pub fn positions(&self) -> usize {
        (self.columns * self.lines) as usize
    }

    /// Candidates of a row.
    #[must_use]
    pub fn candidates(&self) -> usize {
        (self.headings * self.support_rows * self.support_columns) as usize
    }

    /// Fine points along both axes of a row: the entries it has in [`TwinRows::lower`].
    #[must_use]
    pub fn fine_points(&self) -> usize {
        (self.columns + self.lines) as usize
    }

    /// Representatives along both axes of a row: pairs it has in [`TwinRows::range`].
    #[must_use]
    pub fn representatives(&self) -> usize {
        (self.support_columns + self.support_rows) as usize
    }
}

/// Tables of a scorer for supports of one number of headings.
#[derive(Debug, Clone, PartialEq)]
pub struct TwinTables {
    /// RX gain, dB relative to boresight: 91 elevations by 360 azimuths.
    pub rx_gain: Vec<f32>,
    /// TX gain, dB: for each elevation and azimuth of departure a row over all fine headings, padded to eights.
    pub tx_gain: Vec<f32>,
    /// (re, im) of R_te and R_tm by assignment, surface and 257 cosines of incidence.
    pub reflections: Vec<[f32; 4]>,
}

/// Rows on supports of one size.
#[derive(Debug, Clone, Default)]
pub struct TwinRows {
    /// The observations.
    pub rows: Vec<TwinRow>,
    /// Their boxes, row by row.
    pub boxes: Vec<TwinBox>,
    /// For each row, column points and then line points: the representative before the fine point.
    pub lower: Vec<u32>,
    /// For each of those: its weight for that representative and for the next.
    pub weight: Vec<f32>,
    /// For each row, support columns and then rows: first and last-plus-one fine point that it has a weight of.
    pub range: Vec<u32>,
}

impl TwinScorer {
    /// What rows on supports of one size share.
    #[must_use]
    pub fn flat_shared(&self, size: SupportSize) -> TwinShared {
        let (model, widths, grain) = (self.model(), self.widths(), self.grain);
        TwinShared {
            tx_height: model.tx_height_m,
            separation_min: self.distances().1,
            snr_at_one_metre_db: model.snr_at_one_metre_db as f32,
            kappa: model.phase_per_unit() as f32,
            los_variance: widths.los_variance,
            reflection_variance: widths.reflection_variance,
            merge_m: widths.merge_m,
            merge_softness_m: widths.merge_softness_m,
            fading: widths.fading,
            rank_variance: widths.rank_variance,
            outlier_first: widths.outlier_first,
            outlier_second: widths.outlier_second,
            offset_max: widths.offset_max,
            stray: widths.stray,
            heading_variance: widths.heading_variance,
            position_variance: widths.position_variance,
            map_variance: widths.map_variance,
            unused: 0.0,
            columns: (size.columns * grain.position) as u32,
            lines: (size.rows * grain.position) as u32,
            grain: grain.position as u32,
            headings: size.headings as u32,
            heading_grain: grain.heading as u32,
            lanes: flat_stride(size.headings * grain.heading) as u32,
            materials: self.kept_assignments(None).len() as u32,
            support_rows: size.rows as u32,
            support_columns: size.columns as u32,
            ranking: u32::from(widths.ranking),
            shared_offset: u32::from(widths.shared_offset),
            surfaces: self.shared.slabs.surfaces() as u32,
        }
    }

    /// The scorer's tables for supports of one size.
    #[must_use]
    pub fn flat_tables(&self, size: SupportSize) -> TwinTables {
        let table = self.heading_table(size.headings * self.grain.heading);
        let reflections = self.kept_assignments(None).into_iter().flat_map(|m| self.shared.slabs.entries(m)).collect();
        TwinTables { rx_gain: self.shared.rx_gain.db().to_vec(), tx_gain: table.flat().to_vec(), reflections }
    }

    /// The rows themselves; all must be on supports of one size.
    #[must_use]
    pub fn flat_rows(&self, rows: &[ScoreRow<'_>]) -> TwinRows {
        let mut flat = TwinRows::default();
        for row in rows {
            self.flatten(row, &mut flat);
        }
        flat
    }

    fn flatten(&self, row: &ScoreRow<'_>, flat: &mut TwinRows) {
        let (support, grain) = (row.support, self.grain.position);
        let table = self.heading_table(support.size().headings * self.grain.heading);
        let seen = self.observed(row.arrivals, &self.widths());
        let world = row.layout.world();
        let first = support.first_heading();
        let tracer = CandidateTracer::new(
            &world,
            row.rx,
            self.model(),
            (&self.shared.rx_gain, &self.shared.slabs),
            (&table, first),
        );
        let [x0, x1, y0, y1] = support.bounds();
        let margin = self.distances().0;
        let mut out = TwinRow {
            low: [x0, y0],
            spacing: support.spacing(),
            inside: [x0 + margin, x1 - margin, y0 + margin, y1 - margin],
            first_box: flat.boxes.len() as u32,
            patch2: self.patch2(support),
            first_heading: support.first_heading() as f32,
            seen: seen.count as u32,
            phase: seen.phase,
            snr_db: seen.snr_db,
            phase_variance: seen.phase_variance,
            cut_db: seen.cut_db,
            ..TwinRow::zeroed()
        };
        tracer.flatten(&mut out, &mut flat.boxes);
        out.box_count = flat.boxes.len() as u32 - out.first_box;
        flat.rows.push(out);
        let size = support.size();
        for (axis, points, count) in [(0, support.xs(), size.columns), (1, support.ys(), size.rows)] {
            let start = flat.lower.len();
            let fine = (0..count * grain).map(|n| line_coordinate(support, n, grain, axis));
            for taps in fine.map(|value| crate::target::linear(points, value)) {
                flat.lower.push(taps[0].0 as u32);
                flat.weight.extend([taps[0].1 as f32, taps.get(1).map_or(0.0, |tap| tap.1 as f32)]);
            }
            // Fine points ascend, so those that reach a representative lie side by side.
            let lower = &flat.lower[start..];
            for i in 0..count as u32 {
                let reached = |n: &u32| *n == i || *n + 1 == i;
                let begin = lower.iter().position(reached).unwrap_or(0);
                let end = lower.iter().rposition(reached).map_or(0, |last| last + 1);
                flat.range.extend([begin as u32, end as u32]);
            }
        }
    }
}
