//! Coefficients of many paths at once: what [`Tracer::coefficient`] gives, bit for bit, with the paths side by side in the
//! processor's vectors. Paths that lanes have no place for (through boxes) or that need a special case (normal incidence, a
//! vertical ray) are worked out one by one.

#![allow(clippy::needless_range_loop, reason = "lanes read best by their indices")]

use nalgebra::Vector3;
use num_complex::Complex64;

use crate::slab_batch::SlabBatch;
use crate::{InteractionKind, MAX_ORDER, Path, PathGeometry, SlabCoefficients, Surface, Tracer};

/// Paths of one reflection that are worked out together.
const SINGLES: usize = 8;
/// Paths of several reflections that are worked out together.
const SEVERAL: usize = 24;
/// Below this square of the sine, incidence is normal (`polarisation.rs`).
const NORMAL_INCIDENCE: f64 = 1e-12;

/// One vector per lane, by component.
type Vectors<const LANES: usize> = [[f64; LANES]; 3];

impl Tracer {
    /// Works out the coefficients of paths: [`Self::coefficient`] of each.
    pub(crate) fn work_out(&self, paths: &mut [Path]) {
        let mut singles = Singles::new();
        let mut pairs = (self.options().max_order > 1).then(Several::<2>::new);
        let mut triples = (self.options().max_order > 2).then(Several::<3>::new);
        for at in 0..paths.len() {
            let geometry = &paths[at].geometry;
            let known = geometry
                .interactions
                .iter()
                .all(|met| met.kind == InteractionKind::Reflection && self.slab(met.surface).is_some());
            match (geometry.interactions.len(), &mut pairs, &mut triples) {
                (1, ..) if known => {
                    if singles.add(self, at, geometry) {
                        singles.finish(self, paths);
                    }
                }
                (2, Some(pairs), _) if known => {
                    if pairs.add(self, at, geometry) {
                        pairs.finish(self, paths);
                    }
                }
                (3, _, Some(triples)) if known => {
                    if triples.add(self, at, geometry) {
                        triples.finish(self, paths);
                    }
                }
                _ => paths[at].coefficient = self.coefficient(geometry),
            }
        }
        singles.finish(self, paths);
        if let Some(mut pairs) = pairs {
            pairs.finish(self, paths);
        }
        if let Some(mut triples) = triples {
            triples.finish(self, paths);
        }
    }
}

/// Paths being worked out: which they are, and what becomes of them.
struct Batch<const LANES: usize> {
    count: usize,
    /// Their numbers among all.
    paths: [usize; LANES],
    spread: [f64; LANES],
    /// Real and imaginary parts.
    coefficients: [[f64; LANES]; 2],
    /// 1 where the lane holds what it should.
    sound: [u64; LANES],
}

impl<const LANES: usize> Batch<LANES> {
    fn new() -> Self {
        let zeros = [0.0; LANES];
        Self { count: 0, paths: [0; LANES], spread: zeros, coefficients: [zeros; 2], sound: [0; LANES] }
    }

    /// Gives a path a lane.
    #[inline]
    fn take(&mut self, path: usize, spread: f64) -> usize {
        let lane = self.count;
        (self.paths[lane], self.spread[lane]) = (path, spread);
        self.count += 1;
        lane
    }

    /// Whether there is no lane for another.
    #[inline]
    fn is_full(&self) -> bool {
        self.count == LANES
    }

    /// Gives the paths their coefficients and forgets them; those of unsound lanes are worked out alone.
    #[inline]
    fn give(&mut self, tracer: &Tracer, paths: &mut [Path]) {
        let [re, im] = &self.coefficients;
        for lane in 0..self.count {
            let path = &mut paths[self.paths[lane]];
            let sound = self.sound[lane] == 1;
            path.coefficient =
                if sound { Complex64::new(re[lane], im[lane]) } else { tracer.coefficient(&path.geometry) };
        }
        self.count = 0;
    }
}

/// Paths of one reflection.
struct Singles {
    batch: Batch<SINGLES>,
    /// Directions before and after, normals of the surfaces met.
    before: Vectors<SINGLES>,
    after: Vectors<SINGLES>,
    normal: Vectors<SINGLES>,
    slabs: SlabBatch<SINGLES, false>,
}

impl Singles {
    fn new() -> Self {
        let vectors = [[0.5; SINGLES]; 3];
        let slabs = SlabBatch::new();
        Self { batch: Batch::new(), before: vectors, after: vectors, normal: vectors, slabs }
    }

    /// Takes a path; true if there is no place for another.
    #[inline]
    fn add(&mut self, tracer: &Tracer, path: usize, geometry: &PathGeometry) -> bool {
        let surface = geometry.interactions[0].surface;
        let Some(slab) = tracer.slab(surface) else { return false };
        let lane = self.batch.take(path, tracer.spread(geometry));
        set(&mut self.before, lane, &geometry.departure);
        set(&mut self.after, lane, &-geometry.arrival);
        set(&mut self.normal, lane, &tracer.world().normal(surface));
        self.slabs.add(slab, geometry.cos_incidence);
        self.batch.is_full()
    }

    /// Gives the paths their coefficients and forgets them.
    fn finish(&mut self, tracer: &Tracer, paths: &mut [Path]) {
        if self.batch.count > 0 {
            self.slabs.evaluate();
            crate::with_avx2!(self.evaluate_avx2(), self.evaluate());
            self.batch.give(tracer, paths);
            self.slabs.clear();
        }
    }

    crate::avx2_copy!(evaluate_avx2 of evaluate(&mut self));

    /// As the case of one reflection in [`Tracer::coefficient`].
    #[inline(always)]
    fn evaluate(&mut self) {
        let Batch { spread, coefficients: [re, im], sound, .. } = &mut self.batch;
        for lane in 0..SINGLES {
            let (k1, k2) = (get(&self.before, lane), get(&self.after, lane));
            let across = cross(k1, get(&self.normal, lane));
            let square = dot(across, across);
            let sine = square.sqrt();
            let s = across.map(|c| c / sine);
            let ((v1, h1), (v2, h2)) = (vertical(k1), vertical(k2));
            let (te, tm) = (dot(v2, s) * dot(s, v1), dot(v2, cross(k2, s)) * dot(cross(k1, s), v1));
            let r = self.slabs.coefficients(lane);
            let sum = te * r.te + tm * r.tm;
            (re[lane], im[lane]) = (spread[lane] * sum.re, spread[lane] * sum.im);
            sound[lane] = u64::from(square >= NORMAL_INCIDENCE) & u64::from(h1 > 0.0) & u64::from(h2 > 0.0);
        }
    }
}

/// Paths of `STEPS` reflections.
struct Several<const STEPS: usize> {
    batch: Batch<SEVERAL>,
    /// Directions of departure.
    departure: Vectors<SEVERAL>,
    /// Normals of the surfaces met.
    normal: [Vectors<SEVERAL>; STEPS],
    cos_incidence: [[f64; SEVERAL]; STEPS],
    /// Real and imaginary parts of TE, then of TM, of each reflection.
    slab_parts: [[[f64; SEVERAL]; 4]; STEPS],
}

impl<const STEPS: usize> Several<STEPS> {
    fn new() -> Self {
        let vectors = [[0.5; SEVERAL]; 3];
        Self {
            batch: Batch::new(),
            departure: vectors,
            normal: [vectors; STEPS],
            cos_incidence: [[0.0; SEVERAL]; STEPS],
            slab_parts: [[[0.0; SEVERAL]; 4]; STEPS],
        }
    }

    /// Takes a path; true if there is no place for another.
    #[inline]
    fn add(&mut self, tracer: &Tracer, path: usize, geometry: &PathGeometry) -> bool {
        let lane = self.batch.take(path, tracer.spread(geometry));
        set(&mut self.departure, lane, &geometry.departure);
        for (normal, met) in self.normal.iter_mut().zip(geometry.interactions.iter()) {
            set(normal, lane, &tracer.world().normal(met.surface));
        }
        self.batch.is_full()
    }

    /// Gives the paths their coefficients and forgets them.
    fn finish(&mut self, tracer: &Tracer, paths: &mut [Path]) {
        if self.batch.count > 0 {
            crate::with_avx2!(self.follow_avx2(), self.follow());
            self.ask_slabs(tracer, paths);
            crate::with_avx2!(self.evaluate_avx2(), self.evaluate());
            self.batch.give(tracer, paths);
        }
    }

    /// Evaluates the slabs at the angles of incidence, each angle of a slab of the room once per path.
    fn ask_slabs(&mut self, tracer: &Tracer, paths: &[Path]) {
        let mut batch = SlabBatch::<{ SEVERAL * MAX_ORDER }, true>::new();
        let mut numbers = [[0; STEPS]; SEVERAL];
        for lane in 0..self.batch.count {
            let mut slabs = [usize::MAX; STEPS];
            for (step, met) in paths[self.batch.paths[lane]].geometry.interactions.iter().enumerate().take(STEPS) {
                let cos_incidence = self.cos_incidence[step][lane];
                // A path seldom meets a box twice at one angle.
                let own =
                    if let Surface::Room(face) = met.surface { tracer.same_slab[face as usize] } else { usize::MAX };
                slabs[step] = own;
                let same = |earlier: &usize| {
                    own < usize::MAX && slabs[*earlier] == own && self.cos_incidence[*earlier][lane] == cos_incidence
                };
                numbers[lane][step] = match ((0..step).find(same), tracer.slab(met.surface)) {
                    (Some(earlier), _) => numbers[lane][earlier],
                    (None, Some(slab)) => batch.add(slab, cos_incidence),
                    // Paths off boxes that are not here are not taken.
                    (None, None) => 0,
                };
            }
        }
        batch.evaluate();
        for lane in 0..self.batch.count {
            for step in 0..STEPS {
                let SlabCoefficients { te, tm } = batch.coefficients(usize::from(numbers[lane][step]));
                for (part, value) in self.slab_parts[step].iter_mut().zip([te.re, te.im, tm.re, tm.im]) {
                    part[lane] = value;
                }
            }
        }
    }

    crate::avx2_copy!(follow_avx2 of follow(&mut self));

    /// The angles of incidence along the paths.
    #[inline(always)]
    fn follow(&mut self) {
        for lane in 0..whole_vectors(self.batch.count) {
            let mut k = get(&self.departure, lane);
            for step in 0..STEPS {
                let normal = get(&self.normal[step], lane);
                let along = dot(k, normal);
                self.cos_incidence[step][lane] = along.abs();
                k = reflected(k, normal, along);
            }
        }
    }

    crate::avx2_copy!(evaluate_avx2 of evaluate(&mut self));

    /// As [`crate::polarisation::Field`] carries a field along.
    #[inline(always)]
    fn evaluate(&mut self) {
        let Batch { count, spread, coefficients: [re, im], sound: all_sound, .. } = &mut self.batch;
        for lane in 0..whole_vectors(*count) {
            let mut k = get(&self.departure, lane);
            let (mut s, horizontal) = vertical(k);
            let mut parts = [Complex64::ONE, Complex64::ZERO];
            let mut sound = u64::from(horizontal > 0.0);
            for step in 0..STEPS {
                let normal = get(&self.normal[step], lane);
                let across = cross(k, normal);
                let square = dot(across, across);
                sound &= u64::from(square >= NORMAL_INCIDENCE);
                let inverse = 1.0 / square.sqrt();
                let next = across.map(|c| c * inverse);
                let [te, tm] = turned(parts, k, s, next);
                let [te_re, te_im, tm_re, tm_im] = &self.slab_parts[step];
                parts = [Complex64::new(te_re[lane], te_im[lane]) * te, Complex64::new(tm_re[lane], tm_im[lane]) * tm];
                s = next;
                k = reflected(k, normal, dot(k, normal));
            }
            let (vertical, horizontal) = vertical(k);
            let heard = turned(parts, k, s, vertical)[0];
            (re[lane], im[lane]) = (spread[lane] * heard.re, spread[lane] * heard.im);
            all_sound[lane] = sound & u64::from(horizontal > 0.0);
        }
    }
}

/// Lanes in use, filled up to whole vectors.
#[inline(always)]
fn whole_vectors(count: usize) -> usize {
    count.next_multiple_of(8).min(SEVERAL)
}

/// The parts of a field along `u` and along `k x u`, from those along `s` and `k x s`.
#[inline(always)]
fn turned([a, b]: [Complex64; 2], k: [f64; 3], s: [f64; 3], u: [f64; 3]) -> [Complex64; 2] {
    let (cos, sin) = (dot(s, u), dot(cross(k, s), u));
    [a * cos + b * sin, b * cos - a * sin]
}

/// The direction after a surface, of which `along` is the part along the normal.
#[inline(always)]
fn reflected(k: [f64; 3], normal: [f64; 3], along: f64) -> [f64; 3] {
    let twice = 2.0 * along;
    [k[0] - normal[0] * twice, k[1] - normal[1] * twice, k[2] - normal[2] * twice]
}

/// As [`crate::polarisation::vertical`], with the horizontal part of `k`: it means nothing where that is zero.
#[inline(always)]
fn vertical(k: [f64; 3]) -> ([f64; 3], f64) {
    let horizontal = (k[0] * k[0] + k[1] * k[1]).sqrt();
    let ratio = k[2] / horizontal;
    ([ratio * k[0], ratio * k[1], -horizontal], horizontal)
}

#[inline(always)]
fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[inline(always)]
fn get<const LANES: usize>(vectors: &Vectors<LANES>, lane: usize) -> [f64; 3] {
    [vectors[0][lane], vectors[1][lane], vectors[2][lane]]
}

#[inline(always)]
fn set<const LANES: usize>(vectors: &mut Vectors<LANES>, lane: usize, value: &Vector3<f64>) {
    (vectors[0][lane], vectors[1][lane], vectors[2][lane]) = (value.x, value.y, value.z);
}
