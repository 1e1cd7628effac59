//! `magnetar train` and `scorer`, and learned scorers in the commands that score.

use std::path::Path;
use std::sync::Arc;

use magnetar_dataset::Recipe;
use magnetar_files::npy::NpyReader;
use magnetar_neural::train::{Exposure, Preset, TrainingPlan, TrainingRows};
use magnetar_neural::{Design, Model};
use serde_json::Value;

use crate::cli;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Numbers of a run that ends within a second.
const SMALL: [&str; 14] = [
    "--preset",
    "cpu",
    "--exposures",
    "96",
    "--batch",
    "8",
    "--stages",
    "7,9",
    "--hidden",
    "16",
    "--levels",
    "8,8",
    "--validation-rows",
    "3",
];

fn train(design: &str, out: &str, more: &[&str]) -> String {
    cli::succeed(&[&["train", design, "--out", out], &SMALL[..], more].concat())
}

#[test]
fn a_model_is_trained_shown_and_scores_in_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (d, model, np6) = (place("d"), place("np1.safetensors"), place("np6.safetensors"));
    cli::succeed(&["generate", "--limit", "10", "--csi", "none", "--seed", "5", "--out", &d]);
    let record = json(&train("np1", &model, &["--json", "--threads", "1"]))["record"].clone();
    assert_eq!((record["design"].as_str(), record["training"]["exposures"].as_u64()), (Some("np1"), Some(96)));
    assert!(record["training"]["command"].as_str().unwrap().starts_with("magnetar train np1 "), "{record}");
    let first = std::fs::read(&model).unwrap();
    assert!(!Path::new(&format!("{model}.checkpoint")).exists());

    // The weights are the same for any number of threads.
    let identity = |model: &str| json(&cli::succeed(&["scorer", "show", model, "--json"]))["identity"].clone();
    let before = identity(&model);
    train("np1", &model, &["--threads", "2"]);
    assert_eq!(identity(&model), before);
    assert!(cli::succeed(&["scorer", "show", &model]).contains("a reduced run"));
    assert!(cli::succeed(&["scorer", "list"]).contains("heading-conditioned 2D U-Net"));

    // The twin of NP6 is in it: it is close to the twin after a few steps, and better than nothing.
    train("np6", &np6, &["--rate", "1e-5"]);
    let scorers = ["--scorer", "twin", "--scorer", &model, "--scorer", &np6];
    let compared = json(&cli::succeed(&[&["evaluate", &d, "--limit", "6", "--json"], &scorers[..]].concat()));
    let nll = |name: &str| compared[name]["nll"].as_f64().unwrap();
    assert!((nll("np6.safetensors") - nll("twin")).abs() < 0.2, "{} {}", nll("np6.safetensors"), nll("twin"));
    assert!(nll("np1.safetensors").is_finite() && nll("np6.safetensors") < nll("uniform"));
    assert_eq!(compared["np1.safetensors"]["scorer"]["identity"], before);
    assert!(compared["np6.safetensors"]["scorer"]["knowledge"]["materials"]["one_of"].is_array());

    let one = json(&cli::succeed(&["posterior", &d, "--row", "2", "--json", "--scorer", &model]));
    assert_eq!(one["scorer"]["name"], "np1.safetensors");
    assert!(cli::succeed(&["fuse", &d, "--limit", "2", "--scorer", &model]).contains("np1.safetensors"));
    let picture = place("p.svg");
    cli::succeed(&["plot", "marginal", &d, "--row", "1", "--scorer", &model, "--out", &picture]);
    assert!(cli::fail(&["fit", &d, "--scorer", &model, "--out", &place("t.toml")]).contains("only the twin"));
    assert!(cli::fail(&["evaluate", &d, "--scorer", "oracle"]).contains(".safetensors"));

    // Rows of another recipe are scored with a warning.
    let field = place("field");
    cli::succeed(&[
        "generate", "--recipe", "field", "--split", "test", "--limit", "3", "--csi", "none", "--out", &field,
    ]);
    let told = cli::run(&["evaluate", &field, "--limit", "2", "--scorer", &model]);
    assert!(told.status.success() && String::from_utf8_lossy(&told.stderr).contains("trained on recipe \"paper\""));

    // Damage is told, with the file's name.
    for (bytes, expected) in [(&first[..first.len() - 4], "ends before"), (&first[..5], "8 bytes"), (b"{}", "8 bytes")]
    {
        std::fs::write(&model, bytes).unwrap();
        for command in [&["evaluate", &d, "--scorer", &model][..], &["scorer", "show", &model]] {
            let error = cli::fail(command);
            assert!(error.contains("np1.safetensors") && error.contains(expected), "{error}");
        }
    }
    assert!(cli::fail(&["scorer", "show", &place("absent.safetensors")]).contains("absent.safetensors"));
}

#[test]
fn designs_are_trained_and_compared_in_one_table() {
    let folder = tempfile::tempdir().unwrap();
    let models = folder.path().join("models");
    let models = models.to_str().unwrap();
    let small =
        ["--exposures", "64", "--validation-rows", "2", "--limit", "6", "--replay-limit", "4", "--timed-rows", "1"];
    let arguments =
        [&["benchmark", "--train", "--scorers", "sm1", "--seeds", "2", "--models", models], &small[..]].concat();
    let table = json(&cli::succeed(&[&arguments[..], &["--json"]].concat()));
    let lines = table["lines"].as_array().unwrap();
    let names: Vec<&str> = lines.iter().map(|line| line["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["sm1", "twin", "uniform"]);
    assert_eq!((lines[0]["seeds"].as_u64(), lines[0]["exposures"].as_u64()), (Some(2), Some(64)));
    assert!(table["replay"].as_str().unwrap().to_lowercase().contains("simulated"));
    let nll = |line: &Value, condition: &str| line["sim"][condition]["nll"]["mean"].as_f64().unwrap();
    assert!(nll(&lines[1], "balanced") < nll(&lines[2], "balanced"));
    assert!(["balanced", "no_board", "board"].iter().all(|condition| nll(&lines[0], condition).is_finite()));
    assert!(lines[0]["sim"]["balanced"]["nll"]["deviation"].is_number());

    // Models that are there are not trained again; those of another run are refused.
    let text = cli::succeed(&arguments);
    assert!(text.contains("(a) no board") && text.contains("I_post") && text.contains("sm1"), "{text}");
    let other: Vec<&str> = arguments.iter().map(|argument| if *argument == "64" { "128" } else { argument }).collect();
    assert!(cli::fail(&other).contains("another run"));
    assert!(cli::fail(&["benchmark", "--scorers", "twin"]).contains("every table"));
    assert!(cli::fail(&["benchmark", "--train", "--scorers", "np1"]).contains("--models"));
}

/// Replayed rows without a board among the simulated ones: the paper's regime S+R.
#[test]
fn real_rows_are_mixed_in_and_the_model_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (real, test) = (path("real"), path("test"));
    cli::succeed(&["replay", "track", "--recipe", "replay-train", "--csi", "none", "--out", &real]);
    let mixed = |out: &str| json(&train("np1", out, &["--json", "--real", real.as_str(), "--real-exposures", "16"]));
    let training = mixed(&path("a.safetensors"))["record"]["training"].clone();
    assert_eq!((training["exposures"].as_u64(), training["real"]["exposures"].as_u64()), (Some(112), Some(16)));
    assert_eq!((training["real"]["rows"].as_u64(), training["real"]["moved"].as_bool()), (Some(1800), Some(true)));
    assert!(training["real"]["source"].as_str().unwrap().contains("simulated"), "{training}");
    let shown = cli::succeed(&["scorer", "show", &path("a.safetensors")]);
    assert!(shown.contains("16 exposures of 1800 rows without a board"), "{shown}");
    mixed(&path("b.safetensors"));
    let weights = |name: &str| Model::from_file(&folder.path().join(name)).unwrap().identity();
    assert_eq!(weights("a.safetensors"), weights("b.safetensors"));

    // Rows with a board are not learned from, and rows of a campaign that has none are refused.
    let boards = ["--split", "test", "--limit", "4", "--set", "splits.test.no_board=0", "--csi", "none"];
    cli::succeed(&[&["generate", "--out", test.as_str()], &boards[..]].concat());
    let refused = cli::fail(&["train", "np1", "--real", &test, "--out", &path("c.safetensors")]);
    assert!(refused.contains("no row without a board"), "{refused}");
}

#[test]
fn requests_that_make_no_run_are_refused_before_any_work() {
    let folder = tempfile::tempdir().unwrap();
    let out = cli::text(&folder.path().join("m.safetensors")).to_owned();
    for (arguments, expected) in [
        (&["train", "np9"][..], "no design"),
        (&["train", "np1", "--rate", "nan"], "--rate"),
        (&["train", "np1", "--stages", "0"], "--stages"),
        (&["train", "np1", "--batch", "0"], "--batch"),
        (&["train", "np5", "--sample-candidates", "5"], "whole headings"),
        (&["train", "np1", "--hidden", "99999999"], "widths"),
        (&["train", "np1", "--parameters", "paper"], "no twin"),
        (&["train", "np1", "--recipe", "nowhere"], "nowhere"),
    ] {
        let error = cli::fail(&[arguments, &["--out", &out]].concat());
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn features_and_targets_of_training_are_those_of_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (d, out, seed) = (place("d"), place("f"), 9);
    cli::succeed(&["generate", "--split", "train", "--limit", "6", "--csi", "none", "--seed", "9", "--out", &d]);
    let size = ["--rows", "11", "--columns", "11"];
    cli::succeed(&[&["features", &d, "--training", "--limit", "6", "--seed", "9", "--out", &out], &size[..]].concat());
    let rows = TrainingRows::from_recipe(&Arc::new(Recipe::paper()), seed, 1).unwrap();
    let plan = TrainingPlan::preset(Preset::Paper, Design::Np1, seed);
    let values = |name: &str| {
        let mut reader = NpyReader::open(&folder.path().join("f").join(name)).unwrap();
        let mut values = vec![0f32; reader.remaining()];
        reader.read_into(&mut values).unwrap();
        values
    };
    let (spatial, query, target) = (values("spatial.npy"), values("query.npy"), values("target.npy"));
    for (n, row) in rows.take(0..6).unwrap().iter().enumerate() {
        let exposure = Exposure::draw(&plan, &rows, row, 11, n as u64).unwrap();
        let inputs = &exposure.inputs;
        let (plane, all) = (11 * 11, inputs.size().len());
        let part = |all: &[f32], length: usize| all[n * length..(n + 1) * length].to_vec();
        for (place, value) in part(&spatial, 16 * plane).into_iter().enumerate() {
            assert_eq!(inputs.channel(place / plane, place % plane), value);
        }
        for (place, value) in part(&query, 8 * all).into_iter().enumerate() {
            assert_eq!(inputs.channel(16 + place / all, place % all), value);
        }
        for (pair, (voxel, weight)) in part(&target, 16).chunks_exact(2).zip(&exposure.target.voxels) {
            assert_eq!(pair, [*voxel as f32, *weight as f32]);
        }
    }
}
