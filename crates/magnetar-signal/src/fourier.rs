//! A plain discrete Fourier transform, for data that is transformed once.

use std::f64::consts::TAU;

use num_complex::Complex64;

/// `X[l] = sum_k x[k] exp(-j 2 pi k l / n)`, in place. Fast where `n` is a power of two; else `n^2` steps.
pub fn fourier_transform(x: &mut [Complex64]) {
    let len = x.len();
    let roots: Vec<Complex64> = (0..len)
        .map(|k| {
            let (im, re) = libm::sincos(-TAU * k as f64 / len as f64);
            Complex64::new(re, im)
        })
        .collect();
    if len.is_power_of_two() {
        power_of_two(x, &roots[..len.div_ceil(2)]);
        return;
    }
    let data = x.to_vec();
    for (l, z) in x.iter_mut().enumerate() {
        *z = data.iter().enumerate().map(|(k, value)| value * roots[k * l % len]).sum();
    }
}

/// The transform with given roots of unity, `exp(+-j 2 pi k / n)` for the first half of the `k`; the length is a power of
/// two.
pub(crate) fn power_of_two(x: &mut [Complex64], roots: &[Complex64]) {
    let len = x.len();
    let bits = len.trailing_zeros();
    for i in 0..len {
        let j = if bits == 0 { 0 } else { i.reverse_bits() >> (usize::BITS - bits) };
        if i < j {
            x.swap(i, j);
        }
    }
    let mut half = 1;
    while half < len {
        let stride = len / (2 * half);
        for block in x.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for (k, (a, b)) in low.iter_mut().zip(high).enumerate() {
                let turned = *b * roots[k * stride];
                (*a, *b) = (*a + turned, *a - turned);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transform_is_that_of_the_definition() {
        for len in [1, 2, 15, 64] {
            let data: Vec<Complex64> = (0..len).map(|k| Complex64::new((k * k % 7) as f64, (k % 5) as f64)).collect();
            let mut found = data.clone();
            fourier_transform(&mut found);
            for (l, z) in found.iter().enumerate() {
                let turn = |k: usize| Complex64::from_polar(1.0, -TAU * (k * l) as f64 / len as f64);
                let sum: Complex64 = data.iter().enumerate().map(|(k, x)| x * turn(k)).sum();
                assert!((z - sum).norm() < 1e-9, "{len}");
            }
        }
    }
}
