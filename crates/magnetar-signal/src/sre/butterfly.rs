//! Butterflies of eight transforms side by side, one transform a lane.
//!
//! Sums and products in one order, without fused operations: any vector width gives the same bits.

use std::f32::consts::FRAC_1_SQRT_2;

use num_complex::Complex;

use crate::lanes::{LANES, Lanes};

/// A complex number of each transform, in memory.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct ComplexLanes {
    /// Real parts.
    pub re: [f32; LANES],
    /// Imaginary parts.
    pub im: [f32; LANES],
}

impl ComplexLanes {
    /// Zero in every lane.
    pub const ZERO: Self = Self { re: [0.0; LANES], im: [0.0; LANES] };
}

/// The same in registers.
#[derive(Clone, Copy)]
pub(super) struct Vector<V> {
    re: V,
    im: V,
}

impl<V: Lanes> Vector<V> {
    /// Zero in every lane.
    #[inline(always)]
    pub fn zero() -> Self {
        Self { re: V::splat(0.0), im: V::splat(0.0) }
    }

    /// From memory.
    #[inline(always)]
    pub fn load(x: &ComplexLanes) -> Self {
        Self { re: V::load(&x.re), im: V::load(&x.im) }
    }

    /// To memory.
    #[inline(always)]
    pub fn store(self, to: &mut ComplexLanes) {
        self.re.store(&mut to.re);
        self.im.store(&mut to.im);
    }

    /// Times one number in every lane.
    #[inline(always)]
    pub fn times(self, by: Complex<f32>) -> Self {
        let (re, im) = (V::splat(by.re), V::splat(by.im));
        Self { re: self.re.mul(re).sub(self.im.mul(im)), im: self.re.mul(im).add(self.im.mul(re)) }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { re: self.re.add(other.re), im: self.im.add(other.im) }
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self { re: self.re.sub(other.re), im: self.im.sub(other.im) }
    }

    /// Plus `other` a quarter turn on: plus j times it.
    #[inline(always)]
    fn add_turned(self, other: Self) -> Self {
        Self { re: self.re.sub(other.im), im: self.im.add(other.re) }
    }

    /// Minus `other` a quarter turn on.
    #[inline(always)]
    fn sub_turned(self, other: Self) -> Self {
        Self { re: self.re.add(other.im), im: self.im.sub(other.re) }
    }

    #[inline(always)]
    fn scaled(self, by: f32) -> Self {
        let by = V::splat(by);
        Self { re: self.re.mul(by), im: self.im.mul(by) }
    }
}

/// Numbers of inputs that [`butterfly`] knows, in the order in which a length is factored.
pub(super) const RADICES: [usize; 5] = [8, 4, 2, 3, 5];

/// `y_k = sum_i x_i exp(j 2 pi i k / R)` in every lane, `R` one of [`RADICES`].
#[inline(always)]
pub(super) fn butterfly<V: Lanes, const R: usize>(x: [Vector<V>; R]) -> [Vector<V>; R] {
    let mut y = x;
    match R {
        2 => (y[0], y[1]) = (x[0].add(x[1]), x[0].sub(x[1])),
        3 => {
            const SIN: f32 = 0.866_025_4; // of 120 degrees; its cosine is -1/2
            let (sum, difference) = (x[1].add(x[2]), x[1].sub(x[2]).scaled(SIN));
            let middle = x[0].sub(sum.scaled(0.5));
            (y[0], y[1], y[2]) = (x[0].add(sum), middle.add_turned(difference), middle.sub_turned(difference));
        }
        4 => [y[0], y[1], y[2], y[3]] = four(x[0], x[1], x[2], x[3]),
        5 => {
            // Of 72 and 144 degrees.
            const COS: [f32; 2] = [0.309_017, -0.809_017];
            const SIN: [f32; 2] = [0.951_056_54, 0.587_785_24];
            let (outer, inner) = (x[1].add(x[4]), x[2].add(x[3]));
            let (outer_difference, inner_difference) = (x[1].sub(x[4]), x[2].sub(x[3]));
            let first = x[0].add(outer.scaled(COS[0])).add(inner.scaled(COS[1]));
            let second = x[0].add(outer.scaled(COS[1])).add(inner.scaled(COS[0]));
            let first_turned = outer_difference.scaled(SIN[0]).add(inner_difference.scaled(SIN[1]));
            let second_turned = outer_difference.scaled(SIN[1]).sub(inner_difference.scaled(SIN[0]));
            y[0] = x[0].add(outer).add(inner);
            (y[1], y[4]) = (first.add_turned(first_turned), first.sub_turned(first_turned));
            (y[2], y[3]) = (second.add_turned(second_turned), second.sub_turned(second_turned));
        }
        _ => {
            let even = four(x[0], x[2], x[4], x[6]);
            let odd = four(x[1], x[3], x[5], x[7]);
            // An eighth of a turn on, and three.
            let one = Vector { re: odd[1].re.sub(odd[1].im), im: odd[1].re.add(odd[1].im) }.scaled(FRAC_1_SQRT_2);
            let three = Vector { re: odd[3].re.add(odd[3].im), im: odd[3].im.sub(odd[3].re) }.scaled(FRAC_1_SQRT_2);
            (y[0], y[4]) = (even[0].add(odd[0]), even[0].sub(odd[0]));
            (y[1], y[5]) = (even[1].add(one), even[1].sub(one));
            (y[2], y[6]) = (even[2].add_turned(odd[2]), even[2].sub_turned(odd[2]));
            (y[3], y[7]) = (even[3].sub(three), even[3].add(three));
        }
    }
    y
}

#[inline(always)]
fn four<V: Lanes>(a: Vector<V>, b: Vector<V>, c: Vector<V>, d: Vector<V>) -> [Vector<V>; 4] {
    let (even, even_difference) = (a.add(c), a.sub(c));
    let (odd, odd_difference) = (b.add(d), b.sub(d));
    [
        even.add(odd),
        even_difference.add_turned(odd_difference),
        even.sub(odd),
        even_difference.sub_turned(odd_difference),
    ]
}
