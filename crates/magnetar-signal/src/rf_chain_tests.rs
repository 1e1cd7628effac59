//! The RF chain's switches and sizes.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

use super::*;

/// Draws used for a size: the mean square of N normals has a relative error of sqrt(2 / N), 1.4 %.
const DRAWS: u64 = 10_000;

fn draws(config: RfChainConfig) -> impl Iterator<Item = RfChainDraw> {
    (0..DRAWS).map(move |seed| config.draw(&mut ChaCha8Rng::seed_from_u64(seed)))
}

fn rms(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), x| (sum + x * x, count + 1.0));
    (sum / count).sqrt()
}

/// The ripple over the band, from its coefficients.
fn ripple(coefficients: &[f64; MAX_RIPPLE_TERMS], bins: usize) -> Vec<f64> {
    let at = |k: usize| (k as f64 + 0.5) / bins as f64 * std::f64::consts::PI;
    let term = |n: usize, k: usize| coefficients[n] * ((n + 1) as f64 * at(k)).cos();
    (0..bins).map(|k| (0..MAX_RIPPLE_TERMS).map(|n| term(n, k)).sum()).collect()
}

#[test]
fn the_sizes_are_as_stated() {
    let config = RfChainConfig::default();
    // Bounds of 5 % are more than six standard errors: a right chain fails with probability below 1e-8.
    let close = |found: f64, stated: f64| assert!((found / stated - 1.0).abs() < 0.05, "{found} for {stated}");
    close(rms(draws(config).map(|d| d.gain_imbalance_db)), 0.5);
    close(rms(draws(config).map(|d| d.phase_error_rad.to_degrees())), 5.0);
    close(rms(draws(config).step_by(5).flat_map(|d| ripple(&d.gain_ripple_db[1], 64))), 0.5);
    close(rms(draws(config).step_by(5).flat_map(|d| ripple(&d.phase_ripple_rad[0], 64))).to_degrees(), 3.0);
    // Uniform on [0, 200 ns) and on the circle: mean squares are max^2 / 3 and pi^2 / 3.
    close(rms(draws(config).map(|d| d.timing_offset_s)) * 3f64.sqrt(), 200e-9);
    close(rms(draws(config).map(|d| d.common_phase_rad)) * 3f64.sqrt(), std::f64::consts::PI);
    assert!(draws(config).all(|d| (0.0..200e-9).contains(&d.timing_offset_s)));
}

#[test]
fn a_ripple_has_no_mean_and_channels_differ() {
    let draw = RfChainConfig::default().draw(&mut ChaCha8Rng::seed_from_u64(5));
    for coefficients in draw.gain_ripple_db.iter().chain(&draw.phase_ripple_rad) {
        assert!(ripple(coefficients, 512).iter().sum::<f64>().abs() < 1e-9);
    }
    assert_ne!(draw.gain_ripple_db[0], draw.gain_ripple_db[1]);
    assert_ne!(draw.phase_ripple_rad[0], draw.phase_ripple_rad[1]);
}

#[test]
fn one_switch_leaves_the_others_alone() {
    let full = RfChainConfig::default();
    let draw = |config: RfChainConfig| config.draw(&mut ChaCha8Rng::seed_from_u64(11));
    let whole = draw(full);
    let zero = [[0.0; MAX_RIPPLE_TERMS]; ELEMENTS];
    let cases = [
        (RfChainConfig { common_phase: false, ..full }, RfChainDraw { common_phase_rad: 0.0, ..whole }),
        (RfChainConfig { timing_offset_max_ns: 0.0, ..full }, RfChainDraw { timing_offset_s: 0.0, ..whole }),
        (RfChainConfig { gain_imbalance_db_rms: 0.0, ..full }, RfChainDraw { gain_imbalance_db: 0.0, ..whole }),
        (RfChainConfig { phase_error_deg_rms: 0.0, ..full }, RfChainDraw { phase_error_rad: 0.0, ..whole }),
        (RfChainConfig { gain_ripple_db_rms: 0.0, ..full }, RfChainDraw { gain_ripple_db: zero, ..whole }),
        (RfChainConfig { phase_ripple_deg_rms: 0.0, ..full }, RfChainDraw { phase_ripple_rad: zero, ..whole }),
        (RfChainConfig::off(), RfChainDraw::default()),
    ];
    for (config, expected) in cases {
        assert_eq!(draw(config), expected);
    }
}

#[test]
fn a_chain_switched_off_changes_no_bit() {
    let band = Band::default();
    let paths = [ElementPath { delay: [1e-8, 1.003e-8], gain: [num_complex::Complex64::new(0.3, 0.1); 2] }];
    let mut synthesizer = Synthesizer::new(band);
    let mut block = synthesizer.block();
    synthesizer.clean(&paths, 20.0, &mut block);
    let clean = block.clone();
    synthesizer.perturb(&RfChainConfig::off().draw(&mut ChaCha8Rng::seed_from_u64(3)), &mut block);
    assert_eq!(block, clean);
}

#[test]
fn a_bad_number_is_named() {
    let good = RfChainConfig::default();
    good.check().unwrap();
    let cases = [
        (RfChainConfig { timing_offset_max_ns: -1.0, ..good }, "rf_chain.timing_offset_max_ns"),
        (RfChainConfig { gain_ripple_db_rms: f64::NAN, ..good }, "rf_chain.gain_ripple_db_rms"),
        (RfChainConfig { gain_imbalance_db_rms: 11.0, ..good }, "rf_chain.gain_imbalance_db_rms"),
        (RfChainConfig { phase_ripple_deg_rms: f64::INFINITY, ..good }, "rf_chain.phase_ripple_deg_rms"),
        (RfChainConfig { phase_error_deg_rms: -0.1, ..good }, "rf_chain.phase_error_deg_rms"),
        (RfChainConfig { ripple_terms: 0, ..good }, "rf_chain.ripple_terms"),
        (RfChainConfig { ripple_terms: 9, ..good }, "rf_chain.ripple_terms"),
    ];
    for (config, key) in cases {
        assert_eq!(config.check().unwrap_err().key, key);
    }
    let link = LinkConfig::default();
    link.check().unwrap();
    let link = LinkConfig { tx_power_offset_max_db: -3.0, ..link };
    assert_eq!(link.check().unwrap_err().key, "link.tx_power_offset_max_db");
}
