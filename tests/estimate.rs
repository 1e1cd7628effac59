//! `magnetar estimate`.

use std::path::Path;

use magnetar_files::npy::write_npy;
use num_complex::{Complex32, Complex64};

use crate::cli::{self, text};
use crate::measurement::{TestBand, observed, wifi};

/// Noisy observations of paths in the paper's band.
fn observations(paths: &[(f64, f64, f64)], count: usize) -> Vec<Complex32> {
    let band = TestBand { carrier_hz: 10e9, spacing_hz: 0.96e6, bins: 512 };
    observed(&band, &[-0.013, 0.013], paths, count, 5)
}

#[test]
fn components_come_out_in_every_format() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name);
    let paths = [(30.0, 10.0, 20.0), (45.0, -20.0, 14.0), (80.0, 5.0, 10.0)];
    let input = file("obs.npy");
    write_npy(&input, &[3, 512, 2], &observations(&paths, 3)).unwrap();

    let csv = file("est.csv");
    cli::succeed(&["estimate", text(&input), "--out", text(&csv), "--all", "--p-fa", "1e-6"]);
    let table = std::fs::read_to_string(&csv).unwrap();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("observation,rank,aoa_rad,phase_rad,delay_s,raw_snr_db,snr_db"));
    let rows: Vec<Vec<f64>> = lines.map(|l| l.split(',').map(|x| x.parse().unwrap()).collect()).collect();
    assert_eq!(rows.len(), 9);
    for (i, row) in rows.iter().enumerate() {
        let (delay_ns, aoa_deg, snr_db) = paths[i % 3];
        assert_eq!((row[0], row[1]), ((i / 3) as f64, (i % 3) as f64));
        assert!((row[2].to_degrees() - aoa_deg).abs() < 1.0 && (row[4] * 1e9 - delay_ns).abs() < 0.1, "{row:?}");
        assert!((row[5] - snr_db).abs() < 0.6 && (row[6] - row[5] - 18.89).abs() < 1e-9, "{row:?}");
    }

    // The two strongest only, unless asked for more; wideband tables have their confidence.
    let json = file("est.jsonl");
    cli::succeed(&["estimate", text(&input), "--out", text(&json), "--aoa-mode", "wideband"]);
    let table = std::fs::read_to_string(&json).unwrap();
    let rows: Vec<serde_json::Value> = table.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(rows.len(), 6);
    assert!(rows.iter().all(|r| r["alias_confidence"].as_f64().unwrap() > 0.9 && r["rank"].as_u64().unwrap() < 2));

    let parquet = file("est.parquet");
    cli::succeed(&["estimate", text(&input), "--out", text(&parquet), "--keep", "1"]);
    assert_eq!(&std::fs::read(&parquet).unwrap()[..4], b"PAR1");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 4, "no temporary file stays behind");
}

#[test]
fn one_observation_needs_no_first_dimension_and_threads_do_not_matter() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name);
    let block = observations(&[(30.0, 10.0, 20.0)], 1);
    let wide: Vec<Complex64> = block.iter().map(|z| Complex64::new(z.re.into(), z.im.into())).collect();
    write_npy(&file("a.npy"), &[512, 2], &block).unwrap();
    write_npy(&file("b.npy"), &[1, 512, 2], &wide).unwrap();
    let mut tables = Vec::new();
    for (input, threads) in [("a.npy", "1"), ("b.npy", "3")] {
        let (input, out) = (file(input), file("out.csv"));
        let mut command = cli::magnetar(&["estimate", text(&input), "--out", text(&out)]);
        assert!(command.env("RAYON_NUM_THREADS", threads).output().unwrap().status.success());
        tables.push(std::fs::read_to_string(&out).unwrap());
    }
    assert_eq!(tables[0], tables[1]);
}

#[test]
fn bad_input_is_refused_and_leaves_no_output() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name);
    let zero = Complex32::new(0.0, 0.0);
    let out = file("out.csv");
    let refused = |input: &Path, more: &[&str], expected: &str| {
        let mut args = vec!["estimate", text(input), "--out", text(&out)];
        args.extend(more);
        let error = cli::fail(&args);
        assert!(error.contains(expected), "{error} lacks {expected}");
        assert!(!out.exists());
    };
    let input = file("a.npy");
    refused(&input, &[], "a.npy");
    std::fs::write(&input, b"").unwrap();
    refused(&input, &[], "NUMPY");
    write_npy(&input, &[0, 512, 2], &[] as &[Complex32]).unwrap();
    refused(&input, &[], "no observations");
    write_npy(&input, &[4, 2, 512], &vec![zero; 4096]).unwrap();
    refused(&input, &[], "[n, bins, channels]");
    write_npy(&input, &[512, 2], &vec![0f32; 1024]).unwrap();
    refused(&input, &[], "complex64");
    write_npy(&input, &[3, 2], &[zero; 6]).unwrap();
    refused(&input, &[], "band.bins");
    let mut block = vec![zero; 2048];
    block[1024 + 7] = Complex32::new(f32::NAN, 0.0);
    write_npy(&input, &[2, 512, 2], &block).unwrap();
    refused(&input, &[], "observation 1");
    refused(&input, &["--p-fa", "2"], "sre.p_fa");
    refused(&input, &["--inactive-bins", "9-3"], "9-3");
    refused(&input, &["--inactive-bins", "600"], "sre.inactive_bins");
    refused(&file("a.txt"), &[], ".npy or .parquet");
    refused(&file("a.parquet"), &[], "a.parquet");
    let error = cli::fail(&["estimate", text(&input), "--out", text(&file("out.xlsx"))]);
    assert!(error.contains(".parquet, .jsonl or .csv"));

    write_npy(&input, &[1, 512, 2], &vec![zero; 1024]).unwrap();
    cli::succeed(&["estimate", text(&input), "--out", text(&out)]);
    assert_eq!(std::fs::read_to_string(&out).unwrap().lines().count(), 1, "silence has no components");
}

#[test]
fn another_number_of_bins_without_its_bandwidth_is_warned_of() {
    let directory = tempfile::tempdir().unwrap();
    let (input, out) = (directory.path().join("obs.npy"), directory.path().join("est.csv"));
    for (bins, bandwidth, warned) in [(512, None, false), (256, None, true), (256, Some("245.76"), false)] {
        write_npy(&input, &[1, bins, 2], &observations(&[], 1)[..2 * bins]).unwrap();
        let mut args = vec!["estimate", text(&input), "--out", text(&out)];
        args.extend(bandwidth.iter().flat_map(|mhz| ["--bandwidth-mhz", mhz]));
        let output = cli::run(&args);
        assert!(output.status.success());
        assert_eq!(String::from_utf8_lossy(&output.stderr).contains("span 491.52 MHz"), warned, "{bins} {bandwidth:?}");
    }
}

/// What real receivers give: another level, unequal noise, bins that hold rubbish, more channels than two.
#[test]
fn data_nobody_normalised_is_estimated_or_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name);
    let block = observations(&[(30.0, 10.0, 20.0), (45.0, -20.0, 17.0)], 1);
    let scale = [3.7e-4f32, 9.0e-4];
    let mut three = Vec::new();
    for (k, pair) in block.chunks(2).enumerate() {
        let rubbish = Complex32::new(f32::NAN, 0.0);
        let value = |m: usize| if k == 256 { rubbish } else { pair[m] * scale[m] };
        three.extend([value(0), Complex32::new(5.0, 0.0), value(1)]);
    }
    let input = file("three.npy");
    write_npy(&input, &[512, 3], &three).unwrap();
    let base = ["estimate", text(&input), "--channels", "0,2", "--exclude-bins", "255-257"];
    let error = cli::fail(&[&base[..], &["--out", text(&file("none.csv"))]].concat());
    assert!(error.contains("no component") && error.contains("--noise-variance"), "{error}");
    assert!(!file("none.csv").exists());

    let first = |output: &str| -> Vec<f64> {
        let line = output.lines().nth(1).unwrap();
        line.split_whitespace().map(|x| x.parse().unwrap()).collect()
    };
    let variances = format!("{:e},{:e}", scale[0] * scale[0], scale[1] * scale[1]);
    for noise in [variances.as_str(), "auto"] {
        let output = cli::succeed(&[&base[..], &["--noise-variance", noise]].concat());
        let row = first(&output);
        assert!((row[2] - 10.0).abs() < 1.0 && (row[3] - 30.0).abs() < 0.1, "{noise}: {output}");
        assert!((row[4] - 18.89 - 20.0).abs() < 2.0, "{noise}: {output}");
    }
    // The earliest of those nearly as strong: the second path is 3 dB weaker and later, the first stays first; seen from a
    // strongest one that comes later, the earlier one is first.
    let late = observations(&[(60.0, 10.0, 20.0), (45.0, -20.0, 17.0)], 1);
    write_npy(&file("late.npy"), &[512, 2], &late).unwrap();
    let late = file("late.npy");
    let aoa = |more: &[&str]| first(&cli::succeed(&[&["estimate", text(&late)], more].concat()))[2];
    assert!((aoa(&[]) - 10.0).abs() < 1.0);
    assert!((aoa(&["--rank", "first"]) + 20.0).abs() < 1.0);
    assert!((aoa(&["--rank", "first", "--within-db", "1"]) - 10.0).abs() < 1.0);
}

/// The same array in C and in Fortran order, and three channels of which two are taken.
#[test]
fn either_order_of_an_array_gives_the_same_table() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name);
    let (rows, bins, channels) = (3, 512, 3);
    let pairs = observations(&[(30.0, 10.0, 20.0)], rows);
    let at = |n: usize, k: usize, c: usize| match c {
        0 => Complex32::new(7.0, 7.0),
        c => pairs[(n * bins + k) * 2 + c - 1],
    };
    let mut in_c = Vec::new();
    (0..rows).for_each(|n| (0..bins).for_each(|k| (0..channels).for_each(|c| in_c.push(at(n, k, c)))));
    let mut in_fortran = Vec::new();
    (0..channels).for_each(|c| (0..bins).for_each(|k| (0..rows).for_each(|n| in_fortran.push(at(n, k, c)))));
    write_npy(&file("c.npy"), &[rows, bins, channels], &in_c).unwrap();
    // NumPy writes the same file but for one word of the header.
    write_npy(&file("f.npy"), &[rows, bins, channels], &in_fortran).unwrap();
    let mut bytes = std::fs::read(file("f.npy")).unwrap();
    let word = bytes.windows(5).position(|x| x == b"False").unwrap();
    bytes[word..word + 5].copy_from_slice(b"True ");
    std::fs::write(file("f.npy"), bytes).unwrap();
    let table = |name: &str| cli::succeed(&["estimate", text(&file(name)), "--channels", "1,2"]);
    assert_eq!(table("c.npy"), table("f.npy"));
    assert!(table("c.npy").contains("3 components of 3 observations"));
}

/// Three and four antennas, odd numbers of bins, nobody knows the noise: the direct path comes first, although a wall's
/// echo in the same delay cell is nearly as strong; a known variance of inactive bins and listed places do as well.
#[test]
fn antennas_on_a_line_are_used_together() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name);
    let input = file("wifi.npy");
    let rows = |args: &[&str]| -> Vec<Vec<f64>> {
        let table = cli::succeed(&[&["estimate", text(&input), "--carrier-ghz", "5.32"], args].concat());
        let lines = table.lines().skip(1).filter(|line| !line.contains("components of"));
        lines.map(|line| line.split_whitespace().map(|x| x.parse().unwrap()).collect()).collect()
    };
    let paths = [(40.0, -20.0, 22.0), (52.0, 35.0, 24.0)];
    for (bins, places) in [(114, &[0.0, 0.026, 0.052][..]), (57, &[0.0, 0.026, 0.052, 0.078])] {
        write_npy(&input, &[4, bins, places.len()], &wifi(bins, places, &paths, 4)).unwrap();
        let common = ["--bandwidth-mhz", "40", "--rank", "first"];
        for more in [
            &["--spacing-mm", "26", "--noise-variance", "auto"][..],
            &["--noise-variance", "1369", "--exclude-bins", "0"],
        ] {
            let found = rows(&[&common[..], more].concat());
            let first: Vec<f64> = found.iter().filter(|row| row[1] == 0.0).map(|row| row[2]).collect();
            assert_eq!(first.len(), 4, "{bins}: {found:?}");
            assert!(first.iter().all(|aoa| (aoa + 20.0).abs() < 6.0), "{bins}: {first:?}");
        }
    }
    let places = [0.0, 0.026, 0.065];
    write_npy(&input, &[1, 114, 3], &wifi(114, &places, &paths[..1], 1)).unwrap();
    let listed = ["--bandwidth-mhz", "40", "--positions-mm", "0,26,65", "--noise-variance", "auto"];
    assert!((rows(&listed)[0][2] + 20.0).abs() < 2.0);
    for (args, words) in [
        (&["--positions-mm", "0,26"][..], "2 places for 3 channels"),
        (&["--positions-mm", "0,26,26"], "different places"),
        (&["--phase-offset-deg", "5"], "--calibration"),
        (&["--noise-variance", "1,2"], "one for each of 3 channels"),
        (&["--channels", "0,0"], "different channels"),
        (&["--channels", "0,7"], "channels are 0 to 2"),
    ] {
        let error = cli::fail(&[&["estimate", text(&input), "--bandwidth-mhz", "40"], args].concat());
        assert!(error.contains(words), "{args:?}: {error}");
    }
    // Nobody said what the noise is: what was found is told with a warning.
    let output = cli::run(&["estimate", text(&input), "--bandwidth-mhz", "40", "--carrier-ghz", "5.32"]);
    assert!(output.status.success() && String::from_utf8_lossy(&output.stderr).contains("warning"));
}

/// Subcarriers at uneven distances, as a chip reports them: the same paths at the same delays as of all subcarriers, with the
/// file's own bins in flags, calibration and errors.
#[test]
fn uneven_subcarriers_are_used_as_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name);
    let (input, chains) = (file("chip.npy"), file("chains.npy"));
    let reported: Vec<usize> = (0..=26).step_by(2).chain((27..=55).step_by(2)).chain([56]).collect();
    for places in [&[0.0, 0.026][..], &[0.0, 0.026, 0.052]] {
        let channels = places.len();
        let full = wifi(57, places, &[(40.0, -20.0, 25.0)], 3);
        let values = full.chunks(channels).enumerate().filter(|(n, _)| reported.contains(&(n % 57)));
        let mut values: Vec<Complex32> = values.flat_map(|(_, x)| x.iter().copied()).collect();
        let chain = |n: usize| Complex32::from_polar(0.5 + 0.01 * n as f32, 0.7 * n as f32);
        values.iter_mut().enumerate().for_each(|(n, z)| *z *= chain(n % (30 * channels)));
        // Bin 4 is one that this receiver fills with rubbish.
        (0..3).for_each(|n| values[(30 * n + 4) * channels] = Complex32::new(f32::NAN, 0.0));
        write_npy(&input, &[3, 30, channels], &values).unwrap();
        write_npy(&chains, &[30, channels], &(0..30 * channels).map(chain).collect::<Vec<_>>()).unwrap();
        let common = ["estimate", text(&input), "--carrier-ghz", "5.32", "--calibration", text(&chains)];
        let grid = ["--subcarriers", "-28..-2:2,-1..27:2,28", "--subcarrier-khz", "701.7544"];
        for noise in ["auto", "1369"] {
            let more = ["--noise-variance", noise, "--exclude-bins", "4", "--keep", "1", "--json"];
            let found = cli::succeed(&[&common[..], &grid, &more].concat());
            let rows: Vec<serde_json::Value> = found.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_eq!(rows.len(), 3, "{found}");
            for row in rows {
                assert!((row["aoa_rad"].as_f64().unwrap().to_degrees() + 20.0).abs() < 3.0, "{row}");
                assert!((row["delay_s"].as_f64().unwrap() - 40e-9).abs() < 2e-9, "{row}");
            }
        }
        let error = |more: &[&str]| cli::fail(&[&common[..], more].concat());
        let missing = error(&[&grid[..], &["--noise-variance", "1369"]].concat());
        assert!(missing.contains("bin 4"), "{missing}");
        let few = error(&["--subcarriers", "-28..-2:2", "--subcarrier-khz", "312.5"]);
        assert!(few.contains("lists 14, the file has 30 bins"), "{few}");
        let beyond = error(&[&grid[..], &["--exclude-bins", "30"]].concat());
        assert!(beyond.contains("--exclude-bins") && beyond.contains("0 to 29"), "{beyond}");
        let alone = error(&["--subcarriers", "-28..-2:2,-1..27:2,28"]);
        assert!(alone.contains("--subcarrier-khz"), "{alone}");
    }
}

/// A receiver whose phase depends on the angle: its table takes that off again.
#[test]
fn a_table_of_phases_takes_the_receiver_off() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name);
    let offset = |aoa_deg: f64| 20.0 + 0.5 * aoa_deg;
    let mut block = observations(&[(30.0, 12.0, 25.0)], 1);
    let turn = Complex32::from_polar(1.0, offset(12.0f64).to_radians() as f32);
    block.iter_mut().skip(1).step_by(2).for_each(|z| *z *= turn);
    write_npy(&file("a.npy"), &[512, 2], &block).unwrap();
    std::fs::write(file("t.csv"), format!("aoa_deg,phase_deg\n-60,{}\n60,{}\n", offset(-60.0), offset(60.0))).unwrap();
    let (input, table) = (file("a.npy"), file("t.csv"));
    let aoa = |more: &[&str]| -> f64 {
        let output = cli::succeed(&[&["estimate", text(&input)], more].concat());
        output.lines().nth(1).unwrap().split_whitespace().nth(2).unwrap().parse().unwrap()
    };
    assert!((aoa(&[]) - 12.0).abs() > 3.0);
    assert!((aoa(&["--phase-table", text(&table)]) - 12.0).abs() < 0.5);
    std::fs::write(&table, "aoa_deg,phase_deg\n5,1\n4,1\n").unwrap();
    let error = cli::fail(&["estimate", text(&input), "--phase-table", text(&table)]);
    assert!(error.contains("t.csv: line 3"), "{error}");
}
