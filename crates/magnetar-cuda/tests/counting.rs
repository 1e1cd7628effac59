//! The counts behind the roofline of docs/cuda.md obey the laws that the kernels' work must.

#![allow(clippy::disallowed_methods, reason = "tests compare with the platform's functions")]
#![cfg(feature = "cuda")]

use std::sync::{Mutex, PoisonError};

use magnetar_cuda::Options;
use magnetar_cuda_emulator::{BusBytes, KernelCounts, StandIn};
use magnetar_dataset::{Recipe, generate_record};
use magnetar_posterior::{CpuScoring, ScoreRow, Support, SupportSize, TwinFile, TwinScorer};
use magnetar_signal::{Band, CpuSynthesis, ElementPath, Observation, RfChainDraw, SignalRow, SynthesisBackend};
use magnetar_study::{ReceiverView, twin_model};
use num_complex::Complex64;

/// The stand-in is one for the whole process, and so are its counts.
static ALONE: Mutex<()> = Mutex::new(());

/// Sums rows of so many paths each; what that took, and the observations.
fn sum(rows: usize, paths: usize) -> (KernelCounts, BusBytes, Vec<Observation>) {
    let standin = StandIn::load_counting();
    let band = Band::default();
    let path = |n: usize| ElementPath {
        delay: [1e-8 + 1e-9 * n as f64, 1.01e-8 + 1e-9 * n as f64],
        gain: [Complex64::from_polar(1e-4, n as f64); 2],
    };
    let paths: Vec<ElementPath> = (0..paths).map(path).collect();
    let signals = vec![SignalRow { paths: &paths, scale: 1e4, rf_chain: RfChainDraw::default() }; rows];
    let mut blocks = vec![Observation::zeros(band.bins); rows];
    let backend = magnetar_cuda::open_synthesis(&Options::default(), band).expect("the stand-in opens");
    standin.forget_counts();
    backend.add_signals(&signals, &mut blocks).expect("the stand-in sums");
    let mut expected = vec![Observation::zeros(band.bins); rows];
    CpuSynthesis::new(band).add_signals(&signals, &mut expected).expect("the CPU sums");
    let near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-5;
    assert!(blocks.iter().zip(&expected).all(|(a, b)| a.re(1).iter().zip(b.re(1)).all(near)));
    (standin.counts("sum_paths"), standin.bus_bytes(), blocks)
}

#[test]
fn path_summation_is_linear_in_paths_and_in_rows() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let [one, two, five] = [1, 2, 5].map(|paths| sum(1, paths).0);
    let a_path = two.f32_flops() - one.f32_flops();
    assert_eq!(five.f32_flops() - one.f32_flops(), 4 * a_path);
    // Two elements of 512 bins: a complex sum each, and not much more than a complex product each.
    assert!((2 * 512 * (2 + 6) * 9 / 10..2 * 512 * (2 + 6) * 3 / 2 + 2 * 129 * 27).contains(&a_path), "{a_path}");
    // A thread's phasor serves four bins; the turn between them is the block's.
    assert_eq!(two.f32.half_turn_phasors - one.f32.half_turn_phasors, 2 * (512 / 4 + 1));
    assert_eq!(one.f64, Default::default());
    let (three, bus, blocks) = sum(3, 5);
    assert_eq!(three.f32_flops(), 3 * five.f32_flops());
    // The observations come down whole. They went up too, with the path lists, RF chains and the rows' first paths.
    let observations = (blocks.len() * 2 * 512 * size_of::<num_complex::Complex32>()) as u64;
    assert_eq!(bus, BusBytes { up: observations + 3 * 5 * 24 + 3 * 152 + 4 * 4, down: observations });
    assert_eq!((three.launches, three.read_bytes, three.written_bytes), (1, bus.up, bus.down));
}

#[test]
fn scoring_is_linear_in_observations() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let standin = StandIn::load_counting();
    let recipe = std::sync::Arc::new(Recipe::paper());
    let parameters = TwinFile::shipped().expect("the shipped file reads").parameters;
    let scorer = TwinScorer::new(twin_model(&recipe).expect("sound"), parameters).expect("in range");
    let view = ReceiverView::of(&generate_record(&recipe, 11, "test", 0).expect("the shipped recipe draws"));
    let size = SupportSize { headings: 4, rows: 5, columns: 6 };
    let support = Support::centred(&view.layout.room, size).expect("a support");
    let [one, two] = [1, 2].map(|observations| {
        let rows: Vec<ScoreRow<'_>> = (0..observations).map(|_| view.on(&support)).collect();
        let backend = magnetar_cuda::open_scoring(&Options::default()).expect("the stand-in opens");
        standin.forget_counts();
        let posteriors = scorer.score_batch(&*backend, &rows).expect("the stand-in scores");
        let expected = scorer.score_batch(&CpuScoring, &rows).expect("the CPU scores");
        let near = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-3 * b;
        assert!(posteriors.iter().zip(&expected).all(|(a, b)| a.mass().iter().zip(b.mass()).all(near)));
        ["trace_candidates", "score_candidates", "gather_evidence"].map(|kernel| standin.counts(kernel))
    });
    for (one, two) in one.iter().zip(&two) {
        assert_eq!((two.f32_flops(), two.f64_flops()), (2 * one.f32_flops(), 2 * one.f64_flops()));
        assert_eq!(two.written_bytes, 2 * one.written_bytes);
    }
    // Geometry and gathering are f64, the likelihood is f32.
    let [trace, score, gather] = one;
    assert!(trace.f64_flops() > 0 && gather.f64_flops() > 0 && score.f64_flops() == 0);
    assert!(score.f32.binary_exponentials > score.launches * 5 * 6);
    assert_eq!(gather.written_bytes, (size.headings * size.rows * size.columns * size_of::<f32>()) as u64);
}
