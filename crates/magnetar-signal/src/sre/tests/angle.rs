//! Phase, angle of arrival and its aliases.

use std::f64::consts::{PI, TAU};

use rand::RngExt;

use super::sre;
use super::synthesis::{CARRIER, TruePath, any_delay, clean, noisy, rng, rounded};
use crate::sre::{AoaMode, SreOptions};

/// The principal branch ends where the phase is half a turn, at arcsin(lambda / 2d) = 35.2 deg.
const PRINCIPAL: f64 = 0.614;

#[test]
fn the_angle_follows_from_the_phase() {
    let estimator = sre(SreOptions::default());
    let mut workspace = estimator.workspace();
    for aoa in [-0.6, -0.3, 0.0, 0.01, 0.5] {
        let path = TruePath::new(1.7e-7, aoa, 20.0, 0.4);
        let estimate = estimator.estimate(&rounded(&clean(&[path])), &mut workspace).unwrap();
        let found = &estimate.components()[0];
        assert!((found.arrival.aoa_rad - aoa).abs() < 1e-5 && (found.arrival.phase_rad - path.phase()).abs() < 1e-5);
        assert!((found.delay_difference_s + path.phase() / (TAU * CARRIER)).abs() < 1e-14);
        assert!((found.arrival.snr_db - found.arrival.raw_snr_db - 18.89).abs() < 1e-12);
        // The gain is that of the path at the carrier, in phase as well.
        for m in 0..2 {
            let turn = [-0.5, 0.5][m] * path.phase();
            let gain = path.amplitude[m] * num_complex::Complex64::from_polar(1.0, turn);
            assert!((found.gain[m] - gain).norm() < 1e-4 * gain.norm(), "{:?} {gain}", found.gain[m]);
        }
    }
}

#[test]
fn a_calibration_offset_is_taken_out() {
    let path = TruePath::new(1.7e-7, 0.3, 20.0, 0.4);
    let mut block = rounded(&clean(&[path]));
    let turn = num_complex::Complex32::from_polar(1.0, 25f32.to_radians());
    block.iter_mut().for_each(|x| x[1] *= turn);
    let estimator = sre(SreOptions { phase_offset_deg: 25.0, ..SreOptions::default() });
    let mut workspace = estimator.workspace();
    let found = estimator.estimate(&block, &mut workspace).unwrap().components()[0];
    assert!((found.arrival.aoa_rad - 0.3).abs() < 1e-5);
}

/// Narrowband keeps the aliases; wideband undoes them in at least 99 % at 30 dB per bin and up to 80 degrees.
#[test]
fn wideband_chooses_the_alias() {
    const DRAWS: usize = 2000;
    let narrowband = sre(SreOptions::default());
    let wideband = sre(SreOptions { aoa_mode: AoaMode::Wideband, ..SreOptions::default() });
    let (mut workspace, mut rng) = (wideband.workspace(), rng(50));
    for snr_db in [30.0, 45.0] {
        let mut right = 0;
        for _ in 0..DRAWS {
            let aoa = rng.random_range(-80f64..80.0).to_radians();
            let path = TruePath::new(any_delay(&mut rng), aoa, snr_db, rng.random_range(-PI..PI));
            let block = noisy(&clean(&[path]), &mut rng);
            let found = wideband.estimate(&block, &mut workspace).unwrap().components()[0];
            right += usize::from((found.arrival.aoa_rad - aoa).abs() < 0.1 && found.alias_confidence > 0.99);
            let principal = narrowband.estimate(&block, &mut workspace).unwrap().components()[0];
            assert!(principal.arrival.aoa_rad.abs() <= PRINCIPAL + 1e-3);
        }
        println!("{right} of {DRAWS} at {snr_db} dB");
        assert!(right * 100 >= DRAWS * 99, "{right} of {DRAWS}");
    }
}

/// What the SNR cannot carry is not guessed: an alias off the principal branch is right in all but about 1 %, and the
/// confidence tells how often the answer is right: within 6 % in each of its thirds (standard error below 1 %; the bound
/// on the delay difference bends the Gaussian that the confidence supposes).
#[test]
fn wideband_does_not_guess() {
    const DRAWS: usize = 12_000;
    let estimator =
        sre(SreOptions { aoa_mode: AoaMode::Wideband, delay_difference_error_s: 0.0, ..SreOptions::default() });
    let (mut workspace, mut rng) = (estimator.workspace(), rng(51));
    let (mut off, mut wrong, mut principal) = (0, 0, 0);
    let mut thirds = [(0.0, 0.0, 0.0); 3];
    for i in 0..DRAWS {
        let snr_db = [-5.0, 0.0, 5.0][i % 3];
        // Uniform in the sine, as the aliases' equal weights suppose.
        let aoa = rng.random_range(-1f64..1.0).asin();
        let path = TruePath::new(any_delay(&mut rng), aoa, snr_db, rng.random_range(-PI..PI));
        let block = noisy(&clean(&[path]), &mut rng);
        let found = estimator.estimate(&block, &mut workspace).unwrap().components()[0];
        let right = (found.arrival.aoa_rad.sin() - aoa.sin()).abs() < 0.5;
        let third = &mut thirds[((found.alias_confidence * 3.0) as usize).min(2)];
        *third = (third.0 + 1.0, third.1 + found.alias_confidence, third.2 + f64::from(u8::from(right)));
        if found.arrival.aoa_rad.abs() > PRINCIPAL + 0.02 {
            off += 1;
            wrong += usize::from(!right);
        } else {
            principal += 1;
        }
    }
    println!("{off} off the principal branch, {wrong} of them wrong; {principal} on it; {thirds:?}");
    assert!(off > 500 && wrong * 100 <= 2 * off && principal > 5000);
    for (n, confidence, right) in thirds {
        assert!(n < 200.0 || ((confidence - right) / n).abs() < 0.06, "{n} {confidence} {right}");
    }
}
