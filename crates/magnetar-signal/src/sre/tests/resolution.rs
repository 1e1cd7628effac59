//! Ghosts, pairs, triples and crowds.

use std::f64::consts::PI;

use rand::RngExt;
use rand::rngs::ChaCha8Rng;

use super::sre;
use super::synthesis::{CELL, SPACING, TruePath, any_delay, clean, delay_error, noisy, rng, rounded};
use crate::sre::{Method, SreOptions};

/// One path without noise is one component, at any AoA, delay (on and off the grid) and strength.
#[test]
fn a_clean_path_has_no_ghost() {
    let estimator = sre(SreOptions::default());
    let (mut workspace, mut rng) = (estimator.workspace(), rng(40));
    for i in 0..1500 {
        let snr_db = f64::from(i % 7) * 10.0;
        let aoa = if i % 10 == 0 { PI / 2.0 } else { rng.random_range(-PI / 2.0..PI / 2.0) };
        let delay = match i % 4 {
            0 => f64::from(rng.random_range(0..2048)) / 2048.0 / SPACING,
            1 => rng.random_range(0.0..0.01) * CELL,
            _ => any_delay(&mut rng),
        };
        let path = TruePath::new(delay, aoa, snr_db, rng.random_range(-PI..PI));
        let estimate = estimator.estimate(&rounded(&clean(&[path])), &mut workspace).unwrap();
        assert_eq!(estimate.components().len(), 1, "{path:?}: {:?}", estimate.components());
        let found = &estimate.components()[0];
        assert!(delay_error(found.arrival.delay_s, delay).abs() < 1e-3 * CELL);
        assert!(
            (found.arrival.raw_snr_db - snr_db).abs() < 1e-2 && (0.0..1.0 / SPACING).contains(&found.arrival.delay_s)
        );
    }
}

/// Draws in which every path has a component within 0.3 cells of its own, and those with components to spare.
fn found(draws: usize, seed: u64, method: Method, make: impl Fn(&mut ChaCha8Rng) -> Vec<TruePath>) -> (usize, usize) {
    let estimator = sre(SreOptions { method, ..SreOptions::default() });
    let (mut workspace, mut rng) = (estimator.workspace(), rng(seed));
    let (mut all, mut more) = (0, 0);
    for _ in 0..draws {
        let paths = make(&mut rng);
        let block = noisy(&clean(&paths), &mut rng);
        let components = estimator.estimate(&block, &mut workspace).unwrap().components();
        let mut free: Vec<f64> = components.iter().map(|c| c.arrival.delay_s).collect();
        let matched = paths.iter().all(|path| {
            let near = free.iter().position(|&d| delay_error(d, path.delay).abs() < 0.3 * CELL);
            near.map(|i| free.swap_remove(i)).is_some()
        });
        all += usize::from(matched);
        more += usize::from(components.len() > paths.len());
    }
    (all, more)
}

fn any_path(rng: &mut ChaCha8Rng, delay: f64, snr_db: std::ops::Range<f64>) -> TruePath {
    TruePath::new(delay, rng.random_range(-1.5..1.5), rng.random_range(snr_db), rng.random_range(-PI..PI))
}

/// At least 99 % of pairs, spare components as rare as false alarms (2 % is eight standard deviations above 1 %).
#[test]
fn near_pairs_are_told_apart() {
    let pair = |gap: std::ops::Range<f64>, snr: std::ops::Range<f64>| {
        move |rng: &mut ChaCha8Rng| {
            let first = any_delay(rng);
            let second = first + rng.random_range(gap.clone()) * CELL;
            vec![any_path(rng, first, snr.clone()), any_path(rng, second, snr.clone())]
        }
    };
    for (gap, snr, seed) in [(0.6..1.0, 15.0..25.0, 41), (0.6..0.61, 15.0..15.1, 42), (1.0..30.0, 5.0..40.0, 43)] {
        let (all, more) = found(6000, seed, Method::Refined, pair(gap.clone(), snr));
        println!("pairs {gap:?} cells apart: {all} and {more} with more of 6000");
        assert!(all >= 5940 && more <= 120, "{gap:?}: {all} found, {more} with more");
    }
}

/// Refinement is what tells near pairs apart: without it components to spare are the rule.
#[test]
fn greedy_pairs_need_spare_components() {
    let (_, more) = found(300, 44, Method::Greedy, |rng| {
        let first = any_delay(rng);
        vec![any_path(rng, first, 15.0..25.0), any_path(rng, first + 0.8 * CELL, 15.0..25.0)]
    });
    assert!(more > 150, "{more}");
}

#[test]
fn triples_are_told_apart() {
    let (all, more) = found(4000, 45, Method::Refined, |rng| {
        let mut delay = any_delay(rng);
        let mut next = |rng: &mut ChaCha8Rng| {
            delay += rng.random_range(1.5..6.0) * CELL;
            any_path(rng, delay, 10.0..30.0)
        };
        vec![next(rng), next(rng), next(rng)]
    });
    println!("triples: {all} and {more} with more of 4000");
    assert!(all >= 3980 && more <= 90, "{all} found, {more} with more");
}

/// Paths closer than anything can resolve: still finite, bounded and within `max_paths`.
#[test]
fn crowds_stay_bounded() {
    for method in [Method::Refined, Method::Greedy] {
        let estimator = sre(SreOptions { method, ..SreOptions::default() });
        let (mut workspace, mut rng) = (estimator.workspace(), rng(46));
        for _ in 0..1500 {
            let first = any_delay(&mut rng);
            let paths: Vec<_> = (0..8)
                .map(|_| {
                    let delay = first + rng.random_range(0.0..2.0) * CELL;
                    any_path(&mut rng, delay, 0.0..60.0)
                })
                .collect();
            let block = noisy(&clean(&paths), &mut rng);
            let energy: f32 = block.iter().flatten().map(|z| z.norm_sqr()).sum();
            let block_db = 10.0 * f64::from(energy / 1024.0).log10();
            let components = estimator.estimate(&block, &mut workspace).unwrap().components();
            assert!((1..=6).contains(&components.len()));
            for c in components {
                let numbers = [
                    c.arrival.delay_s,
                    c.delay_difference_s,
                    c.arrival.phase_rad,
                    c.arrival.aoa_rad,
                    c.arrival.raw_snr_db,
                    c.alias_confidence,
                ];
                assert!(numbers.iter().all(|x| x.is_finite()), "{c:?}");
                assert!(c.delay_difference_s.abs() < 87e-12);
                assert!(c.arrival.raw_snr_db < block_db + 30.0, "{} in a block of {block_db}", c.arrival.raw_snr_db);
            }
            assert!(components.is_sorted_by(|a, b| a.arrival.raw_snr_db >= b.arrival.raw_snr_db));
        }
    }
}
