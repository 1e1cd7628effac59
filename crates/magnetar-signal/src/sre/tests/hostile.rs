//! Inputs that no receiver should make.

use num_complex::{Complex, Complex32};
use proptest::prelude::*;

use super::sre;
use super::synthesis::{BINS, TruePath, clean, noisy, rng};
use crate::sre::{Method, Sre, SreError, SreOptions};
use crate::{Band, RxArray};

const ZERO: Complex32 = Complex::new(0.0, 0.0);

#[test]
fn silence_is_empty() {
    for method in [Method::Refined, Method::Greedy] {
        let estimator = sre(SreOptions { method, ..SreOptions::default() });
        let mut workspace = estimator.workspace();
        let estimate = estimator.estimate(&[[ZERO; 2]; BINS], &mut workspace).unwrap();
        assert!(estimate.components().is_empty() && estimate.kept().is_empty());
    }
}

#[test]
fn values_that_are_not_finite_are_named() {
    let estimator = sre(SreOptions::default());
    let mut workspace = estimator.workspace();
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut block = vec![[ZERO; 2]; BINS];
        block[77][1].im = bad;
        let error = estimator.estimate(&block, &mut workspace).unwrap_err();
        assert_eq!(error, SreError::NotFinite { bin: 77, channel: 1 });
        assert!(error.to_string().contains("bin 77"));
    }
    let block = vec![[Complex::new(1e30, 0.0); 2]; BINS];
    assert!(matches!(estimator.estimate(&block, &mut workspace), Err(SreError::TooStrong { .. })));
    for bins in [0, 1, 511, 513] {
        let error = estimator.estimate(&vec![[ZERO; 2]; bins], &mut workspace).unwrap_err();
        assert_eq!(error, SreError::BinCount { expected: BINS, found: bins });
    }
}

#[test]
fn options_out_of_range_are_named() {
    let key =
        |options: SreOptions| Sre::new(&Band::default(), &RxArray::default(), &options).map(|_| ()).unwrap_err().key;
    let default = SreOptions::default;
    for p_fa in [f64::NAN, 0.0, -1.0, 0.9] {
        assert_eq!(key(SreOptions { p_fa, ..default() }), "sre.p_fa");
    }
    for max_paths in [0, 17, usize::MAX] {
        assert_eq!(key(SreOptions { max_paths, ..default() }), "sre.max_paths");
        assert_eq!(key(SreOptions { keep: max_paths, ..default() }), "sre.keep");
        assert_eq!(key(SreOptions { oversampling: max_paths, ..default() }), "sre.oversampling");
    }
    for x in [f64::NAN, f64::INFINITY, -1.0] {
        assert_eq!(key(SreOptions { noise_variance: x, ..default() }), "sre.noise_variance");
        assert_eq!(key(SreOptions { alias_confidence: x, ..default() }), "sre.alias_confidence");
        assert_eq!(key(SreOptions { delay_difference_error_s: x, ..default() }), "sre.delay_difference_error_s");
        assert_eq!(key(SreOptions { min_separation_cells: x, ..default() }), "sre.min_separation_cells");
    }
    for x in [f64::NAN, 1e9] {
        assert_eq!(key(SreOptions { phase_offset_deg: x, ..default() }), "sre.phase_offset_deg");
        assert_eq!(key(SreOptions { processing_gain_db: x, ..default() }), "sre.processing_gain_db");
    }
    for inactive_bins in [vec![512], (0..512).collect(), (0..256).map(|i| 2 * i).collect()] {
        assert_eq!(key(SreOptions { inactive_bins, ..default() }), "sre.inactive_bins");
    }
    let both = SreOptions { inactive_bins: vec![3], excluded_bins: vec![3], ..default() };
    assert_eq!(key(both), "sre.excluded_bins");
    assert_eq!(key(SreOptions { excluded_bins: vec![512], ..default() }), "sre.excluded_bins");
}

#[test]
fn a_used_workspace_changes_nothing() {
    let estimator = sre(SreOptions::default());
    let mut used = estimator.workspace();
    for seed in 0..20 {
        let paths: Vec<_> =
            (0..5).map(|i| TruePath::new(1e-8 * f64::from(i * i), 0.1 * f64::from(i), 20.0, f64::from(seed))).collect();
        let block = noisy(&clean(&paths), &mut rng(70 + seed as u64));
        let mut fresh = estimator.workspace();
        let first = estimator.estimate(&block, &mut fresh).unwrap();
        assert_eq!(first, estimator.estimate(&block, &mut used).unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Any finite block gives finite numbers or a clear error.
    #[test]
    fn any_block_is_survived(
        seed in any::<u64>(), exponent in -30i32..12, spikes in prop::collection::vec((0usize..64, -14i32..14), 0..6),
        greedy in any::<bool>(),
    ) {
        let method = if greedy { Method::Greedy } else { Method::Refined };
        let options = SreOptions { method, max_paths: 16, ..SreOptions::default() };
        let estimator = Sre::new(&Band { bins: 64, ..Band::default() }, &RxArray::default(), &options).unwrap();
        let mut workspace = estimator.workspace();
        let scale = 10f32.powi(exponent);
        let mut block: Vec<_> =
            noisy(&clean(&[])[..64], &mut rng(seed)).iter().map(|x| x.map(|z| z * scale)).collect();
        for (at, power) in spikes {
            block[at][at % 2] = Complex::new(10f32.powi(power), 1.0);
        }
        let estimate = estimator.estimate(&block, &mut workspace).unwrap();
        for c in estimate.components() {
            prop_assert!(c.arrival.delay_s.is_finite() && c.arrival.raw_snr_db.is_finite() && c.arrival.aoa_rad.is_finite());
            prop_assert!((0.0..64.0 / 491.52e6).contains(&c.arrival.delay_s));
        }
    }
}
