//! How surely the most likely point is known.

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::{DMatrix, DVector};

use super::likelihood::{curvatures, slopes};
use super::link::{Link, Physics};
use super::parameters::{COUNT, OFFSET_KEYS, Point};
use super::search::sums;

/// Where paths appear, vanish or change places, differences tell little of a curvature. That of all rows is no less than this
/// share of what the products of their slopes are, in any direction: they would be the same for a likelihood that holds.
const LEAST_CURVATURE: f64 = 0.3;
/// What is left of it without a row, or a group of them, is no less than this share.
const LEAST_WITHOUT: f64 = 0.5;

/// The surroundings of the most likely point.
pub(super) struct Summit {
    /// The numbers that are free.
    places: Vec<usize>,
    /// The inverse of the curvature.
    inverse: DMatrix<f64>,
    /// Of the numbers.
    covariance: DMatrix<f64>,
}

/// Rows that are left out together: the sum of their slopes, and of their curvatures.
struct Block {
    slope: DVector<f64>,
    curvature: DMatrix<f64>,
}

impl Summit {
    /// At the most likely point: how far it moves where rows are left out, one after the other (a jackknife, by one step of
    /// Newton's each), or, where there are enough of them, groups of rows that share one state of the receiver. A few strong
    /// rows decide most of what is known of phases: the spread of slopes alone would take them for surer than they are. `None`
    /// where the rows do not say.
    pub(super) fn new(links: &[Link], physics: &Physics, point: &Point, free: &[bool; COUNT]) -> Option<Self> {
        let places: Vec<usize> = (0..COUNT).filter(|n| free[*n]).collect();
        if places.is_empty() {
            return None;
        }
        let rows = slopes(links, physics, point, free);
        let bends = curvatures(links, physics, point, &places);
        let mut curvature = DMatrix::from_fn(places.len(), places.len(), |a, b| {
            if a == b { OFFSET_KEYS[places[a]].prior.powi(-2) + 1e-12 } else { 0.0 }
        });
        bends.iter().for_each(|bend| curvature -= bend);
        let blocks = blocks(links, &rows, bends, &places);
        let products = sums(&rows, point, free).1.cholesky()?;
        let held = Curved::new(products.l(), &curvature, LEAST_CURVATURE)?;
        let root = held.matrix.clone().cholesky()?.l();
        let mut covariance = DMatrix::zeros(places.len(), places.len());
        for Block { slope, curvature: own } in &blocks {
            let moved = Curved::new(root.clone(), &(&held.matrix + own), LEAST_WITHOUT)?.inverse * slope;
            covariance += &moved * moved.transpose();
        }
        let inverse = held.inverse;
        covariance *= (blocks.len() - 1) as f64 / blocks.len() as f64;
        Some(Self { places, inverse, covariance })
    }

    /// The standard error of a number; `None` where it is held, or the rows do not say.
    pub(super) fn error(&self, number: usize) -> Option<f64> {
        let n = self.places.iter().position(|place| *place == number)?;
        // A number that is no better known than beforehand was not measured.
        let measured = self.inverse[(n, n)].sqrt() < 0.9 * OFFSET_KEYS[number].prior;
        Some(self.covariance[(n, n)].sqrt()).filter(|error| measured && error.is_finite())
    }

    /// How far the most likely point of rows with these slopes (the prior's included) is.
    pub(super) fn step(&self, slope: &Point) -> Point {
        let step = &self.inverse * DVector::from_fn(self.places.len(), |n, _| slope[self.places[n]]);
        let mut point = [0.0; COUNT];
        self.places.iter().enumerate().for_each(|(n, at)| point[*at] = step[n]);
        point
    }
}

/// A curvature and its inverse.
struct Curved {
    matrix: DMatrix<f64>,
    inverse: DMatrix<f64>,
}

impl Curved {
    /// A curvature that is in no direction less than a share of another one, of which the root is given; `None` for numbers that
    /// are not finite.
    fn new(root: DMatrix<f64>, curvature: &DMatrix<f64>, share: f64) -> Option<Self> {
        // In units of the other: root^-1 curvature root^-T.
        let half = root.solve_lower_triangular(curvature)?;
        let whole = root.solve_lower_triangular(&half.transpose())?;
        let parts = ((&whole + whole.transpose()) * 0.5).try_symmetric_eigen(f64::EPSILON, 1000)?;
        let shares = parts.eigenvalues.map(|value| value.max(share));
        let vectors = &root * &parts.eigenvectors;
        let back = root.transpose().solve_upper_triangular(&parts.eigenvectors)?;
        Some(Self {
            matrix: &vectors * DMatrix::from_diagonal(&shares) * vectors.transpose(),
            inverse: &back * DMatrix::from_diagonal(&shares.map(f64::recip)) * back.transpose(),
        })
    }
}

/// Groups of rows if there are enough of them to tell a spread by, or else rows.
fn blocks(links: &[Link], rows: &[Point], bends: Vec<DMatrix<f64>>, places: &[usize]) -> Vec<Block> {
    let groups: BTreeSet<u64> = links.iter().map(|link| link.ends.group).collect();
    let by_group = groups.len() >= 4 * places.len();
    let none = || Block { slope: DVector::zeros(places.len()), curvature: DMatrix::zeros(places.len(), places.len()) };
    let mut blocks: BTreeMap<u64, Block> = BTreeMap::new();
    for (n, ((link, row), bend)) in links.iter().zip(rows).zip(bends).enumerate() {
        let number = if by_group { link.ends.group } else { n as u64 };
        let block = blocks.entry(number).or_insert_with(none);
        block.slope += DVector::from_fn(places.len(), |n, _| row[places[n]]);
        block.curvature += bend;
    }
    blocks.into_values().collect()
}
