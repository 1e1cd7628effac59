//! Statistics of the noise. Seeds are fixed, so a result never flickers; the stated level is the chance that a right
//! sampler would have failed with another seed.

use num_complex::Complex64;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

use super::*;

const BLOCKS: u64 = 200;
const BINS: usize = 512;

fn blocks() -> Vec<Observation> {
    let draw = |seed| {
        let mut block = Observation::zeros(BINS);
        add_noise(&mut block, &mut ChaCha8Rng::seed_from_u64(seed));
        block
    };
    (0..BLOCKS).map(draw).collect()
}

fn at(block: &Observation, k: usize, channel: usize) -> Complex64 {
    let z = block.get(k, channel);
    Complex64::new(z.re.into(), z.im.into())
}

/// All noise values.
fn values(blocks: &[Observation]) -> impl Iterator<Item = Complex64> + '_ {
    blocks.iter().flat_map(|b| (0..BINS).flat_map(|k| [at(b, k, 0), at(b, k, 1)]))
}

/// `N |mean|^2` of products with zero mean and unit variance is exponential: above 16 with probability 1.1e-7.
fn is_zero_mean(products: impl Iterator<Item = Complex64>) {
    let (sum, count) = products.fold((Complex64::new(0.0, 0.0), 0.0), |(sum, n), z| (sum + z, n + 1.0));
    assert!(sum.norm_sqr() / count < 16.0, "{sum} over {count}");
}

/// Kolmogorov-Smirnov against a uniform distribution: `sqrt(N) D` above 3 with probability 3e-8.
fn is_uniform(values: impl Iterator<Item = f64>) {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let distance = values.iter().enumerate().map(|(i, u)| ((i as f64 + 0.5) / n - u).abs()).fold(0.0, f64::max);
    assert!(distance * n.sqrt() < 3.0, "{distance}");
}

#[test]
fn unit_variance_in_each_channel() {
    // |z|^2 is exponential with unit variance: five standard errors, 6e-7.
    for channel in 0..ELEMENTS {
        let power: f64 = blocks().iter().flat_map(|b| (0..BINS).map(|k| at(b, k, channel).norm_sqr())).sum();
        let count = (BLOCKS as usize * BINS) as f64;
        assert!((power / count - 1.0).abs() < 5.0 / count.sqrt());
    }
}

#[test]
fn circular_and_gaussian() {
    let blocks = blocks();
    is_zero_mean(values(&blocks));
    // z^2 has variance 2.
    is_zero_mean(values(&blocks).map(|z| z * z / 2f64.sqrt()));
    // A circular Gaussian has an exponential power and a uniform phase.
    is_uniform(values(&blocks).map(|z| 1.0 - (-z.norm_sqr()).exp()));
    is_uniform(values(&blocks).map(|z| z.arg() / std::f64::consts::TAU + 0.5));
}

#[test]
fn white_and_independent() {
    let blocks = blocks();
    for lag in [1, 2, 3, 4, 8, 16, 64, 256] {
        for channel in 0..ELEMENTS {
            is_zero_mean(
                blocks
                    .iter()
                    .flat_map(|b| (0..BINS - lag).map(move |k| at(b, k, channel) * at(b, k + lag, channel).conj())),
            );
        }
    }
    for lag in [0, 1, 2, 16] {
        is_zero_mean(blocks.iter().flat_map(|b| (0..BINS - lag).map(move |k| at(b, k, 0) * at(b, k + lag, 1).conj())));
    }
    // Blocks of different seeds as well.
    is_zero_mean(blocks.windows(2).flat_map(|b| (0..BINS).map(|k| at(&b[0], k, 0) * at(&b[1], k, 0).conj())));
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    assert_eq!(blocks()[17], blocks()[17]);
    assert_ne!(blocks()[17], blocks()[18]);
}
