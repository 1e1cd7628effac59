//! The noise of an observation that nobody calibrated.

use std::f64::consts::TAU;

use num_complex::{Complex32, Complex64};

/// Fewest bins that a floor is found in.
const FEWEST: usize = 16;
/// Fewest bins of an even run.
const SHORTEST_RUN: usize = 8;

/// Noise variance per bin of each channel, from the observation itself (all channels of bin 0 first): paths fill a small
/// part of all delays, so the median power over all delays is that of noise. A Hann window keeps strong paths from leaking
/// into the rest, and `skipped` bins are filled in from their neighbours. Where more than a quarter of the bins lack, each
/// run of equally distant bins is looked at by itself instead, a lower quantile counts, as a path fills more of a short run's
/// delays, and all channels have their mean. `None` if fewer than 16 bins are left, or none of their runs has eight, or a value
/// is not finite.
///
/// Where paths fill more than a third of the delays, or the level falls below single precision, it is too high: it is a
/// floor to start from, not a measurement.
#[must_use]
pub fn noise_floor(block: &[Complex32], channels: usize, skipped: &[usize]) -> Option<Vec<f64>> {
    let bins = block.len() / channels.max(1);
    let mut listed = skipped.to_vec();
    listed.sort_unstable();
    let used: Vec<usize> = (0..bins).filter(|bin| listed.binary_search(bin).is_err()).collect();
    if used.len() < FEWEST {
        return None;
    }
    let span = used[used.len() - 1] - used[0] + 1;
    let dense = 4 * (span - used.len()) <= span;
    let runs: Vec<&[usize]> = even_runs(&used).into_iter().filter(|run| run.len() >= SHORTEST_RUN).collect();
    let channel = |m: usize| {
        let at = |k: usize| {
            let z = block[k * channels + m];
            Complex64::new(f64::from(z.re), f64::from(z.im))
        };
        if dense {
            let filled: Vec<Complex64> = (0..bins).map(|k| filled(&used, k, at)).collect();
            // The window makes neighbours alike: every fourth delay says as much as all of them.
            return quantile(delay_powers(&filled, &used, if bins >= 256 { 4 } else { 1 }), 0.5);
        }
        let powers = runs.iter().flat_map(|run| {
            let values: Vec<Complex64> = run.iter().map(|k| at(*k)).collect();
            delay_powers(&values, &(0..run.len()).collect::<Vec<_>>(), 1)
        });
        quantile(powers.collect(), 0.3)
    };
    let floors: Option<Vec<f64>> = (0..channels).map(channel).collect();
    // Floors that are right to a few dB say nothing about the channels' levels, which waves on several elements depend on.
    let mean = |floors: Vec<f64>| vec![floors.iter().sum::<f64>() / channels as f64; channels];
    if dense { floors } else { floors.map(mean) }
}

/// The value of bin `k`, from its neighbours in `used` if it is not one of them; zero outside of them all.
fn filled(used: &[usize], k: usize, at: impl Fn(usize) -> Complex64) -> Complex64 {
    let next = used.partition_point(|&bin| bin < k);
    match (next.checked_sub(1).map(|n| used[n]), used.get(next)) {
        (_, Some(&right)) if right == k => at(k),
        (Some(left), Some(&right)) => {
            let part = (k - left) as f64 / (right - left) as f64;
            at(left) * (1.0 - part) + at(right) * part
        }
        _ => Complex64::default(),
    }
}

/// The bins in runs, each of bins that are equally far apart.
fn even_runs(bins: &[usize]) -> Vec<&[usize]> {
    let mut runs = Vec::new();
    let mut rest = bins;
    while let [first, second, ..] = rest {
        let step = second - first;
        let even = rest.windows(2).take_while(|pair| pair[1] - pair[0] == step).count();
        let (run, after) = rest.split_at(even + 1);
        runs.push(run);
        rest = after;
    }
    runs
}

/// Power at every `step`th delay under a Hann window, in units of the noise variance of the `used` bins.
fn delay_powers(values: &[Complex64], used: &[usize], step: usize) -> Vec<f64> {
    let bins = values.len();
    let window: Vec<f64> = (0..bins).map(|k| 1.0 - libm::cos(TAU * (k as f64 + 0.5) / bins as f64)).collect();
    let power: f64 = used.iter().map(|&k| window[k] * window[k]).sum();
    let turns: Vec<Complex64> = (0..bins)
        .map(|k| {
            let (im, re) = libm::sincos(TAU * k as f64 / bins as f64);
            Complex64::new(re, im)
        })
        .collect();
    let heard: Vec<Complex64> = values.iter().zip(&window).map(|(z, w)| z * *w).collect();
    let at = |delay: usize| {
        let sum: Complex64 = heard.iter().enumerate().map(|(k, z)| z * turns[k * delay % bins]).sum();
        sum.norm_sqr() / power
    };
    (0..bins).step_by(step).map(at).collect()
}

/// The mean of an exponential law, as the power of complex noise is, from a quantile of it.
fn quantile(mut powers: Vec<f64>, part: f64) -> Option<f64> {
    if powers.is_empty() || powers.iter().any(|power| !power.is_finite()) {
        return None;
    }
    let at = (part * powers.len() as f64) as usize;
    let (_, value, _) = powers.select_nth_unstable_by(at, f64::total_cmp);
    Some(*value / -libm::log(1.0 - part))
}

#[cfg(test)]
mod tests {
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};
    use rand_distr::StandardNormal;

    use super::*;

    /// Within 35 % (about three standard deviations of the median of 128 values) whatever the paths, level and bins.
    #[test]
    fn the_floor_is_the_noise_under_strong_paths() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for (bins, scale) in [(512, 1.0), (512, 3.7e-4), (301, 40.0), (64, 1e-3)] {
            let delays = [20.3, 22.9, 31.4].map(|d| d * bins as f64 / 512.0);
            let mut block = Vec::new();
            for k in 0..bins {
                let mut x = [Complex64::default(); 2];
                for (m, z) in x.iter_mut().enumerate() {
                    for (n, delay) in delays.iter().enumerate() {
                        *z += Complex64::from_polar(
                            60.0 / (n + 1) as f64,
                            -TAU * k as f64 * delay / bins as f64 + m as f64,
                        );
                    }
                    let mut normal = || rng.sample::<f64, _>(StandardNormal) * 0.5f64.sqrt() * (1.0 + m as f64);
                    *z += Complex64::new(normal(), normal());
                }
                block.extend(x.map(|z| Complex32::new((z.re * scale) as f32, (z.im * scale) as f32)));
            }
            block[bins] = Complex32::new(f32::NAN, 0.0);
            assert_eq!(noise_floor(&block, 2, &[]), None);
            let floor = noise_floor(&block, 2, &[0, 1, bins / 2]).unwrap();
            for (m, found) in floor.iter().enumerate() {
                let truth = (scale * (1.0 + m as f64)).powi(2);
                let within = if bins < 128 { 0.6 } else { 0.35 };
                assert!((found / truth - 1.0).abs() < within, "{bins} {scale} {m}: {}", found / truth);
            }
        }
        assert_eq!(noise_floor(&[Complex32::new(1.0, 0.0); 30], 2, &[]), None);
    }

    /// Of the 30 subcarriers that an Intel 5300 reports of 20 MHz: a handful of values per run, which three strong paths leak into,
    /// is right to a few dB, and rather too high (4 dB in the median) than too low.
    #[test]
    fn uneven_bins_have_a_floor_too() {
        let numbers: Vec<usize> = (0..=26).step_by(2).chain((27..=55).step_by(2)).chain([56]).collect();
        let skipped: Vec<usize> = (0..57).filter(|k| !numbers.contains(k)).collect();
        let mut rng = ChaCha8Rng::seed_from_u64(6);
        let mut ratios = Vec::new();
        for _ in 0..200 {
            let mut block = vec![Complex32::new(f32::NAN, f32::NAN); 2 * 57];
            for (k, m) in numbers.iter().flat_map(|k| [(*k, 0), (*k, 1)]) {
                let mut z = Complex64::default();
                for (delay, gain) in [(3.1, 40.0), (3.9, 25.0), (4.6, 15.0)] {
                    z += Complex64::from_polar(gain, -TAU * k as f64 * delay / 57.0 + m as f64 * delay);
                }
                let mut normal = || rng.sample::<f64, _>(StandardNormal) * 0.5f64.sqrt();
                z += Complex64::new(normal(), normal());
                block[2 * k + m] = Complex32::new(z.re as f32, z.im as f32);
            }
            ratios.extend(noise_floor(&block, 2, &skipped).unwrap());
        }
        ratios.sort_by(f64::total_cmp);
        let [low, middle, high] = [0.05, 0.5, 0.95].map(|part| ratios[(part * 400.0) as usize]);
        println!("{low:.2} {middle:.2} {high:.2}");
        assert!(low > 0.5 && (1.0..3.0).contains(&middle) && high < 5.0, "{low} {middle} {high}");
        let scattered: Vec<usize> = (0..200usize).filter(|k| !(k * k / 3 % 200).is_multiple_of(5)).collect();
        let noise = vec![Complex32::new(1.0, 0.0); 400];
        assert_eq!(noise_floor(&noise, 2, &scattered), None);
    }
}
