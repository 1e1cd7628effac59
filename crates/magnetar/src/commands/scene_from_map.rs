//! `magnetar scene from-map`.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use image::ImageFormat;
use magnetar_files::AtomicFile;
use magnetar_scene::occupancy_map::{OccupancyMap, RoomFit, fit_room, picture_of_fit};
use magnetar_scene::{Layer, Room, Scene};
use serde_json::json;

/// Flags of `magnetar scene from-map`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  magnetar scene from-map lab_map.yaml --out lab_scene.toml
  magnetar scene from-map lab_map.yaml --out lab_scene.toml --height-m 2.7 --wall brick --json

A map holds no heights and no materials: give them, or take the laboratory's.
The scene's frame is the map frame turned by the fitted yaw about the map's
origin, so that the walls lie along x and y.")]
pub struct Args {
    /// The map's YAML file, as written by ROS map_server; its image is PGM or PNG.
    map: PathBuf,
    /// The scene file to write. A picture of the fit goes beside it, with the ending .png.
    #[arg(long, short, value_name = "FILE.toml")]
    out: PathBuf,
    /// The scene's name; that of the output file if not given.
    #[arg(long)]
    name: Option<String>,
    /// Height of the room, metres; the laboratory's if not given.
    #[arg(long, value_name = "M")]
    height_m: Option<f64>,
    /// Material of the walls; the laboratory's if not given.
    #[arg(long, value_name = "MATERIAL")]
    wall: Option<String>,
    /// Material of the ceiling; the laboratory's if not given.
    #[arg(long, value_name = "MATERIAL")]
    ceiling: Option<String>,
    /// Material of the floor; the laboratory's if not given.
    #[arg(long, value_name = "MATERIAL")]
    floor: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Fits a room to a map, and writes the scene and a picture of the fit.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.out.extension().is_none_or(|ending| ending != "toml") {
        bail!("--out {}: expected a file ending in .toml", args.out.display());
    }
    let map = OccupancyMap::load(&args.map)?;
    let fit = fit_room(&map).with_context(|| args.map.display().to_string())?;
    let scene = scene_of(args, &fit)?;
    let picture = args.out.with_extension("png");
    let mut png = Cursor::new(Vec::new());
    picture_of_fit(&map, &fit).write_to(&mut png, ImageFormat::Png)?;
    write(&picture, &png.into_inner())?;
    write(&args.out, scene.to_toml().as_bytes())?;
    let [x0, x1, y0, y1] = fit.bounds;
    if args.json {
        let report = json!({
            "scene": args.out, "picture": picture,
            "room": { "x_min_m": x0, "x_max_m": x1, "y_min_m": y0, "y_max_m": y1 },
            "yaw_deg": fit.yaw.to_degrees(), "residual_m": fit.residual_m,
            "coverage": { "wall:-x": fit.coverage[0], "wall:+x": fit.coverage[1],
                          "wall:-y": fit.coverage[2], "wall:+y": fit.coverage[3] },
        });
        println!("{report:#}");
    } else {
        println!("room        {:.3} x {:.3} m: x [{x0:.3}, {x1:.3}], y [{y0:.3}, {y1:.3}] m", x1 - x0, y1 - y0);
        println!("turn        {:.2} deg in the map frame", fit.yaw.to_degrees());
        println!("residual    {:.3} m rms of the wall cells", fit.residual_m);
        let seen = fit.coverage.map(|c| format!("{:.0} %", 100.0 * c));
        println!("walls seen  -x {}, +x {}, -y {}, +y {}", seen[0], seen[1], seen[2], seen[3]);
        println!("written     {} and {}", args.out.display(), picture.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn scene_of(args: &Args, fit: &RoomFit) -> anyhow::Result<Scene> {
    let lab = Scene::load("lab")?;
    let [x0, x1, y0, y1] = fit.bounds;
    let height = args.height_m.unwrap_or(lab.room.max.z - lab.room.min.z);
    let room = Room::from_bounds([x0, x1, y0, y1, 0.0, height])
        .with_context(|| format!("--height-m {height}: expected a height above 0 m"))?;
    let layer = |given: &Option<String>, of_lab: &Layer| match given {
        Some(material) => Layer::new(material, of_lab.thickness),
        None => of_lab.clone(),
    };
    let layers = [
        layer(&args.wall, &lab.surfaces[0]),
        layer(&args.ceiling, &lab.surfaces[5]),
        layer(&args.floor, &lab.surfaces[4]),
    ];
    let name = match &args.name {
        Some(name) => name.clone(),
        None => args.out.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
    };
    let mut scene = Scene::new(&name, room, layers, lab.device_height.min(height / 2.0));
    scene.description = format!(
        "Fitted to an occupancy map: its frame is the map frame turned by {:.3} deg about the map's origin; residual {:.3} m rms. \
         Height and materials were not measured.",
        -fit.yaw.to_degrees(),
        fit.residual_m
    );
    scene.check()?;
    Ok(scene)
}

fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    AtomicFile::write(path, bytes).with_context(|| format!("{}: could not be written", path.display()))
}
