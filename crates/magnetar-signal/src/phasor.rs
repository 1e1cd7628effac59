//! Exponentials on the uniform bin grid as products of two short tables.
//!
//! `exp(j 2 pi (start + k step))` with `k = 16 i + j` is `coarse_i fine_j`: 32 + 16 phasors instead of 512, made in f64
//! from two sines and cosines and rounded to f32 once. A bin then costs one complex product and carries two rounding
//! errors, however long the band is; there is no recurrence in f32 whose error could grow.

use wide::f64x2;

use crate::observation::GROUP;
use crate::vector_math::sin_cos_of_turns;

/// A complex number for each of two elements.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    pub re: f64x2,
    pub im: f64x2,
}

impl Pair {
    /// `exp(j 2 pi turns)`; `turns` should be reduced.
    pub fn from_turns(turns: [f64; 2]) -> Self {
        let (im, re) = sin_cos_of_turns(turns);
        Self { re, im }
    }

    pub fn times(self, other: Self) -> Self {
        Self { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }

    fn squared(self) -> Self {
        self.times(self)
    }

    /// `(re, im)` of an element, rounded.
    fn rounded(self) -> [[f32; 2]; 2] {
        let (re, im) = (self.re.to_array(), self.im.to_array());
        [[re[0] as f32, im[0] as f32], [re[1] as f32, im[1] as f32]]
    }
}

/// The fine phasors of one element.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fine {
    pub re: [f32; GROUP],
    pub im: [f32; GROUP],
}

/// Fills the tables of both elements: `fine[element]` and, through `coarse(group, [[re, im]; 2])`, one phasor a group.
pub(crate) fn fill(
    start: Pair,
    step_turns: [f64; 2],
    groups: usize,
    fine: &mut [Fine; 2],
    mut coarse: impl FnMut(usize, [[f32; 2]; 2]),
) {
    let step = Pair::from_turns(step_turns);
    let by_two = step.squared();
    let by_four = by_two.squared();
    let by_group = by_four.squared().squared();
    let one = Pair { re: f64x2::ONE, im: f64x2::ZERO };
    // Four interleaved chains hide the latency of the products.
    let mut chains = [one, step, by_two, by_two.times(step)];
    for first in (0..GROUP).step_by(chains.len()) {
        for (j, z) in (first..).zip(&mut chains) {
            for (fine, [re, im]) in fine.iter_mut().zip(z.rounded()) {
                fine.re[j] = re;
                fine.im[j] = im;
            }
            *z = z.times(by_four);
        }
    }
    let by_two_groups = by_group.squared();
    let by_four_groups = by_two_groups.squared();
    let second = start.times(by_group);
    let mut chains = [start, second, start.times(by_two_groups), second.times(by_two_groups)];
    for first in (0..groups).step_by(chains.len()) {
        for (i, z) in (first..groups).zip(&mut chains) {
            coarse(i, z.rounded());
            *z = z.times(by_four_groups);
        }
    }
}
