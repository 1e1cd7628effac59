//! `magnetar scene`.

use std::process::ExitCode;

use clap::Subcommand;
use magnetar_scene::{Face, Layer, MaterialLibrary, Scene, Slab};
use serde_json::{Map, Value, json};

use super::check_files::{Accepted, CheckArgs, ListArgs};
use super::material::MaterialsArgs;
use super::scene_from_map;
use crate::advice::at_its_line;
use crate::args::parse_frequency_ghz;
use crate::output::counted;

/// What `magnetar scene` does.
#[derive(Subcommand)]
#[command(after_help = "\
Examples:
  magnetar scene list
  magnetar scene show lab_middle
  magnetar scene show lab --toml > my_room.toml
  magnetar scene check my_room.toml --materials my_materials.toml
  magnetar scene from-map lab_map.yaml --out my_room.toml")]
pub enum Action {
    /// List the shipped scenes.
    List(ListArgs),
    /// Show a scene: room, surfaces, boxes, and its materials at the carrier.
    Show {
        /// A shipped scene's name or a scene file.
        scene: String,
        /// Print one JSON object.
        #[arg(long, conflicts_with = "toml")]
        json: bool,
        /// Print a scene file, to start a scene of your own from.
        #[arg(long)]
        toml: bool,
        #[command(flatten)]
        world: WorldArgs,
    },
    /// Check scene files: values, materials and their frequency ranges. Exit code 1 if any is refused.
    Check {
        #[command(flatten)]
        files: CheckArgs,
        #[command(flatten)]
        world: WorldArgs,
    },
    /// Fit a room to a robot's occupancy map (ROS map_server) and write it as a scene.
    FromMap(scene_from_map::Args),
}

/// What a scene is resolved with.
#[derive(clap::Args)]
pub struct WorldArgs {
    #[command(flatten)]
    materials: MaterialsArgs,
    /// Carrier frequency, GHz.
    #[arg(long, alias = "frequency-ghz", default_value = "10", value_name = "GHZ", value_parser = parse_frequency_ghz)]
    carrier_ghz: f64,
}

/// Lists, shows or checks scenes.
pub fn run(action: &Action) -> anyhow::Result<ExitCode> {
    match action {
        Action::List(args) => list(args.json),
        Action::Show { scene, json, toml, world } => show(scene, *json, *toml, world),
        Action::Check { files, world } => {
            let materials = world.materials.library()?;
            Ok(files.run(|name| check(name, &materials, world.carrier_ghz * 1e9)))
        }
        Action::FromMap(args) => scene_from_map::run(args),
    }
}

fn list(as_json: bool) -> anyhow::Result<ExitCode> {
    let scenes = Scene::shipped_names().map(Scene::load).collect::<Result<Vec<_>, _>>()?;
    if as_json {
        let entry = |s: &Scene| json!({ "name": s.name, "boxes": s.boxes.len(), "description": s.description });
        println!("{:#}", Value::from(scenes.iter().map(entry).collect::<Vec<_>>()));
    } else {
        println!("{:<12} {:>5}  description", "name", "boxes");
        for scene in &scenes {
            println!("{:<12} {:>5}  {}", scene.name, scene.boxes.len(), scene.description);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn show(name: &str, as_json: bool, as_toml: bool, world: &WorldArgs) -> anyhow::Result<ExitCode> {
    let scene = Scene::load(name)?;
    if as_toml {
        print!("{}", scene.to_toml());
        return Ok(ExitCode::SUCCESS);
    }
    let resolved = scene
        .resolve(&world.materials.library()?, world.carrier_ghz * 1e9)
        .map_err(|error| at_its_line(name, error))?;
    if as_json {
        let surfaces = Face::ALL.iter().zip(&scene.surfaces).zip(&resolved.surfaces);
        let surfaces = surfaces.map(|((face, layer), slab)| (label(*face), layer_to_json(layer, slab)));
        let boxes = scene.boxes.iter().zip(&resolved.boxes).map(|(b, (shape, slab))| {
            json!({
                "name": b.name,
                "center_m": [shape.center.x, shape.center.y, shape.center.z],
                "size_m": [shape.size.x, shape.size.y, shape.size.z],
                "yaw_deg": shape.yaw.to_degrees(),
                "surface": layer_to_json(&b.layer, slab),
            })
        });
        let report = json!({
            "name": scene.name,
            "description": scene.description,
            "frequency_hz": world.carrier_ghz * 1e9,
            "device_height_m": scene.device_height,
            "room_m": scene.room.bounds(),
            "surfaces": surfaces.collect::<Map<_, _>>(),
            "boxes": boxes.collect::<Vec<_>>(),
            "warnings": scene.warnings(),
        });
        println!("{report:#}");
        return Ok(ExitCode::SUCCESS);
    }
    println!("{}: {}", scene.name, scene.description);
    let [x0, x1, y0, y1, z0, z1] = scene.room.bounds();
    println!("room      x [{x0}, {x1}]  y [{y0}, {y1}]  z [{z0}, {z1}] m");
    println!("devices   {} m high by default", scene.device_height);
    println!("\n{:<10} {:<16} {:>11} {:>8} {:>10}", "surface", "material", "thickness m", "eps_r", "sigma S/m");
    let row = |name: &str, layer: &Layer, slab: &Slab| {
        let (eps_r, sigma) = (slab.eps_r, slab.sigma);
        format!("{name:<10} {:<16} {:>11} {eps_r:>8.4} {sigma:>10.6}", layer.material, layer.thickness)
    };
    for ((face, layer), slab) in Face::ALL.iter().zip(&scene.surfaces).zip(&resolved.surfaces) {
        println!("{}", row(&label(*face), layer, slab));
    }
    for (i, (b, (shape, slab))) in scene.boxes.iter().zip(&resolved.boxes).enumerate() {
        let (c, s) = (shape.center, shape.size);
        println!(
            "{}  {} centre ({}, {}, {}), size {} x {} x {} m, yaw {:.4} deg",
            row(&format!("box{i}"), &b.layer, slab),
            b.name.as_deref().unwrap_or(""),
            c.x,
            c.y,
            c.z,
            s.x,
            s.y,
            s.z,
            shape.yaw.to_degrees()
        );
    }
    println!("\neps_r and sigma at {} GHz", world.carrier_ghz);
    scene.warnings().iter().for_each(|warning| println!("warning: {warning}"));
    Ok(ExitCode::SUCCESS)
}

fn check(name: &str, materials: &MaterialLibrary, frequency_hz: f64) -> anyhow::Result<Accepted> {
    let scene = Scene::load(name)?;
    scene.resolve(materials, frequency_hz).map_err(|error| at_its_line(name, error))?;
    let boxes = scene.boxes.len();
    Ok(Accepted {
        summary: counted(boxes, "box"),
        keys: Map::from_iter([("boxes".to_owned(), json!(boxes))]),
        warnings: scene.warnings(),
    })
}

/// The name of an outer surface, as in scene files and path tables.
fn label(face: Face) -> String {
    magnetar_trace::Surface::Room(face).to_string()
}

fn layer_to_json(layer: &Layer, slab: &Slab) -> Value {
    json!({
        "material": layer.material,
        "thickness_m": layer.thickness,
        "eps_r": slab.eps_r,
        "sigma_s_per_m": slab.sigma,
    })
}
