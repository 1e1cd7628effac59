//! The product of two matrices.

/// Rows and columns of the result that are summed together in registers.
const ROWS: usize = 4;
const COLUMNS: usize = 16;

/// Adds `a[m, k] b[k, n]` to `c[m, n]`. The terms of an element are summed in the order of k, whatever the processor.
pub(crate) fn product(m: usize, k: usize, n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    assert!(a.len() == m * k && b.len() == k * n && c.len() == m * n, "matrices of {m} x {k} x {n} are expected");
    magnetar_signal::with_avx2!(product_avx2(m, k, n, a, b, c), product_in_panels(m, k, n, a, b, c));
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn product_avx2(m: usize, k: usize, n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    product_in_panels(m, k, n, a, b, c);
}

/// Panels of [`COLUMNS`] columns of `b`, copied together, against [`ROWS`] rows of `a` at a time.
#[inline(always)]
fn product_in_panels(m: usize, k: usize, n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    let mut panel = vec![[0f32; COLUMNS]; k];
    for first in (0..n).step_by(COLUMNS) {
        let width = COLUMNS.min(n - first);
        for (row, copy) in b.chunks_exact(n).zip(&mut panel) {
            copy[..width].copy_from_slice(&row[first..first + width]);
        }
        for top in (0..m).step_by(ROWS) {
            let height = ROWS.min(m - top);
            // Rows beyond the last are the last again; their sums are not stored.
            let rows: [&[f32]; ROWS] = std::array::from_fn(|r| {
                let row = top + r.min(height - 1);
                &a[row * k..(row + 1) * k]
            });
            let mut sums = [[0f32; COLUMNS]; ROWS];
            for (t, b) in panel.iter().enumerate() {
                for (sums, row) in sums.iter_mut().zip(rows) {
                    let a = row[t];
                    sums.iter_mut().zip(b).for_each(|(sum, b)| *sum += a * b);
                }
            }
            for (r, sums) in sums.iter().enumerate().take(height) {
                let c = &mut c[(top + r) * n + first..][..width];
                c.iter_mut().zip(sums).for_each(|(c, sum)| *c += sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, seed: u32) -> Vec<f32> {
        let next = |state: &mut u32| {
            *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Some((*state >> 8) as f32 / (1 << 23) as f32 - 1.0)
        };
        std::iter::repeat_n((), count).scan(seed, |state, ()| next(state)).collect()
    }

    #[test]
    fn it_is_the_product_for_every_odd_size_with_and_without_vectors() {
        for (m, k, n) in [(1, 1, 1), (3, 7, 5), (4, 16, 16), (9, 33, 50), (17, 2, 31)] {
            let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
            let mut c = numbers(m * n, 3);
            let mut plain = c.clone();
            let before = c.clone();
            product(m, k, n, &a, &b, &mut c);
            product_in_panels(m, k, n, &a, &b, &mut plain);
            assert_eq!(c, plain);
            for i in 0..m {
                for j in 0..n {
                    let exact: f64 = (0..k).map(|t| f64::from(a[i * k + t]) * f64::from(b[t * n + j])).sum();
                    assert!((f64::from(c[i * n + j] - before[i * n + j]) - exact).abs() < 1e-5);
                }
            }
        }
    }
}
