//! The candidate support: D headings by H x W spatial strata over the room bounds.

use magnetar_scene::{Pose, Room, wrap};
use rand::{Rng, RngExt};
use std::f64::consts::TAU;

use crate::PosteriorError;

/// A candidate closer to the RX than this counts as coincident with it and is masked out, metres.
pub const COINCIDENT_M: f64 = 1e-3;

/// The most candidates a support may hold (a bound on what an input can make us allocate).
pub const MAX_CANDIDATES: usize = 1 << 26;

/// D x H x W: how finely the pose space is cut. Rows (H) run along y, columns (W) along x.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SupportSize {
    /// Headings D.
    pub headings: usize,
    /// Rows H, along y.
    pub rows: usize,
    /// Columns W, along x.
    pub columns: usize,
}

impl SupportSize {
    /// The paper's evaluation support, 18 x 33 x 33.
    pub const EVALUATION: Self = Self { headings: 18, rows: 33, columns: 33 };

    /// Candidates in all.
    #[must_use]
    pub fn len(&self) -> usize {
        self.headings * self.rows * self.columns
    }

    /// Whether there is no candidate at all (a checked support never is).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The candidates of one room: heading `d`, row `i`, column `j` has flat index `(d H + i) W + j`.
#[derive(Debug, Clone, PartialEq)]
pub struct Support {
    size: SupportSize,
    /// `[xmin, xmax, ymin, ymax]`, metres.
    bounds: [f64; 4],
    xs: Vec<f64>,
    ys: Vec<f64>,
    /// Heading of bin 0, radians.
    first_heading: f64,
}

impl Support {
    /// The evaluation support: representatives at the cell centres.
    ///
    /// # Errors
    /// When an axis has no cell or the support would hold more than [`MAX_CANDIDATES`].
    pub fn centred(room: &Room, size: SupportSize) -> Result<Self, PosteriorError> {
        Self::build(room, size, |_| 0.5)
    }

    /// A training support: each axis representative is drawn uniformly in its stratum, then the truth's own row and
    /// column are moved onto `truth` (x, y in metres), so that the truth is a candidate.
    ///
    /// # Errors
    /// As [`Support::centred`], and when `truth` is outside the room.
    pub fn training(
        room: &Room,
        size: SupportSize,
        truth: [f64; 2],
        rng: &mut impl Rng,
    ) -> Result<Self, PosteriorError> {
        let mut support = Self::build(room, size, |_| rng.random::<f64>())?;
        let (i, j) = support.cell(truth).ok_or(PosteriorError::OutsideRoom { x: truth[0], y: truth[1] })?;
        support.xs[j] = truth[0];
        support.ys[i] = truth[1];
        Ok(support)
    }

    fn build(room: &Room, size: SupportSize, mut within: impl FnMut(usize) -> f64) -> Result<Self, PosteriorError> {
        let cells = size.headings.checked_mul(size.rows).and_then(|n| n.checked_mul(size.columns));
        if !matches!(cells, Some(n) if (1..=MAX_CANDIDATES).contains(&n)) {
            return Err(PosteriorError::SupportSize {
                headings: size.headings,
                rows: size.rows,
                columns: size.columns,
            });
        }
        let [x0, x1, y0, y1, ..] = room.bounds();
        let mut axis = |low: f64, high: f64, count: usize| -> Vec<f64> {
            let step = (high - low) / count as f64;
            (0..count).map(|n| low + (n as f64 + within(n)) * step).collect()
        };
        let xs = axis(x0, x1, size.columns);
        let ys = axis(y0, y1, size.rows);
        Ok(Self { size, bounds: [x0, x1, y0, y1], xs, ys, first_heading: 0.0 })
    }

    /// The same candidates turned so that bin 0 looks along `heading` (radians): a support aligned with a truth.
    #[must_use]
    pub fn turned(self, heading: f64) -> Self {
        Self { first_heading: wrap(heading), ..self }
    }

    /// Heading of bin 0, radians; 0 unless the support was turned.
    #[must_use]
    pub fn first_heading(&self) -> f64 {
        self.first_heading
    }

    /// D, H and W.
    #[must_use]
    pub fn size(&self) -> SupportSize {
        self.size
    }

    /// `[xmin, xmax, ymin, ymax]` of the strata, metres.
    #[must_use]
    pub fn bounds(&self) -> [f64; 4] {
        self.bounds
    }

    /// The x representatives of the columns, metres, ascending.
    #[must_use]
    pub fn xs(&self) -> &[f64] {
        &self.xs
    }

    /// The y representatives of the rows, metres, ascending.
    #[must_use]
    pub fn ys(&self) -> &[f64] {
        &self.ys
    }

    /// Cell spacing along x and y, metres.
    #[must_use]
    pub fn spacing(&self) -> [f64; 2] {
        let [x0, x1, y0, y1] = self.bounds;
        [(x1 - x0) / self.size.columns as f64, (y1 - y0) / self.size.rows as f64]
    }

    /// Heading of bin `d`, radians in [-pi, pi): bin 0 looks along +x unless the support was turned.
    #[must_use]
    pub fn heading(&self, d: usize) -> f64 {
        wrap(self.first_heading + d as f64 * TAU / self.size.headings as f64)
    }

    /// Flat index of candidate (d, i, j).
    #[must_use]
    pub fn index(&self, d: usize, i: usize, j: usize) -> usize {
        (d * self.size.rows + i) * self.size.columns + j
    }

    /// (d, i, j) of a flat index.
    #[must_use]
    pub fn place(&self, index: usize) -> (usize, usize, usize) {
        let plane = self.size.rows * self.size.columns;
        (index / plane, index % plane / self.size.columns, index % self.size.columns)
    }

    /// Row and column of the stratum a point (metres) lies in; `None` outside the bounds.
    #[must_use]
    pub fn cell(&self, [x, y]: [f64; 2]) -> Option<(usize, usize)> {
        let [x0, x1, y0, y1] = self.bounds;
        let inside = (x0..=x1).contains(&x) && (y0..=y1).contains(&y);
        let [dx, dy] = self.spacing();
        let pick = |offset: f64, count: usize| (offset as usize).min(count - 1);
        inside.then(|| (pick((y - y0) / dy, self.size.rows), pick((x - x0) / dx, self.size.columns)))
    }

    /// The H x W mask: `false` where the candidate coincides with the RX. It is the same for every heading.
    #[must_use]
    pub fn mask(&self, rx: &Pose) -> Mask {
        let near = |a: f64, b: f64| (a - b).abs() <= COINCIDENT_M;
        let mut valid = vec![true; self.size.rows * self.size.columns];
        for (i, y) in self.ys.iter().enumerate().filter(|(_, y)| near(**y, rx.position.y)) {
            for (j, x) in self.xs.iter().enumerate().filter(|(_, x)| near(**x, rx.position.x)) {
                if libm::hypot(x - rx.position.x, y - rx.position.y) <= COINCIDENT_M {
                    valid[i * self.size.columns + j] = false;
                }
            }
        }
        Mask { headings: self.size.headings, valid }
    }
}

/// Which spatial candidates count, shared by all headings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    headings: usize,
    valid: Vec<bool>,
}

impl Mask {
    /// Whether spatial candidate `i W + j` counts.
    #[must_use]
    pub fn is_valid(&self, spatial: usize) -> bool {
        self.valid.get(spatial).copied().unwrap_or(false)
    }

    /// The H x W flags.
    #[must_use]
    pub fn spatial(&self) -> &[bool] {
        &self.valid
    }

    /// N_V: valid candidates over all headings.
    #[must_use]
    pub fn count(&self) -> usize {
        self.headings * self.valid.iter().filter(|v| **v).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::room;
    use rand::SeedableRng;

    #[test]
    fn the_evaluation_support_has_the_papers_size() {
        let support = Support::centred(&room(), SupportSize::EVALUATION).unwrap();
        assert_eq!(support.size().len(), 19_602);
        assert_eq!(support.mask(&Pose::new(0.0, 0.0, 1.0, 0.0)).count(), 19_602);
        assert!((support.heading(9) + std::f64::consts::PI).abs() < 1e-12);
        assert_eq!(support.place(support.index(17, 32, 5)), (17, 32, 5));
    }

    #[test]
    fn a_candidate_on_the_rx_is_masked_for_every_heading() {
        let support = Support::centred(&room(), SupportSize { headings: 4, rows: 3, columns: 5 }).unwrap();
        let rx = Pose::new(support.xs()[2], support.ys()[1], 1.08, 0.3);
        let mask = support.mask(&rx);
        assert_eq!(mask.count(), 4 * 14);
        assert!(!mask.is_valid(5 + 2));
    }

    #[test]
    fn a_training_support_keeps_strata_and_holds_the_truth() {
        let mut rng = rand::rngs::ChaCha8Rng::seed_from_u64(3);
        let truth = [1.234, -2.5];
        let size = SupportSize { headings: 18, rows: 25, columns: 41 };
        let support = Support::training(&room(), size, truth, &mut rng).unwrap();
        let (i, j) = support.cell(truth).unwrap();
        assert_eq!((support.xs()[j], support.ys()[i]), (truth[0], truth[1]));
        let ([x0, _, y0, _], [dx, dy]) = (support.bounds(), support.spacing());
        assert!(support.xs().iter().enumerate().all(|(n, x)| ((x - x0) / dx - n as f64 - 0.5).abs() <= 0.5 + 1e-9));
        assert!(support.ys().iter().enumerate().all(|(n, y)| ((y - y0) / dy - n as f64 - 0.5).abs() <= 0.5 + 1e-9));
        assert!(Support::training(&room(), size, [99.0, 0.0], &mut rng).is_err());
    }

    #[test]
    fn an_empty_or_a_huge_support_is_refused() {
        for rows in [0, usize::MAX] {
            assert!(Support::centred(&room(), SupportSize { headings: 18, rows, columns: 33 }).is_err());
        }
    }
}
