//! Rows of known ends, made anew by the recipe's own simulator: how far off the calibration of a receiver that is known is.

use std::collections::BTreeMap;
use std::sync::Arc;

use magnetar_dataset::Recipe;
use magnetar_signal::{Arrivals, LinkDraw, LinkSimulator, Observation, Radio, RfChainDraw, seeded_streams};
use magnetar_trace::Path;
use rayon::prelude::*;

use super::likelihood::{prior_slope, slopes};
use super::link::{Link, Physics};
use super::parameters::{COUNT, OFFSET_KEYS, Offsets, Point, WIDTHS};
use super::uncertainty::Summit;
use crate::StudyError;

/// Where the random numbers of replicas begin, and those of the TX power of pairs of them.
const SEED: u64 = 0x0063_616c_6962;
const POWER_SEED: u64 = 0x0070_6f77_6572;

/// Makes rows anew.
pub(super) struct Replicas<'a> {
    recipe: &'a Recipe,
    radio: Arc<Radio>,
}

/// How far off calibrations of replicas are, by number.
pub(super) struct Bias {
    /// On average.
    pub(super) mean: Point,
    /// The standard error of that average.
    pub(super) error: Point,
    /// The spread of single ones.
    pub(super) spread: Point,
}

/// A thread's buffers.
struct Maker {
    simulator: LinkSimulator,
    block: Observation,
    paths: Vec<Path>,
    arrivals: Arrivals,
}

impl<'a> Replicas<'a> {
    pub(super) fn new(recipe: &'a Recipe) -> Result<Self, StudyError> {
        Ok(Self { recipe, radio: Arc::new(recipe.radio()?) })
    }

    /// What calibrations of so many replicas (an even number) of a receiver at the most likely point find beyond that point, each
    /// by one step of Newton's from there.
    pub(super) fn bias(
        &self,
        links: &[Link],
        physics: &Physics,
        (point, free): (&Point, &[bool; COUNT]),
        summit: &Summit,
        count: usize,
        progress: &dyn Fn(u64),
    ) -> Bias {
        let prior = prior_slope(point);
        let step = |number: usize| {
            let rows = slopes(&self.make(links, point, number as u64), physics, point, free);
            let slope = |n: usize| prior[n] + rows.iter().map(|row| row[n]).sum::<f64>();
            let step = summit.step(&std::array::from_fn(slope));
            progress(1);
            std::array::from_fn(|n| {
                if n < WIDTHS { step[n].clamp(-OFFSET_KEYS[n].longest, OFFSET_KEYS[n].longest) } else { 0.0 }
            })
        };
        let steps: Vec<Point> = (0..count).map(step).collect();
        let pairs: Vec<Point> =
            steps.chunks_exact(2).map(|pair| std::array::from_fn(|n| f64::midpoint(pair[0][n], pair[1][n]))).collect();
        let mean = |of: &[Point], n: usize| of.iter().map(|step| step[n]).sum::<f64>() / of.len().max(1) as f64;
        let variance = |of: &[Point], n: usize| {
            let centre = mean(of, n);
            of.iter().map(|step| (step[n] - centre).powi(2)).sum::<f64>() / of.len().saturating_sub(1).max(1) as f64
        };
        Bias {
            mean: std::array::from_fn(|n| mean(&steps, n)),
            error: std::array::from_fn(|n| (variance(&pairs, n) / pairs.len().max(1) as f64).sqrt()),
            spread: std::array::from_fn(|n| variance(&steps, n).sqrt()),
        }
    }

    /// The rows as a receiver with the offsets of a point sees them: TX power, RF chains and noise are drawn as the recipe
    /// says. Replicas come in pairs whose TX-power offsets are the opposite of each other, so that a pair's have no mean.
    fn make(&self, links: &[Link], point: &Point, number: u64) -> Vec<Link> {
        let draws = self.draws(links, number);
        let maker = || {
            let simulator = LinkSimulator::new(Arc::clone(&self.radio));
            Maker { block: simulator.block(), simulator, paths: Vec::new(), arrivals: Arrivals::default() }
        };
        let rows = links.par_iter().zip(&draws).enumerate();
        rows.map_init(maker, |maker, (n, (link, draw))| self.row(maker, link, point, draw, number, n as u64)).collect()
    }

    fn row(&self, maker: &mut Maker, link: &Link, point: &Point, draw: &LinkDraw, number: u64, n: u64) -> Link {
        let offsets = Offsets(point);
        let Maker { simulator, block, paths, arrivals } = maker;
        link.ends.trace(&offsets, paths);
        link.ends.hear(&self.radio, &offsets, paths, simulator.element_paths_mut());
        let [_, mut noise] = seeded_streams(SEED + number, n);
        let draw = LinkDraw { tx_power_offset_db: draw.tx_power_offset_db + offsets.level_db(), ..*draw };
        simulator.observe(&draw, &mut noise, block);
        let found = match simulator.estimate(block) {
            Ok(estimate) => {
                estimate.write_arrivals(arrivals);
                arrivals.found.clone()
            }
            // Beyond single precision: nothing is seen.
            Err(_) => Vec::new(),
        };
        Link { ends: Arc::clone(&link.ends), arrivals: found }
    }

    /// What is random about the rows besides noise. The phase of the chains is part of what is estimated: they differ about
    /// it, but have no mean of their own.
    fn draws(&self, links: &[Link], number: u64) -> Vec<LinkDraw> {
        let Recipe { link: budget, rf_chain, outing, .. } = self.recipe;
        let sign = if number.is_multiple_of(2) { 1.0 } else { -1.0 };
        let mut shared: BTreeMap<u64, RfChainDraw> = BTreeMap::new();
        let draw = |(n, link): (usize, &Link)| {
            let [mut power, _] = seeded_streams(POWER_SEED + number / 2, n as u64);
            let [mut chain, _] = seeded_streams(SEED + number, n as u64);
            let own = rf_chain.draw(&mut chain);
            let kept = *shared.entry(link.ends.group).or_insert(own);
            let RfChainDraw { common_phase_rad, timing_offset_s, .. } = own;
            let chain = if outing.rf_chain { RfChainDraw { common_phase_rad, timing_offset_s, ..kept } } else { own };
            LinkDraw { tx_power_offset_db: sign * budget.draw_tx_power_offset_db(&mut power), rf_chain: chain }
        };
        let mut draws: Vec<LinkDraw> = links.iter().enumerate().map(draw).collect();
        let mean = draws.iter().map(|draw| draw.rf_chain.phase_error_rad).sum::<f64>() / draws.len().max(1) as f64;
        draws.iter_mut().for_each(|draw| draw.rf_chain.phase_error_rad -= mean);
        draws
    }
}
