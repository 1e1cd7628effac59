//! Path summation through the real host code and the real kernel source, on the stand-in driver.

#![allow(clippy::disallowed_methods, reason = "tests compare with the platform's functions")]
#![cfg(feature = "cuda")]

mod gpu;

use gpu::{Gpu, ORDERS};
use magnetar_cuda::{CudaError, KernelSource, Options};
use magnetar_cuda_emulator::{Setting, assert_passes_sanitized};
use magnetar_signal::{
    Band, CpuSynthesis, ElementPath, Observation, RfChainConfig, RfChainDraw, SignalRow, SynthesisBackend, add_noise,
};
use num_complex::{Complex32, Complex64};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// A batch of rows with everything they are made of.
struct Batch {
    band: Band,
    paths: Vec<Vec<ElementPath>>,
    scales: Vec<f64>,
    chains: Vec<RfChainDraw>,
    noise: Vec<Observation>,
}

impl Batch {
    /// One row for each number of paths.
    fn new(bins: usize, path_counts: &[usize], seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let band = Band { bins, ..Band::default() };
        let mut uniform = |low: f64, high: f64| low + (high - low) * rng.random::<f64>();
        let mut path = || {
            let (delay, difference) = (uniform(1e-9, 120e-9), uniform(-87e-12, 87e-12));
            ElementPath {
                delay: [delay - difference / 2.0, delay + difference / 2.0],
                gain: [0, 1].map(|_| Complex64::from_polar(uniform(0.0, 1e-3), uniform(-3.2, 3.2))),
            }
        };
        let paths: Vec<Vec<_>> = path_counts.iter().map(|count| (0..*count).map(|_| path()).collect()).collect();
        let scales = path_counts.iter().map(|_| uniform(1e3, 1e5)).collect();
        let chains = path_counts
            .iter()
            .enumerate()
            // Every fifth row has no RF chain at all.
            .map(|(i, _)| if i % 5 == 4 { RfChainDraw::default() } else { RfChainConfig::default().draw(&mut rng) })
            .collect();
        let noise = path_counts
            .iter()
            .map(|_| {
                let mut block = Observation::zeros(bins);
                add_noise(&mut block, &mut rng);
                block
            })
            .collect();
        Self { band, paths, scales, chains, noise }
    }

    fn rows(&self) -> Vec<SignalRow<'_>> {
        let parts = self.paths.iter().zip(&self.scales).zip(&self.chains);
        parts.map(|((paths, scale), chain)| SignalRow { paths, scale: *scale, rf_chain: *chain }).collect()
    }

    fn run(&self, backend: &dyn SynthesisBackend) -> Result<Vec<Observation>, String> {
        let mut blocks = self.noise.clone();
        backend.add_signals(&self.rows(), &mut blocks).map_err(|error| error.to_string())?;
        Ok(blocks)
    }

    fn on_cpu(&self) -> Vec<Observation> {
        self.run(&CpuSynthesis::new(self.band)).expect("the CPU does not fail")
    }
}

fn open(band: Band, batch_rows: usize) -> Box<dyn SynthesisBackend> {
    magnetar_cuda::open_synthesis(&Options { batch_rows, ..Options::default() }, band).expect("the stand-in opens")
}

fn interleaved(block: &Observation) -> Vec<Complex32> {
    let mut bins = vec![Complex32::default(); 2 * block.bins()];
    block.write_interleaved(&mut bins);
    bins
}

/// Largest difference of two blocks, relative to the rms of the second.
fn difference(ours: &Observation, theirs: &Observation) -> f64 {
    let (ours, theirs) = (interleaved(ours), interleaved(theirs));
    let rms = (theirs.iter().map(|z| f64::from(z.norm_sqr())).sum::<f64>() / theirs.len() as f64).sqrt();
    let worst = ours.iter().zip(&theirs).map(|(a, b)| f64::from((a - b).norm())).fold(0.0, f64::max);
    assert!(ours.iter().all(|z| z.is_finite()));
    if rms > 0.0 { worst / rms } else { worst }
}

/// The observation model in f64, straight from its definition.
fn plain(batch: &Batch, row: usize) -> Vec<Complex64> {
    use std::f64::consts::{PI, TAU};
    let (band, chain) = (&batch.band, &batch.chains[row]);
    let (mut signal, mut energy) = (Vec::new(), [0.0; 2]);
    for k in 0..band.bins {
        for m in 0..2 {
            let clean: Complex64 = batch.paths[row]
                .iter()
                .map(|path| path.gain[m] * Complex64::cis(-TAU * (band.frequency_hz(k) * path.delay[m]).fract()))
                .sum::<Complex64>()
                * batch.scales[row];
            let side = if m == 0 { -0.5 } else { 0.5 };
            let (mut db, mut phase) = (side * chain.gain_imbalance_db, side * chain.phase_error_rad);
            phase += chain.common_phase_rad - TAU * band.offset_hz(k) * chain.timing_offset_s;
            for n in 0..chain.gain_ripple_db[m].len() {
                let cosine = (PI * (n + 1) as f64 * (k as f64 + 0.5) / band.bins as f64).cos();
                db += chain.gain_ripple_db[m][n] * cosine;
                phase += chain.phase_ripple_rad[m][n] * cosine;
            }
            let changed = clean * Complex64::from_polar(10f64.powf(db / 20.0), phase);
            energy[0] += clean.norm_sqr();
            energy[1] += changed.norm_sqr();
            signal.push(changed);
        }
    }
    let scale = if energy[1] > 0.0 { (energy[0] / energy[1]).sqrt() } else { 1.0 };
    let noise = interleaved(&batch.noise[row]);
    signal.iter().zip(noise).map(|(z, w)| z * scale + Complex64::new(w.re.into(), w.im.into())).collect()
}

#[test]
fn both_backends_agree_with_the_plain_sum() {
    let gpu = Gpu::take();
    // Rows with no path, more paths than a tile holds, bands of one bin pair, an odd size, and several tiles of bins.
    for (bins, counts) in [(512, vec![1, 0, 13, 33, 5, 70, 2]), (2, vec![3]), (510, vec![4, 4]), (1030, vec![6, 0, 40])]
    {
        let batch = Batch::new(bins, &counts, bins as u64);
        let cpu = batch.on_cpu();
        for order in ORDERS {
            gpu.standin.set_order(order);
            let cuda = batch.run(&*open(batch.band, 1024)).unwrap();
            for (row, (cuda, cpu)) in cuda.iter().zip(&cpu).enumerate() {
                let exact: Vec<_> =
                    plain(&batch, row).iter().map(|z| Complex32::new(z.re as f32, z.im as f32)).collect();
                let exact = Observation::from_interleaved(&exact);
                let apart = [difference(cuda, cpu), difference(cuda, &exact), difference(cpu, &exact)];
                assert!(apart.iter().all(|d| *d < 1e-5), "{bins} bins, row {row}, order {order}: {apart:?}");
            }
        }
    }
    gpu.standin.set_order(0);
}

#[test]
fn the_same_under_the_address_sanitizer() {
    assert_passes_sanitized("both_backends_agree_with_the_plain_sum");
}

#[test]
fn the_size_of_a_batch_changes_nothing() {
    let gpu = Gpu::take();
    let batch = Batch::new(512, &[2, 9, 0, 4, 1, 7, 3, 5, 6, 2, 8], 3);
    let whole = batch.run(&*open(batch.band, 1024)).unwrap();
    for rows in [1, 2, 3, 5, 11] {
        let before = gpu.standin.launches();
        let backend = open(batch.band, rows);
        // Twice, so that buffers are used again.
        assert_eq!(batch.run(&*backend).unwrap(), whole, "{rows} rows per batch");
        assert_eq!(batch.run(&*backend).unwrap(), whole, "{rows} rows per batch, again");
        assert_eq!(gpu.standin.launches() - before, 2 * 11u64.div_ceil(rows as u64));
    }
    let empty = Batch::new(512, &[], 0);
    let before = gpu.standin.launches();
    assert!(empty.run(&*open(empty.band, 8)).unwrap().is_empty());
    assert_eq!(gpu.standin.launches(), before);
}

#[test]
fn batches_fit_the_memory_of_the_device() {
    let gpu = Gpu::take();
    let batch = Batch::new(512, &[3; 20], 4);
    let cpu = batch.on_cpu();
    gpu.standin.set(Setting::MemoryBytes, 100_000);
    let _ = gpu.standin.take_peak_bytes();
    let cuda = batch.run(&*open(batch.band, 1024)).unwrap();
    assert!(gpu.standin.take_peak_bytes() <= 100_000);
    assert!(cuda.iter().zip(&cpu).all(|(a, b)| difference(a, b) < 1e-5));
    gpu.standin.set(Setting::MemoryBytes, 8_000);
    let refused = batch.run(&*open(batch.band, 1024)).unwrap_err();
    assert!(refused.contains("GPU memory") && refused.contains("or use the CPU"), "{refused}");
    gpu.standin.set(Setting::MemoryBytes, 1 << 30);
    assert_eq!(gpu.standin.live(), 0);
}

#[test]
fn every_fault_is_an_error_and_nothing_leaks() {
    let gpu = Gpu::take();
    let batch = Batch::new(1030, &[3; 7], 5);
    let cpu = batch.on_cpu();
    for pools in [1, 0] {
        gpu.standin.set(Setting::MemoryPools, pools);
        for fault in [Setting::FailAlloc, Setting::FailPinned, Setting::FailLaunch, Setting::FailAsync] {
            for nth in 1..=3 {
                let backend = open(batch.band, 2);
                gpu.standin.set(fault, nth);
                let error = batch.run(&*backend).unwrap_err();
                assert!(error.starts_with("the CUDA driver failed to "), "{fault:?}: {error}");
                if fault == Setting::FailAsync {
                    // The context is lost: the backend stays broken, and says so.
                    assert!(batch.run(&*backend).is_err());
                } else {
                    let again = batch.run(&*backend).unwrap();
                    assert!(again.iter().zip(&cpu).all(|(a, b)| difference(a, b) < 1e-5), "{fault:?}");
                }
                drop(backend);
                gpu.standin.recover();
                assert_eq!(gpu.standin.live(), 0, "{fault:?} number {nth}");
                assert_eq!(batch.on_cpu(), cpu);
            }
        }
    }
    gpu.standin.set(Setting::FailLoad, 1);
    let refused = magnetar_cuda::open_synthesis(&Options::default(), batch.band).map(drop).unwrap_err();
    assert!(matches!(&refused, CudaError::Driver { action, .. } if *action == "load a kernel"), "{refused}");
    assert_eq!(gpu.standin.live(), 0);
}

#[test]
fn devices_are_described_and_missing_ones_named() {
    let gpu = Gpu::take();
    let devices = magnetar_cuda::devices(KernelSource::Embedded).unwrap();
    assert_eq!(devices.len(), 1);
    assert!(devices[0].kernels.iter().all(|(_, error)| error.is_none()), "{devices:?}");
    assert_eq!(devices[0].driver, (12, 0));
    let far = magnetar_cuda::open_synthesis(&Options { device: 3, ..Options::default() }, Band::default()).map(drop);
    assert_eq!(far.unwrap_err(), CudaError::NoSuchDevice { ordinal: 3, count: 1 });
    gpu.standin.set(Setting::Devices, 0);
    assert!(matches!(magnetar_cuda::devices(KernelSource::Embedded), Err(CudaError::NoDevice(_))));
    gpu.standin.set(Setting::Devices, 1);
    assert_eq!(gpu.standin.live(), 0);
}

#[test]
fn blocks_of_the_wrong_shape_are_refused() {
    let _gpu = Gpu::take();
    let batch = Batch::new(512, &[1, 2], 6);
    let backend = open(batch.band, 8);
    let too_few = backend.add_signals(&batch.rows(), &mut batch.noise.clone()[..1]).unwrap_err();
    assert!(too_few.to_string().contains("observation blocks"), "{too_few}");
    let narrow = backend.add_signals(&batch.rows(), &mut vec![Observation::zeros(510); 2]).unwrap_err();
    assert!(narrow.to_string().contains("bins"), "{narrow}");
}
