//! The data's transform on the oversampled delay grid, and the energy of what the components leave of it.

#![allow(clippy::needless_range_loop, reason = "matrices and lanes read best by their indices")]

use num_complex::Complex;

use super::fft::Buffer;
use super::grid_transform::{GridTransform, Samples};
use super::interpolate::{Interpolator, LocalTransform, REACH};

/// Grid points worked on at a time, few enough for all their intermediate values to stay in registers.
const CHUNK: usize = 16;
/// The kernels' numerators repeat after this many grid points, for every oversampling there is; every other point makes
/// one chunk.
const PERIOD: usize = 2 * CHUNK;

/// The plan of one transform: `bins` bins on `oversampling * bins` delays.
pub(super) struct Grid {
    /// Number of active bins.
    pub bins: usize,
    /// Number of delays.
    pub len: usize,
    oversampling: usize,
    transform: GridTransform,
    /// `sin` and `cos` of `pi p / len` for every other `p` in `-len..len`, even ones (counted from `-len`) and odd
    /// ones, padded to whole chunks.
    sine: [Vec<f32>; 2],
    cosine: [Vec<f32>; 2],
    /// `(sin, cos)` of `pi p / oversampling`, one period.
    full: [(f64, f64); PERIOD],
    interpolator: Interpolator,
}

/// The transform of one observation, both channels, and its residual energy.
pub(super) struct Spectrum {
    buffers: [Buffer; 2],
    /// With `REACH` more points at either end; what is at every other point is padded to whole chunks.
    samples: Samples,
    /// Residual energy at every other point of the grid, both channels together, padded to whole chunks.
    pub energy: Vec<f32>,
    prepared: Vec<[GridAtom; 2]>,
}

/// An atom to subtract: its delay in grid steps and its complex gain, in each channel.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Atom {
    /// Grid steps, in `[0, len)`.
    pub delay: [f64; 2],
    /// Complex gain about the centre of the bins.
    pub gain: [Complex<f64>; 2],
}

/// The constants of an atom's kernel on the grid, relative to the grid point nearest to it.
#[derive(Clone, Copy)]
struct GridAtom {
    /// Which of the tables, and where in it, is the distance of grid point 0 from the nearest one.
    parity: usize,
    start: usize,
    /// Numerator of the kernel at the points of any chunk.
    numerator: [f32; CHUNK],
    cos_half: f32,
    sin_half: f32,
    re: f32,
    im: f32,
}

impl Grid {
    /// Plans the transform.
    pub fn new(bins: usize, oversampling: usize) -> Self {
        use std::f64::consts::PI;
        let len = bins * oversampling;
        let angle = |parity: usize, i: usize| PI * ((2 * i + parity) as f64 - len as f64) / len as f64;
        let table = |f: fn(f64) -> f64| {
            [0, 1].map(|parity| (0..len + CHUNK).map(|i| f(angle(parity, i)) as f32).collect::<Vec<_>>())
        };
        Self {
            bins,
            len,
            oversampling,
            transform: GridTransform::new(bins, oversampling),
            sine: table(libm::sin),
            cosine: table(libm::cos),
            full: std::array::from_fn(|p| libm::sincos(PI * p as f64 / oversampling as f64)),
            interpolator: Interpolator::new(oversampling),
        }
    }

    /// Room for one observation.
    pub fn spectrum(&self) -> Spectrum {
        let padded = || std::array::from_fn(|_| vec![0.0; self.len + 2 * REACH]);
        let points = (self.len / 2).next_multiple_of(CHUNK);
        let coarse = || std::array::from_fn(|_| vec![0.0; points]);
        Spectrum {
            buffers: self.transform.buffers(),
            samples: Samples { re: padded(), im: padded(), coarse_re: coarse(), coarse_im: coarse() },
            energy: vec![0.0; points],
            prepared: Vec::with_capacity(super::MAX_PATHS),
        }
    }

    /// Transforms an observation: `Z(u) = sum_k x_k exp(j n_k u)`, bins numbered about their centre.
    pub fn transform(&self, block: &[[Complex<f32>; 2]], spectrum: &mut Spectrum) {
        let Spectrum { buffers, samples, .. } = spectrum;
        self.transform.run(block, buffers, samples);
        // Half-integer bin numbers change sign after a whole turn.
        let wrap = if self.bins.is_multiple_of(2) { -1.0 } else { 1.0 };
        for part in samples.re.iter_mut().chain(&mut samples.im) {
            for i in 0..REACH {
                part[i] = wrap * part[self.len + i];
                part[self.len + REACH + i] = wrap * part[REACH + i];
            }
        }
    }

    /// The transform around grid points `q` (one per channel), as polynomials.
    #[inline(always)]
    pub fn local(&self, spectrum: &Spectrum, q: [usize; 2]) -> LocalTransform {
        let [re0, re1] = &spectrum.samples.re;
        let [im0, im1] = &spectrum.samples.im;
        self.interpolator.local([&re0[q[0]..], &re1[q[1]..]], [&im0[q[0]..], &im1[q[1]..]])
    }

    /// Brings a delay (grid steps) into `[0, len)`, and its gain with it.
    pub fn normalise(&self, delay: &mut f64, gain: &mut Complex<f64>) {
        let turns = (*delay / self.len as f64).floor();
        *delay -= turns * self.len as f64;
        // Half-integer bin numbers change sign after a whole turn.
        if self.bins.is_multiple_of(2) && turns.rem_euclid(2.0) == 1.0 {
            *gain = -*gain;
        }
    }

    /// Energy of the residual at every other point of the grid, both channels together, after `atoms` are taken out.
    #[inline(always)]
    pub fn residual_energy(&self, atoms: &[Atom], spectrum: &mut Spectrum) {
        let Spectrum { samples: Samples { coarse_re, coarse_im, .. }, energy, prepared, .. } = spectrum;
        prepared.clear();
        prepared.extend(atoms.iter().map(|atom| [0, 1].map(|m| self.prepare(atom.delay[m], atom.gain[m]))));
        for (chunk, energy) in energy.as_chunks_mut::<CHUNK>().0.iter_mut().enumerate() {
            let h = chunk * CHUNK;
            let mut sum = [0.0_f32; CHUNK];
            for m in 0..2 {
                let (mut re, mut im) = (window(&coarse_re[m], h), window(&coarse_im[m], h));
                for atom in prepared.iter() {
                    let atom = &atom[m];
                    let sine = window(&self.sine[atom.parity], atom.start + h);
                    let cosine = window(&self.cosine[atom.parity], atom.start + h);
                    for i in 0..CHUNK {
                        let kernel = atom.numerator[i] / (sine[i] * atom.cos_half - cosine[i] * atom.sin_half);
                        re[i] -= kernel * atom.re;
                        im[i] -= kernel * atom.im;
                    }
                }
                for i in 0..CHUNK {
                    sum[i] += re[i] * re[i] + im[i] * im[i];
                }
            }
            *energy = sum;
        }
        energy[self.len / 2..].fill(0.0);
    }

    /// The kernel `sin(pi p / oversampling) / sin(pi p / len)` of an atom, as constants about its nearest grid point.
    /// Its numerator repeats every two cells, so that a few values of it serve the whole grid.
    #[inline(always)]
    fn prepare(&self, delay: f64, gain: Complex<f64>) -> GridAtom {
        use std::f64::consts::PI;
        let nearest = (delay.round() as usize).min(self.len);
        let mut rest = delay - nearest as f64;
        if rest.abs() < 1e-9 {
            // Keeps the quotient at the atom's own grid point finite: its limit is the number of bins.
            rest = 1e-9;
        }
        let (sin_half, cos_half) = libm::sincos(PI * rest / self.len as f64);
        let (sin_full, cos_full) = libm::sincos(PI * rest / self.oversampling as f64);
        let mut numerator = [0.0; CHUNK];
        let shift = PERIOD - nearest % PERIOD;
        for (i, x) in numerator.iter_mut().enumerate() {
            let (s, c) = self.full[(2 * i + shift) % PERIOD];
            *x = (s * cos_full - c * sin_full) as f32;
        }
        let start = self.len - nearest;
        GridAtom {
            parity: start % 2,
            start: start / 2,
            numerator,
            cos_half: cos_half as f32,
            sin_half: sin_half as f32,
            re: gain.re as f32,
            im: gain.im as f32,
        }
    }
}

/// The chunk of `x` that starts at `i`; the tables are long enough for every chunk of the grid.
#[inline(always)]
fn window(x: &[f32], i: usize) -> [f32; CHUNK] {
    x[i..].first_chunk().copied().unwrap_or([0.0; CHUNK])
}
