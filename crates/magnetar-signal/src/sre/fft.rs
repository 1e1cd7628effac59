//! The fast transform: eight of one length side by side, by Stockham's self-sorting passes, each of which reads its input
//! in strides and writes its output sorted for the next one.

#![allow(clippy::needless_range_loop, reason = "strides and lanes read best by their indices")]

use std::f64::consts::TAU;

use num_complex::Complex;
use wide::f32x8;

use super::butterfly::{ComplexLanes, RADICES, Vector, butterfly};
use crate::lanes::Lanes;

/// The numbers of eight transforms. A gap after every 64 of them keeps strides of 4096 bytes, which all fall on the same
/// few lines of a cache, out of the passes.
#[derive(Debug, Clone)]
pub(super) struct Buffer(Vec<ComplexLanes>);

impl Buffer {
    /// Zeros, for transforms of a length.
    pub fn new(len: usize) -> Self {
        Self(vec![ComplexLanes::ZERO; Self::place(len) + 1])
    }

    /// Number `i` of every transform.
    #[inline(always)]
    pub fn at(&self, i: usize) -> &ComplexLanes {
        &self.0[Self::place(i)]
    }

    /// Number `i` of every transform, to be written.
    #[inline(always)]
    pub fn at_mut(&mut self, i: usize) -> &mut ComplexLanes {
        &mut self.0[Self::place(i)]
    }

    #[inline(always)]
    fn place(i: usize) -> usize {
        i + i / 64
    }
}

/// One pass: `groups` groups of `stride` butterflies.
#[derive(Debug, Clone)]
struct Pass {
    radix: usize,
    groups: usize,
    stride: usize,
    /// `radix` of them for each group.
    twiddles: Vec<Complex<f32>>,
}

/// The plan of the transform `y_k = sum_i x_i exp(j 2 pi i k / len)`.
#[derive(Debug, Clone)]
pub(super) struct Fft {
    passes: Vec<Pass>,
}

impl Fft {
    /// The plan for a length; `None` if it has a prime factor above 5.
    pub fn new(len: usize) -> Option<Self> {
        let (mut rest, mut passes) = (len, Vec::new());
        for radix in RADICES {
            while rest.is_multiple_of(radix) {
                passes.push(Pass::new(rest, radix, len / rest));
                rest /= radix;
            }
        }
        (rest == 1).then_some(Self { passes })
    }

    /// Transforms the numbers of the first buffer, in place; the second one is written over.
    pub fn run(&self, buffers: &mut [Buffer; 2]) {
        let [data, other] = buffers;
        for pass in &self.passes {
            pass.run(data, other);
            std::mem::swap(data, other);
        }
    }
}

impl Pass {
    /// The pass that takes a radix out of what is `rest` of the length.
    fn new(rest: usize, radix: usize, stride: usize) -> Self {
        let groups = rest / radix;
        let twiddle = |p: usize, k: usize| {
            let (im, re) = libm::sincos(TAU * (p * k) as f64 / rest as f64);
            Complex::new(re as f32, im as f32)
        };
        let twiddles = (0..groups).flat_map(|p| (0..radix).map(move |k| twiddle(p, k))).collect();
        Self { radix, groups, stride, twiddles }
    }

    fn run(&self, from: &Buffer, to: &mut Buffer) {
        crate::with_avx2!(self.run_avx2(from, to), self.run_in_order::<f32x8>(from, to));
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn run_avx2(&self, from: &Buffer, to: &mut Buffer) {
        self.run_in_order::<crate::lanes::Avx>(from, to);
    }

    #[inline(always)]
    fn run_in_order<V: Lanes>(&self, from: &Buffer, to: &mut Buffer) {
        match self.radix {
            2 => self.butterflies::<V, 2>(from, to),
            3 => self.butterflies::<V, 3>(from, to),
            4 => self.butterflies::<V, 4>(from, to),
            5 => self.butterflies::<V, 5>(from, to),
            _ => self.butterflies::<V, 8>(from, to),
        }
    }

    #[inline(always)]
    fn butterflies<V: Lanes, const R: usize>(&self, from: &Buffer, to: &mut Buffer) {
        for (p, twiddles) in self.twiddles.as_chunks::<R>().0.iter().enumerate() {
            for q in 0..self.stride {
                let mut x = [Vector::<V>::zero(); R];
                for i in 0..R {
                    x[i] = Vector::load(from.at(q + self.stride * (p + self.groups * i)));
                }
                let mut y = butterfly(x);
                // The twiddles of the first group are ones.
                if p > 0 {
                    for k in 1..R {
                        y[k] = y[k].times(twiddles[k]);
                    }
                }
                for k in 0..R {
                    y[k].store(to.at_mut(q + self.stride * (R * p + k)));
                }
            }
        }
    }
}
