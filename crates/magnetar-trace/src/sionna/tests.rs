//! The public reference cases, damaged exports, and mutations of both.

use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Export, ExportError, SCHEMA, Validation, parse_export, read_export, validate};

const PUBLIC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/sionna_public_cases.json.gz");

const PUBLIC_V2: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/sionna_public_cases_v2.json.gz");

fn public_json() -> Value {
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(PUBLIC).unwrap()).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Two cases of the public set: one with a board that reflects, one without.
fn small_json() -> Value {
    let mut document = public_json();
    let cases = document["cases"].as_array_mut().unwrap();
    let board = cases.iter().position(|case| paths(case).iter().any(|p| p["object"] == "board:-y")).unwrap();
    let empty = cases.iter().position(|case| case["board"].is_null()).unwrap();
    *cases = vec![cases[board].clone(), cases[empty].clone()];
    document
}

fn paths(case: &Value) -> &Vec<Value> {
    case["paths"].as_array().unwrap()
}

fn parse(document: &Value) -> Result<Export, ExportError> {
    parse_export(Path::new("file.json"), document.to_string().as_bytes())
}

fn validated(document: &Value) -> Validation {
    validate(&parse(document).unwrap())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// A file of public cases, validated: sixty cases, all paths read.
fn public_validation(file: &str, paths: usize) -> Validation {
    let export = read_export(Path::new(file)).unwrap();
    assert!(export.warnings.is_empty());
    let validation = validate(&export);
    assert_eq!((validation.cases, validation.paths), (60, paths));
    validation
}

#[test]
fn every_public_case_is_inside_tolerance() {
    let validation = public_validation(PUBLIC, 376);
    assert_eq!(validation.matched.len(), 376);
    assert!(validation.ok(), "{:?} {:?}", validation.unmatched.missing, validation.unmatched.extra);
    // The residual is Sionna RT's float32; a wrong sign or a half-space instead of a slab is far above.
    assert!(validation.summary(|e| e.coefficient).median < 5e-6);
}

#[test]
fn every_public_case_of_several_interactions_is_accepted() {
    let validation = public_validation(PUBLIC_V2, 2022);
    assert!(
        validation.ok(),
        "{:?} {:?} {:?}",
        validation.unmatched.missing,
        validation.unmatched.extra,
        validation.unmatched.left_out
    );
    let errors = validation.summary(|e| e.coefficient);
    assert!(errors.median < 5e-6 && errors.p99 <= 1.1e-4 && errors.max < 2e-3, "{errors:?}");
    // What is left out are the sheet's own reflections and a few crossings near its outline.
    assert!(validation.unmatched.left_out.len() < 60, "{}", validation.unmatched.left_out.len());
    assert!(validation.unmatched.ambiguous.len() < 10, "{:?}", validation.unmatched.ambiguous);
}

#[test]
fn differences_are_found_and_named() {
    let mut document = small_json();
    document["cases"][0]["paths"][1]["a"][0] = json!(1e-3);
    let validation = validated(&document);
    let (name, errors) = validation.outside_tolerance().next().unwrap();
    assert_eq!(name.case, document["cases"][0]["id"]);
    assert_eq!(name.object, document["cases"][0]["paths"][1]["object"]);
    assert!(errors.coefficient > 1.0 && errors.delay < 1e-6);
    assert_eq!(validation.summary(|e| e.coefficient).worst.as_ref(), Some(name));
    assert!(!validation.ok());

    let mut document = small_json();
    let removed = document["cases"][1]["paths"].as_array_mut().unwrap().remove(2);
    let validation = validated(&document);
    assert!(validation.unmatched.missing.is_empty() && !validation.ok());
    assert_eq!(validation.unmatched.extra[0].object, removed["object"]);

    // A box around the RX's view of the TX hides the direct path.
    let mut document = small_json();
    let material = document["cases"][1]["materials"]["wall"].clone();
    let point = |key: &str, i: usize| document["cases"][1][key][i].as_f64().unwrap();
    let center: Vec<f64> = (0..3).map(|i| f64::midpoint(point("tx", i), point("rx", i))).collect();
    document["cases"][1]["boxes"] =
        json!([{ "center": center, "size": [0.05, 0.05, 0.05], "yaw_deg": 0, "material": material }]);
    let validation = validated(&document);
    assert!(validation.unmatched.missing.iter().any(|name| name.object == "LOS"), "{:?}", validation.unmatched.missing);
    assert!(!validation.ok());

    let mut document = small_json();
    document["cases"][0]["tx"] = json!([100.0, 0.0, 1.0]);
    let validation = validated(&document);
    assert_eq!(validation.unmatched.missing.len(), document["cases"][0]["paths"].as_array().unwrap().len());
    assert!(validation.untraced[0].reason.contains("not inside the room"), "{:?}", validation.untraced);
    assert!(!validation.ok());
}

#[test]
fn boxes_and_single_walls_say_the_same_as_the_board_and_all_walls() {
    let reference = validated(&small_json());
    let mut document = small_json();
    for case in document["cases"].as_array_mut().unwrap() {
        let materials = case["materials"].as_object_mut().unwrap();
        let wall = materials.remove("wall").unwrap();
        for label in ["wall:-x", "wall:+x", "wall:-y", "wall:+y"] {
            materials.insert(label.to_owned(), wall.clone());
        }
        if let Some(glass) = materials.remove("board") {
            let mut board = case["board"].take();
            board["material"] = glass;
            // An unrelated box comes first, out of the way under the ceiling.
            let mut other = board.clone();
            other["size"] = json!([0.01, 0.01, 0.01]);
            other["center"] = json!([case["room"][0], case["room"][2], case["room"][5]]);
            case["boxes"] = json!([other, board]);
        }
        for path in case["paths"].as_array_mut().unwrap() {
            let object = path["object"].as_str().unwrap().replace("board:", "box1:");
            path["object"] = json!(object);
        }
    }
    let mut validation = validated(&document);
    assert!(validation.ok());
    for (name, _) in &mut validation.matched {
        name.object = name.object.replace("box1:", "board:");
    }
    assert_eq!(validation, reference);
}

#[test]
fn azimuths_mean_the_same_a_turn_further() {
    let mut document = small_json();
    for path in document["cases"][0]["paths"].as_array_mut().unwrap() {
        let phi = path["phi_t"].as_f64().unwrap();
        path["phi_t"] = json!(phi.rem_euclid(std::f64::consts::TAU));
    }
    assert!(validated(&document).ok());
}

#[test]
fn unknown_keys_at_the_top_are_reported_and_skipped() {
    let mut document = small_json();
    document["comment"] = json!({ "author": ["us"] });
    let export = parse(&document).unwrap();
    assert_eq!(export.warnings, ["unknown key `comment` at the top level is ignored"]);
    assert!(validate(&export).ok());
}

#[test]
fn only_schema_frequency_and_cases_are_needed_at_the_top() {
    let document = small_json();
    let mut minimal = json!({ "schema": SCHEMA, "frequency_hz": 10e9, "cases": document["cases"] });
    for case in minimal["cases"].as_array_mut().unwrap() {
        let case = case.as_object_mut().unwrap();
        for key in ["kind", "split", "thickness_mode"] {
            case.remove(key);
        }
        if case["board"].is_null() {
            case.remove("board");
        }
        case["materials"]["wall"].as_object_mut().unwrap().remove("itu");
    }
    assert!(validated(&minimal).ok());
}

#[test]
fn a_damaged_export_is_refused_with_its_place() {
    type Damage = fn(&mut Value);
    let damages: [(Damage, &[&str]); 36] = [
        (|d| d["schema"] = json!("other-v2"), &["schema", "other-v2", SCHEMA]),
        (|d| d["schema"] = json!(3), &["schema", "is 3", SCHEMA]),
        (|d| remove(d, "schema"), &["schema", "missing"]),
        (|d| *d = json!([1, 2]), &["expected struct", "line 1"]),
        (|d| remove(d, "cases"), &["missing field `cases`"]),
        (|d| d["cases"] = json!([]), &["cases", "at least one"]),
        (|d| d["cases"] = json!({}), &["cases", "expected a list"]),
        (|d| d["frequency_hz"] = json!(-1.0), &["frequency_hz", "-1"]),
        (|d| d["frequency_hz"] = json!("10e9"), &["frequency_hz", "invalid type", "column"]),
        (|d| d["wavelength_m"] = json!(0.3), &["wavelength_m", "0.0299"]),
        (|d| d["cases"][1]["id"] = d["cases"][0]["id"].clone(), &["cases[1]", "earlier case"]),
        (|d| d["cases"][1]["id"] = json!(""), &["cases[1]", "id", "empty"]),
        (|d| remove(&mut d["cases"][1], "tx"), &["case pub", "cases[1]", "missing field `tx`"]),
        (|d| d["cases"][0]["colour"] = json!(1), &["case pub", "cases[0]", "unknown field `colour`"]),
        (|d| d["cases"][0]["room"] = json!([0, 1]), &["case pub", "cases[0].room", "length 2"]),
        (|d| d["cases"][0]["room"][0] = json!(99.0), &["case pub", "room", "minimum below"]),
        (|d| d["cases"][0]["room"][0] = json!(-1e300), &["case pub", "room", "out of range"]),
        (|d| d["cases"][0]["rx"][2] = json!(1e9), &["case pub", "rx", "out of range"]),
        (|d| d["cases"][0]["board"]["size"][1] = json!(-0.033), &["board.size", "-0.033"]),
        (|d| d["cases"][0]["board"]["yaw_deg"] = json!(1e9), &["board.yaw_deg"]),
        (|d| d["cases"][0]["board"]["colour"] = json!(1), &["cases[0].board", "unknown field"]),
        (|d| remove(&mut d["cases"][0]["materials"], "board"), &["materials.board", "missing"]),
        (|d| remove(&mut d["cases"][0]["materials"], "wall"), &["materials", "neither `wall` nor `wall:-x`"]),
        (|d| d["cases"][0]["materials"]["roof"] = json!(1), &["cases[0].materials", "unknown field `roof`"]),
        (|d| d["cases"][0]["materials"]["wall"]["eps_r"] = json!(0.5), &["materials.wall.eps_r", "0.5"]),
        (|d| d["cases"][0]["materials"]["floor"]["sigma"] = json!(-1), &["materials.floor.sigma", "-1"]),
        (|d| d["cases"][0]["materials"]["floor"]["thickness"] = Value::Null, &["materials.floor.thickness", "null"]),
        (|d| d["cases"][0]["paths"][0]["type"] = json!("diffuse"), &["paths[0].type", "diffuse", "specular"]),
        (|d| d["cases"][0]["paths"][1]["object"] = json!("window"), &["paths[1].object", "window", "wall:-x"]),
        (|d| d["cases"][1]["paths"][1]["object"] = json!("board:-x"), &["paths[1].object", "null"]),
        (|d| d["cases"][0]["paths"][1]["object"] = json!("box7:-x"), &["paths[1].object", "box 7"]),
        (|d| d["cases"][0]["paths"][1]["object"] = json!("LOS"), &["paths[1].object"]),
        (|d| d["cases"][0]["paths"][2] = d["cases"][0]["paths"][1].clone(), &["paths[2].object", "twice"]),
        (|d| d["cases"][0]["paths"][1]["vertices"] = json!([]), &["paths[1].vertices", "not 0"]),
        (|d| d["cases"][0]["paths"][1]["tau"] = json!(-1e-8), &["paths[1].tau"]),
        (|d| d["cases"][0]["paths"][1]["theta_r"] = json!(4.0), &["paths[1].theta_r", "zenith"]),
    ];
    for (damage, expected) in damages {
        let mut document = small_json();
        damage(&mut document);
        let message = parse(&document).expect_err(&format!("{expected:?}")).to_string();
        assert!(message.starts_with("file.json: "), "{message}");
        for part in expected {
            assert!(message.contains(part), "no `{part}` in: {message}");
        }
    }
}

fn remove(value: &mut Value, key: &str) {
    assert!(value.as_object_mut().unwrap().remove(key).is_some());
}

#[test]
fn what_is_not_json_is_refused() {
    let refuse = |bytes: &[u8], expected: &str| {
        let message = parse_export(Path::new("file.json"), bytes).unwrap_err().to_string();
        assert!(message.starts_with("file.json: ") && message.contains(expected), "{message}");
    };
    refuse(b"", "empty");
    refuse(b" \n", "empty");
    refuse(&[0x1f, 0x8b], "gzip");
    refuse(&[0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8], "gzip");
    refuse(&[0, 159, 146, 150], "expected a JSON object");
    refuse(b"PK\x03\x04", "the zip archive is damaged");
    refuse(&gzip(b""), "empty");
    let text = small_json().to_string();
    refuse(&text.as_bytes()[..text.len() / 2], "cut off");
    let packed = gzip(text.as_bytes());
    refuse(&packed[..packed.len() / 2], "cut off");
    refuse(&packed[..packed.len() - 3], "cut off");
    refuse(format!("{text} trailing").as_bytes(), "nothing after it");
    let nan = text.replacen("\"tau\":1.", "\"tau\":NaN,\"x\":1.", 1);
    assert_ne!(nan, text);
    refuse(nan.as_bytes(), "no NaN");
    refuse(text.replacen("\"tau\":1.", "\"tau\":1e999,\"x\":1.", 1).as_bytes(), "number out of range");
    refuse("[".repeat(100_000).as_bytes(), "line 1");
}

/// Every place in a document, as JSON pointers.
fn pointers(value: &Value, here: &str, all: &mut Vec<String>) {
    all.push(here.to_owned());
    match value {
        Value::Object(map) => map.iter().for_each(|(key, v)| pointers(v, &format!("{here}/{key}"), all)),
        Value::Array(list) => list.iter().enumerate().for_each(|(i, v)| pointers(v, &format!("{here}/{i}"), all)),
        _ => {}
    }
}

/// Whatever comes out, it must be a value or an error that names the file.
fn must_not_panic(bytes: &[u8]) {
    match parse_export(Path::new("file.json"), bytes) {
        Ok(export) => {
            let validation = validate(&export);
            let _ = validation.ok();
        }
        Err(error) => assert!(error.to_string().starts_with("file.json: ")),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn bytes_may_be_changed_anywhere(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in prop::option::of(any::<prop::sample::Index>()),
        packed in 0..3,
    ) {
        let text = small_json().to_string().into_bytes();
        // Damage in the text, in the packed text, or in the text before it is packed.
        let mut bytes = if packed == 1 { gzip(&text) } else { text };
        for (place, value) in edits {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        must_not_panic(&if packed == 2 { gzip(&bytes) } else { bytes });
    }

    #[test]
    fn values_may_be_changed_anywhere(place in any::<prop::sample::Index>(), kind in 0usize..14) {
        let mut document = small_json();
        let mut all = Vec::new();
        pointers(&document, "", &mut all);
        let strange = [
            json!(null), json!(true), json!(0), json!(-1), json!(1e300), json!(-1e300), json!(1e-300), json!(u64::MAX),
            json!(""), json!("\u{0}\u{202e}"), json!([]), json!({}), json!([[[[1]]]]), json!("x".repeat(10_000)),
        ];
        *document.pointer_mut(&all[place.index(all.len())]).unwrap() = strange[kind].clone();
        must_not_panic(document.to_string().as_bytes());
    }
}
