//! Antenna pattern lookups: `cargo bench --bench pattern`.
//!
//! The bulk lookup against the same table reached through libm's `atan2`; single thread, taking turns in one run.

#![allow(clippy::disallowed_methods, reason = "a benchmark makes no data")]

mod harness;

use std::hint::black_box;

use harness::{Contestant, allocations, compare, human};
use magnetar_scene::{AntennaPattern, PatternInfo, synthetic_vivaldi_gain_db};
use nalgebra::Vector3;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

const DIRECTIONS: usize = 10_000;

fn main() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut coordinate = || rng.random_range(-1.0..1.0);
    let directions: Vec<Vector3<f64>> =
        (0..DIRECTIONS).map(|_| Vector3::new(coordinate(), coordinate(), 0.3 * coordinate()).normalize()).collect();
    let shipped = AntennaPattern::load("synthetic_vivaldi").expect("it is shipped");
    let fine = AntennaPattern::from_fn(PatternInfo::default(), 1, synthetic_vivaldi_gain_db);
    let bulk = |pattern: &AntennaPattern| directions.iter().map(|d| pattern.amplitude(d)).sum::<f64>();
    let libm = |pattern: &AntennaPattern| {
        let gain = |d: &Vector3<f64>| pattern.gain_db(d.y.atan2(d.x), d.z.atan2(d.x.hypot(d.y)));
        directions.iter().map(|d| 10f64.powf(gain(d) / 20.0)).sum::<f64>()
    };
    let count = DIRECTIONS as f64;
    let mut contestants = [
        Contestant::new("amplitude, 5 deg grid", count, || {
            black_box(bulk(&shipped));
        }),
        Contestant::new("amplitude, 1 deg grid", count, || {
            black_box(bulk(&fine));
        }),
        Contestant::new("gain_db by libm, 5 deg grid", count, || {
            black_box(libm(&shipped));
        }),
    ];
    let seconds = compare(&mut contestants, 200);
    println!("antenna pattern lookup, one direction:");
    for (contestant, s) in contestants.iter().zip(&seconds) {
        println!("  {:<28} {:>9}   {:.2} x the first", contestant.name, human(*s), s / seconds[0]);
    }
    println!(
        "  allocations in {DIRECTIONS} lookups: {}",
        allocations(|| {
            black_box(bulk(&shipped));
        })
    );
}
