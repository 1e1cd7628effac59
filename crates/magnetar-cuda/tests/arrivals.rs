//! Arrivals estimated from the rows of both backends.

#![allow(clippy::disallowed_methods, reason = "tests compare with the platform's functions")]
#![cfg(feature = "cuda")]

use std::f64::consts::{PI, TAU};
use std::sync::Arc;

use magnetar_cuda::Options;
use magnetar_cuda_emulator::StandIn;
use magnetar_dataset::{Generator, Recipe, Record};
use magnetar_signal::Band;
use magnetar_signal::sre::{Component, Sre};
use nalgebra::DMatrix;
use num_complex::Complex64;

/// Rows of the test split.
const ROWS: u64 = 600;

/// Standard errors (Cramer-Rao bounds) of each component's inter-element phase and mean delay, the delays and gains of
/// all components being unknown: from the information of each channel's data, summed over the bins.
fn standard_errors(components: &[Component], band: &Band) -> Vec<[f64; 2]> {
    let mut variances = vec![[0.0; 2]; components.len()];
    for (m, side) in [-0.5, 0.5].into_iter().enumerate() {
        let size = 3 * components.len();
        let mut information = DMatrix::<f64>::zeros(size, size);
        let mut slopes = vec![Complex64::default(); size];
        for k in 0..band.bins {
            let omega = TAU * band.offset_hz(k);
            for (slopes, c) in slopes.chunks_exact_mut(3).zip(components) {
                let signal = c.gain[m] * Complex64::cis(-omega * (c.arrival.delay_s + side * c.delay_difference_s));
                // By delay (in periods of the bandwidth, so that the matrix is well scaled), log amplitude and phase.
                let by_delay = signal * Complex64::new(0.0, -omega / band.bandwidth_hz);
                slopes.copy_from_slice(&[by_delay, signal, signal * Complex64::i()]);
            }
            for (i, a) in slopes.iter().enumerate() {
                for (j, b) in slopes.iter().enumerate() {
                    information[(i, j)] += 2.0 * (a.conj() * b).re;
                }
            }
        }
        let covariance = information.try_inverse().expect("the components were told apart");
        for (i, variance) in variances.iter_mut().enumerate() {
            variance[0] += covariance[(3 * i + 2, 3 * i + 2)];
            variance[1] += covariance[(3 * i, 3 * i)] / (2.0 * band.bandwidth_hz).powi(2);
        }
    }
    variances.iter().map(|v| v.map(f64::sqrt)).collect()
}

#[test]
fn they_agree_within_a_thousandth_of_their_standard_error() {
    let standin = StandIn::load();
    let recipe = Arc::new(Recipe::paper());
    let generator = Generator::new(&recipe, 3, "test").unwrap();
    let backend = magnetar_cuda::open_synthesis(&Options::default(), recipe.band).expect("the stand-in opens");
    let sre = Sre::new(&recipe.band, &recipe.array, &recipe.sre).unwrap();
    let mut workspace = sre.workspace();
    let mut components = |row: &Record| {
        let csi = row.csi.as_deref().expect("generated rows hold their observation");
        sre.estimate(csi.as_chunks().0, &mut workspace).unwrap().components().to_vec()
    };
    let mut ratios = Vec::new();
    for (index, cuda) in (0..).zip(&generator.rows().bulk(&*backend, 0, ROWS).unwrap()) {
        let cpu = generator.rows().row(index).unwrap();
        assert_eq!((&cuda.paths, cuda.tx, cuda.rx), (&cpu.paths, cpu.tx, cpu.rx));
        let (ours, theirs) = (components(cuda), components(&cpu));
        assert_eq!(ours.len(), theirs.len(), "row {index}");
        for ((a, b), error) in ours.iter().zip(&theirs).zip(standard_errors(&theirs, &recipe.band)) {
            let turn = (a.arrival.phase_rad - b.arrival.phase_rad + PI).rem_euclid(TAU) - PI;
            ratios.push([turn.abs() / error[0], (a.arrival.delay_s - b.arrival.delay_s).abs() / error[1]]);
        }
    }
    assert!(ratios.len() > 1200, "{} components", ratios.len());
    assert!(standin.launches() > 0, "the rows were not made by the kernel");
    for (part, what) in ["phase", "delay"].iter().enumerate() {
        let worst = ratios.iter().map(|ratio| ratio[part]).fold(0.0, f64::max);
        println!("{what}: worst of {} components {worst:.1e} of its standard error", ratios.len());
        assert!(worst < 1e-3, "{what}: {worst} of its standard error");
    }
}
