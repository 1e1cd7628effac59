//! Laws of scenes and scene files.

use nalgebra::{Point3, Vector3};
use proptest::prelude::*;

use crate::*;

const LAB: &str = include_str!("../scenes/lab_middle.toml");

fn refusal(toml: &str) -> String {
    Scene::from_toml_str(toml, "file.toml").expect_err("must be refused").to_string()
}

#[test]
fn the_shipped_scenes_are_the_folder_and_the_laboratory_of_the_paper() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/scenes");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    files.sort();
    assert_eq!(files, Scene::shipped_names().collect::<Vec<_>>());
    for name in Scene::shipped_names() {
        let scene = Scene::load(name).unwrap();
        assert_eq!(scene.name, name);
        assert_eq!(scene.room.bounds(), [-1.403, 4.270, -6.060, 3.000, 0.0, 3.050]);
        assert_eq!(scene.device_height, 1.08);
        assert!(scene.warnings().is_empty());
        assert_eq!(scene, Scene::from_file(format!("{folder}/{name}.toml").as_ref()).unwrap());
    }
    for (name, x) in [("lab_left", 0.2275), ("lab_middle", 1.0225), ("lab_right", 1.7625)] {
        let board = &Scene::load(name).unwrap().boxes[0];
        assert_eq!(board.shape.center, Point3::new(x, 1.0, 1.0025));
        assert_eq!(board.shape.size, Vector3::new(1.015, 0.033, 1.715));
        assert_eq!(board.layer, Layer::new("glass", 0.033));
    }
    assert!(Scene::load("lab").unwrap().boxes.is_empty());
}

#[test]
fn the_laboratory_resolves_to_slabs_in_face_order() {
    let scene = Scene::load("lab_middle").unwrap().resolve(&MaterialLibrary::shipped(), 10e9).unwrap();
    let near = |slab: Slab, eps_r: f64, sigma: f64, thickness: f64| {
        assert_eq!((slab.eps_r, slab.thickness), (eps_r, thickness));
        assert!((slab.sigma - sigma).abs() < 1e-6, "{slab:?}");
    };
    for face in &Face::ALL[..4] {
        near(scene.surfaces[*face as usize], 5.24, 0.279796, 0.1);
    }
    near(scene.surfaces[Face::ZMin as usize], 7.074, 0.046405, 0.1);
    near(scene.surfaces[Face::ZMax as usize], 5.24, 0.279796, 0.1);
    near(scene.boxes[0].1, 6.31, 0.078651, 0.033);
}

#[test]
fn a_wall_of_its_own_overrides_the_common_wall() {
    let own = LAB.replace("floor =", "\"wall:+y\" = { material = \"brick\", thickness_m = 0.2 }\nfloor =");
    let scene = Scene::from_toml_str(&own, "file.toml").unwrap();
    assert_eq!(scene.surfaces[Face::YMax as usize], Layer::new("brick", 0.2));
    assert_eq!(scene.surfaces[Face::YMin as usize], Layer::new("concrete", 0.1));
    assert_eq!(Scene::from_toml_str(&scene.to_toml(), "again.toml").unwrap(), scene);
    let walls: String = ["-x", "+x", "-y"]
        .iter()
        .map(|w| format!("\"wall:{w}\" = {{ material = \"wood\", thickness_m = 0.1 }}\n"))
        .collect();
    let three = LAB.replace("wall = { material = \"concrete\", thickness_m = 0.1 }\n", &walls);
    assert!(refusal(&three).contains("surfaces.wall:+y: missing"), "{}", refusal(&three));
}

#[test]
fn a_material_of_the_scene_comes_before_the_library() {
    let own = format!("{LAB}\n[material.glass]\neps_r = 4.0\nsigma = 0.5\nmin_ghz = 9.0\nmax_ghz = 11.0\n");
    let scene = Scene::from_toml_str(&own, "file.toml").unwrap();
    let library = MaterialLibrary::shipped();
    assert_eq!(scene.resolve(&library, 10e9).unwrap().boxes[0].1, Slab::new(4.0, 0.5, 0.033));
    let message = scene.resolve(&library, 12e9).unwrap_err().to_string();
    assert!(message.contains("9-11 GHz"), "{message}");
    assert_eq!(Scene::from_toml_str(&scene.to_toml(), "again.toml").unwrap(), scene);
}

#[test]
fn refusals_name_line_key_and_expectation() {
    for (from, to, parts) in [
        (
            "size_m = [1.015, 0.033, 1.715]",
            "size_m = [1.015, -0.033, 1.715]",
            vec!["file.toml:22", "box[0].size_m", "positive"],
        ),
        ("size_m = [1.015, 0.033, 1.715]", "size_m = [1.015, nan, 1.715]", vec!["file.toml:22", "NaN"]),
        ("size_m = [1.015, 0.033, 1.715]", "size_m = [1.015, 0.033]", vec!["file.toml:22", "3"]),
        ("size_m = [1.015, 0.033, 1.715]", "size_m = \"big\"", vec!["file.toml:22", "string"]),
        ("size_m = [1.015, 0.033, 1.715]\n", "", vec!["file.toml:19", "size_m", "missing"]),
        ("yaw_deg = 0.0", "yaw = 0.0", vec!["file.toml:23", "unknown field `yaw`", "yaw_deg"]),
        ("yaw_deg = 0.0", "yaw_deg = inf", vec!["file.toml:23", "box[0].yaw_deg"]),
        ("x_m = [-1.403, 4.270]", "x_m = [4.270, -1.403]", vec!["file.toml:10", "room.x_m", "min < max"]),
        ("z_m = [0.0, 3.050]", "z_m = [0.0, 1e300]", vec!["file.toml:12", "room.z_m"]),
        ("device_height_m = 1.08", "device_height_m = 8", vec!["file.toml:7", "device_height_m", "inside the room"]),
        ("thickness_m = 0.033", "thickness_m = 0.0", vec!["file.toml:25", "box[0].thickness_m", "positive"]),
        ("floor = { material = \"marble\", thickness_m = 0.1 }", "", vec!["file.toml:14", "floor", "missing"]),
        ("name = \"lab_middle\"", "name = ", vec!["file.toml:5"]),
    ] {
        assert!(LAB.contains(from));
        let message = refusal(&LAB.replacen(from, to, 1));
        assert!(parts.iter().all(|part| message.contains(part)), "{to}: {message}");
    }
}

#[test]
fn an_unknown_material_is_named_with_its_key_and_the_known_ones() {
    let scene = Scene::from_toml_str(&LAB.replace("\"glass\"", "\"glas\""), "file.toml").unwrap();
    let message = scene.resolve(&MaterialLibrary::shipped(), 10e9).unwrap_err().to_string();
    assert!(["box[0].material", "`glas`", "glass", "marble"].iter().all(|part| message.contains(part)), "{message}");
}

#[test]
fn too_many_boxes_are_refused_in_files_and_in_memory() {
    let mut scene = Scene::load("lab_left").unwrap();
    scene.boxes = vec![scene.boxes[0].clone(); MAX_BOXES + 1];
    assert!(scene.check().unwrap_err().to_string().contains("at most 100000"));
    let message = refusal(&scene.to_toml());
    assert!(message.contains("at most 100000") && message.contains("file.toml:8000"), "{message}");
    scene.boxes.truncate(MAX_BOXES);
    assert_eq!(Scene::from_toml_str(&scene.to_toml(), "again.toml").unwrap(), scene);
}

#[test]
fn names_and_paths_that_lead_nowhere() {
    let message = Scene::load("lap").unwrap_err().to_string();
    assert!(message.contains("`lap`") && message.contains("lab_middle"), "{message}");
    let message = Scene::load("no/such/scene.toml").unwrap_err().to_string();
    assert!(message.contains("no/such/scene.toml"), "{message}");
    assert!(Scene::load(env!("CARGO_MANIFEST_DIR")).is_err(), "a directory is no scene");
}

#[test]
fn a_box_that_reaches_out_of_the_room_is_warned_of() {
    let mut scene = Scene::load("lab_left").unwrap();
    scene.boxes[0].shape.center.z = 0.5;
    assert_eq!(scene.warnings(), ["box[0] reaches out of the room"]);
    scene.check().unwrap();
}

fn any_scene() -> impl Strategy<Value = Scene> {
    let coordinate = -50.0..50.0f64;
    let shape = (
        [coordinate.clone(), coordinate.clone(), coordinate],
        [1e-3..20.0f64, 1e-3..20.0, 1e-3..20.0],
        -3.2..3.2f64,
        proptest::option::of(".*"),
        1e-4..1.0f64,
    );
    let boxes = proptest::collection::vec(shape, 0..5);
    (".{0,40}", 1.0..20.0f64, boxes, [0..3usize, 0..3, 0..3, 0..3, 0..3, 0..3]).prop_map(
        |(text, size, boxes, picks)| {
            let room = Room::from_bounds([-size, size, -2.0 * size, size, 0.0, 2.5]).unwrap();
            let layer = |pick: usize| Layer::new(["brick", "wood", "my.own-1"][pick], 0.1 + pick as f64 / 3.0);
            let mut scene = Scene::new("any", room, [layer(0), layer(1), layer(2)], 1.1);
            scene.description = text;
            scene.surfaces = picks.map(layer);
            scene.boxes = boxes
                .into_iter()
                .map(|(center, size, yaw, name, thickness)| SceneBox {
                    name,
                    shape: BoxShape { center: center.into(), size: size.into(), yaw },
                    layer: Layer::new("my.own-1", thickness),
                })
                .collect();
            scene.materials = vec![Material::measured("my.own-1", 3.0 + size, 0.01)];
            scene
        },
    )
}

proptest! {
    #[test]
    fn a_scene_survives_its_file(mut scene in any_scene()) {
        let mut again = Scene::from_toml_str(&scene.to_toml(), "again.toml").unwrap();
        for (a, b) in scene.boxes.iter_mut().zip(&mut again.boxes) {
            prop_assert!((a.shape.yaw - b.shape.yaw).abs() <= 2.0 * f64::EPSILON * a.shape.yaw.abs());
            (a.shape.yaw, b.shape.yaw) = (0.0, 0.0);
        }
        prop_assert_eq!(scene, again);
    }
}
