//! Recordings to test with: simulated rows as a receiver of one's own hears them.

use std::f64::consts::TAU;
use std::fmt::Write as _;
use std::path::Path;

use magnetar_dataset::{Columns, Dataset, Record};
use num_complex::{Complex32, Complex64};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;

use crate::cli::{self, text};

/// What a receiver that nobody calibrated makes of an observation.
pub const CHAINS: [Complex32; 2] = [Complex32::new(2.2e-4, -3.0e-4), Complex32::new(-3.5e-4, 1.2e-4)];

/// Simulated rows in the lab, with its own materials, to be measured.
pub fn rows_in_lab(folder: &Path, count: &str) -> Vec<Record> {
    let data = folder.join("simulated");
    let sets = [
        "scene=\"lab\"",
        "room.planar_scale_max=0.0",
        "room.aspect_ratio_max=0.0",
        "room.height_scale_max=0.0",
        "splits.test.translation_min_m=0.0",
        "splits.test.translation_max_m=0.0",
        "splits.test.board=0",
    ];
    let mut args = vec!["generate", "--split", "test", "--limit", count, "--seed", "5", "--out", text(&data)];
    sets.iter().for_each(|set| args.extend(["--set", set]));
    cli::succeed(&args);
    Dataset::open(&data).unwrap().records("test", Columns::All).unwrap().map(Result::unwrap).collect()
}

/// A campaign's table of poses, with those of the TX if wanted.
pub fn pose_table(rows: &[Record], truth: bool) -> String {
    let mut table = "x,y,z,heading_deg,placement,site".to_owned();
    if truth {
        table += ",tx_x,tx_y,tx_z,tx_heading_deg";
    }
    for (n, row) in rows.iter().enumerate() {
        let p = row.rx.position;
        write!(table, "\n{:?},{:?},{:?},{:?},none,{n}", p.x, p.y, p.z, row.rx.heading.to_degrees()).unwrap();
        if truth {
            let p = row.tx.position;
            write!(table, ",{:?},{:?},{:?},{:?}", p.x, p.y, p.z, row.tx.heading.to_degrees()).unwrap();
        }
    }
    table
}

/// A row's observation as that receiver has it.
pub fn measured(record: &Record) -> Vec<Complex32> {
    let csi = record.csi.as_deref().unwrap();
    csi.iter().zip(CHAINS.iter().cycle()).map(|(z, chain)| z * chain).collect()
}

/// The bins of a receiver, Hz.
pub struct TestBand {
    pub carrier_hz: f64,
    pub spacing_hz: f64,
    pub bins: usize,
}

/// `count` observations with unit noise of paths (delay in ns, AoA in degrees, SNR per bin in dB) by antennas at places on a
/// line (metres), by the definition.
pub fn observed(band: &TestBand, places: &[f64], paths: &[(f64, f64, f64)], count: usize, seed: u64) -> Vec<Complex32> {
    let at = |k: usize, y: f64| -> Complex64 {
        let one = |&(delay_ns, aoa_deg, snr_db): &(f64, f64, f64)| {
            let shift = -y * aoa_deg.to_radians().sin() / 299_792_458.0;
            let offset_hz = (k as f64 - (band.bins / 2) as f64) * band.spacing_hz;
            let turns = offset_hz * (delay_ns * 1e-9 + shift) + band.carrier_hz * shift;
            Complex64::from_polar(10f64.powf(snr_db / 20.0), -TAU * turns)
        };
        paths.iter().map(one).sum()
    };
    let bins = (0..count).flat_map(|_| 0..band.bins);
    let clean = bins.flat_map(|k| places.iter().map(move |y| (k, *y))).map(|(k, y)| at(k, y));
    noisy(clean, &mut ChaCha8Rng::seed_from_u64(seed))
}

/// With unit noise.
pub fn noisy(clean: impl Iterator<Item = Complex64>, rng: &mut ChaCha8Rng) -> Vec<Complex32> {
    let mut normal = || rng.sample::<f64, _>(StandardNormal) * 0.5f64.sqrt();
    let mut single = |z: Complex64| {
        let z = z + Complex64::new(normal(), normal());
        Complex32::new(z.re as f32, z.im as f32)
    };
    clean.map(&mut single).collect()
}

/// Observations of paths by antennas on a line at 5.32 GHz over 40 MHz, as a receiver with an automatic gain gives them.
pub fn wifi(bins: usize, places: &[f64], paths: &[(f64, f64, f64)], count: usize) -> Vec<Complex32> {
    let band = TestBand { carrier_hz: 5.32e9, spacing_hz: 40e6 / bins as f64, bins };
    observed(&band, places, paths, count, 6).into_iter().map(|z| z * 37.0).collect()
}
