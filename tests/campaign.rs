//! `magnetar import`: a measurement campaign as a dataset.

use std::f64::consts::TAU;
use std::fs;
use std::path::Path;

use magnetar_dataset::{Columns, Dataset, Recipe, Record};
use magnetar_files::npy::write_npy;
use num_complex::{Complex32, Complex64};
use serde_json::Value;

use crate::cli::{self, text};
use crate::measurement::{CHAINS, measured, pose_table, rows_in_lab};

/// The text of a campaign in the laboratory: what it says at first, of its receiver, and of one recording with a table of rows beside
/// it.
fn lab_campaign(head: &str, receiver: &str, observations: &str) -> String {
    format!(
        "name = \"lab\"\nscene = \"lab\"\n{head}[receiver]\nnoise_variance = 1.0\n{receiver}\
         [[recording]]\nobservations = \"{observations}\"\nrows = \"rows.csv\"\n"
    )
}

/// Simulated rows in the laboratory, and what a perfect receiver heard.
fn heard_in_lab(folder: &Path, count: &str) -> (Vec<Record>, Vec<Complex32>) {
    let rows = rows_in_lab(folder, count);
    let heard = rows.iter().flat_map(|row| row.csi.clone().unwrap()).collect();
    (rows, heard)
}

/// Writes what a receiver of so many channels heard, and the poses of its rows.
fn write_recording(folder: &Path, name: &str, rows: &[Record], channels: usize, heard: &[Complex32]) {
    write_npy(&folder.join(name), &[rows.len(), heard.len() / channels / rows.len(), channels], heard).unwrap();
    fs::write(folder.join("rows.csv"), pose_table(rows, true)).unwrap();
}

/// Asserts that a command does not write over what is there.
fn refuses_to_replace(arguments: &[&str]) {
    let error = cli::fail(arguments);
    assert!(error.contains("would be lost"), "{error}");
}

/// A corpus measured by a receiver with chains of its own is, imported with its calibration, the corpus again: the same
/// metrics to a hundredth of a nat over 200 rows.
#[test]
fn an_imported_campaign_is_evaluated_as_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let rows = rows_in_lab(folder.path(), "200");
    let heard: Vec<Complex32> = rows.iter().flat_map(measured).collect();
    write_recording(folder.path(), "heard.npy", &rows, 2, &heard);
    write_npy(&file("chains.npy"), &[2], &CHAINS).unwrap();
    let campaign = "name = \"lab, measured\"\nscene = \"lab\"\n[receiver]\ncalibration = \"chains.npy\"\n\
                    [[recording]]\nobservations = \"heard.npy\"\nrows = \"rows.csv\"\n";
    fs::write(file("campaign.toml"), campaign).unwrap();
    let out = file("measured");
    let summary: Value =
        serde_json::from_str(&cli::succeed(&["import", text(&file("campaign.toml")), "--out", text(&out), "--json"]))
            .unwrap();
    assert_eq!((summary["rows"].as_u64(), summary["truth"].as_bool()), (Some(200), Some(true)));
    let nll = |data: &Path| -> f64 {
        let report: Value =
            serde_json::from_str(&cli::succeed(&["evaluate", text(data), "--split", "test", "--json"])).unwrap();
        report["twin"]["nll"].as_f64().unwrap_or_else(|| panic!("{report}"))
    };
    // Sites are groups of one row each, so the balanced mean is the plain one, as without sites.
    let (simulated, measured) = (nll(&file("simulated")), nll(&out));
    println!("simulated {simulated:.4}, measured {measured:.4} nat");
    assert!((simulated - measured).abs() < 0.01, "{simulated} {measured}");
    for row in Dataset::open(&out).unwrap().records("test", Columns::All).unwrap() {
        let (row, was) = (row.unwrap(), &rows[0]);
        if row.index == 0 {
            assert_eq!((row.los, row.arrivals.found.len()), (was.los, was.arrivals.found.len()));
            assert!((row.tx.position - was.tx.position).norm() < 1e-12);
        }
    }
    // Everything else takes it, too.
    let verified = cli::succeed(&["verify", text(&out)]);
    assert!(verified.contains("measured"), "{verified}");
    assert!(cli::succeed(&["stats", text(&out)]).contains("Measured: lab, measured"));
    let page = file("report.html");
    cli::succeed(&["report", text(&out), "--out", text(&page)]);
    assert!(fs::read_to_string(&page).unwrap().contains("measured: lab, measured"));
    cli::succeed(&["features", text(&out), "--split", "test", "--limit", "4", "--out", text(&file("features"))]);
    assert!(fs::read_to_string(out.join("README.md")).unwrap().contains("Measured data"));
    refuses_to_replace(&["import", text(&file("campaign.toml")), "--out", text(&out)]);
}

/// Bins that are turned against the others, as Wi-Fi sends them, are noticed; a calibration of all channels of the file, of which
/// two are taken, takes the turn back.
#[test]
fn turned_bins_are_noticed_and_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let rows = rows_in_lab(folder.path(), "20");
    let factor = |bin: usize| if bin < 256 { Complex32::ONE } else { Complex32::I };
    // 40 dB above the noise, a turn stands out of it; between the two channels that are taken there is a dead one.
    let strong = |n: usize| Complex32::from_polar(100.0, -0.2 * n as f32);
    let bins = rows.iter().flat_map(|row| row.csi.as_ref().unwrap().chunks_exact(2).enumerate());
    let heard: Vec<Complex32> = bins
        .flat_map(|(n, bin)| [bin[0] + strong(n), Complex32::ZERO, bin[1] + strong(n)].map(|z| z * factor(n)))
        .collect();
    write_recording(folder.path(), "heard.npy", &rows, 3, &heard);
    let factors: Vec<Complex32> = (0..512 * 3).map(|n| factor(n / 3)).collect();
    write_npy(&file("turn.npy"), &[512, 3], &factors).unwrap();
    let warned = |calibration: &str, out: &str| -> bool {
        let receiver = format!("channels = [0, 2]\n{calibration}");
        fs::write(file("campaign.toml"), lab_campaign("", &receiver, "heard.npy")).unwrap();
        let output = cli::run(&["import", text(&file("campaign.toml")), "--out", text(&file(out))]);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stderr).contains("look turned by 90 deg")
    };
    assert!(warned("", "turned"));
    assert!(!warned("calibration = \"turn.npy\"\n", "taken_back"));
}

/// What a campaign takes off the phase itself is part of the calibrated recipe, which finds the recipe it extends from where it
/// is written, and does not replace what it was made from.
#[test]
fn a_calibration_holds_all_of_the_phase() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let rows = rows_in_lab(folder.path(), "100");
    let turn = Complex32::from_polar(1.0, 25f32.to_radians());
    let csi = rows.iter().flat_map(|row| row.csi.as_ref().unwrap().chunks_exact(2));
    let heard: Vec<Complex32> = csi.flat_map(|bin| [bin[0], bin[1] * turn]).collect();
    write_recording(folder.path(), "heard.npy", &rows, 2, &heard);
    fs::write(file("radio.toml"), "extends = \"paper\"\nname = \"radio\"\n").unwrap();
    fs::create_dir(file("found")).unwrap();
    let campaign = lab_campaign("recipe = \"radio.toml\"\n", "phase_offset_deg = 20\n", "heard.npy");
    fs::write(file("campaign.toml"), campaign).unwrap();
    let (campaign, recipe) = (file("campaign.toml"), file("found/mine.toml"));
    cli::succeed(&["calibrate", text(&campaign), "--replicas", "0", "--out", text(&recipe)]);
    let found = Recipe::load(text(&recipe), &[]).unwrap().sre.phase_offset_deg;
    assert!((found - 25.0).abs() < 4.0, "{found}");
    refuses_to_replace(&["calibrate", text(&campaign), "--replicas", "0", "--out", text(&campaign)]);
}

/// Rows of whole sites are set apart to learn from; no row is in both parts or in none.
#[test]
fn a_part_is_set_apart_to_learn_from() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let (rows, csi) = heard_in_lab(folder.path(), "30");
    write_npy(&file("heard.npy"), &[rows.len(), 512, 2], &csi).unwrap();
    let mut lines = pose_table(&rows, true).lines().map(str::to_owned).collect::<Vec<_>>();
    // Three rows per site.
    for (n, line) in lines.iter_mut().skip(1).enumerate() {
        *line = line.replacen(&format!(",none,{n},"), &format!(",none,{},", n / 3), 1);
    }
    fs::write(file("rows.csv"), lines.join("\n")).unwrap();
    let import = |training: &str, out: &str| {
        fs::write(file("campaign.toml"), lab_campaign("", training, "heard.npy")).unwrap();
        (text(&file("campaign.toml")).to_owned(), text(&file(out)).to_owned())
    };
    let (campaign, out) = import("[training]\nrows = 10\n", "apart");
    cli::succeed(&["import", &campaign, "--out", &out]);
    cli::succeed(&["verify", &out]);
    let dataset = Dataset::open(file("apart")).unwrap();
    let places = |split: &str| -> Vec<[u64; 2]> {
        let records = dataset.records(split, Columns::All).unwrap().map(Result::unwrap);
        let mut places: Vec<_> = records.map(|row| [row.rx.position.x, row.rx.position.y].map(f64::to_bits)).collect();
        places.sort_unstable();
        places
    };
    let (train, test) = (places("train"), places("test"));
    assert_eq!((train.len(), test.len()), (9, 21));
    let mut all = [train, test].concat();
    all.sort_unstable();
    let mut expected: Vec<_> =
        rows.iter().map(|row| [row.rx.position.x, row.rx.position.y].map(f64::to_bits)).collect();
    expected.sort_unstable();
    assert_eq!(all, expected);
    for (training, words) in [
        ("[training]\nrows = 2\n", "no site has that few rows"),
        ("[training]\nrows = 0\n", "training.rows = 0"),
        ("[training]\nrows = 9\nsplit = \"test\"\n", "that of a recording"),
    ] {
        let (campaign, out) = import(training, "refused");
        let error = cli::fail(&["import", &campaign, "--out", &out]);
        assert!(error.contains(words) && !file("refused").exists(), "{error}");
    }
}

/// Bins that a receiver does not report: left out of the file, and the others listed as subcarriers, is the same dataset as in the
/// file and excluded.
#[test]
fn listed_subcarriers_are_the_dataset_of_excluded_bins() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let (rows, whole) = heard_in_lab(folder.path(), "4");
    let lacks = |bin: &usize| bin % 7 == 3;
    let bins = whole.chunks(2).enumerate().filter(|(n, _)| !lacks(&(n % 512)));
    let part: Vec<Complex32> = bins.flat_map(|(_, bin)| bin.iter().copied()).collect();
    write_recording(folder.path(), "whole.npy", &rows, 2, &whole);
    write_recording(folder.path(), "part.npy", &rows, 2, &part);
    let list = |keep: &dyn Fn(&usize) -> bool, first: i64| -> String {
        let numbers = (0..512usize).filter(keep).map(|bin| (bin as i64 + first).to_string());
        numbers.collect::<Vec<_>>().join(",")
    };
    let import = |name: &str, receiver: &str| -> Result<Vec<_>, String> {
        let campaign = lab_campaign("", &format!("{receiver}\n"), &format!("{name}.npy"));
        fs::write(file("campaign.toml"), campaign).unwrap();
        let (campaign, out) = (file("campaign.toml"), file(&format!("{name}_data")));
        let arguments = ["import", text(&campaign), "--out", text(&out)];
        if receiver.is_empty() {
            return Err(cli::fail(&arguments));
        }
        cli::succeed(&arguments);
        cli::succeed(&["verify", text(&out)]);
        let records = Dataset::open(&out).unwrap();
        Ok(records.records("test", Columns::All).unwrap().map(|row| row.unwrap().arrivals.found).collect())
    };
    let refused = import("part", "").unwrap_err();
    assert!(refused.contains("bins") && refused.contains("receiver.subcarriers"), "{refused}");
    let reported = list(&|bin| !lacks(bin), -256);
    let listed = import("part", &format!("subcarriers = \"{reported}\"\nsubcarrier_khz = 960.0")).unwrap();
    let excluded = import("whole", &format!("exclude_bins = \"{}\"", list(&|bin| lacks(bin), 0))).unwrap();
    assert_eq!(listed, excluded);
}

/// Samples of a known waveform and of an OFDM symbol give the bins they were made of.
#[test]
fn samples_become_bins() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let rows = rows_in_lab(folder.path(), "3");
    let bins = 512;
    // A chirp: the same power in every bin.
    let symbol: Vec<Complex64> =
        (0..bins).map(|k| Complex64::from_polar(1.0, TAU * (k * k) as f64 / bins as f64 / 2.0)).collect();
    let to_time = |spectrum: &dyn Fn(usize) -> Complex64| -> Vec<Complex64> {
        let value = |n: usize| {
            let turn = |k: usize| Complex64::from_polar(1.0, TAU * ((k + bins / 2) % bins * n) as f64 / bins as f64);
            (0..bins).map(|k| spectrum(k) * turn(k)).sum::<Complex64>() / (bins as f64).sqrt()
        };
        (0..bins).map(value).collect()
    };
    let prefix = 32;
    let mut samples: Vec<u8> = vec![0; 7 * 16];
    for row in &rows {
        let csi = row.csi.as_deref().unwrap();
        let channel =
            |m: usize| to_time(&|k| Complex64::new(csi[2 * k + m].re.into(), csi[2 * k + m].im.into()) * symbol[k]);
        let channels = [channel(0), channel(1)];
        for n in (bins - prefix..bins).chain(0..bins) {
            for x in &channels {
                samples.extend((x[n].re as f32).to_le_bytes());
                samples.extend((x[n].im as f32).to_le_bytes());
            }
        }
    }
    fs::write(file("iq.sigmf-data"), &samples).unwrap();
    let meta = "{\"global\":{\"core:datatype\":\"cf32_le\",\"core:sample_rate\":491520000.0,\"core:num_channels\":2}}";
    fs::write(file("iq.sigmf-meta"), meta).unwrap();
    write_npy(&file("symbol.npy"), &[bins], &symbol).unwrap();
    write_npy(&file("waveform.npy"), &[bins], &to_time(&|k| symbol[k])).unwrap();
    fs::write(file("rows.csv"), pose_table(&rows, false)).unwrap();
    for (reference, domain) in [("symbol.npy", "frequency"), ("waveform.npy", "time")] {
        let campaign = format!(
            "name = \"iq\"\nscene = \"lab\"\n[[recording]]\nobservations = \"iq.sigmf-meta\"\nrows = \"rows.csv\"\n\
             iq = {{ reference = \"{reference}\", domain = \"{domain}\", first_sample = 7, cyclic_prefix = {prefix} }}\n"
        );
        fs::write(file("campaign.toml"), campaign).unwrap();
        let out = file(domain);
        cli::succeed(&["import", text(&file("campaign.toml")), "--out", text(&out)]);
        let imported = Dataset::open(&out).unwrap();
        for (record, was) in imported.records("test", Columns::All).unwrap().zip(&rows) {
            let (record, was) = (record.unwrap(), was.csi.as_deref().unwrap());
            let apart: f32 = record.csi.as_deref().unwrap().iter().zip(was).map(|(a, b)| (a - b).norm_sqr()).sum();
            let power: f32 = was.iter().map(|z| z.norm_sqr()).sum();
            assert!(apart < 1e-6 * power, "{domain}: {}", apart / power);
        }
        // Without truth nothing is compared with it.
        let error = cli::fail(&["evaluate", text(&out), "--split", "test"]);
        assert!(error.contains("without the TX's pose"), "{error}");
        cli::succeed(&["verify", text(&out)]);
    }
}

#[test]
fn what_cannot_be_imported_is_named_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let noise: Vec<Complex32> = (0..2048).map(|n| Complex32::new((n % 7) as f32 - 3.0, (n % 5) as f32 - 2.0)).collect();
    write_npy(&file("a.npy"), &[2, 512, 2], &noise).unwrap();
    write_npy(&file("short.npy"), &[2, 100, 2], &noise[..400]).unwrap();
    let mut broken = noise.clone();
    broken[1500] = Complex32::new(f32::NAN, 0.0);
    write_npy(&file("nan.npy"), &[2, 512, 2], &broken).unwrap();
    fs::write(file("two.csv"), "x,y,heading_deg\n1,-1,90\n1,-2,90\n").unwrap();
    fs::write(file("three.csv"), "x,y,heading_deg\n1,-1,90\n1,-2,90\n0,0,0\n").unwrap();
    fs::write(file("outside.csv"), "x,y,heading_deg\n1,-1,90\n100,-2,90\n").unwrap();
    fs::write(file("placed.csv"), "x,y,heading_deg,placement\n1,-1,90,none\n1,-2,90,left\n").unwrap();
    fs::write(file("half.csv"), "x,y,heading_deg,tx_x,tx_y,tx_heading_deg\n1,-1,90,1,1,0\n1,-2,90,,,\n").unwrap();
    fs::write(file("apart.csv"), "x,y,heading_deg,tx_x,tx_y,tx_heading_deg\n1,-1,90,1,1,0\n1,-2,90,1,2,0\n").unwrap();
    let dead: Vec<Complex32> = noise.chunks(2).flat_map(|bin| [bin[0], Complex32::ZERO]).collect();
    write_npy(&file("dead.npy"), &[2, 512, 2], &dead).unwrap();
    fs::write(file("x.sigmf-meta"), "{").unwrap();
    let recording = |observations: &str, rows: &str, more: &str| {
        format!(
            "name = \"a\"\nscene = \"lab\"\n[[recording]]\nobservations = \"{observations}\"\nrows = \"{rows}\"\n{more}"
        )
    };
    for (campaign, words) in [
        (recording("a.npy", "three.csv", ""), "2 observations, and 3 rows"),
        (recording("short.npy", "two.csv", ""), "100 bins; the recipe's band has 512"),
        (recording("nan.npy", "two.csv", ""), "observation 1: bin 238 of channel 0"),
        (recording("a.npy", "outside.csv", ""), "observation 1: the receiver at (100, -2"),
        (recording("a.npy", "placed.csv", ""), "placement \"left\""),
        (recording("a.npy", "half.csv", ""), "for all of them, or for none"),
        (recording("a.npy", "two.csv", "views = 3\n"), "no whole sets of 3"),
        (recording("a.npy", "apart.csv", "views = 2\n"), "row 1: another TX pose"),
        (recording("dead.npy", "two.csv", ""), "observation 0: channel 1 of those taken holds nothing but zeros"),
        (recording("a.npy", "two.csv", "[receiver]\nchannels = [0, 0]\n"), "channel 0 twice"),
        (recording("missing.npy", "two.csv", ""), "missing.npy"),
        (recording("a.npy", "missing.csv", ""), "missing.csv"),
        (recording("x.sigmf-meta", "two.csv", ""), "recording.iq"),
        (recording("x.sigmf-meta", "two.csv", "iq = { reference = \"a.npy\", domain = \"time\" }\n"), "x.sigmf-meta"),
        (recording("a.npy", "two.csv", "[receiver]\ncalibration = \"a.npy\"\n"), "expected [bins, channels]"),
        (recording("a.npy", "two.csv", "[receiver]\nexclude_bins = \"9-3\"\n"), "9-3"),
        (recording("a.npy", "two.csv", "").replace("\"lab\"", "\"nowhere.toml\""), "nowhere.toml"),
    ] {
        fs::write(file("campaign.toml"), &campaign).unwrap();
        let out = file("out");
        let error = cli::fail(&["import", text(&file("campaign.toml")), "--out", text(&out)]);
        assert!(error.contains(words), "{campaign}: {error}");
        let left = fs::read_dir(folder.path()).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir()).count();
        assert_eq!(left, 0, "{campaign}");
    }
}
