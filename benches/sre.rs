//! The estimator against the transform of its data, as ratios in one run, and its allocations.
//!
//! `cargo bench --bench sre`

#![allow(clippy::disallowed_methods, reason = "a benchmark makes no data")]
#![allow(clippy::unwrap_used, reason = "a benchmark may stop at the first surprise")]

mod harness;

use std::cell::Cell;
use std::f64::consts::{PI, TAU};
use std::hint::black_box;
use std::ops::Range;

use harness::{Contestant, allocations, compare, human};
use magnetar_scene::{BoxShape, Room, SPEED_OF_LIGHT, Slab};
use magnetar_signal::sre::{Method, Sre, SreOptions};
use magnetar_signal::{Band, RxArray};
use magnetar_trace::Tracer;
use nalgebra::{Point3, Rotation3, Vector3};
use num_complex::{Complex, Complex32, Complex64};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rustfft::FftPlanner;

type TwoChannelBlock = Vec<[Complex32; 2]>;

/// Observations, and how many of them one call takes: short calls are seldom interrupted on a busy machine.
const BATCH: usize = 64;
const CALL: usize = 4;
const ROUNDS: usize = 1600;

/// The laboratory room with its board.
fn laboratory() -> Tracer {
    let room = Room::from_bounds([-1.403, 4.270, -6.060, 3.000, 0.0, 3.050]).unwrap();
    let concrete = Slab::new(5.24, 0.2798, 0.1);
    let marble = Slab::new(7.074, 0.0464, 0.1);
    let glass = Slab::new(6.31, 0.0787, 0.033);
    let board =
        BoxShape { center: Point3::new(1.0225, 1.0, 1.0025), size: Vector3::new(1.015, 0.033, 1.715), yaw: 0.0 };
    let surfaces = [concrete, concrete, concrete, concrete, marble, concrete];
    Tracer::new(room, &surfaces, &[(board, glass)], 10e9).unwrap()
}

/// A noisy observation of a random link, antennas isotropic, 31 dB per bin at 1 m.
fn observation(tracer: &Tracer, rng: &mut ChaCha8Rng) -> TwoChannelBlock {
    let mut place = || Point3::new(rng.random_range(-1.2..4.0), rng.random_range(-5.9..0.8), 1.08);
    let (tx, rx) = (place(), place());
    let heading = rng.random_range(-PI..PI);
    let paths = tracer.trace(&tx, &rx).unwrap();
    let band = Band::default();
    let at_one_metre = band.wavelength() / (4.0 * PI);
    let scale = 10f64.powf(31.0 / 20.0) / at_one_metre;
    let mut block = vec![[Complex64::new(0.0, 0.0); 2]; band.bins];
    for path in &paths {
        let arrival = Rotation3::from_axis_angle(&Vector3::z_axis(), -heading) * path.geometry.arrival;
        for m in 0..2 {
            let y = [-0.013, 0.013][m];
            let delay = path.delay() - y * arrival.y / SPEED_OF_LIGHT;
            for (k, x) in block.iter_mut().enumerate() {
                let turns = (band.offset_hz(k) * delay).fract() + (band.carrier_hz * (delay - path.delay())).fract();
                x[m] += path.coefficient * Complex64::from_polar(scale, -TAU * turns);
            }
        }
    }
    let mut normal = || rng.sample::<f64, _>(StandardNormal) * 0.5f64.sqrt();
    block.iter().map(|x| x.map(|z| Complex::new((z.re + normal()) as f32, (z.im + normal()) as f32))).collect()
}

/// The next few of the observations.
fn turn(at: &Cell<usize>) -> Range<usize> {
    let from = at.get();
    at.set((from + CALL) % BATCH);
    from..from + CALL
}

/// Estimates the next few of the observations at every call.
fn estimates<'a>(six: &'a [TwoChannelBlock], sre: &'a Sre) -> impl FnMut() + 'a {
    let (mut workspace, at) = (sre.workspace(), Cell::new(0));
    move || {
        for block in &six[turn(&at)] {
            black_box(sre.estimate(black_box(block), &mut workspace).unwrap());
        }
    }
}

fn main() {
    let (band, array) = (Band::default(), RxArray::default());
    let refined = Sre::new(&band, &array, &SreOptions::default()).unwrap();
    let greedy = Sre::new(&band, &array, &SreOptions { method: Method::Greedy, ..SreOptions::default() }).unwrap();
    let tracer = laboratory();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut workspace = refined.workspace();

    // Observations that hold six components and ones that hold a single one.
    let mut six: Vec<TwoChannelBlock> = Vec::new();
    let mut drawn = 0;
    while six.len() < BATCH {
        drawn += 1;
        let block = observation(&tracer, &mut rng);
        if refined.estimate(&block, &mut workspace).unwrap().components().len() == 6 {
            six.push(block);
        }
    }
    println!("{BATCH} laboratory observations of six components, out of {drawn} drawn");

    let made = allocations(|| {
        for block in &six {
            black_box(refined.estimate(black_box(block), &mut workspace).unwrap());
        }
    });
    println!("allocations in {BATCH} estimates: {made}");
    let single = |max_paths| Sre::new(&band, &array, &SreOptions { max_paths, ..SreOptions::default() }).unwrap();
    let (one, two) = (single(1), single(2));

    let fft = FftPlanner::<f32>::new().plan_fft_inverse(2048);
    let mut buffer = vec![Complex32::new(0.0, 0.0); 2 * 2048];
    let mut scratch = vec![Complex32::new(0.0, 0.0); fft.get_inplace_scratch_len()];
    let batch = CALL as f64;
    let at = Cell::new(0);
    let mut contestants = [
        Contestant::new("two-channel 2048-point FFT", batch, || {
            for block in &six[turn(&at)] {
                let (first, second) = buffer.split_at_mut(2048);
                for ((a, b), x) in first.iter_mut().zip(second.iter_mut()).zip(block) {
                    (*a, *b) = (x[0], x[1]);
                }
                first[512..].fill(Complex32::new(0.0, 0.0));
                second[512..].fill(Complex32::new(0.0, 0.0));
                fft.process_with_scratch(&mut buffer, &mut scratch);
                black_box(&buffer);
            }
        }),
        Contestant::new("refined, six components", batch, estimates(&six, &refined)),
        Contestant::new("refined, max_paths = 2", batch, estimates(&six, &two)),
        Contestant::new("refined, max_paths = 1", batch, estimates(&six, &one)),
        Contestant::new("greedy, at most six", batch, estimates(&six, &greedy)),
    ];
    let seconds = compare(&mut contestants, ROUNDS);
    println!("{:<30} {:>10} {:>12}", "one observation, one thread", "time", "FFTs");
    for (c, s) in contestants.iter().zip(&seconds) {
        println!("{:<30} {:>10} {:>12.2}", c.name, human(*s), s / seconds[0]);
    }
}
