//! Candidate scoring through the real host code and the real kernel sources, on the stand-in driver.

#![allow(clippy::disallowed_methods, reason = "tests compare with the platform's functions")]
#![cfg(feature = "cuda")]

mod gpu;

use std::sync::Arc;

use gpu::{Gpu, ORDERS};
use magnetar_cuda::{CudaError, Options};
use magnetar_cuda_emulator::{Setting, assert_passes_sanitized};
use magnetar_dataset::{Recipe, generate_record};
use magnetar_posterior::{
    Ablation, CpuScoring, RoomSlabs, ScoreRow, ScoringBackend, Support, SupportSize, TwinFile, TwinModel, TwinScorer,
    Volume,
};
use magnetar_scene::{BoxShape, Room, Slab};
use magnetar_study::{ReceiverView, twin_model};
use nalgebra::{Point3, Vector3};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

const SMALL: SupportSize = SupportSize { headings: 5, rows: 7, columns: 6 };

fn scorer() -> TwinScorer {
    let model = twin_model(&Recipe::paper()).expect("the shipped recipe is sound");
    TwinScorer::new(model, TwinFile::shipped().expect("the shipped file reads").parameters).expect("in range")
}

/// Receivers' views of simulated rows: with and without a board, with fewer arrivals, and in a crowded room.
fn views() -> Vec<ReceiverView> {
    let recipe = Arc::new(Recipe::paper());
    let row = |index| ReceiverView::of(&generate_record(&recipe, 11, "test", index).expect("the shipped recipe draws"));
    let mut views: Vec<ReceiverView> = (0..5).map(row).collect();
    let mut silent = row(5);
    silent.arrivals.found.clear();
    let mut single = row(6);
    single.arrivals.found.truncate(1);
    let mut crowded = row(7);
    for n in 0..9 {
        let (room, n) = (crowded.layout.room, f64::from(n));
        let center = Point3::new(room.min.x + 0.5 + 0.5 * n, room.max.y - 0.8 - 0.6 * n, 1.0 + 0.05 * n);
        crowded.layout.boxes.push(BoxShape { center, size: Vector3::new(0.3, 0.04, 0.9), yaw: 0.4 * n });
    }
    views.extend([silent, single, crowded]);
    views
}

fn supports(views: &[ReceiverView], size: SupportSize) -> Vec<Support> {
    views.iter().map(|view| Support::centred(&view.layout.room, size).expect("a support")).collect()
}

fn rows<'a>(views: &'a [ReceiverView], supports: &'a [Support]) -> Vec<ScoreRow<'a>> {
    views.iter().zip(supports).map(|(view, support)| view.on(support)).collect()
}

fn open() -> Box<dyn ScoringBackend> {
    magnetar_cuda::open_scoring(&Options::default()).expect("the stand-in opens")
}

/// Largest difference of two log posteriors, nat.
fn difference(ours: &Volume, theirs: &Volume) -> f64 {
    let nat = |(a, b): (&f32, &f32)| {
        assert_eq!(*a == 0.0, *b == 0.0, "masked in one only");
        if *a == 0.0 { 0.0 } else { (f64::from(*a).ln() - f64::from(*b).ln()).abs() }
    };
    ours.mass().iter().zip(theirs.mass()).map(nat).fold(0.0, f64::max)
}

fn assert_agreement(scorer: &TwinScorer, views: &[ReceiverView], size: SupportSize, what: &str) {
    let supports = supports(views, size);
    let rows = rows(views, &supports);
    let cpu = scorer.score_batch(&CpuScoring, &rows).expect("the CPU scores");
    let cuda = scorer.score_batch(&*open(), &rows).expect("the stand-in scores");
    for (row, (cuda, cpu)) in cuda.iter().zip(&cpu).enumerate() {
        let apart = difference(cuda, cpu);
        assert!(apart < 1e-3, "{what}, row {row}: {apart} nat");
    }
}

#[test]
fn both_backends_agree() {
    let gpu = Gpu::take();
    let (scorer, views) = (scorer(), views());
    for order in ORDERS {
        gpu.standin.set_order(order);
        assert_agreement(&scorer, &views, SMALL, &format!("order {order}"));
    }
    gpu.standin.set_order(0);
    assert_eq!(gpu.standin.live(), 0);
}

/// Up to ten boxes around and between the devices: turned, overlapping, flush with walls and with each other.
fn furnish(room: &Room, rng: &mut ChaCha8Rng) -> Vec<BoxShape> {
    let mut boxes: Vec<BoxShape> = Vec::new();
    for _ in 0..rng.random_range(0..=10) {
        let size = Vector3::new(rng.random_range(0.1..1.5), rng.random_range(0.03..0.6), rng.random_range(0.3..2.0));
        let inside = |a: usize, rng: &mut ChaCha8Rng| rng.random_range(room.min[a]..room.max[a]);
        let mut center = Point3::new(inside(0, rng), inside(1, rng), inside(2, rng));
        let mut shape = BoxShape { center, size, yaw: rng.random_range(-3.0..3.0) };
        match (rng.random_range(0..5), boxes.last()) {
            // Flush with a surface of the room, in front of it or behind it.
            (0, _) => {
                let axis = rng.random_range(0..3);
                let (upper, behind): (bool, bool) = (rng.random(), rng.random());
                let plane = if upper { room.max[axis] } else { room.min[axis] };
                center[axis] = plane + size[axis] / 2.0 * if upper == behind { 1.0 } else { -1.0 };
                shape = BoxShape { center, size, yaw: 0.0 };
            }
            // Beside the last one, in line with it.
            (1, Some(last)) => {
                let size = Vector3::new(size.x, last.size.y, last.size.z);
                let along = Point3::new((last.size.x + size.x) / 2.0, 0.0, 0.0);
                shape = BoxShape { center: last.global_from_local(&along), size, yaw: last.yaw };
            }
            // On the last one, half in it, or the same once more.
            (2, Some(last)) => {
                let up = [0.0, 0.5, 1.0][rng.random_range(0..3)] * last.size.z;
                shape = BoxShape { center: last.center + Vector3::z() * up, ..*last };
            }
            // Not turned: rays along its faces.
            (3, _) => shape.yaw = 0.0,
            _ => {}
        }
        boxes.push(shape);
    }
    boxes
}

#[test]
fn they_agree_in_rooms_full_of_boxes() {
    let _gpu = Gpu::take();
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let seen = views();
    let mut furnished = Vec::new();
    while furnished.len() < 120 {
        let mut view = seen[furnished.len() % 5].clone();
        view.layout.boxes = furnish(&view.layout.room, &mut rng);
        if view.layout.boxes.iter().all(|shape| !shape.contains(&view.rx.position)) {
            furnished.push(view);
        }
    }
    // Every surface and box has a slab of its own, but the last boxes.
    let slab = |n: usize| Slab::new(2.0 + 0.4 * n as f64, 0.02 * n as f64, 0.1);
    let plain = scorer();
    let model = TwinModel {
        assignments: vec![RoomSlabs(std::array::from_fn(slab)), plain.model().assignments[0]],
        box_slabs: (6..11).map(slab).collect(),
        ..plain.model().clone()
    };
    let given = TwinScorer::new(model, *plain.parameters()).expect("in range");
    assert_agreement(&given, &furnished, SMALL, "furnished");
}

#[test]
fn the_same_under_the_address_sanitizer() {
    assert_passes_sanitized("both_backends_agree");
}

#[test]
fn they_agree_on_the_evaluation_support_and_with_terms_left_out() {
    let _gpu = Gpu::take();
    let (scorer, views) = (scorer(), views());
    assert_agreement(&scorer, &views[..1], SupportSize::EVALUATION, "evaluation support");
    for ablation in Ablation::ALL {
        assert_agreement(&scorer.ablated(ablation), &views[2..4], SMALL, ablation.label());
    }
}

#[test]
fn batches_of_mixed_sizes_fit_the_memory() {
    const FEW_ROWS: u64 = 6_600_000;
    let gpu = Gpu::take();
    let (scorer, views) = (scorer(), views());
    let mut supports = supports(&views, SMALL);
    for (support, view) in supports.iter_mut().zip(&views).skip(3).take(2) {
        *support = Support::centred(&view.layout.room, SupportSize { headings: 4, rows: 3, columns: 9 }).unwrap();
    }
    let rows = rows(&views, &supports);
    let cpu = scorer.score_batch(&CpuScoring, &rows).unwrap();
    // Room for the tables and one or two rows per lane.
    gpu.standin.set(Setting::MemoryBytes, FEW_ROWS);
    let _ = gpu.standin.take_peak_bytes();
    let before = gpu.standin.launches();
    let cuda = scorer.score_batch(&*open(), &rows).unwrap();
    assert!(cuda.iter().zip(&cpu).all(|(a, b)| difference(a, b) < 1e-3));
    assert!(gpu.standin.launches() - before > 3 * 3, "several batches");
    assert!(gpu.standin.take_peak_bytes() <= FEW_ROWS);
    gpu.standin.set(Setting::MemoryBytes, 100_000);
    let refused = scorer.score_batch(&*open(), &rows).unwrap_err().to_string();
    assert!(refused.contains("GPU memory"), "{refused}");
    gpu.standin.set(Setting::MemoryBytes, 1 << 30);
    assert!(scorer.score_batch(&*open(), &[]).unwrap().is_empty());
    assert_eq!(gpu.standin.live(), 0);
}

#[test]
fn every_fault_is_an_error_and_nothing_leaks() {
    let gpu = Gpu::take();
    let (scorer, views) = (scorer(), views());
    let supports = supports(&views, SupportSize { headings: 2, rows: 2, columns: 3 });
    let rows = rows(&views, &supports);
    let cpu = scorer.score_batch(&CpuScoring, &rows).unwrap();
    for fault in [Setting::FailAlloc, Setting::FailPinned, Setting::FailLaunch, Setting::FailAsync] {
        for nth in 1..=3 {
            let backend = open();
            gpu.standin.set(fault, nth);
            let error = scorer.score_batch(&*backend, &rows).unwrap_err().to_string();
            assert!(error.starts_with("the CUDA driver failed to "), "{fault:?}: {error}");
            if fault != Setting::FailAsync {
                let again = scorer.score_batch(&*backend, &rows).unwrap();
                assert!(again.iter().zip(&cpu).all(|(a, b)| difference(a, b) < 1e-3), "{fault:?}");
            }
            drop(backend);
            gpu.standin.recover();
            assert_eq!(gpu.standin.live(), 0, "{fault:?} number {nth}");
        }
    }
    gpu.standin.set(Setting::Devices, 0);
    let none = magnetar_cuda::open_scoring(&Options::default()).map(drop).unwrap_err();
    assert!(matches!(none, CudaError::NoDevice(_)));
    gpu.standin.set(Setting::Devices, 1);
}
