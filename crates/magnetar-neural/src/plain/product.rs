//! The product of two matrices.
//!
//! Both operands are copied into panels of consecutive numbers first, so that the same loop multiplies matrices, turned
//! matrices and the shifted images of a convolution. The terms of an element are summed in one order on every processor.

/// Rows and columns of the result that are summed together in registers.
const ROWS: usize = 6;
const COLUMNS: usize = 16;

/// Terms that are summed before they are added to the result, and rows whose panels are kept at a time: what stays in the
/// nearest caches.
const DEPTH: usize = 256;
const BLOCK: usize = 20 * ROWS;

/// Where the rows of an operand begin.
#[derive(Debug, Clone, Copy)]
enum Starts<'a> {
    /// One after the other, this far apart.
    Every(usize),
    /// At these places.
    At(&'a [usize]),
}

/// A matrix to be multiplied: numbers, and where its rows begin among them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operand<'a> {
    values: &'a [f32],
    starts: Starts<'a>,
    turned: bool,
}

impl<'a> Operand<'a> {
    /// Rows of `columns` numbers, one after the other.
    pub(crate) fn rows(values: &'a [f32], columns: usize) -> Self {
        Self { values, starts: Starts::Every(columns), turned: false }
    }

    /// Rows that begin at given places and may overlap.
    pub(crate) fn rows_at(values: &'a [f32], starts: &'a [usize]) -> Self {
        Self { values, starts: Starts::At(starts), turned: false }
    }

    /// Rows as columns, columns as rows.
    pub(crate) fn turned(self) -> Self {
        Self { turned: !self.turned, ..self }
    }

    fn start(&self, row: usize) -> usize {
        match self.starts {
            Starts::Every(step) => row * step,
            Starts::At(starts) => starts[row],
        }
    }

    /// Copies `width` columns from `first` on of as many rows as `panel` has, from row `top` on. Columns beyond are zero.
    #[inline(always)]
    fn pack<const W: usize>(&self, top: usize, first: usize, width: usize, panel: &mut [[f32; W]]) {
        if width < W {
            panel.fill([0.0; W]);
        }
        if self.turned {
            for column in 0..width {
                let row = &self.values[self.start(first + column) + top..][..panel.len()];
                panel.iter_mut().zip(row).for_each(|(copy, value)| copy[column] = *value);
            }
        } else if width == W {
            for (t, copy) in panel.iter_mut().enumerate() {
                copy.copy_from_slice(&self.values[self.start(top + t) + first..][..W]);
            }
        } else {
            for (t, copy) in panel.iter_mut().enumerate() {
                copy[..width].copy_from_slice(&self.values[self.start(top + t) + first..][..width]);
            }
        }
    }
}

/// Adds `a[m, k] b[k, n]` to `c[m, n]`. The terms of an element are summed in the order of k, whatever the processor.
pub(crate) fn product(m: usize, k: usize, n: usize, a: Operand<'_>, b: Operand<'_>, c: &mut [f32]) {
    assert_eq!(c.len(), m * n, "a result of {m} x {n} is expected");
    if n < ROWS && m > COLUMNS {
        // Tall and narrow: as many columns as rows are summed together, so it is turned.
        let mut turned = vec![0f32; n * m];
        product(n, k, m, b.turned(), a.turned(), &mut turned);
        for (i, row) in c.chunks_exact_mut(n).enumerate() {
            row.iter_mut().enumerate().for_each(|(j, c)| *c += turned[j * m + i]);
        }
        return;
    }
    magnetar_signal::with_avx2!(product_avx2(m, k, n, a, b, c), product_in_panels(m, k, n, a, b, c));
}

magnetar_signal::avx2_copy!(product_avx2 of product_in_panels(m: usize, k: usize, n: usize, a: Operand<'_>, b: Operand<'_>, c: &mut [f32]));

#[inline(always)]
fn product_in_panels(m: usize, k: usize, n: usize, a: Operand<'_>, b: Operand<'_>, c: &mut [f32]) {
    let depth = DEPTH.min(k);
    let mut columns = vec![[0f32; COLUMNS]; depth];
    let mut rows = vec![[0f32; ROWS]; depth * BLOCK.min(m).div_ceil(ROWS)];
    for terms in (0..k).step_by(DEPTH) {
        let depth = DEPTH.min(k - terms);
        let columns = &mut columns[..depth];
        for top in (0..m).step_by(BLOCK) {
            let high = BLOCK.min(m - top);
            for (panel, first) in rows.chunks_exact_mut(depth).zip((0..high).step_by(ROWS)) {
                a.turned().pack(terms, top + first, ROWS.min(high - first), panel);
            }
            for left in (0..n).step_by(COLUMNS) {
                let width = COLUMNS.min(n - left);
                b.pack(terms, left, width, columns);
                for (panel, first) in rows.chunks_exact(depth).zip((0..high).step_by(ROWS)) {
                    let sums = sums(panel, columns);
                    for (r, sums) in sums.iter().enumerate().take(high - first) {
                        let c = &mut c[(top + first + r) * n + left..][..width];
                        c.iter_mut().zip(sums).for_each(|(c, sum)| *c += sum);
                    }
                }
            }
        }
    }
}

/// The sums of one panel of rows with one of columns. Written so that all sums stay in registers.
#[inline(always)]
fn sums(rows: &[[f32; ROWS]], columns: &[[f32; COLUMNS]]) -> [[f32; COLUMNS]; ROWS] {
    let mut sums = [[0f32; COLUMNS]; ROWS];
    for (a, b) in rows.iter().zip(columns) {
        for (sums, a) in sums.iter_mut().zip(a) {
            sums.iter_mut().zip(b).for_each(|(sum, b)| *sum += a * b);
        }
    }
    sums
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

    fn transposed(rows: usize, columns: usize, values: &[f32]) -> Vec<f32> {
        (0..rows * columns).map(|n| values[n % rows * columns + n / rows]).collect()
    }

    #[test]
    fn it_is_the_product_for_every_odd_size_turned_or_not_with_and_without_vectors() {
        for (m, k, n) in [(1, 1, 1), (3, 7, 5), (4, 16, 16), (9, 33, 50), (17, 2, 31), (130, 300, 17), (40, 270, 3)] {
            let (a, b, before) = (numbers(m * k, 1), numbers(k * n, 2), numbers(m * n, 3));
            let (a_turned, b_turned) = (transposed(m, k, &a), transposed(k, n, &b));
            let straight = [Operand::rows(&a, k), Operand::rows(&b, n)];
            let mut c = before.clone();
            product(m, k, n, straight[0], straight[1], &mut c);
            for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let exact: f64 = (0..k).map(|t| f64::from(a[i * k + t]) * f64::from(b[t * n + j])).sum();
                let got = f64::from(c[i * n + j] - before[i * n + j]);
                assert!((got - exact).abs() < 1e-5 * (k as f64).sqrt().max(2.0), "{m} {k} {n}: {got} {exact}");
            }
            let mut other = before.clone();
            let turned = [Operand::rows(&a_turned, m).turned(), Operand::rows(&b_turned, k).turned()];
            product(m, k, n, turned[0], turned[1], &mut other);
            assert_eq!(c, other);
            let starts: Vec<usize> = (0..k).map(|t| t * n).collect();
            let mut plain = before.clone();
            product_in_panels(m, k, n, straight[0], Operand::rows_at(&b, &starts), &mut plain);
            let close = c.iter().zip(&plain).all(|(a, b)| a == b || n < ROWS && m > COLUMNS && (a - b).abs() < 1e-5);
            assert!(close);
        }
    }
}
