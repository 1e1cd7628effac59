//! Inactive bins: left out of the model, source of the noise variance.

use std::f64::consts::PI;

use rand::RngExt;

use super::sre;
use super::synthesis::{CELL, TruePath, any_delay, clean, delay_error, noisy, rng};
use crate::sre::{SreError, SreOptions};

fn inactive() -> Vec<usize> {
    (0..20).chain([255, 256, 300]).chain(480..512).collect()
}

/// Guard bands, a gap at the carrier and a noise of unknown strength: a pair of strong paths is found with nothing to
/// spare, and the noise variance within its sampling error (110 samples: 10 %; four standard deviations are 40 %).
#[test]
fn paths_are_found_between_inactive_bins() {
    const NOISE: f32 = 3e-5;
    let estimator = sre(SreOptions { inactive_bins: inactive(), ..SreOptions::default() });
    let (mut workspace, mut rng) = (estimator.workspace(), rng(60));
    let mut spare = 0;
    for i in 0..400 {
        let strongest = f64::from(i % 5) * 10.0 + 15.0;
        let first =
            TruePath::new(any_delay(&mut rng), rng.random_range(-1.4..1.4), strongest, rng.random_range(-PI..PI));
        let second =
            TruePath::new(first.delay + rng.random_range(1.5..9.0) * CELL, 0.3, 15.0, rng.random_range(-PI..PI));
        let paths = [first, second];
        let mut signal = clean(&paths);
        inactive().into_iter().for_each(|bin| signal[bin] = [num_complex::Complex64::new(0.0, 0.0); 2]);
        let block: Vec<_> = noisy(&signal, &mut rng).iter().map(|x| x.map(|z| z * NOISE)).collect();
        let estimate = estimator.estimate(&block, &mut workspace).unwrap();
        assert!((estimate.noise_variance() / f64::from(NOISE * NOISE) - 1.0).abs() < 0.4);
        for path in &paths {
            let near = |c: &&crate::sre::Component| delay_error(c.arrival.delay_s, path.delay).abs() < 0.1 * CELL;
            let found = estimate.components().iter().find(near).expect("a strong path is found");
            let snr_db = 20.0 * path.amplitude[0].norm().log10();
            assert!((found.arrival.raw_snr_db - snr_db).abs() < 2.5, "{} for {snr_db}", found.arrival.raw_snr_db);
        }
        spare += usize::from(estimate.components().len() > 2);
    }
    assert!(spare <= 4 + 10, "{spare}");
}

#[test]
fn silent_inactive_bins_are_told() {
    let estimator = sre(SreOptions { inactive_bins: inactive(), ..SreOptions::default() });
    let mut workspace = estimator.workspace();
    let mut signal = clean(&[TruePath::new(1e-7, 0.0, 10.0, 0.0)]);
    inactive().into_iter().for_each(|bin| signal[bin] = [num_complex::Complex64::new(0.0, 0.0); 2]);
    let block = super::synthesis::rounded(&signal);
    assert_eq!(estimator.estimate(&block, &mut workspace).unwrap_err(), SreError::NoNoise);
}

/// What excluded bins hold is never looked at: not a number among them, and the estimate is that of any other value.
#[test]
fn excluded_bins_may_hold_anything() {
    let excluded_bins: Vec<usize> = (0..8).chain([255, 256]).chain(500..512).collect();
    let options = SreOptions { excluded_bins: excluded_bins.clone(), ..SreOptions::default() };
    let estimator = sre(options);
    let (mut workspace, mut rng) = (estimator.workspace(), rng(61));
    let path = TruePath::new(2.5e-7, 0.4, 12.0, 1.0);
    let mut block = noisy(&clean(&[path]), &mut rng);
    let mut estimates = Vec::new();
    for value in [0.0, 1e6, f32::NAN, f32::INFINITY] {
        excluded_bins.iter().for_each(|&bin| block[bin] = [num_complex::Complex32::new(value, value); 2]);
        estimates.push(estimator.estimate(&block, &mut workspace).unwrap().clone());
    }
    assert_eq!(estimates[0].components().len(), 1);
    assert!(delay_error(estimates[0].components()[0].arrival.delay_s, path.delay).abs() < 0.1 * CELL);
    assert!(estimates.iter().all(|estimate| *estimate == estimates[0]));
    block[100][1] = num_complex::Complex32::new(f32::NAN, 0.0);
    let error = estimator.estimate(&block, &mut workspace).unwrap_err();
    assert_eq!(error, SreError::NotFinite { bin: 100, channel: 1 });
}
