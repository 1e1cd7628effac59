//! Sobol' points: a low-discrepancy sequence in the unit cube.
//!
//! Primitive polynomials and initial direction numbers are those of S. Joe and F. Y. Kuo, "Constructing Sobol sequences
//! with better two-dimensional projections", SIAM J. Sci. Comput. 30 (2008) 2635-2654, table new-joe-kuo-6.21201; points
//! come in the Gray-code order of Antonov and Saleev.

/// The most dimensions there are numbers for.
pub const MAX_DIMENSIONS: usize = 21;

const BITS: usize = 32;

/// (degree s, coefficients a, initial numbers m_1 .. m_s) of dimensions 2 on; the first is van der Corput's.
const JOE_KUO: [(usize, u32, &[u32]); MAX_DIMENSIONS - 1] = [
    (1, 0, &[1]),
    (2, 1, &[1, 3]),
    (3, 1, &[1, 3, 1]),
    (3, 2, &[1, 1, 1]),
    (4, 1, &[1, 1, 3, 3]),
    (4, 4, &[1, 3, 5, 13]),
    (5, 2, &[1, 1, 5, 5, 17]),
    (5, 4, &[1, 1, 5, 5, 5]),
    (5, 7, &[1, 1, 7, 11, 19]),
    (5, 11, &[1, 1, 5, 1, 1]),
    (5, 13, &[1, 1, 1, 3, 11]),
    (5, 14, &[1, 3, 5, 5, 31]),
    (6, 1, &[1, 3, 3, 9, 7, 49]),
    (6, 13, &[1, 1, 1, 15, 21, 21]),
    (6, 16, &[1, 3, 1, 13, 27, 49]),
    (6, 19, &[1, 1, 1, 15, 7, 5]),
    (6, 22, &[1, 3, 1, 15, 13, 25]),
    (6, 25, &[1, 1, 5, 5, 19, 61]),
    (7, 1, &[1, 3, 7, 11, 23, 15, 103]),
    (7, 4, &[1, 3, 7, 13, 13, 15, 69]),
];

/// Direction numbers v_1 .. v_32 of a dimension, as binary fractions.
fn directions(dimension: usize) -> [u32; BITS] {
    let mut v = [0; BITS];
    let Some((s, a, m)) = dimension.checked_sub(1).and_then(|d| JOE_KUO.get(d)).copied() else {
        for (i, v) in v.iter_mut().enumerate() {
            *v = 1 << (BITS - 1 - i);
        }
        return v;
    };
    for i in 0..BITS {
        v[i] = if i < s {
            m[i] << (BITS - 1 - i)
        } else {
            let mut next = v[i - s] ^ (v[i - s] >> s);
            for k in 1..s {
                next ^= ((a >> (s - 1 - k)) & 1) * v[i - k];
            }
            next
        };
    }
    v
}

/// The sequence in some dimensions.
#[derive(Debug, Clone)]
pub struct Sobol {
    directions: Vec<[u32; BITS]>,
    state: Vec<u32>,
    index: u32,
}

impl Sobol {
    /// From its beginning (the origin); `None` for more than [`MAX_DIMENSIONS`].
    #[must_use]
    pub fn new(dimensions: usize) -> Option<Self> {
        (dimensions <= MAX_DIMENSIONS).then(|| Self {
            directions: (0..dimensions).map(directions).collect(),
            state: vec![0; dimensions],
            index: 0,
        })
    }

    /// The next point, each coordinate a binary fraction of 32 bits.
    #[allow(clippy::should_implement_trait, reason = "it never ends, and borrows")]
    pub fn next(&mut self) -> Vec<u32> {
        let point = self.state.clone();
        let bit = self.index.trailing_ones() as usize;
        for (state, directions) in self.state.iter_mut().zip(&self.directions) {
            *state ^= directions.get(bit).copied().unwrap_or_default();
        }
        self.index = self.index.wrapping_add(1);
        point
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every dimension alone, and the first two together, fill their elementary intervals exactly once.
    #[test]
    fn each_dimension_is_a_permutation_of_the_strata() {
        let mut sobol = Sobol::new(MAX_DIMENSIONS).unwrap();
        let points: Vec<Vec<u32>> = (0..1024).map(|_| sobol.next()).collect();
        for d in 0..MAX_DIMENSIONS {
            let mut strata: Vec<u32> = points.iter().map(|p| p[d] >> 22).collect();
            strata.sort_unstable();
            assert!(strata.iter().enumerate().all(|(i, s)| i as u32 == *s), "dimension {d}");
        }
        for bits in 0..=10 {
            let mut cells: Vec<(u32, u32)> = points
                .iter()
                .map(|p| (p[0].checked_shr(32 - bits).unwrap_or(0), p[1].checked_shr(32 - (10 - bits)).unwrap_or(0)))
                .collect();
            cells.sort_unstable();
            cells.dedup();
            assert_eq!(cells.len(), 1024, "2^{bits} x 2^{} boxes", 10 - bits);
        }
        assert!(Sobol::new(MAX_DIMENSIONS + 1).is_none());
    }

    /// In units of 1/1024; from scipy.stats.qmc.Sobol(21, scramble=False), which has the same numbers.
    #[test]
    fn points_agree_with_scipy() {
        let expected: [(usize, [u32; MAX_DIMENSIONS]); 3] = [
            (
                341,
                [
                    1022, 518, 158, 342, 806, 198, 638, 854, 958, 506, 1018, 310, 106, 370, 982, 810, 138, 538, 698,
                    234, 346,
                ],
            ),
            (
                682,
                [
                    1023, 261, 749, 451, 921, 263, 753, 303, 735, 669, 333, 275, 239, 987, 677, 753, 459, 411, 237,
                    429, 557,
                ],
            ),
            (
                1000,
                [225, 99, 531, 693, 287, 929, 47, 921, 513, 71, 87, 261, 165, 393, 147, 379, 737, 353, 1015, 743, 535],
            ),
        ];
        let mut sobol = Sobol::new(MAX_DIMENSIONS).unwrap();
        let points: Vec<Vec<u32>> = (0..1024).map(|_| sobol.next()).collect();
        for (index, point) in expected {
            let found: Vec<u32> = points[index].iter().map(|x| x >> 22).collect();
            assert_eq!(found, point, "point {index}");
        }
    }
}
