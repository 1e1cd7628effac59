//! False alarms.

use std::f64::consts::PI;

use rand::RngExt;

use super::sre;
use super::synthesis::{TruePath, any_delay, clean, noisy, rng};
use crate::sre::{Method, Sre, SreOptions};
use crate::{Band, RxArray};

/// Observations of noise alone, `noise` strong, that give a component.
fn alarms(estimator: &Sre, bins: usize, noise: f32, draws: usize, seed: u64) -> usize {
    let (mut workspace, mut rng) = (estimator.workspace(), rng(seed));
    let silence = vec![clean(&[])[0]; bins];
    let draw = |_| {
        let block: Vec<_> = noisy(&silence, &mut rng).iter().map(|x| x.map(|z| z * noise)).collect();
        usize::from(!estimator.estimate(&block, &mut workspace).unwrap().components().is_empty())
    };
    (0..draws).map(draw).sum()
}

/// Within four standard deviations of the promise: each assertion fails by chance with probability 6e-5.
fn promised(alarms: usize, draws: usize, p_fa: f64) {
    let expected = draws as f64 * p_fa;
    let deviation = (alarms as f64 - expected) / (expected * (1.0 - p_fa)).sqrt();
    println!("{alarms} alarms in {draws} draws at {p_fa}: {deviation:.2} standard deviations");
    assert!(deviation.abs() < 4.0, "{alarms} alarms where {expected} are promised");
}

#[test]
fn noise_alone_alarms_as_promised() {
    for (p_fa, draws, seed) in [(0.01, 30_000, 30), (0.1, 10_000, 31), (0.001, 30_000, 32)] {
        let estimator = sre(SreOptions { p_fa, ..SreOptions::default() });
        promised(alarms(&estimator, 512, 1.0, draws, seed), draws, p_fa);
    }
}

#[test]
fn other_bands_alarm_as_promised() {
    for (bins, seed) in [(64, 33), (2048, 34)] {
        let band = Band { bins, ..Band::default() };
        let options = SreOptions { p_fa: 0.02, ..SreOptions::default() };
        let estimator = Sre::new(&band, &RxArray::default(), &options).unwrap();
        let draws = if bins == 64 { 20_000 } else { 5_000 };
        promised(alarms(&estimator, bins, 1.0, draws, seed), draws, 0.02);
    }
}

/// The noise variance estimated from few inactive bins, noise of any strength.
#[test]
fn estimated_noise_alarms_as_promised() {
    for (inactive, noise) in
        [((0..8).chain(504..512).collect::<Vec<_>>(), 1e-4), ((500..512).chain([256]).collect(), 30.0)]
    {
        let options = SreOptions { inactive_bins: inactive, p_fa: 0.02, ..SreOptions::default() };
        promised(alarms(&sre(options), 512, noise, 20_000, 35), 20_000, 0.02);
    }
}

/// Grid points see a little less than the continuous peak, never more.
#[test]
fn the_greedy_estimator_keeps_the_promise() {
    let estimator = sre(SreOptions { method: Method::Greedy, ..SreOptions::default() });
    let alarms = alarms(&estimator, 512, 1.0, 10_000, 36);
    assert!((40..140).contains(&alarms), "{alarms} of 10,000");
}

/// A path leaves noise behind, and that alarms no more than noise does: at most 1 % plus four standard deviations.
#[test]
fn a_path_is_not_split() {
    const DRAWS: usize = 4000;
    let estimator = sre(SreOptions::default());
    let (mut workspace, mut rng) = (estimator.workspace(), rng(37));
    for snr_db in [-5.0, 10.0, 30.0, 60.0] {
        let mut split = 0;
        for _ in 0..DRAWS {
            let aoa = rng.random_range(-PI / 2.0..PI / 2.0);
            let path = TruePath::new(any_delay(&mut rng), aoa, snr_db, rng.random_range(-PI..PI));
            let block = noisy(&clean(&[path]), &mut rng);
            let found = estimator.estimate(&block, &mut workspace).unwrap().components().len();
            assert!(found >= 1, "a path of {snr_db} dB is missed");
            split += usize::from(found > 1);
        }
        println!("{split} splits in {DRAWS} at {snr_db} dB");
        assert!(split <= 40 + 25, "{split} of {DRAWS} paths of {snr_db} dB are split");
    }
}
