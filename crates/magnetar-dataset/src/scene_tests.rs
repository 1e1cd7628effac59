//! Laws of corpora whose nominal world is a scene of the user's.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use magnetar_scene::{MaterialLibrary, Scene};
use magnetar_trace::Tracer;

use crate::placement::{distance, overlap};
use crate::*;

/// A room with different walls, a cupboard, a turned table and a material of its own.
const ROOM: &str = r#"
name = "office"
device_height_m = 1.2

[room]
x_m = [1.0, 7.0]
y_m = [-3.0, 2.0]
z_m = [0.0, 2.8]

[surfaces]
wall = { material = "plasterboard", thickness_m = 0.12 }
"wall:-x" = { material = "window", thickness_m = 0.02 }
floor = { material = "wood", thickness_m = 0.05 }
ceiling = { material = "ceiling_board", thickness_m = 0.03 }

[[box]]
name = "cupboard"
center_m = [6.5, 0.0, 1.0]
size_m = [1.0, 1.5, 2.0]
material = "metal"
thickness_m = 0.5

[[box]]
center_m = [3.0, -1.0, 0.7]
size_m = [1.6, 0.8, 1.4]
yaw_deg = 30.0
material = "wood"
thickness_m = 0.03

[material.window]
source = "made up"
eps_r = 6.0
sigma = 0.1
"#;

const STILL: [&str; 3] = ["room.planar_scale_max=0", "room.aspect_ratio_max=0", "room.height_scale_max=0"];

/// A recipe file beside the scene's, and the recipe.
fn recipe(folder: &Path, more: &str, sets: &[&str]) -> Arc<Recipe> {
    fs::write(folder.join("office.toml"), ROOM).unwrap();
    let path = folder.join("mine.toml");
    fs::write(&path, format!("extends = \"paper\"\nscene = \"office.toml\"\n{more}")).unwrap();
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Arc::new(Recipe::load(path.to_str().unwrap(), &sets).unwrap())
}

fn rows(recipe: &Arc<Recipe>, split: &str, count: u64) -> Vec<Record> {
    let generator = Generator::new(recipe, 3, split).unwrap();
    let mut rows = generator.rows();
    (0..count).map(|index| rows.row(index).unwrap()).collect()
}

#[test]
fn a_scene_gives_room_and_height_and_travels_with_the_recipe() {
    let folder = tempfile::tempdir().unwrap();
    let first = recipe(folder.path(), "", &[]);
    assert_eq!((first.room.x_min_m, first.room.z_max_m, first.devices.height_m), (1.0, 2.8, 1.2));
    assert_eq!(recipe(folder.path(), "[devices]\nheight_m = 1.5", &[]).devices.height_m, 1.5);
    // The text counts, not where it was.
    let elsewhere = tempfile::tempdir().unwrap();
    assert_eq!(recipe(elsewhere.path(), "", &[]).hash(), first.hash());
    let changed = ROOM.replace("size_m = [1.0, 1.5, 2.0]", "size_m = [1.0, 1.6, 2.0]");
    fs::write(elsewhere.path().join("office.toml"), changed).unwrap();
    let changed = Recipe::load(elsewhere.path().join("mine.toml").to_str().unwrap(), &[]).unwrap();
    assert_ne!(changed.hash(), first.hash());
    assert_ne!(first.hash(), Recipe::paper().hash());
    let differences = recipe::differences(&first, &changed);
    assert!(differences.iter().any(|line| line.starts_with("scene_text: SHA-256")), "{differences:?}");
    // A stored recipe needs no file.
    let json = serde_json::to_string(&*first).unwrap();
    drop(folder);
    let stored = Arc::new(Recipe::from_json(&json, "manifest").unwrap());
    assert_eq!(stored, first);
    assert_eq!(rows(&stored, "train", 2).len(), 2);
    let half = json.replacen("\"scene\":", "\"description\":\"\",\"ignored\":", 1);
    assert!(Recipe::from_json(&half, "manifest").is_err());
    let shipped = Recipe::load("paper", &["scene=lab_left".to_owned()]).unwrap();
    assert_eq!(shipped.nominal_scene().unwrap().unwrap().scene.boxes.len(), 1);
    let error = Recipe::load("paper", &["scene=nowhere.toml".to_owned()]).unwrap_err().to_string();
    assert!(error.contains("nowhere.toml"), "{error}");
}

#[test]
fn everything_stands_clear_in_every_room_of_the_family() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = recipe(folder.path(), "", &[]);
    let nominal = recipe.nominal_scene().unwrap().unwrap().scene;
    for split in ["train", "test", "fusion"] {
        for row in rows(&recipe, split, 150) {
            assert_eq!(row.layout.boxes.len(), 2);
            for (shape, own) in row.layout.boxes.iter().zip(&nominal.boxes) {
                for axis in 0..3 {
                    let part =
                        |room: &magnetar_scene::Room, x: f64| (x - room.min[axis]) / (room.max[axis] - room.min[axis]);
                    let (moved, was) =
                        (part(&row.layout.room, shape.center[axis]), part(&nominal.room, own.shape.center[axis]));
                    assert!((moved - was).abs() < 1e-12);
                    assert!((shape.size[axis] / own.shape.size[axis] - 1.0).abs() < 0.07);
                }
                assert_eq!(shape.yaw, own.shape.yaw);
                for device in [&row.tx, &row.rx] {
                    assert!(distance(shape, &device.position) >= recipe.devices.wall_margin_m);
                }
                assert!(row.layout.board.is_none_or(|board| !overlap(&board.shape, shape)));
            }
            assert_eq!(
                (&*row.materials.wall, &*row.materials.floor),
                ("window/plasterboard/plasterboard/plasterboard", "wood")
            );
        }
    }
}

#[test]
fn with_every_part_switched_off_rows_are_the_scene_itself() {
    let folder = tempfile::tempdir().unwrap();
    let mut sets = STILL.to_vec();
    sets.extend(["splits.val.translation_max_m=0", "splits.val.board=0", "propagation.max_order=2"]);
    let recipe = recipe(folder.path(), "", &sets);
    let scene = Scene::from_file(&folder.path().join("office.toml")).unwrap();
    let world = scene.resolve(&MaterialLibrary::shipped(), recipe.band.carrier_hz).unwrap();
    let tracer = Tracer::new(world.room, &world.surfaces, &world.boxes, recipe.band.carrier_hz)
        .unwrap()
        .with_options(recipe.propagation)
        .unwrap();
    let mut by_boxes = 0;
    for row in rows(&recipe, "val", 40) {
        for (shape, own) in row.layout.standing().zip(&scene.boxes) {
            assert!((shape.center - own.shape.center).norm() < 1e-12 && (shape.size - own.shape.size).norm() < 1e-12);
        }
        let paths = tracer.trace(&row.tx.position, &row.rx.position).unwrap();
        assert_eq!(paths.len(), row.paths.len());
        for (path, stored) in paths.iter().zip(&row.paths) {
            assert!((path.delay() - stored.wave.delay_s).abs() < 1e-18);
            assert!(path.interactions().same_surfaces(&stored.interactions.unwrap()));
        }
        by_boxes += row.paths.iter().filter(|p| surface_name(p.surface, 2).starts_with("box")).count();
    }
    assert!(by_boxes > 5, "{by_boxes}");
}

#[test]
fn surfaces_may_be_drawn_while_boxes_stay() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = recipe(folder.path(), "", &["surfaces.scene_materials=false"]);
    let walls: std::collections::BTreeSet<_> =
        rows(&recipe, "train", 40).iter().map(|row| row.materials.wall.to_string()).collect();
    assert_eq!(walls.into_iter().collect::<Vec<_>>(), ["brick", "concrete", "plasterboard"]);
}

#[test]
fn rows_of_a_scene_read_back_and_are_made_again_without_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = recipe(folder.path(), "", &[]);
    let out = folder.path().join("out");
    let job = Job { splits: vec!["train".into()], limit: Some(30), ..Job::new(Arc::clone(&recipe), 3, &out) };
    Plan::new(job).unwrap().run(&|_| {}).unwrap();
    fs::remove_file(folder.path().join("office.toml")).unwrap();
    let dataset = Dataset::open(&out).unwrap();
    let read: Vec<Record> = dataset.records("train", Columns::All).unwrap().map(Result::unwrap).collect();
    assert!(read == rows(&recipe, "train", 30));
    let options = VerifyOptions { sample: 30, seed: 1, partial: false };
    let verified = verify(&out, options, &|_| {}).unwrap();
    assert_eq!((verified.regenerated, verified.problems), (30, Vec::<String>::new()));
}

#[test]
fn a_scene_without_a_free_place_is_an_error_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let full = ROOM.replace("size_m = [1.6, 0.8, 1.4]", "size_m = [20.0, 20.0, 2.8]");
    recipe(folder.path(), "", &[]);
    fs::write(folder.path().join("office.toml"), full).unwrap();
    let recipe = Arc::new(Recipe::load(folder.path().join("mine.toml").to_str().unwrap(), &[]).unwrap());
    let error = Drawer::new(&recipe, 1, "train").unwrap().scene(0).unwrap_err().to_string();
    assert!(error.contains("outside the scene's boxes"), "{error}");
}
