//! `magnetar locate`: from a measured snapshot to a posterior.

use std::f64::consts::TAU;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use magnetar_dataset::{Columns, Dataset, Recipe, Record};
use magnetar_files::npy::{NpyReader, write_npy};
use magnetar_scene::{MaterialLibrary, Pose, Scene};
use magnetar_signal::{ElementPath, LinkSimulator, seeded_streams};
use num_complex::{Complex32, Complex64};
use serde_json::Value;

use crate::cli::{self, text};
use crate::measurement::{CHAINS, measured, noisy};

/// A scene file of a row's layout.
fn scene(record: &Record) -> String {
    let [x0, x1, y0, y1, z0, z1] = record.layout.room.bounds();
    let mut text = format!(
        "name = \"row\"\ndevice_height_m = {}\n[room]\nx_m = [{x0:?}, {x1:?}]\ny_m = [{y0:?}, {y1:?}]\nz_m = [{z0:?}, {z1:?}]\n",
        record.rx.position.z
    );
    text.push_str("[surfaces]\n");
    for surface in ["wall", "ceiling", "floor"] {
        text.push_str(&format!("{surface} = {{ material = \"concrete\", thickness_m = 0.1 }}\n"));
    }
    if let Some(board) = &record.layout.board {
        let (c, s) = (board.shape.center, board.shape.size);
        let (centre, size) = ([c.x, c.y, c.z], [s.x, s.y, s.z]);
        text.push_str(&format!("[[box]]\nname = \"board\"\ncenter_m = {centre:?}\nsize_m = {size:?}\n"));
        let yaw = board.shape.yaw.to_degrees();
        text.push_str(&format!("yaw_deg = {yaw:?}\nmaterial = \"glass\"\nthickness_m = 0.033\n"));
    }
    text
}

fn volume(path: &Path) -> Vec<f32> {
    let mut reader = NpyReader::open(path).unwrap();
    let mut mass = vec![0f32; reader.remaining()];
    reader.read_into(&mut mass).unwrap();
    mass
}

/// Bins that a receiver does not report: left out of the file, and the others listed as subcarriers, is the same posterior as in
/// the file and excluded.
#[test]
fn listed_subcarriers_have_the_posterior_of_excluded_bins() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let (whole, part) = (file("whole.npy"), file("part.npy"));
    cli::succeed(&["observe", "lab", "--tx", "0.98,2.28", "--rx", "1.0,-1.0,,90", "--out", text(&whole)]);
    let mut reader = NpyReader::open(&whole).unwrap();
    let mut values = vec![Complex32::default(); reader.remaining()];
    reader.read_into(&mut values).unwrap();
    let lacks = |bin: usize| bin % 7 == 3;
    let bins = values.chunks(2).enumerate().filter(|(bin, _)| !lacks(*bin));
    let kept: Vec<Complex32> = bins.flat_map(|(_, bin)| bin.iter().copied()).collect();
    write_npy(&part, &[kept.len() / 2, 2], &kept).unwrap();
    let list = |keep: &dyn Fn(usize) -> bool, first: i64| -> String {
        let numbers = (0..512usize).filter(|bin| keep(*bin)).map(|bin| (bin as i64 + first).to_string());
        numbers.collect::<Vec<_>>().join(",")
    };
    let (reported, lacking) = (list(&|bin| !lacks(bin), -256), list(&lacks, 0));
    let common = ["--rx", "1.0,-1.0,,90", "--recipe", "paper", "--json"];
    let grid = ["--subcarriers", &reported, "--subcarrier-khz", "960"];
    let listed = cli::succeed(&[&["locate", "lab", text(&part)], &common[..], &grid].concat());
    let excluded =
        cli::succeed(&[&["locate", "lab", text(&whole)], &common[..], &["--exclude-bins", &lacking]].concat());
    let [listed, excluded] = [listed, excluded].map(|text| serde_json::from_str::<Value>(&text).unwrap());
    assert_eq!(listed, excluded);
    let page = file("page.html");
    let view = ["view", "lab", "--observation", text(&part), "--rx", "1.0,-1.0,,90", "--export", text(&page)];
    cli::succeed(&[&view[..], &["--recipe", "paper"], &grid].concat());
    let error = cli::fail(&[&["locate", "lab", text(&part), "--rx", "1,-1"], &grid[..]].concat());
    assert!(error.contains("--recipe") && error.contains("carrier"), "{error}");
    let error = cli::fail(&[&["locate", "lab", text(&part)], &common[..]].concat());
    assert!(error.contains("--subcarriers"), "{error}");
}

/// Rows of a corpus, measured by a receiver with chains of its own: with its calibration `locate` gives the posterior
/// that `posterior` gives for the row.
#[test]
fn a_calibrated_snapshot_has_the_posterior_of_its_row() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let data = file("data");
    cli::succeed(&[
        "generate",
        "--split",
        "test",
        "--limit",
        "6",
        "--seed",
        "11",
        "--csi",
        "f32",
        "--out",
        text(&data),
    ]);
    write_npy(&file("chains.npy"), &[2], &CHAINS).unwrap();
    let rows = Dataset::open(&data).unwrap();
    for record in rows.records("test", Columns::All).unwrap() {
        let record = record.unwrap();
        write_npy(&file("snapshot.npy"), &[512, 2], &measured(&record)).unwrap();
        fs::write(file("room.toml"), scene(&record)).unwrap();
        let p = &record.rx.position;
        let rx = format!("{:?},{:?},{:?},{:?}", p.x, p.y, p.z, record.rx.heading.to_degrees());
        let output = cli::succeed(&[
            "locate",
            text(&file("room.toml")),
            text(&file("snapshot.npy")),
            "--rx",
            &rx,
            "--recipe",
            "paper",
            "--calibration",
            text(&file("chains.npy")),
            "--out",
            text(&file("located.npy")),
            "--json",
        ]);
        let index = record.index.to_string();
        let expected = file("expected.npy");
        cli::succeed(&["posterior", text(&data), "--row", &index, "--out", text(&expected), "--json"]);
        let (located, expected) = (volume(&file("located.npy")), volume(&expected));
        let apart: f64 = located.iter().zip(&expected).map(|(a, b)| f64::from((a - b).abs())).sum();
        assert!(apart < 5e-3, "row {index}: {apart}");
        let json: Value = serde_json::from_str(&output).unwrap();
        assert_eq!(json["arrivals"].as_array().unwrap().len(), record.arrivals.found.len());
        assert!(json["p50_cells"].as_f64().unwrap() <= json["p90_cells"].as_f64().unwrap());
        assert!(json["xy_marginal"].is_null() && json["kappa"].is_null());
    }
}

/// Three snapshots of one TX in a scene, without a recipe: fused, and near the truth.
#[test]
fn snapshots_of_one_tx_are_fused() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let poses = ["1,-1,,90", "2.5,-2,,110", "0,-3,,70"];
    let mut args = vec!["locate".to_owned(), "lab".to_owned()];
    for (n, rx) in poses.iter().enumerate() {
        let out = file(&format!("{n}.npy"));
        let seed = n.to_string();
        cli::succeed(&["observe", "lab", "--tx", "1.2,1.9,,-80", "--rx", rx, "--seed", &seed, "--out", text(&out)]);
        args.push(text(&out).to_owned());
    }
    let figure = file("where.svg");
    let more = ["--rx", poses[0], "--rx", poses[1], "--rx", poses[2], "--json", "--marginal", "--plot", text(&figure)];
    args.extend(more.map(str::to_owned));
    let refs: Vec<&str> = args.iter().map(String::as_str).collect();
    let json: Value = serde_json::from_str(&cli::succeed(&refs)).unwrap();
    let mode = |key: &str, axis: &str| json[key][axis].as_f64().unwrap();
    let off = (mode("mode", "x") - 1.2).hypot(mode("mode", "y") - 1.9);
    assert!(off < 0.6, "{json}");
    assert!((0.0..=1.0).contains(&json["kappa"].as_f64().unwrap()));
    assert_eq!(json["arrivals"].as_array().unwrap().len(), 3);
    let total: f64 = json["xy_marginal"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|row| row.as_array().unwrap())
        .map(|m| m.as_f64().unwrap())
        .sum();
    assert!((total - 1.0).abs() < 1e-4);
    assert!(fs::read_to_string(&figure).unwrap().contains("Measured: 3 snapshots"));

    // The same poses from files.
    fs::write(file("poses.csv"), "x,y,heading_deg\n1,-1,90\n2.5,-2,110\n0,-3,70\n").unwrap();
    let mut from_file: Vec<&str> = refs[..5].to_vec();
    let csv = file("poses.csv");
    from_file.extend(["--poses", text(&csv), "--json", "--marginal"]);
    let again: Value = serde_json::from_str(&cli::succeed(&from_file)).unwrap();
    assert_eq!(again["mode"], json["mode"]);
    // And as people read it.
    from_file.truncate(from_file.len() - 2);
    let shown = cli::succeed(&from_file);
    assert!(shown.contains("kappa") && shown.contains("heading marginal"), "{shown}");
}

#[test]
fn what_cannot_be_located_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let out = file("a.npy");
    cli::succeed(&["observe", "lab", "--tx", "1.2,1.9,,-80", "--rx", "1,-1,,90", "--out", text(&out)]);
    let quiet: Vec<Complex32> = vec![Complex32::new(1e-5, 2e-5); 1024];
    write_npy(&file("quiet.npy"), &[512, 2], &quiet).unwrap();
    write_npy(&file("short.npy"), &[100, 2], &quiet[..200]).unwrap();
    write_npy(&file("three.npy"), &[256, 3], &quiet[..768]).unwrap();
    write_npy(&file("zero.npy"), &[2], &[Complex32::new(0.0, 0.0); 2]).unwrap();
    fs::write(file("poses.csv"), "x,y,heading_deg\n1,-1,ninety\n").unwrap();
    let (quiet, short, three, zero, csv) =
        (file("quiet.npy"), file("short.npy"), file("three.npy"), file("zero.npy"), file("poses.csv"));
    for (args, words) in [
        (vec![text(&out)], "--rx"),
        (vec![text(&out), "--rx", "50,0"], "outside the room"),
        (vec![text(&out), text(&out), "--rx", "1,-1", "--rx", "1,0", "--rx", "1,1"], "3 times for 2 snapshots"),
        (vec![text(&out), "--poses", text(&csv)], "poses.csv:2: heading_deg is \"ninety\""),
        (vec![text(&quiet), "--rx", "1,-1"], "--noise-variance"),
        (vec![text(&short), "--rx", "1,-1"], "100 bins; the recipe's band has 512"),
        (vec![text(&three), "--rx", "1,-1"], "256 bins; the recipe's band has 512"),
        (vec![text(&three), "--rx", "1,-1", "--channels", "0,3"], "channels are 0 to 2"),
        (vec![text(&out), "--rx", "1,-1", "--calibration", text(&zero)], "zero.npy: bin 0, channel 0"),
        (
            vec![text(&out), "--rx", "1,-1", "--noise-variance", "auto", "--exclude-bins", "0-511"],
            "at least 8 active bins",
        ),
        (vec![text(&out), "--rx", "1,-1", "--scorer", "volumes.npy"], "volumes.npy"),
        (vec![text(&out), "--rx", "1,-1", "--plot", "where.pdf"], ".svg or .png"),
        (vec![text(&out), "--rx", "1,-1", "--out", "posterior.txt"], "expected a name that ends in .npy"),
        (vec!["nowhere.npy", "--rx", "1,-1"], "nowhere.npy"),
    ] {
        let error = cli::fail(&[&["locate", "lab"], &args[..]].concat());
        assert!(error.contains(words), "{args:?}: {error}");
    }
}

/// A noise-free observation, scaled and turned in each channel, comes back through the calibration at the true cell.
#[test]
fn a_clean_snapshot_is_found_in_its_own_cell() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let (clean, chains) = (file("clean.npy"), file("chains.npy"));
    write_npy(&chains, &[2], &CHAINS).unwrap();
    for (tx, rx, true_xy) in [("1.2,1.9,,-80", "1,-1,,90", [1.2, 1.9]), ("2.5,0.5,,-120", "1,-3,,70", [2.5, 0.5])] {
        cli::succeed(&["observe", "lab", "--tx", tx, "--rx", rx, "--stage", "clean", "--out", text(&clean)]);
        let mut reader = NpyReader::open(&clean).unwrap();
        let mut heard = vec![Complex32::default(); reader.remaining()];
        reader.read_into(&mut heard).unwrap();
        let scaled: Vec<Complex32> = heard.iter().zip(CHAINS.iter().cycle()).map(|(z, chain)| z * chain).collect();
        write_npy(&file("heard.npy"), &[512, 2], &scaled).unwrap();
        let heard = file("heard.npy");
        let located = ["locate", "lab", text(&heard), "--rx", rx, "--calibration", text(&chains), "--json"];
        let json: Value = serde_json::from_str(&cli::succeed(&located)).unwrap();
        let direct = ["locate", "lab", text(&clean), "--rx", rx, "--json"];
        let direct: Value = serde_json::from_str(&cli::succeed(&direct)).unwrap();
        assert_eq!(json["mode"]["x"], direct["mode"]["x"]);
        assert_eq!(json["mode"]["y"], direct["mode"]["y"]);
        let off = |axis: &str, truth: f64| (json["mode"][axis].as_f64().unwrap() - truth).abs();
        println!("{tx}: {} m, {} m off", off("x", true_xy[0]), off("y", true_xy[1]));
        // The lab is 5.67 x 9.06 m in 33 x 33 cells.
        assert!(off("x", true_xy[0]) <= 5.673 / 66.0 && off("y", true_xy[1]) <= 9.06 / 66.0, "{tx}: {json}");
    }
}

/// What elements at places on the y axis (metres) hear of a TX in the lab, with unit noise.
fn heard_by(y_m: &[f64], tx: &Pose, rx: &Pose) -> Vec<Complex32> {
    let radio = Arc::new(Recipe::paper().radio().unwrap());
    let band = *radio.band();
    let world = Scene::load("lab").unwrap().resolve(&MaterialLibrary::shipped(), band.carrier_hz).unwrap();
    let spacing = radio.config().array.spacing_m;
    let mut link = LinkSimulator::new(radio);
    link.trace(world.room, &world.surfaces, &world.boxes, tx, rx).unwrap();
    let mut clean = link.block();
    link.clean(0.0, &mut clean);
    let at = |y: f64, hz: f64| -> Complex64 {
        let one = |path: &ElementPath| {
            let middle = 0.5 * (path.delay[0] + path.delay[1]);
            let delay = middle + (path.delay[1] - path.delay[0]) * y / spacing;
            path.gain[0] * Complex64::from_polar(1.0, -TAU * (hz * delay).fract())
        };
        link.element_paths().iter().map(one).sum()
    };
    let bin_hz = |k: usize| band.carrier_hz + (k as f64 - 256.0) * band.spacing_hz();
    // The link's level, as the first element of the pair has it.
    let level = f64::from(clean.get(256, 0).norm()) / at(-spacing / 2.0, bin_hz(256)).norm();
    let [mut noise, _] = seeded_streams(3, 0);
    let places = (0..band.bins).flat_map(|k| y_m.iter().map(move |y| (*y, k)));
    noisy(places.map(|(y, k)| at(y, bin_hz(k)) * level), &mut noise)
}

/// Three and four elements, equally spaced or not, in either order: the phase that the twin sees is that of the first two.
#[test]
fn arrays_of_more_elements_are_located() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let (tx, rx) = (Pose::new(1.2, 1.9, 1.08, -1.4), Pose::new(1.0, -1.0, 1.08, 1.4));
    let arrays: [(&[f64], bool); 4] = [
        (&[0.0, 26.0, 52.0], false),
        (&[0.0, 13.0, 40.0], true),
        (&[60.0, 45.0, 14.0, 0.0], true),
        (&[14.0, 0.0], true),
    ];
    for (places, listed) in arrays {
        let mean = places.iter().sum::<f64>() / places.len() as f64;
        let y_m: Vec<f64> = places.iter().map(|y| (y - mean) * 1e-3).collect();
        write_npy(&file("heard.npy"), &[512, places.len()], &heard_by(&y_m, &tx, &rx)).unwrap();
        let list: Vec<String> = places.iter().map(f64::to_string).collect();
        let list = list.join(",");
        let heading = rx.heading.to_degrees();
        let rx = format!("1,-1,,{heading:?}");
        let heard = file("heard.npy");
        let mut args = vec!["locate", "lab", text(&heard), "--rx", &rx, "--json"];
        if listed {
            args.extend(["--positions-mm", &list]);
        }
        let said: Value = serde_json::from_str(&cli::succeed(&args)).unwrap();
        let mode = |key: &str| said["mode"][key].as_f64().unwrap();
        let off = (mode("x") - 1.2).hypot(mode("y") - 1.9);
        let turned = (mode("heading_deg") - tx.heading.to_degrees() + 180.0).rem_euclid(360.0) - 180.0;
        assert!(off < 0.5 && turned.abs() < 25.0, "{places:?}: {off} m, {turned} deg");
    }
}
