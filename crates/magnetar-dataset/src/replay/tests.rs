//! Replays follow the paper's protocol.

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::TAU;

use magnetar_scene::{Scene, wrap};

use super::*;
use crate::*;

fn recipe() -> Arc<Recipe> {
    Arc::new(Recipe::load("replay", &["store.csi=none".to_owned()]).unwrap())
}

fn scenes(split: &str) -> Vec<DrawnScene> {
    let recipe = recipe();
    let drawer = Drawer::new(&recipe, 1, split).unwrap();
    (0..recipe.splits[split].rows()).map(|row| drawer.scene(row).unwrap()).collect()
}

#[test]
fn every_site_sees_every_command_under_every_placement_once() {
    let rotation = scenes("full-rotation");
    assert_eq!(rotation.len(), 4 * 7 * 360);
    let mut seen = BTreeSet::new();
    for drawn in &rotation {
        let replayed = drawn.replayed.as_ref().unwrap();
        let degrees = replayed.command.to_degrees();
        assert!((degrees - degrees.round()).abs() < 1e-9);
        seen.insert((replayed.placement.clone(), replayed.site, degrees.round() as u32));
    }
    assert_eq!(seen.len(), 4 * 7 * 360);

    let track = scenes("track");
    assert_eq!(track.len(), (3 * 25 * 6 + 13 * 6 + 12 * 3) * 10);
    let mut blocks: BTreeMap<_, BTreeSet<u64>> = BTreeMap::new();
    for drawn in &track {
        let replayed = drawn.replayed.as_ref().unwrap();
        let samples =
            blocks.entry((replayed.placement.clone(), replayed.site, replayed.command.to_bits())).or_default();
        assert!(samples.insert(drawn.devices.tx.position.x.to_bits()));
    }
    assert_eq!(blocks.len(), 3 * 25 * 6 + 13 * 6 + 12 * 3);
    assert!(blocks.values().all(|samples| samples.len() == 10));
}

#[test]
fn the_tx_faces_the_rx_and_both_stand_where_the_paper_says() {
    let (rotation, track) = (scenes("full-rotation"), scenes("track"));
    for drawn in rotation.iter().chain(&track) {
        let (tx, rx) = (&drawn.devices.tx, &drawn.devices.rx[0]);
        let link = rx.position - tx.position;
        assert!(wrap(link.y.atan2(link.x) - tx.heading).abs() < 1e-12);
        let replayed = drawn.replayed.as_ref().unwrap();
        assert!(wrap(replayed.command - rx.heading).abs() < 1e-12 && (0.0..TAU).contains(&replayed.command));
        assert_eq!(tx.position.y, 2.28);
        assert!((0.18..=0.98 + 1e-12).contains(&tx.position.x));
        assert!((0.0..=2.0).contains(&rx.position.x) && (-2.0..=0.0).contains(&rx.position.y));
    }
    assert!(rotation.iter().all(|drawn| drawn.devices.tx.position.x == 0.98));
}

#[test]
fn rooms_materials_and_boards_are_those_of_the_shipped_scenes() {
    let recipe = recipe();
    let rows = scenes("track");
    for (placement, name) in [("none", "lab"), ("left", "lab_left"), ("middle", "lab_middle"), ("right", "lab_right")] {
        let scene = Scene::load(name).unwrap();
        let drawn = rows.iter().find(|l| &*l.replayed.as_ref().unwrap().placement == placement).unwrap();
        for (a, b) in drawn.layout.room.bounds().iter().zip(scene.room.bounds()) {
            assert!((a - b).abs() < 1e-12, "{name}");
        }
        assert_eq!(drawn.layout.board.is_some(), !scene.boxes.is_empty());
        if let Some(board) = drawn.layout.board {
            assert_eq!(board.shape, scene.boxes[0].shape);
        }
    }
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/lab.toml")).unwrap();
    let assignment = &recipe.splits["track"].materials[0];
    for (surface, material) in
        [("wall", &assignment.wall), ("ceiling", &assignment.ceiling), ("floor", &assignment.floor)]
    {
        let line =
            format!("{surface} = {{ material = \"{material}\", thickness_m = {:.1} }}", recipe.surfaces.thickness_m);
        assert!(text.contains(&line), "{line}");
    }
}

#[test]
fn a_replayed_dataset_says_what_it_is_and_verifies() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = Arc::new(
        Recipe::load(
            "replay",
            &[
                "replay.rotation_headings=4".to_owned(),
                "splits.full-rotation.no_board=28".to_owned(),
                "splits.full-rotation.board=84".to_owned(),
                "store.csi=none".to_owned(),
            ],
        )
        .unwrap(),
    );
    let job = Job { splits: vec!["full-rotation".into()], ..Job::new(recipe, 3, folder.path()) };
    Plan::new(job).unwrap().run(&|_| {}).unwrap();
    let options = VerifyOptions { sample: 10, seed: 1, partial: false };
    assert_eq!(verify(folder.path(), options, &|_| {}).unwrap().problems, Vec::<String>::new());
    let dataset = Dataset::open(folder.path()).unwrap();
    let rows: Vec<Record> = dataset.records("full-rotation", Columns::All).unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(rows.len(), 112);
    assert!(rows.iter().all(|row| row.replayed.as_ref().is_some_and(|r| r.protocol == Protocol::FullRotation)));
    assert_eq!(rows.iter().filter(|row| row.layout.board.is_none()).count(), 28);
    for file in ["README.md", "manifest.json"] {
        let text = std::fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(text.contains("Simulated stand-in"), "{file}");
    }
}

#[test]
fn campaigns_that_cannot_be_are_refused_before_any_work() {
    for (set, said) in [
        ("replay.rotation_headings=90", "no_board"),
        ("replay.board_x_m=[1.0]", "board_x_m"),
        ("replay.rotation_tx_y_m=5", "outside the room"),
        ("replay.track_tx_y_m=-1", "separation_min_m"),
        ("splits.track.protocol=random", "protocol"),
        ("splits.track.protocol=circle", "random, full-rotation, track"),
    ] {
        let error = Recipe::load("replay", &[set.to_owned()]).unwrap_err().to_string();
        assert!(error.contains(said), "{set}: {error}");
    }
    let error = Recipe::load("paper", &["splits.test.protocol=track".to_owned()]).unwrap_err().to_string();
    assert!(error.contains("[replay]"), "{error}");
}
