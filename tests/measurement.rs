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

/// Observations of paths (delay in ns, AoA in degrees, SNR per bin in dB) by antennas on a line at 5.32 GHz over 40 MHz.
pub fn wifi(bins: usize, places: &[f64], paths: &[(f64, f64, f64)], count: usize) -> Vec<Complex32> {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let mut normal = || rng.sample::<f64, _>(StandardNormal) * 0.5f64.sqrt();
    let mut all = Vec::new();
    for _ in 0..count {
        for k in 0..bins {
            for y in places {
                let mut x = Complex64::new(normal(), normal());
                for &(delay_ns, aoa_deg, snr_db) in paths {
                    let shift = -y * aoa_deg.to_radians().sin() / 299_792_458.0;
                    let offset = (k as f64 - (bins / 2) as f64) * 40e6 / bins as f64;
                    let turns = offset * (delay_ns * 1e-9 + shift) + 5.32e9 * shift;
                    x += Complex64::from_polar(10f64.powf(snr_db / 20.0), -TAU * turns);
                }
                // As a receiver with an automatic gain gives it.
                all.push(Complex32::new((37.0 * x.re) as f32, (37.0 * x.im) as f32));
            }
        }
    }
    all
}
