//! Small fixed tables of what the physics needs per path: antenna gains and reflection coefficients.

use std::f64::consts::PI;

use magnetar_scene::Slab;
use magnetar_trace::SlabResponse;
use nalgebra::Vector3;

use super::TwinModel;

/// Steps a degree of azimuth of the antenna tables.
const AZIMUTH_STEPS: usize = 360;
/// Elevations -90 to 90 degrees in steps of 2.
const ELEVATION_STEPS: usize = 91;
/// Intervals in the cosine of incidence of a reflection table.
const COSINE_STEPS: usize = 256;

/// The weakest gain a table holds, dB relative to boresight: a null is never infinitely deep.
const FLOOR_DB: f64 = -60.0;

/// The index of an elevation in the antenna tables, before its fraction is cut off: the nearest two degrees.
#[inline(always)]
pub(crate) fn elevation_steps(sin_elevation: f32) -> f32 {
    let s = if sin_elevation > 1.0 { 1.0 } else { sin_elevation };
    let s = if s < -1.0 { -1.0 } else { s };
    let elevation = super::lanes::atan2(s, (1.0 - s * s).sqrt());
    elevation * (180.0 / std::f32::consts::PI) * 0.5 + 45.5
}

/// Power gain in dB relative to boresight by azimuth (1 degree) and elevation (2 degrees), device frame.
#[derive(Debug, Clone)]
pub(crate) struct GainTable {
    db: Vec<f32>,
}

impl GainTable {
    /// Tabulates a power pattern (of unit directions in the device's frame), relative to its boresight value.
    pub(crate) fn new(power: impl Fn(&Vector3<f64>) -> f64) -> Self {
        let boresight = power(&Vector3::x());
        let mut db = Vec::with_capacity(AZIMUTH_STEPS * ELEVATION_STEPS);
        for e in 0..ELEVATION_STEPS {
            let (sin, cos) = libm::sincos((e as f64 * 2.0 - 90.0).to_radians());
            for a in 0..AZIMUTH_STEPS {
                let azimuth = (a as f64).to_radians();
                let gain = power(&Vector3::new(cos * libm::cos(azimuth), cos * libm::sin(azimuth), sin)) / boresight;
                let value = 10.0 * libm::log10(gain);
                db.push(if value > FLOOR_DB { value as f32 } else { FLOOR_DB as f32 });
            }
        }
        Self { db }
    }

    /// All gains, elevation by elevation.
    pub(crate) fn db(&self) -> &[f32] {
        &self.db
    }

    /// Gain at an azimuth (radians, device frame) and elevation index, linear between degrees.
    #[inline(always)]
    pub(crate) fn at(&self, azimuth: f32, elevation: usize) -> f32 {
        let degrees = azimuth * (180.0 / std::f32::consts::PI) + 720.0;
        let whole = degrees as usize;
        let t = degrees - whole as f32;
        let row = &self.db[elevation * AZIMUTH_STEPS..(elevation + 1) * AZIMUTH_STEPS];
        let (low, high) = (row[whole % AZIMUTH_STEPS], row[(whole + 1) % AZIMUTH_STEPS]);
        low + t * (high - low)
    }
}

/// The TX gain of a departure for all headings at once: a row of values, value h at heading `h 2 pi / headings`; what fills it up
/// to [`flat_stride`] values means nothing.
#[derive(Debug, Clone)]
pub(crate) struct HeadingTable {
    rows: Vec<f32>,
    headings: usize,
}

impl HeadingTable {
    pub(crate) fn new(gain: &GainTable, headings: usize) -> Self {
        let stride = flat_stride(headings);
        let mut rows = Vec::with_capacity(ELEVATION_STEPS * AZIMUTH_STEPS * stride);
        for e in 0..ELEVATION_STEPS {
            for a in 0..AZIMUTH_STEPS {
                let azimuth = (a as f64).to_radians();
                let start = rows.len();
                rows.extend(
                    (0..headings).map(|h| gain.at((azimuth - h as f64 * 2.0 * PI / headings as f64) as f32, e)),
                );
                rows.extend_from_within(start..start + (stride - headings).min(headings));
                rows.resize(start + stride, 0.0);
            }
        }
        Self { rows, headings }
    }

    /// Where the row for a departure azimuth (radians, global frame) and elevation index starts.
    #[inline(always)]
    pub(crate) fn row(&self, azimuth: f32, elevation: usize) -> usize {
        let degrees = (azimuth * (180.0 / std::f32::consts::PI) + 720.5) as usize % AZIMUTH_STEPS;
        (elevation * AZIMUTH_STEPS + degrees) * flat_stride(self.headings)
    }

    /// All rows, one after another, each of [`flat_stride`] values.
    pub(crate) fn flat(&self) -> &[f32] {
        &self.rows
    }

    /// The gains of the row that starts at `row`, by heading.
    #[inline(always)]
    pub(crate) fn gains(&self, row: usize) -> &[f32] {
        &self.rows[row..row + self.headings]
    }

    /// Headings in a row.
    pub(crate) fn headings(&self) -> usize {
        self.headings
    }
}

/// Values of a row of a [`HeadingTable`], so that each begins at a multiple of 32 bytes.
pub(crate) fn flat_stride(headings: usize) -> usize {
    headings.next_multiple_of(8)
}

/// Slab coefficients by cosine of incidence: re and im of R_te and R_tm.
#[derive(Debug, Clone)]
pub(crate) struct ReflectionTable {
    entries: Vec<[f32; 4]>,
}

impl ReflectionTable {
    pub(crate) fn new(slab: &Slab, frequency_hz: f64) -> Self {
        let slab = SlabResponse::new(slab, frequency_hz);
        let entry = |n: usize| {
            // Grazing incidence itself is left out: the coefficient there is -1 for any slab.
            let r = slab.reflection((n as f64 / COSINE_STEPS as f64).max(1e-6));
            [r.te.re as f32, r.te.im as f32, r.tm.re as f32, r.tm.im as f32]
        };
        Self { entries: (0..=COSINE_STEPS).map(entry).collect() }
    }

    /// The entries, by cosine from 0 to 1.
    pub(crate) fn entries(&self) -> &[[f32; 4]] {
        &self.entries
    }

    /// `|te R_te + tm R_tm|^2`.
    #[inline(always)]
    pub(crate) fn power(&self, cos_incidence: f32, te: f32, tm: f32) -> f32 {
        let position = cos_incidence * COSINE_STEPS as f32;
        let n = (position as usize).min(COSINE_STEPS - 1);
        let t = position - n as f32;
        let (a, b) = (&self.entries[n], &self.entries[n + 1]);
        let at = |c: usize| a[c] + t * (b[c] - a[c]);
        let (re, im) = (te * at(0) + tm * at(2), te * at(1) + tm * at(3));
        re * re + im * im
    }
}

/// The reflection tables of all assignments: one for each slab that differs.
#[derive(Debug, Clone)]
pub(crate) struct SlabTables {
    tables: Vec<ReflectionTable>,
    /// The slabs themselves, in the order of the tables.
    responses: Vec<SlabResponse>,
    /// For each assignment and surface (numbered as in [`super::geometry::surface_number`], from 1 on), its table.
    index: Vec<u32>,
    surfaces: usize,
}

impl SlabTables {
    pub(crate) fn new(model: &TwinModel) -> Self {
        let mut known: Vec<Slab> = Vec::new();
        let mut index = Vec::new();
        for assignment in &model.assignments {
            for slab in assignment.0.iter().chain([&model.box_slab]).chain(&model.box_slabs) {
                let at = known.iter().position(|other| other == slab).unwrap_or_else(|| {
                    known.push(*slab);
                    known.len() - 1
                });
                index.push(at as u32);
            }
        }
        let tables = known.iter().map(|slab| ReflectionTable::new(slab, model.carrier_hz)).collect();
        let responses = known.iter().map(|slab| SlabResponse::new(slab, model.carrier_hz)).collect();
        Self { tables, responses, index, surfaces: 7 + model.box_slabs.len() }
    }

    /// Surfaces of an assignment.
    pub(crate) fn surfaces(&self) -> usize {
        self.surfaces
    }

    /// Assignments.
    pub(crate) fn assignments(&self) -> usize {
        self.index.len() / self.surfaces
    }

    /// The table of a surface (from 1 on) in an assignment.
    #[inline(always)]
    pub(crate) fn table(&self, assignment: usize, surface: u32) -> &ReflectionTable {
        &self.tables[self.slab(assignment, surface)]
    }

    /// The slab of a surface (from 1 on) in an assignment.
    #[inline(always)]
    pub(crate) fn response(&self, assignment: usize, surface: u32) -> &SlabResponse {
        &self.responses[self.slab(assignment, surface)]
    }

    #[inline(always)]
    fn slab(&self, assignment: usize, surface: u32) -> usize {
        self.index[assignment * self.surfaces + surface as usize - 1] as usize
    }

    /// The entries of all tables of an assignment, surface by surface.
    pub(crate) fn entries(&self, assignment: usize) -> impl Iterator<Item = [f32; 4]> + '_ {
        let index = &self.index[assignment * self.surfaces..(assignment + 1) * self.surfaces];
        index.iter().flat_map(|at| self.tables[*at as usize].entries().iter().copied())
    }
}
