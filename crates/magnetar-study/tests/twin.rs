//! The twin scorer on rows of the paper's recipe.

#![allow(clippy::disallowed_methods, reason = "tests compare with the platform's functions")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::{Arc, OnceLock};

use magnetar_dataset::{Recipe, Record, generate_record};
use magnetar_posterior::{Ablation, Mask, Support, SupportSize, Target, TwinFile, TwinScorer, Volume};
use magnetar_scene::Pose;
use magnetar_study::{ReceiverView, twin_model};

fn scorer() -> &'static TwinScorer {
    static SCORER: OnceLock<TwinScorer> = OnceLock::new();
    SCORER.get_or_init(|| {
        let model = twin_model(&Recipe::paper()).unwrap();
        TwinScorer::new(model, TwinFile::shipped().unwrap().parameters).unwrap()
    })
}

#[test]
fn the_shipped_parameters_belong_to_their_recipes() {
    assert_eq!(TwinFile::shipped().unwrap().recipe_hash, Recipe::paper().hash());
    let field = Recipe::load("field", &[]).unwrap();
    assert_eq!(TwinFile::shipped_named("field").unwrap().recipe_hash, field.hash());
}

fn check(volume: &Volume, mask: &Mask) {
    let sum: f64 = volume.mass().iter().map(|m| f64::from(*m)).sum();
    assert!((sum - 1.0).abs() < 1e-6, "{sum}");
    assert!(volume.mass().iter().all(|m| m.is_finite() && *m >= 0.0));
    let plane = volume.size().rows * volume.size().columns;
    assert!(volume.mass().iter().enumerate().all(|(n, m)| mask.is_valid(n % plane) == (*m > 0.0)));
}

fn record(index: u64) -> Record {
    generate_record(&Arc::new(Recipe::paper()), 7, "test", index).unwrap()
}

#[test]
fn the_truth_does_not_reach_the_posterior() {
    let honest = record(3);
    let s = Support::centred(&honest.layout.room, SupportSize::EVALUATION).unwrap();
    let score = |r: &Record| {
        let v = ReceiverView::of(r);
        scorer().score(&v.layout, &v.rx, &v.arrivals, &s).unwrap()
    };
    let mut forged = honest.clone();
    forged.tx = Pose::new(0.0, 0.0, 2.0, 1.0);
    forged.tx_power_offset_db = 77.0;
    forged.los = !forged.los;
    forged.paths.clear();
    forged.materials.wall = "metal".into();
    forged.materials.floor = "water".into();
    forged.rf_chain.timing_offset_s = 1.0;
    forged.csi = None;
    for arrival in &mut forged.arrivals.found {
        arrival.delay_s += 1e-6;
    }
    (forged.index, forged.set, forged.view) = (99, 99, 9);
    assert_eq!(score(&honest), score(&forged));
    // What the receiver does know matters.
    forged.rx = Pose::new(honest.rx.position.x, honest.rx.position.y, 1.08, honest.rx.heading + 1.0);
    assert_ne!(score(&honest), score(&forged));
}

#[test]
fn threads_do_not_change_a_bit() {
    let r = record(4);
    let s = Support::centred(&r.layout.room, SupportSize::EVALUATION).unwrap();
    let v = ReceiverView::of(&r);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| scorer().score(&v.layout, &v.rx, &v.arrivals, &s).unwrap())
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn a_few_test_rows_are_far_better_than_uniform() {
    let mut total = 0.0;
    for index in 0..24 {
        let r = record(index);
        let s = Support::centred(&r.layout.room, SupportSize::EVALUATION).unwrap();
        let mask = s.mask(&r.rx);
        let v = ReceiverView::of(&r);
        let volume = scorer().score(&v.layout, &v.rx, &v.arrivals, &s).unwrap();
        check(&volume, &mask);
        let target = Target::evaluation(&s, &mask, &r.tx).unwrap();
        total += target.voxels.iter().map(|&(n, w)| -w * f64::from(volume.mass()[n]).ln()).sum::<f64>() / 24.0;
    }
    assert!(total < 8.0, "{total}");
}

#[test]
fn every_ablation_and_an_odd_support_work() {
    let r = record(5);
    let s = Support::centred(&r.layout.room, SupportSize { headings: 7, rows: 5, columns: 11 }).unwrap();
    let v = ReceiverView::of(&r);
    for ablation in Ablation::ALL {
        let volume = scorer().ablated(ablation).score(&v.layout, &v.rx, &v.arrivals, &s).unwrap();
        check(&volume, &s.mask(&r.rx));
    }
    let jittered = {
        use rand::SeedableRng;
        let mut rng = rand::rngs::ChaCha8Rng::seed_from_u64(1);
        Support::training(&r.layout.room, s.size(), [r.tx.position.x, r.tx.position.y], &mut rng).unwrap()
    };
    check(&scorer().score(&v.layout, &v.rx, &v.arrivals, &jittered).unwrap(), &jittered.mask(&r.rx));
}

#[test]
fn slices_are_at_headings_counted_from_the_true_one() {
    let twin =
        magnetar_study::open_twin(&Recipe::paper(), &magnetar_study::ScorerSettings::shipped().unwrap()).unwrap();
    let row = record(4);
    let size = SupportSize { headings: 12, rows: 9, columns: 9 };
    let (support, volume) = magnetar_study::score_aligned("test", &row, &twin, size).unwrap();
    assert!((support.heading(0) - row.tx.heading).abs() < 1e-12);
    // They are computed there: on a support whose bins lie elsewhere the posterior is another one.
    let (plain, other) = magnetar_study::score_record("test", &row, &twin, size).unwrap();
    assert!((plain.heading(0) - row.tx.heading).abs() > 1e-3);
    assert_ne!(volume.mass(), other.mass());
    let view = ReceiverView::of(&row);
    let again = scorer().score(&view.layout, &view.rx, &view.arrivals, &support).unwrap();
    assert_eq!(volume, again);
    // The truth's own heading is one bin, not a mixture of two.
    let target = Target::evaluation(&support, &support.mask(&view.rx), &row.tx).unwrap();
    assert!(target.voxels.iter().all(|(n, weight)| support.place(*n).0 == 0 || *weight < 1e-9));
}
