//! The observation model against a plain double-precision one that shares no code with it, and its laws.

use std::f64::consts::{PI, TAU};

use magnetar_scene::{Pose, SPEED_OF_LIGHT, wrap};
use magnetar_trace::{Path, PathGeometry};
use nalgebra::Vector3;
use num_complex::Complex64;
use proptest::prelude::*;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

use super::*;

/// A free-space path from TX to RX.
fn direct_path(tx: &Pose, rx: &Pose, band: &Band) -> Path {
    let geometry = PathGeometry::direct(&(rx.position - tx.position));
    Path { geometry, coefficient: (band.wavelength() / (4.0 * PI * geometry.length)).into() }
}

/// The sum over paths as the formula has it.
fn plain_sum(paths: &[ElementPath], scale: f64, band: &Band) -> Vec<[Complex64; 2]> {
    (0..band.bins)
        .map(|k| {
            [0, 1].map(|m| {
                let at = |p: &ElementPath| {
                    // The turns are reduced before the sine is taken, else its argument alone costs 1e-12.
                    let turns = (band.frequency_hz(k) * p.delay[m]).fract();
                    p.gain[m] * scale * Complex64::from_polar(1.0, -TAU * turns)
                };
                paths.iter().map(at).sum()
            })
        })
        .collect()
}

/// The RF chain as its formula has it, energy kept.
fn plain_rf_chain(clean: &[[Complex64; 2]], draw: &RfChainDraw, band: &Band) -> Vec<[Complex64; 2]> {
    let perturbed: Vec<_> = clean
        .iter()
        .enumerate()
        .map(|(k, z)| {
            [0, 1].map(|m| {
                let side = if m == 0 { -0.5 } else { 0.5 };
                let ripple = |c: &[f64; MAX_RIPPLE_TERMS]| -> f64 {
                    let x = (k as f64 + 0.5) / band.bins as f64;
                    c.iter().enumerate().map(|(n, c)| c * (PI * (n + 1) as f64 * x).cos()).sum()
                };
                let db = ripple(&draw.gain_ripple_db[m]) + side * draw.gain_imbalance_db;
                let phase = ripple(&draw.phase_ripple_rad[m]) + side * draw.phase_error_rad + draw.common_phase_rad
                    - TAU * band.offset_hz(k) * draw.timing_offset_s;
                z[m] * Complex64::from_polar(10f64.powf(db / 20.0), phase)
            })
        })
        .collect();
    let scale = (energy(clean) / energy(&perturbed)).sqrt();
    perturbed.iter().map(|z| z.map(|z| z * scale)).collect()
}

fn energy(block: &[[Complex64; 2]]) -> f64 {
    block.iter().flatten().map(Complex64::norm_sqr).sum()
}

fn worst_error(block: &Observation, plain: &[[Complex64; 2]]) -> f64 {
    let error = |k: usize, m: usize| {
        let z = block.get(k, m);
        (Complex64::new(z.re.into(), z.im.into()) - plain[k][m]).norm()
    };
    (0..block.bins()).flat_map(|k| [error(k, 0), error(k, 1)]).fold(0.0, f64::max)
}

fn rms(plain: &[[Complex64; 2]]) -> f64 {
    (energy(plain) / (2 * plain.len()) as f64).sqrt()
}

/// Up to forty paths of up to 2 us, over 60 dB.
fn any_paths() -> impl Strategy<Value = Vec<ElementPath>> {
    let path = (0.0..2e-6f64, -90e-12..90e-12f64, -3.0..0.0f64, -PI..PI, 0.1..1.0f64);
    prop::collection::vec(path, 1..40).prop_map(|paths| {
        let path = |(delay, difference, decades, phase, other): (f64, f64, f64, f64, f64)| {
            let gain = Complex64::from_polar(10f64.powf(decades), phase);
            ElementPath { delay: [delay, delay + difference], gain: [gain, gain * other] }
        };
        paths.into_iter().map(path).collect()
    })
}

proptest! {
    #[test]
    fn each_stage_is_within_1e_5_of_a_plain_f64_model(
        paths in any_paths(),
        seed in any::<u64>(),
        bins in prop_oneof![Just(512usize), (1usize..400).prop_map(|n| 2 * n)],
    ) {
        let band = Band { bins, ..Band::default() };
        let mut synthesizer = Synthesizer::new(band);
        let mut block = synthesizer.block();
        synthesizer.clean(&paths, 30.0, &mut block);
        let clean = plain_sum(&paths, 30.0, &band);
        let total: f64 = paths.iter().map(|p| 30.0 * p.gain[0].norm()).sum();
        prop_assert!(worst_error(&block, &clean) < 1e-5 * rms(&clean));
        // Stronger, and true even where paths cancel each other.
        prop_assert!(worst_error(&block, &clean) < 5e-7 * total);

        let before = block.energy();
        let draw = RfChainConfig::default().draw(&mut ChaCha8Rng::seed_from_u64(seed));
        synthesizer.perturb(&draw, &mut block);
        prop_assert!(worst_error(&block, &plain_rf_chain(&clean, &draw, &band)) < 1e-5 * rms(&clean));
        prop_assert!((block.energy() / before - 1.0).abs() < 1e-6);
    }

    #[test]
    fn energy_is_kept_by_a_bad_chain(paths in any_paths(), seed in any::<u64>()) {
        let config = RfChainConfig {
            gain_ripple_db_rms: 10.0,
            phase_ripple_deg_rms: 180.0,
            ripple_terms: 8,
            gain_imbalance_db_rms: 10.0,
            phase_error_deg_rms: 180.0,
            timing_offset_max_ns: 1e6,
            ..RfChainConfig::default()
        };
        config.check().unwrap();
        let band = Band::default();
        let mut synthesizer = Synthesizer::new(band);
        let mut block = synthesizer.block();
        synthesizer.clean(&paths, 1.0, &mut block);
        let before = block.energy();
        let draw = config.draw(&mut ChaCha8Rng::seed_from_u64(seed));
        synthesizer.perturb(&draw, &mut block);
        prop_assert!((block.energy() / before - 1.0).abs() < 1e-6);
        let plain = plain_rf_chain(&plain_sum(&paths, 1.0, &band), &draw, &band);
        prop_assert!(worst_error(&block, &plain) < 1e-4 * rms(&plain));
    }

    /// At 1 m, boresight to boresight, every bin has the reference SNR, whatever the (equal or unequal) antennas.
    #[test]
    fn the_reference_snr_is_that_of_one_metre(
        heading in -3.0..3.0f64,
        gain_db in -10.0..20.0f64,
        offset_db in -3.0..3.0f64,
    ) {
        let band = Band::default();
        let tx = Pose::new(0.5, -0.25, 1.0, heading);
        let (sin, cos) = heading.sin_cos();
        let rx = Pose::new(0.5 + cos, -0.25 + sin, 1.0, heading + PI);
        let amplitude = 10f64.powf(gain_db / 20.0);
        // Half as strong off boresight, to see that boresight is what counts.
        let pattern = |u: &Vector3<f64>| amplitude * if u.x > 0.99 { 1.0 } else { 0.5 };
        let link = Link { tx, rx, array: RxArray::default(), tx_pattern: pattern, rx_patterns: [pattern; 2] };
        let path = link.element_path(&direct_path(&tx, &rx, &band));
        let config = LinkConfig::default();
        let scale = config.amplitude_scale(&band, link.boresight_amplitude(), offset_db);
        let mut synthesizer = Synthesizer::new(band);
        let mut block = synthesizer.block();
        synthesizer.clean(&[path], scale, &mut block);
        for (k, m) in [(0, 0), (256, 1), (511, 0)] {
            let snr_db = 10.0 * f64::from(block.get(k, m).norm_sqr()).log10();
            prop_assert!((snr_db - (50.0 - 19.14 + offset_db)).abs() < 1e-4, "{snr_db}");
        }
        // Twice as far is 6.02 dB less.
        let far = Pose::new(0.5 + 2.0 * cos, -0.25 + 2.0 * sin, 1.0, heading + PI);
        let far = Link { rx: far, ..link };
        synthesizer.clean(&[far.element_path(&direct_path(&tx, &far.rx, &band))], scale, &mut block);
        let snr_db = 10.0 * f64::from(block.get(100, 1).norm_sqr()).log10();
        prop_assert!((snr_db - (50.0 - 19.14 + offset_db - 20.0 * 2f64.log10())).abs() < 1e-4, "{snr_db}");
    }

    /// The phase of element 1 over element 0 at band centre is `2 pi fc d sin(theta) / c`, theta being the AoA.
    #[test]
    fn the_inter_element_phase_tells_the_aoa(
        x in -2.0..2.0f64, y in -2.0..2.0f64, z in 0.5..2.5f64, heading in -3.2..3.2f64,
    ) {
        let band = Band::default();
        let array = RxArray::default();
        let (tx, rx) = (Pose::new(x, y + 3.0, z, 0.0), Pose::new(0.3, -0.7, 1.08, heading));
        let isotropic = |_: &Vector3<f64>| 1.0;
        let link = Link { tx, rx, array, tx_pattern: isotropic, rx_patterns: [isotropic; 2] };
        let path = link.element_path(&direct_path(&tx, &rx, &band));
        let mut synthesizer = Synthesizer::new(band);
        let mut block = synthesizer.block();
        synthesizer.clean(&[path], 1e3, &mut block);
        let phase = (block.get(256, 1) * block.get(256, 0).conj()).arg();
        let ray = tx.position - rx.position;
        let theta = wrap(ray.y.atan2(ray.x) - rx.heading);
        let cos_elevation = ray.x.hypot(ray.y) / ray.norm();
        let expected = TAU * band.carrier_hz * array.spacing_m * theta.sin() * cos_elevation / SPEED_OF_LIGHT;
        prop_assert!(wrap(f64::from(phase) - expected).abs() < 1e-5);
        // Over the band the phase follows the frequency: the delay is exact, not a narrowband phase.
        let phase = (block.get(511, 1) * block.get(511, 0).conj()).arg();
        prop_assert!(wrap(f64::from(phase) - expected * band.frequency_hz(511) / band.carrier_hz).abs() < 1e-5);
    }
}

#[test]
fn patterns_are_applied_in_each_devices_own_frame() {
    let band = Band::default();
    let (tx, rx) = (Pose::new(0.0, 0.0, 1.0, PI / 2.0), Pose::new(1.0, 0.0, 1.0, 0.0));
    // The TX sees the RX to its right, the RX the TX behind it.
    let tx_pattern = |u: &Vector3<f64>| if (u - Vector3::new(0.0, -1.0, 0.0)).norm() < 1e-9 { 2.0 } else { 0.0 };
    let behind = |u: &Vector3<f64>| if (u + Vector3::x()).norm() < 1e-9 { 3.0 } else { 0.0 };
    let link = Link { tx, rx, array: RxArray::default(), tx_pattern, rx_patterns: [behind; 2] };
    let path = direct_path(&tx, &rx, &band);
    let heard = link.element_path(&path);
    assert!(heard.gain.iter().all(|gain| (gain - 6.0 * path.coefficient).norm() < 1e-12));
    assert_eq!(heard.delay, [path.delay(); 2]);
}

#[test]
fn nothing_in_nothing_out() {
    let band = Band::default();
    let mut synthesizer = Synthesizer::new(band);
    let mut block = synthesizer.block();
    synthesizer.clean(&[], 1.0, &mut block);
    synthesizer.perturb(&RfChainConfig::default().draw(&mut ChaCha8Rng::seed_from_u64(7)), &mut block);
    assert_eq!(block, Observation::zeros(512));
    assert_eq!(LinkConfig::default().amplitude_scale(&band, 0.0, 0.0), 0.0);
}

#[test]
fn the_whole_is_its_stages() {
    let band = Band::default();
    let paths = [ElementPath { delay: [1e-8, 1.003e-8], gain: [Complex64::new(0.3, 0.1); 2] }];
    let mut synthesizer = Synthesizer::new(band);
    let (mut whole, mut staged) = (synthesizer.block(), synthesizer.block());
    let draw = RfChainConfig::default().draw(&mut ChaCha8Rng::seed_from_u64(1));
    synthesizer.noisy(&paths, 20.0, &draw, &mut ChaCha8Rng::seed_from_u64(2), &mut whole);
    synthesizer.clean(&paths, 20.0, &mut staged);
    synthesizer.perturb(&draw, &mut staged);
    add_noise(&mut staged, &mut ChaCha8Rng::seed_from_u64(2));
    assert_eq!(whole, staged);
}
