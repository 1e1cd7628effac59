//! Seeds are fixed, so a result never flickers; the stated level is the chance that a right sampler would have failed
//! with another seed.

use num_complex::Complex64;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

use super::*;

fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// What [`complex_normal`] approximates.
fn exact(first: u32, second: u32) -> Complex64 {
    let bits = (u64::from(first) << 8) | u64::from(second >> 24);
    let power = -((bits as f64 + 0.5) / (1u64 << 40) as f64).ln();
    let turns = (f64::from(second & 0x00ff_ffff) + 0.5) / f64::from(1 << 24);
    Complex64::from_polar(power.sqrt(), TAU * turns - std::f64::consts::FRAC_PI_4)
}

/// Words from one end of their range to the other, most of them near the ends.
fn words(rng: &mut ChaCha8Rng) -> (u32, u32) {
    let first = rng.random::<u32>() >> rng.random_range(0..32);
    (if rng.random() { first } else { !first }, rng.random())
}

#[test]
fn every_value_is_the_exact_one_rounded() {
    let mut rng = rng(1);
    let ends = [(0, 0), (0, u32::MAX), (u32::MAX, 0), (u32::MAX, u32::MAX), (1 << 31, 0), ((1 << 31) - 1, u32::MAX)];
    let drawn: Vec<_> = (0..300_000).map(|_| words(&mut rng)).collect();
    for (first, second) in ends.into_iter().chain(drawn) {
        let (re, im) = complex_normal(first, second);
        let exact = exact(first, second);
        let error = (Complex64::new(re.into(), im.into()) - exact).norm();
        assert!(error < 3e-7 * exact.norm(), "{first:x} {second:x}: {error:e}");
    }
    let largest = complex_normal(0, 0);
    assert!((f64::from(largest.0).hypot(largest.1.into()) - 5.33).abs() < 0.01);
}

#[test]
fn any_vector_width_gives_the_same_bits() {
    let mut rng = rng(2);
    let words: Vec<[u32; WORDS]> = (0..64).map(|_| std::array::from_fn(|_| words(&mut rng).0)).collect();
    let planes = || (vec![[0.25; GROUP]; words.len()], vec![[-0.5; GROUP]; words.len()]);
    let (mut wide, mut narrow) = (planes(), planes());
    add_groups(&words, &mut wide.0, &mut wide.1);
    add_groups_in_order(&words, &mut narrow.0, &mut narrow.1);
    assert_eq!(wide, narrow);
}

/// Beyond four, five and six standard deviations. Only numbers that can lie there are drawn: with the power's first
/// `bits` bits zero it is above `bits` ln 2. Binomial counts within five standard errors: 6e-7 a level.
#[test]
fn tails_are_those_of_a_normal_distribution() {
    const COUNT: u32 = 1_000_000;
    let mut rng = rng(3);
    for sigma in [4.0f64, 5.0, 6.0] {
        // A part has variance 1/2.
        let limit = sigma / 2f64.sqrt();
        let bits = (limit * limit / std::f64::consts::LN_2).floor();
        let mut beyond = [0.0; 2];
        for _ in 0..COUNT {
            let (re, im) = complex_normal(rng.random::<u32>() >> bits as u32, rng.random());
            beyond[0] += f64::from(u8::from(f64::from(re).abs() > limit));
            beyond[1] += f64::from(u8::from(f64::from(im).abs() > limit));
        }
        let probability = libm::erfc(limit) * bits.exp2();
        let deviation = (probability * (1.0 - probability) * f64::from(COUNT)).sqrt();
        for beyond in beyond {
            assert!((beyond - probability * f64::from(COUNT)).abs() < 5.0 * deviation, "{sigma}: {beyond}");
        }
    }
}

/// Sample moments of a million complex normals within five standard errors of the distribution's: 6e-7 each, 7e-6 in all.
#[test]
fn moments_are_those_of_independent_normals() {
    const COUNT: usize = 1 << 20;
    let (mut re, mut im) = (vec![0.0; COUNT], vec![0.0; COUNT]);
    add_complex_normals(&mut re, &mut im, &mut rng(4));
    let unit = |x: f32| f64::from(x) * 2f64.sqrt();
    let pairs = || re.iter().map(|x| unit(*x)).zip(im.iter().map(|y| unit(*y)));
    let next = || re.iter().skip(1).map(|x| unit(*x));
    let n = COUNT as f64;
    let is = |mean: f64, expected: f64, variance: f64| {
        assert!((mean / n - expected).abs() < 5.0 * (variance / n).sqrt(), "{mean}, {expected}");
    };
    for part in [&re, &im] {
        let moment = |power: i32| part.iter().map(|x| unit(*x).powi(power)).sum::<f64>();
        is(moment(1), 0.0, 1.0);
        is(moment(2), 1.0, 2.0);
        is(moment(3), 0.0, 15.0);
        is(moment(4), 3.0, 96.0);
    }
    // The parts of a number, and of neighbours: products, and products of squares less their means.
    is(pairs().map(|(x, y)| x * y).sum(), 0.0, 1.0);
    is(pairs().map(|(x, y)| (x * x - 1.0) * (y * y - 1.0)).sum(), 0.0, 4.0);
    is(pairs().zip(next()).map(|((x, _), next)| x * next).sum(), 0.0, 1.0);
    is(pairs().zip(next()).map(|((x, y), next)| (x * x + y * y - 2.0) * (next * next - 1.0)).sum(), 0.0, 8.0);
}

/// Kolmogorov-Smirnov: `sqrt(N) D` above 3 with probability 3e-8; correlations of the two of a pair within five standard
/// errors, 6e-7 each.
#[test]
fn single_numbers_are_normal() {
    const COUNT: usize = 400_000;
    let mut rng = rng(5);
    let mut normals = Normals::new(&mut rng);
    let drawn: Vec<f64> = (0..COUNT).map(|_| normals.draw()).collect();
    let n = COUNT as f64;
    for lag in [1, 2] {
        let products = || drawn.iter().zip(&drawn[lag..]);
        assert!(products().map(|(x, y)| x * y).sum::<f64>().abs() < 5.0 * n.sqrt());
        assert!(products().map(|(x, y)| (x * x - 1.0) * (y * y - 1.0)).sum::<f64>().abs() < 5.0 * (4.0 * n).sqrt());
    }
    let mut sorted = drawn;
    sorted.sort_by(f64::total_cmp);
    let distribution = |x: f64| 0.5 * libm::erfc(-x / 2f64.sqrt());
    let distance =
        sorted.iter().enumerate().map(|(i, x)| ((i as f64 + 0.5) / n - distribution(*x)).abs()).fold(0.0, f64::max);
    assert!(distance * n.sqrt() < 3.0, "{distance}");
}
