//! The noise of an observation that nobody calibrated.

use std::f64::consts::TAU;

use num_complex::{Complex32, Complex64};

/// Noise variance per bin of each channel, from the observation itself (all channels of bin 0 first): paths fill a small part of all delays, so the median
/// power over all delays is that of noise. A Hann window keeps strong paths from leaking into the rest, and `skipped` bins
/// are filled in from their neighbours. `None` if fewer than 16 bins are left or a value of the others is not finite.
///
/// Where paths fill more than a third of the delays, or the level falls below single precision, it is too high: it is a
/// floor to start from, not a measurement.
#[must_use]
pub fn noise_floor(block: &[Complex32], channels: usize, skipped: &[usize]) -> Option<Vec<f64>> {
    const FEWEST: usize = 16;
    let bins = block.len() / channels.max(1);
    let mut listed = skipped.to_vec();
    listed.sort_unstable();
    let used: Vec<usize> = (0..bins).filter(|bin| listed.binary_search(bin).is_err()).collect();
    if used.len() < FEWEST {
        return None;
    }
    let window: Vec<f64> = (0..bins).map(|k| 1.0 - libm::cos(TAU * (k as f64 + 0.5) / bins as f64)).collect();
    let power: f64 = used.iter().map(|&k| window[k] * window[k]).sum();
    let turns: Vec<Complex64> = (0..bins)
        .map(|k| {
            let (im, re) = libm::sincos(TAU * k as f64 / bins as f64);
            Complex64::new(re, im)
        })
        .collect();
    // The window makes neighbours alike: every fourth delay says as much as all of them.
    let step = if bins >= 256 { 4 } else { 1 };
    let channel = |m: usize| {
        let at = |k: usize| {
            let z = block[k * channels + m];
            Complex64::new(f64::from(z.re), f64::from(z.im))
        };
        let filled = |k: usize| {
            let next = used.partition_point(|&bin| bin < k);
            match (next.checked_sub(1).map(|n| used[n]), used.get(next)) {
                (_, Some(&right)) if right == k => at(k),
                (Some(left), Some(&right)) => {
                    let part = (k - left) as f64 / (right - left) as f64;
                    at(left) * (1.0 - part) + at(right) * part
                }
                _ => Complex64::default(),
            }
        };
        let heard: Vec<Complex64> = window.iter().enumerate().map(|(k, w)| filled(k) * *w).collect();
        let mut energies: Vec<f64> = (0..bins)
            .step_by(step)
            .map(|delay| {
                let sum: Complex64 = heard.iter().enumerate().map(|(k, z)| z * turns[k * delay % bins]).sum();
                sum.norm_sqr() / power
            })
            .collect();
        if energies.iter().any(|energy| !energy.is_finite()) {
            return None;
        }
        let middle = energies.len() / 2;
        let (_, median, _) = energies.select_nth_unstable_by(middle, f64::total_cmp);
        // The power of complex noise is exponential: its median is ln 2 of its mean.
        Some(*median / std::f64::consts::LN_2)
    };
    (0..channels).map(channel).collect()
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
}
