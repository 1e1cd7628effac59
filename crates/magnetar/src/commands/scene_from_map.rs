//! `magnetar scene from-map`.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use image::ImageFormat;
use magnetar_files::AtomicFile;
use magnetar_scene::occupancy_map::{
    Doubt, MapError, Obstacle, OccupancyMap, RoomFit, doubts, fit_room, obstacles, picture_of_fit, picture_of_map,
};
use magnetar_scene::{BoxShape, Layer, Room, Scene, SceneBox};
use nalgebra::{Point3, Vector3};
use serde_json::json;

use crate::args::keep_inputs;
use crate::progress;

/// Most boxes of a scene that is made of a map, the largest first.
const MAX_BOXES: usize = 200;
/// Thickness of a box's sides, metres.
const BOX_THICKNESS_M: f64 = 0.02;

/// Flags of `magnetar scene from-map`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  magnetar scene from-map lab_map.yaml --out lab_scene.toml
  magnetar scene from-map lab_map.yaml --out lab_scene.toml --height-m 2.7 --wall brick --json
  magnetar scene from-map floor.yaml --out office.toml --inside 12.5,-3 --boxes
  magnetar scene from-map floor.yaml --out office.toml --crop 10,-6,18,0

A map holds no heights and no materials: give them, or take the laboratory's.
The scene's frame is the map frame turned by the fitted yaw about the map's
origin, so that the walls lie along x and y. What speaks against a fit is a
warning with its figure; a fit that two things speak against, or that holds
several rooms, is refused (see --accept). Look at the picture, which is written
also then, and where no room was found.")]
pub struct Args {
    /// The map's YAML file, as written by ROS map_server; its image is PGM, PNG or BMP.
    map: PathBuf,
    /// The scene file to write. A picture of the fit goes beside it, with the ending .png.
    #[arg(short, long, value_name = "FILE.toml")]
    out: PathBuf,
    /// Look only at a window of the map: two corners in the map frame, metres.
    #[arg(long, value_name = "X0,Y0,X1,Y1", value_parser = numbers::<4>, allow_hyphen_values = true)]
    crop: Option<[f64; 4]>,
    /// Look only at the room around a point of the map frame, metres; rooms end at doors.
    #[arg(long, value_name = "X,Y", value_parser = numbers::<2>, allow_hyphen_values = true)]
    inside: Option<[f64; 2]>,
    /// Take a fit that would be refused, with its warnings.
    #[arg(long)]
    accept: bool,
    /// Make boxes of what stands clear of the walls.
    #[arg(long)]
    boxes: bool,
    /// Height of these boxes, metres: a map holds none.
    #[arg(long, value_name = "M", default_value_t = 1.0, requires = "boxes")]
    box_height_m: f64,
    /// Material of these boxes.
    #[arg(long, value_name = "MATERIAL", default_value = "wood", requires = "boxes")]
    box_material: String,
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
    let whole = OccupancyMap::load(&args.map).map_err(|error| {
        let (map, text) = (args.map.display().to_string(), error.to_string());
        // What is wrong with the image has the image's name.
        if text.contains(&map) { error.into() } else { anyhow::Error::from(error).context(format!("{map}: its image")) }
    })?;
    whole.notes().iter().for_each(|note| note!("note: {}: {note}", args.map.display()));
    let part = select(args, &whole).with_context(|| args.map.display().to_string())?;
    let map = part.as_ref().unwrap_or(&whole);
    keep_inputs(&args.out, [&*args.map])?;
    let picture = picture_beside(&args.out, whole.image());
    let fitting = progress::phase("fitting a room to the map");
    let fit = match fit_room(map) {
        Ok(fit) => fit,
        Err(error) => {
            write_picture(&picture, &picture_of_map(map))?;
            bail!(
                "{}: {error}; the map as it was read is in {}; --inside X,Y or --crop looks at one room of several",
                args.map.display(),
                picture.display()
            );
        }
    };
    let doubts = doubts(map, &fit);
    if Doubt::refuse(&doubts) && !args.accept {
        write_picture(&picture, &picture_of_fit(map, &fit))?;
        let [x0, x1, y0, y1] = fit.bounds;
        let against: Vec<String> = doubts.iter().map(Doubt::to_string).collect();
        bail!(
            "{}: the room that fits best, {:.1} x {:.1} m, is probably none: {}. It is in {}; --inside X,Y or --crop looks at \
             one room of several, --accept takes it all the same",
            args.map.display(),
            x1 - x0,
            y1 - y0,
            against.join("; "),
            picture.display()
        );
    }
    doubts.iter().for_each(|doubt| eprintln!("warning: {}: {doubt}", args.map.display()));
    let standing = obstacles(map, &fit);
    drop(fitting);
    let scene = scene_of(args, &fit, if args.boxes { &standing } else { &[] })?;
    write_picture(&picture, &picture_of_fit(map, &fit))?;
    write(&args.out, scene.to_toml().as_bytes())?;
    let left_out = if args.boxes { standing.len() - scene.boxes.len() } else { standing.len() };
    let [x0, x1, y0, y1] = fit.bounds;
    if args.json {
        let report = json!({
            "scene": args.out, "picture": picture,
            "room": { "x_min_m": x0, "x_max_m": x1, "y_min_m": y0, "y_max_m": y1 },
            "yaw_deg": fit.yaw.to_degrees(), "residual_m": fit.residual_m,
            "coverage": { "wall:-x": fit.coverage[0], "wall:+x": fit.coverage[1],
                          "wall:-y": fit.coverage[2], "wall:+y": fit.coverage[3] },
            "warnings": doubts.iter().map(Doubt::to_string).collect::<Vec<_>>(), "boxes": scene.boxes.len(), "obstacles_left_out": left_out,
        });
        println!("{report:#}");
    } else {
        println!("room        {:.3} x {:.3} m: x [{x0:.3}, {x1:.3}], y [{y0:.3}, {y1:.3}] m", x1 - x0, y1 - y0);
        println!("turn        {:.2} deg in the map frame", fit.yaw.to_degrees());
        println!("residual    {:.3} m rms of the wall cells", fit.residual_m);
        let seen = fit.coverage.map(|c| format!("{:.0} %", 100.0 * c));
        println!("walls seen  -x {}, +x {}, -y {}, +y {}", seen[0], seen[1], seen[2], seen[3]);
        match (scene.boxes.len(), left_out) {
            (0, 0) => {}
            (0, n) => println!("left out    {n} obstacles inside the room; --boxes makes boxes of them"),
            (n, 0) => println!("boxes       {n}, of stated height and material"),
            (n, m) => println!("boxes       {n}, of stated height and material; {m} smaller ones left out"),
        }
        println!("written     {} and {}", args.out.display(), picture.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// The part of the map asked for, if any.
fn select(args: &Args, map: &OccupancyMap) -> Result<Option<OccupancyMap>, MapError> {
    let cropped = args.crop.map(|window| map.within(window)).transpose()?;
    match args.inside {
        Some(point) => cropped.as_ref().unwrap_or(map).room_around(point).map(Some),
        None => Ok(cropped),
    }
}

fn write_picture(path: &Path, picture: &image::RgbImage) -> anyhow::Result<()> {
    let mut png = Cursor::new(Vec::new());
    picture.write_to(&mut png, ImageFormat::Png)?;
    write(path, &png.into_inner())
}

/// So many numbers with commas between them.
fn numbers<const N: usize>(text: &str) -> Result<[f64; N], String> {
    let values: Option<Vec<f64>> =
        text.split(',').map(|x| x.trim().parse().ok().filter(|v: &f64| v.is_finite())).collect();
    let expected = || format!("expected {N} numbers with commas between them");
    values.ok_or_else(expected)?.try_into().map_err(|_| expected())
}

fn scene_of(args: &Args, fit: &RoomFit, standing: &[Obstacle]) -> anyhow::Result<Scene> {
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
    ensure!(
        args.box_height_m > 0.0 && args.box_height_m <= height,
        "--box-height-m {}: expected a height above 0 and at most the room's {height} m",
        args.box_height_m
    );
    for (n, obstacle) in standing.iter().take(MAX_BOXES).enumerate() {
        let [x0, x1, y0, y1] = obstacle.bounds;
        scene.boxes.push(SceneBox {
            name: Some(format!("obstacle{n}")),
            shape: BoxShape {
                center: Point3::new(f64::midpoint(x0, x1), f64::midpoint(y0, y1), args.box_height_m / 2.0),
                size: Vector3::new(x1 - x0, y1 - y0, args.box_height_m),
                yaw: 0.0,
            },
            layer: Layer::new(&args.box_material, BOX_THICKNESS_M),
        });
    }
    scene.check()?;
    Ok(scene)
}

fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    AtomicFile::write(path, bytes).with_context(|| format!("{}: could not be written", path.display()))
}

/// Where the fit is drawn: beside the scene, under its name, unless that is the map's own image.
fn picture_beside(out: &Path, image: Option<&Path>) -> PathBuf {
    let named = out.with_extension("png");
    if keep_inputs(&named, image).is_ok() { named } else { out.with_extension("fit.png") }
}
