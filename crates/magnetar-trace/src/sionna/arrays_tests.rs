//! Plain arrays of `Paths`: two of the public cases as Sionna RT's own arrays would hold them, and what is refused.

use std::io::{Cursor, Read, Write};
use std::path::Path;
use std::sync::LazyLock;

use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use super::*;

static OPAQUE: LazyLock<Vec<u8>> = LazyLock::new(|| data("sionna_paths_opaque.npz"));
static THROUGH: LazyLock<Vec<u8>> = LazyLock::new(|| data("sionna_paths_through.npz"));
static PUBLIC: LazyLock<Vec<u8>> = LazyLock::new(|| data("sionna_public_cases_v2.json.gz"));

/// A file of the workspace's test data: read when the test runs, as it is not in the crate's package.
fn data(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(name)).unwrap()
}

fn parse(bytes: &[u8]) -> Result<Export, ExportError> {
    parse_export(Path::new("paths.npz"), bytes)
}

/// The archive with one array changed, or left out.
fn with(bytes: &[u8], name: &str, change: impl Fn(Vec<u8>) -> Option<Vec<u8>>) -> Vec<u8> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).unwrap();
        let (entry_name, mut content) = (entry.name().unwrap().into_owned(), Vec::new());
        entry.read_to_end(&mut content).unwrap();
        let content = if entry_name == format!("{name}.npy") { change(content) } else { Some(content) };
        if let Some(content) = content {
            writer.start_file(entry_name, SimpleFileOptions::default()).unwrap();
            writer.write_all(&content).unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

/// Arrays in single precision hold what the nine digits of the public cases say.
#[test]
fn arrays_say_what_the_schema_says_of_the_same_link() {
    let public = parse_export(Path::new("public.json.gz"), &PUBLIC).unwrap();
    for bytes in [&*OPAQUE, &*THROUGH] {
        let export = parse(bytes).unwrap();
        let [case] = &export.cases[..] else { panic!("one link") };
        let known = public.cases.iter().find(|known| known.id == case.id).unwrap();
        assert_eq!(
            (case.names.mode, case.max_depth, case.tx, case.rx),
            (known.names.mode, known.max_depth, known.tx, known.rx)
        );
        assert_eq!(case.paths.len(), known.paths.len());
        for (path, known) in case.paths.iter().zip(&known.paths) {
            assert!(path.interactions.same_surfaces(&known.interactions));
            assert!((path.delay / known.delay - 1.0).abs() < 1e-7);
            assert!((path.coefficient - known.coefficient).norm() < 1e-6 * known.coefficient.norm());
        }
        let validation = validate(&export);
        assert!(validation.ok(), "{:?}", validation.unmatched.missing);
        assert!(validation.matched.len() > 10);
    }
}

#[test]
fn what_does_not_fit_is_named() {
    let refused = |bytes: &[u8]| parse(bytes).unwrap_err().to_string();
    for name in ["a", "tau", "theta_r", "interactions", "objects", "vertices", "scene"] {
        let error = refused(&with(&OPAQUE, name, |_| None));
        assert!(error.starts_with("paths.npz: ") && error.contains(&format!("no array `{name}`")), "{error}");
    }
    // Without `valid`, fillers are told by their delay.
    assert_eq!(parse(&with(&OPAQUE, "valid", |_| None)).unwrap(), parse(&OPAQUE).unwrap());
    // Words of the same length: the array's header stays true.
    let text = |from: &'static str, to: &'static str| {
        with(&OPAQUE, "scene", move |mut content| {
            let places: Vec<usize> =
                (0..content.len()).filter(|at| content[*at..].starts_with(from.as_bytes())).collect();
            places.iter().for_each(|at| content[*at..*at + to.len()].copy_from_slice(to.as_bytes()));
            Some(content)
        })
    };
    assert!(refused(&text("wall:-x", "wall:-q")).contains("wall:-q"));
    assert!(refused(&text("\"room\"", "\"roam\"")).contains("roam"));
    let nan = with(&OPAQUE, "tau", |mut content| {
        let end = content.len();
        content[end - 8..end - 4].copy_from_slice(&f32::NAN.to_le_bytes());
        Some(content)
    });
    assert!(refused(&nan).contains("tau: number 24 is not finite"), "{}", refused(&nan));
    let diffuse = with(&OPAQUE, "interactions", |mut content| {
        let place = content.iter().rposition(|byte| *byte == 1).unwrap();
        content[place] = 2;
        Some(content)
    });
    assert!(refused(&diffuse).contains("interactions: 2; expected 1 (specular)"), "{}", refused(&diffuse));
}

#[test]
fn damage_never_panics() {
    for whole in [&*OPAQUE, &*THROUGH] {
        for at in (0..whole.len()).step_by(3) {
            let mut bytes = whole.to_vec();
            bytes[at] ^= 0x55;
            let _ = parse(&bytes).map(|export| validate(&export));
            let _ = parse(&whole[..at]);
        }
    }
}
