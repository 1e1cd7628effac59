//! Observation synthesis against the cost of drawing its noise: `cargo bench --bench synthesis`.
//!
//! Single thread, contestants take turns in one run; the ratios are what counts. One observation has seven paths (a
//! room without a board), 512 bins, two channels, the full RF chain and noise.

#![allow(clippy::disallowed_methods, reason = "a benchmark makes no data")]

mod harness;

use std::hint::black_box;

use harness::{Contestant, allocations, compare, human};
use magnetar_signal::{Band, ElementPath, RfChainConfig, Synthesizer, add_noise};
use num_complex::Complex64;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;

const PATHS: usize = 7;
const NORMALS: usize = 2048;
const REPEATS: usize = 10;

fn main() {
    let paths: Vec<_> = (0..PATHS)
        .map(|p| {
            let delay = 8e-9 + 5.3e-9 * p as f64;
            let gain = Complex64::from_polar(1.0 / (1 + p) as f64, p as f64);
            ElementPath { delay: [delay, delay + 3e-11], gain: [gain, 0.9 * gain] }
        })
        .collect();
    let band = Band::default();
    let config = RfChainConfig::default();

    let [mut rng_normals, mut rng_noise, mut rng_draw, mut rng_whole] = [1, 2, 3, 4].map(ChaCha8Rng::seed_from_u64);
    let mut normals = vec![0.0f32; NORMALS];
    let mut synthesizers = [0; 4].map(|_| (Synthesizer::new(band), Synthesizer::new(band).block()));
    let draw = config.draw(&mut rng_draw);
    let [(clean, clean_block), (perturb, perturb_block), (_, noise_block), (whole, whole_block)] = &mut synthesizers;
    clean.clean(&paths, 30.0, perturb_block);
    let unperturbed = perturb_block.clone();

    let mut observation = || {
        let draw = config.draw(&mut rng_whole);
        whole.noisy(black_box(&paths), 30.0, &draw, &mut rng_whole, whole_block);
    };
    observation();
    let made = allocations(|| (0..REPEATS).for_each(|_| observation()));

    let items = REPEATS as f64;
    let mut contestants = [
        Contestant::new("2,048 normals", items, || {
            for _ in 0..REPEATS {
                normals.iter_mut().for_each(|x| *x = rng_normals.sample(StandardNormal));
                black_box(&normals);
            }
        }),
        Contestant::new("noise-free block", items, || {
            for _ in 0..REPEATS {
                clean.clean(black_box(&paths), 30.0, clean_block);
            }
        }),
        Contestant::new("RF chain, drawn", items, || {
            for _ in 0..REPEATS {
                black_box(config.draw(&mut rng_draw));
            }
        }),
        Contestant::new("RF chain, applied", items, || {
            for _ in 0..REPEATS {
                // Applied again and again, one chain would drive the numbers out of the range of normal floats.
                perturb_block.clone_from(&unperturbed);
                perturb.perturb(black_box(&draw), perturb_block);
            }
        }),
        Contestant::new("noise, added", items, || {
            for _ in 0..REPEATS {
                add_noise(noise_block, &mut rng_noise);
            }
        }),
        Contestant::new("whole observation", items, || {
            for _ in 0..REPEATS {
                observation();
            }
        }),
    ];
    let seconds = compare(&mut contestants, 1001);
    println!("{:<20} {:>12} {:>10}", "one observation", "time", "ratio");
    for (c, s) in contestants.iter().zip(&seconds) {
        println!("{:<20} {:>12} {:>9.2}x", c.name, human(*s), s / seconds[0]);
    }
    println!("whole / normals = {:.2} (bound 2.00)", seconds[5] / seconds[0]);
    println!("allocations in {REPEATS} observations: {made} (bound 0)");
}
