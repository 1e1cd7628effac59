//! `magnetar observe`.

use std::path::Path;

use magnetar_files::npy::NpyReader;
use num_complex::Complex32;

use crate::cli;

const LINK: [&str; 6] = ["observe", "lab_middle", "--tx", "0.98,2.28,1.08,-90", "--rx", "1.2,-1,1.08,80"];

fn observe(out: &Path, more: &[&str]) -> String {
    let out = out.to_str().unwrap();
    cli::succeed(&[&LINK[..], &["--out", out], more].concat())
}

fn read(path: &Path) -> (Vec<usize>, Vec<Complex32>) {
    let mut reader = NpyReader::open(path).unwrap();
    let mut elements = vec![Complex32::default(); reader.remaining()];
    reader.read_into(&mut elements).unwrap();
    (reader.header().shape.clone(), elements)
}

fn energy(elements: &[Complex32]) -> f64 {
    elements.iter().map(|z| f64::from(z.re).powi(2) + f64::from(z.im).powi(2)).sum()
}

#[test]
fn the_same_call_gives_the_same_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let [a, b, c] = ["a.npy", "b.npy", "c.npy"].map(|name| directory.path().join(name));
    observe(&a, &["--seed", "3", "--count", "4"]);
    observe(&b, &["--seed", "3", "--count", "4"]);
    observe(&c, &["--seed", "4", "--count", "4"]);
    assert_eq!(std::fs::read(&a).unwrap(), std::fs::read(&b).unwrap());
    assert_ne!(std::fs::read(&a).unwrap(), std::fs::read(&c).unwrap());
    let (shape, all) = read(&a);
    assert_eq!(shape, [4, 512, 2]);
    // An observation does not depend on how many follow it.
    observe(&b, &["--seed", "3", "--count", "2"]);
    assert_eq!(read(&b).1, all[..2 * 1024]);
    assert_ne!(all[..1024], all[1024..2048]);
}

#[test]
fn stages_and_switches() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.npy");
    let of = |more: &[&str]| {
        observe(&path, more);
        read(&path).1
    };
    let clean = of(&["--stage", "clean"]);
    let perturbed = of(&["--stage", "perturbed"]);
    assert!((energy(&perturbed) / energy(&clean) - 1.0).abs() < 1e-6);
    assert_ne!(clean, perturbed);
    assert_eq!(of(&["--stage", "perturbed", "--no-rf-chain"]), clean);
    // Noise alone is left; 1,024 unit variances give 1,024 within five standard errors.
    let noisy = of(&[]);
    let noise: Vec<_> = noisy.iter().zip(&perturbed).map(|(a, b)| a - b).collect();
    assert!((energy(&noise) - 1024.0).abs() < 5.0 * 32.0);
    let louder = of(&["--stage", "clean", "--tx-power-offset-db", "3"]);
    assert!((energy(&louder) / energy(&clean) - 10f64.powf(0.3)).abs() < 1e-5);
    assert_ne!(of(&["--stage", "clean", "--rx-pattern", "isotropic"]), clean);
    let redrawn = of(&["--stage", "perturbed", "--count", "2", "--redraw-rf-chain"]);
    assert_eq!(redrawn[..1024], perturbed);
    assert_ne!(redrawn[1024..], perturbed);
    observe(&path, &["--bins", "64", "--bandwidth-mhz", "100"]);
    assert_eq!(read(&path).0, [1, 64, 2]);
}

#[test]
fn the_report_tells_the_truth_of_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.npy");
    let report: serde_json::Value =
        serde_json::from_str(&observe(&path, &["--stage", "clean", "--json"])).expect("one JSON object");
    let band = magnetar_signal::Band::default();
    let (_, block) = read(&path);
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    for (k, m) in [(0, 0), (100, 1), (511, 0)] {
        let sum: num_complex::Complex64 = report["paths"]
            .as_array()
            .unwrap()
            .iter()
            .map(|path| {
                let turns = (number(&path["delay_s"][m]) * band.frequency_hz(k)).fract();
                let gain = num_complex::Complex64::new(number(&path["gain"][m][0]), number(&path["gain"][m][1]));
                gain * num_complex::Complex64::from_polar(1.0, -std::f64::consts::TAU * turns)
            })
            .sum();
        let z = block[2 * k + m];
        assert!((num_complex::Complex64::new(z.re.into(), z.im.into()) - sum).norm() < 1e-3);
    }
    let mean = energy(&block) / 1024.0;
    assert!((number(&report["mean_snr_db"]) - 10.0 * mean.log10()).abs() < 1e-3);
}

#[test]
fn what_is_wrong_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("a.npy");
    let out = out.to_str().unwrap();
    let cases: [(&[&str], &str); 8] = [
        (&["--bins", "7"], "band.bins"),
        (&["--spacing-mm", "0"], "array.spacing_m"),
        (&["--reference-snr-db", "nan"], "link.reference_snr_db"),
        (&["--tx-power-offset-db", "inf"], "decibels"),
        (&["--rx-pattern", "nonsense"], "nonsense"),
        (&["--rx-pattern", "isotropic", "--rx-pattern", "isotropic", "--rx-pattern", "isotropic"], "3 times"),
        (&["--count", "0"], "--count"),
        (&["--bandwidth-mhz", "20000"], "band.bandwidth_hz"),
    ];
    for (more, expected) in cases {
        let error = cli::fail(&[&LINK[..], &["--out", out], more].concat());
        assert!(error.contains(expected), "{error}");
    }
    let error = cli::fail(&["observe", "lab", "--tx", "0,0,9", "--rx", "1,1,1", "--out", out]);
    assert!(error.contains("TX"), "{error}");
    let error = cli::fail(&[&LINK[..], &["--out", "no/such/directory/a.npy"]].concat());
    assert!(error.contains("no/such/directory/a.npy"), "{error}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}
