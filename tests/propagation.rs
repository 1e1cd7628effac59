//! Paths of higher order and through boxes, in every command that traces: `observe`, `plot room`, `view`, `generate`.

use std::fs;

use serde_json::Value;

use crate::cli;

/// A link that the board of `lab_middle` blocks.
const LINK: [&str; 5] = ["lab_middle", "--tx", "0.98,2.28,1.08,-90", "--rx", "1,-1,1.08,90"];
const MORE: [&str; 3] = ["--max-order", "2", "--transmission"];

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn names(paths: &Value) -> Vec<String> {
    paths.as_array().unwrap().iter().map(|path| path["surface"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn observe_hears_the_paths_that_trace_lists() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("block.npy");
    let out = ["--out", file.to_str().unwrap(), "--json"];
    let heard = json(&cli::succeed(&[&["observe"][..], &LINK, &MORE, &out].concat()));
    let traced = json(&cli::succeed(&[&["trace"][..], &LINK, &MORE, &["--json"]].concat()));
    assert_eq!(names(&heard["paths"]), names(&traced["paths"]));
    assert_eq!((&heard["max_order"], &heard["transmission"]), (&Value::from(2), &Value::from(true)));
    assert_eq!(heard["left_out"], traced["left_out"]);
    assert!(names(&heard["paths"]).iter().any(|name| name == "through:box0"));
    let plain = json(&cli::succeed(&[&["observe"][..], &LINK, &out].concat()));
    assert!(names(&plain["paths"]).iter().all(|name| !name.contains(' ') && !name.contains("through")));
    assert!(cli::fail(&[&["observe"][..], &LINK, &["--max-order", "4"], &out].concat()).contains("0..=3"));
}

#[test]
fn pictures_draw_every_vertex_and_name_every_interaction() {
    let folder = tempfile::tempdir().unwrap();
    let (svg, html) = (folder.path().join("room.svg"), folder.path().join("room.html"));
    cli::succeed(&[&["plot", "room"][..], &LINK, &MORE, &["-o", svg.to_str().unwrap()]].concat());
    let drawn = fs::read_to_string(&svg).unwrap();
    let traced = json(&cli::succeed(&[&["trace"][..], &LINK, &MORE, &["--json"]].concat()));
    let paths = traced["paths"].as_array().unwrap();
    assert!(drawn.contains(&format!("{} paths (order 2, through boxes)", paths.len())), "{drawn}");
    cli::succeed(&[&["view"][..], &LINK, &MORE, &["--export", html.to_str().unwrap()]].concat());
    let page = fs::read_to_string(&html).unwrap();
    for name in names(&traced["paths"]) {
        assert!(page.contains(&format!("\"surface\":\"{name}\"")), "{name} is not in the page");
    }
    assert!(page.contains("order 2, through boxes"));
}

#[test]
fn a_corpus_of_higher_order_is_generated_verified_and_viewed() {
    let folder = tempfile::tempdir().unwrap();
    let (data, html) = (folder.path().join("data"), folder.path().join("row.html"));
    let out = data.to_str().unwrap();
    let sets = ["--set", "propagation.max_order=2", "--set", "propagation.transmission=true"];
    cli::succeed(&[&["generate", "--split", "test", "--limit", "20", "--out", out][..], &sets].concat());
    assert!(cli::succeed(&["verify", out, "--sample", "20"]).contains("20 rows made again"));
    cli::succeed(&["stats", out]);
    cli::succeed(&["view", out, "--row", "3", "--export", html.to_str().unwrap()]);
    assert!(fs::read_to_string(&html).unwrap().contains("\"surface\":\"floor ceiling\""));
    let error = cli::fail(&["view", out, "--max-order", "2", "--export", html.to_str().unwrap()]);
    assert!(error.contains("--max-order"), "{error}");
    let manifest = json(&fs::read_to_string(data.join("manifest.json")).unwrap());
    assert_eq!(manifest["recipe"]["propagation"]["max_order"], 2);
    let shown = cli::succeed(&["recipe", "show"]);
    assert!(shown.contains("propagation.max_order = 1") && shown.contains("propagation.transmission = false"));
}
