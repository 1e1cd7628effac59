//! Every parser under damaged input: it may refuse, naming the file, but never panics, and what it accepts makes sense.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use nalgebra::Vector3;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use crate::{AntennaPattern, MaterialLibrary, Scene, SceneError};

/// Pieces that have broken parsers before.
const NASTY: &[&str] = &[
    "nan",
    "-nan",
    "inf",
    "-inf",
    "-1",
    "0",
    "-0.0",
    "1e999",
    "-1e308",
    "5e-324",
    "99999999999999999999",
    "0x10",
    "1_0",
    "\"\"",
    "\"\\u0000\"",
    "[",
    "]",
    "[[",
    "{",
    "}",
    "=",
    ",",
    "#",
    "\n",
    "\r",
    "\0",
    "\u{feff}",
    "é",
    "'''",
    "\"\"\"",
    "true",
    "1979-05-27",
    "[room]",
    "[[box]]",
    "wall",
    "360",
    "361",
    "HORIZONTAL 4",
    "GAIN",
    "azimuth,0,0",
];

/// One to four random injuries.
fn damage(text: &str, rng: &mut ChaCha8Rng) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..rng.random_range(1..=4) {
        let at = rng.random_range(0..=bytes.len());
        let end = (at + rng.random_range(0..20usize)).min(bytes.len());
        match rng.random_range(0..8) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => bytes.splice(at..at, NASTY[rng.random_range(0..NASTY.len())].bytes()).for_each(drop),
            3 => bytes.splice(at..end, NASTY[rng.random_range(0..NASTY.len())].bytes()).for_each(drop),
            4 if at < bytes.len() => bytes[at] ^= 1 << rng.random_range(0..8),
            5 => bytes
                .splice(at..at, (0..rng.random_range(1..30)).map(|_| rng.random::<u8>()).collect::<Vec<_>>())
                .for_each(drop),
            choice => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let mut lines: Vec<&str> = text.lines().collect();
                if lines.is_empty() {
                    continue;
                }
                let (a, b) = (rng.random_range(0..lines.len()), rng.random_range(0..lines.len()));
                match choice {
                    6 => lines.insert(a, lines[b]),
                    _ => replace_value(&mut lines, a, rng),
                }
                bytes = lines.join("\n").into_bytes();
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Replaces what follows the last `=`, `,` or space of a line.
fn replace_value(lines: &mut Vec<&str>, at: usize, rng: &mut ChaCha8Rng) {
    if let Some(cut) = lines[at].rfind(['=', ',', ' ']) {
        let (head, _) = lines[at].split_at(cut + 1);
        lines[at] = head;
        // The piece lands on its own line for formats of lines, and after the key for TOML, where both must be survived.
        lines.insert(at + 1, NASTY[rng.random_range(0..NASTY.len())]);
    }
}

/// Runs `parse` on `cases` damaged copies of each text.
fn survive<T>(texts: &[String], cases: usize, parse: impl Fn(&str) -> Result<T, SceneError>, sane: impl Fn(&T)) {
    let mut rng = ChaCha8Rng::seed_from_u64(20_26);
    let mut refused = 0;
    for case in 0..cases {
        let text = damage(&texts[case % texts.len()], &mut rng);
        match catch_unwind(AssertUnwindSafe(|| parse(&text))) {
            Ok(Ok(value)) => sane(&value),
            Ok(Err(error)) => {
                let message = error.to_string();
                assert!(message.contains("damaged"), "the file is not named: {message}");
                assert!(message.len() < 1500, "{message}");
                refused += 1;
            }
            Err(_) => panic!("case {case} panicked on:\n{text}"),
        }
    }
    assert!(
        refused > cases / 4 && refused < cases,
        "{refused} of {cases} refused: the damage is too weak or too strong"
    );
}

fn file(path: &str) -> String {
    std::fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn scenes() {
    let mut with_material = Scene::load("lab_left").unwrap();
    with_material.materials.push(MaterialLibrary::shipped().get("glass").unwrap().clone());
    with_material.boxes.push(with_material.boxes[0].clone());
    let texts = [file("scenes/lab.toml"), file("scenes/lab_right.toml"), with_material.to_toml()];
    let library = MaterialLibrary::shipped();
    survive(
        &texts,
        20_000,
        |text| Scene::from_toml_str(text, "damaged.toml"),
        |scene| {
            scene.check().unwrap();
            let again = Scene::from_toml_str(&scene.to_toml(), "again").unwrap();
            assert_eq!(again.boxes.len(), scene.boxes.len());
            if let Ok(resolved) = scene.resolve(&library, 10e9) {
                let boxes = resolved.boxes.iter().map(|(_, slab)| slab);
                for slab in resolved.surfaces.iter().chain(boxes) {
                    assert!(slab.eps_r > 0.0 && slab.eps_r.is_finite());
                    assert!(slab.sigma >= 0.0 && slab.sigma.is_finite() && slab.thickness > 0.0);
                }
            }
        },
    );
}

#[test]
fn materials() {
    let measured = "[material.a]\nsource = \"x\"\neps_r = 4.0\nsigma = 0.1\nmin_ghz = 1\nmax_ghz = 20\n".to_owned();
    let parse = |text: &str| {
        let mut library = MaterialLibrary::empty();
        library.add_toml_str(text, "damaged.toml").map(|()| library)
    };
    survive(&[file("materials/itu_p2040.toml"), measured], 10_000, parse, |library| {
        for material in library.iter() {
            if let Ok((eps_r, sigma)) = material.at(10e9) {
                assert!(eps_r > 0.0 && eps_r.is_finite() && sigma >= 0.0 && sigma.is_finite());
            }
        }
    });
}

fn pattern_is_sane(pattern: &AntennaPattern) {
    for direction in [Vector3::x(), Vector3::new(-0.3, 0.4, -0.2), Vector3::z(), Vector3::zeros()] {
        let amplitude = pattern.amplitude(&direction);
        assert!(amplitude >= 0.0 && amplitude.is_finite());
    }
    assert!(pattern.peak_gain_db().is_finite());
}

#[test]
fn pattern_grids() {
    let texts =
        [file("antenna_patterns/isotropic.csv"), file("antenna_patterns/isotropic.csv").replace(",0\n", ",-3.5\r\n")];
    survive(&texts, 20_000, |text| AntennaPattern::from_csv_str(text, "damaged.csv"), pattern_is_sane);
}

#[test]
fn pattern_cuts() {
    let mut cuts = String::from("cut,angle_deg,gain_db\n");
    for angle in [-180, -90, 0, 90] {
        writeln!(cuts, "azimuth,{angle},{}\nelevation,{angle},{}", angle.min(0) / 30, angle.min(0) / 20).unwrap();
    }
    survive(&[cuts], 2_000, |text| AntennaPattern::from_csv_str(text, "damaged.csv"), pattern_is_sane);
}

#[test]
fn msi_planet() {
    let points = "0 0.0\n90 10.5\n180 20.0\n270 11\n";
    let msi = format!("NAME a\nFREQUENCY 10000\nGAIN 8 dBi\nHORIZONTAL 4\n{points}VERTICAL 4\n{points}");
    survive(&[msi], 2_000, |text| AntennaPattern::from_msi_str(text, "damaged.msi"), pattern_is_sane);
}

#[test]
fn files_of_junk_and_of_the_wrong_size() {
    let folder = tempfile::tempdir().unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for (i, extension) in ["toml", "csv", "msi", "pln", "txt"].into_iter().enumerate() {
        let junk = folder.path().join(format!("damaged{i}.{extension}"));
        std::fs::write(&junk, (0..5000).map(|_| rng.random::<u8>()).collect::<Vec<_>>()).unwrap();
        let huge = folder.path().join(format!("damaged_huge{i}.{extension}"));
        std::fs::File::create(&huge).unwrap().set_len(1 << 30).unwrap();
        for path in [&junk, &huge] {
            let errors = [
                Scene::from_file(path).unwrap_err().to_string(),
                AntennaPattern::from_file(path).unwrap_err().to_string(),
                MaterialLibrary::empty().add_path(path).unwrap_err().to_string(),
            ];
            assert!(errors.iter().all(|message| message.contains("damaged")), "{errors:?}");
        }
        assert!(matches!(Scene::from_file(&huge), Err(SceneError::TooLarge { .. })));
    }
    assert!(MaterialLibrary::empty().add_path(folder.path()).is_err());
}

#[test]
fn deep_nesting_ends_in_an_error() {
    for open in ["[", "{a=", "a.", "[[a."] {
        let text = format!("name = {}", open.repeat(100_000));
        assert!(Scene::from_toml_str(&text, "deep").is_err());
        assert!(Scene::from_toml_str(&open.repeat(100_000), "deep").is_err());
    }
}
