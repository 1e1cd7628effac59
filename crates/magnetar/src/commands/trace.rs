//! `magnetar trace`.

use std::process::ExitCode;

use anyhow::Context;
use magnetar_scene::{Pose, Scene, wrap};
use magnetar_trace::{Interaction, LeftOut, MAX_INTERACTIONS, Path, Surface, azimuth, elevation};
use nalgebra::Vector3;
use serde_json::{Value, json};

use super::link::{LinkArgs, TracedLink};
use super::propagation::PropagationArgs;
use crate::args::parse_frequency_ghz;
use crate::output::counted;

/// Flags of `magnetar trace`.
#[derive(clap::Args)]
#[command(after_help = "\
Columns: gain is 20 log10 |a|, phase the angle of a, with a the coefficient
between vertically polarised isotropic antennas, without the propagation phase
exp(-j 2 pi f tau). AoA and AoD are azimuth and elevation in degrees as the
device sees them: 0 is its heading, counter-clockwise; AoA points from the RX
toward the source. A path is named by what it meets from TX to RX, each with
its vertex; through:box0 is a passage through that box.

Examples:
  magnetar trace lab_middle --tx 0.98,2.28 --rx 1,-1            # both at the scene's device height
  magnetar trace lab --tx 0,0,1.08,90 --rx 1,-2,,-45 --json     # an empty Z is that height, too
  magnetar trace my_room.toml --tx 1,1,1.5 --rx 3,2,1.5 --carrier-ghz 28
  magnetar trace my_room.toml --tx 1,1 --rx 3,2 --materials my_materials.toml
  magnetar trace lab_middle --tx 0.98,2.28 --rx 1,-1 --max-order 3 --transmission")]
pub struct Args {
    #[command(flatten)]
    link: LinkArgs,
    #[command(flatten)]
    propagation: PropagationArgs,
    /// Carrier frequency, GHz.
    #[arg(long, alias = "frequency-ghz", default_value = "10", value_name = "GHZ", value_parser = parse_frequency_ghz, allow_hyphen_values = true)]
    carrier_ghz: f64,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Prints the paths of one link.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let frequency_hz = args.carrier_ghz * 1e9;
    let options = args.propagation.options();
    let TracedLink { scene, tx, rx, paths, left_out } = args.link.trace(frequency_hz, options)?;
    let rows: Vec<Row> = paths.iter().map(|path| Row::new(path, &scene, &tx, &rx)).collect();
    if args.json {
        let report = json!({
            "scene": scene.name,
            "frequency_hz": frequency_hz,
            "max_order": options.max_order,
            "transmission": options.transmission,
            "left_out": left_out_to_json(&left_out),
            "tx": pose_to_json(&tx),
            "rx": pose_to_json(&rx),
            "paths": rows.iter().map(Row::to_json).collect::<Vec<_>>(),
        });
        println!("{}", serde_json::to_string_pretty(&report).context("the paths cannot be written as JSON")?);
    } else {
        print(&scene, args.carrier_ghz, &rows);
        print_left_out(&left_out);
    }
    Ok(ExitCode::SUCCESS)
}

/// A direction in the global frame and in that of the device, degrees.
struct Angles {
    azimuth_deg: f64,
    elevation_deg: f64,
    local_azimuth_deg: f64,
}

impl Angles {
    fn new(direction: &Vector3<f64>, device: &Pose) -> Self {
        let bearing = azimuth(direction);
        Self {
            azimuth_deg: wrap(bearing).to_degrees(),
            // A zero has no sign on screens and in files.
            elevation_deg: elevation(direction).to_degrees() + 0.0,
            local_azimuth_deg: wrap(bearing - device.heading).to_degrees(),
        }
    }

    fn to_json(&self) -> Value {
        // A device turns about the vertical axis alone, so both frames have the same elevation.
        json!({
            "azimuth_deg": self.azimuth_deg,
            "elevation_deg": self.elevation_deg,
            "local_azimuth_deg": self.local_azimuth_deg,
            "local_elevation_deg": self.elevation_deg,
        })
    }
}

/// A path as it is shown.
struct Row<'a> {
    path: &'a Path,
    scene: &'a Scene,
    aoa: Angles,
    aod: Angles,
}

impl<'a> Row<'a> {
    fn new(path: &'a Path, scene: &'a Scene, tx: &Pose, rx: &Pose) -> Self {
        Self {
            path,
            scene,
            aoa: Angles::new(&path.geometry.arrival, rx),
            aod: Angles::new(&path.geometry.departure, tx),
        }
    }

    /// The user's name of the box an interaction is with.
    fn box_name(&self, interaction: &Interaction) -> Option<&str> {
        match interaction.surface {
            Surface::Box { index, .. } => self.scene.boxes.get(index as usize)?.name.as_deref(),
            Surface::Room(_) => None,
        }
    }

    fn gain_db(&self) -> f64 {
        20.0 * self.path.coefficient.norm().log10()
    }

    fn phase_deg(&self) -> f64 {
        wrap(self.path.coefficient.arg()).to_degrees()
    }

    fn to_json(&self) -> Value {
        let a = self.path.coefficient;
        let met = self.path.interactions();
        let interactions = met.iter().map(|interaction| {
            json!({
                "kind": interaction.kind.to_string(),
                "surface": interaction.surface.to_string(),
                "box": self.box_name(interaction),
                "vertex_m": interaction.vertex.coords.as_slice(),
            })
        });
        json!({
            "kind": self.path.kind().to_string(),
            "surface": met.to_string(),
            "box": met.first().and_then(|first| self.box_name(first)),
            "order": met.order(),
            "interactions": interactions.collect::<Vec<_>>(),
            "length_m": self.path.geometry.length,
            "delay_s": self.path.delay(),
            "coefficient": [a.re, a.im],
            "gain_db": self.gain_db(),
            "phase_deg": self.phase_deg(),
            "aoa": self.aoa.to_json(),
            "aod": self.aod.to_json(),
            "vertex_m": met.vertices().next().map(|v| [v.x, v.y, v.z]),
        })
    }
}

fn pose_to_json(pose: &Pose) -> Value {
    let p = pose.position;
    json!({ "position_m": [p.x, p.y, p.z], "heading_deg": pose.heading.to_degrees() })
}

/// What was left out, in JSON.
pub fn left_out_to_json(left_out: &LeftOut) -> Value {
    json!({ "other_faces": left_out.other_faces, "too_long": left_out.too_long })
}

/// Rounded for two decimals, with no sign on a zero.
fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0 + 0.0
}

/// What was left out, for people; nothing if nothing was.
pub fn print_left_out(left_out: &LeftOut) {
    if left_out.other_faces > 0 {
        let paths = counted(left_out.other_faces, "path");
        println!("left out: {paths} through faces of a box that are not opposite");
    }
    if left_out.too_long > 0 {
        let paths = counted(left_out.too_long, "path");
        println!("left out: {paths} with more than {MAX_INTERACTIONS} interactions");
    }
}

fn print(scene: &Scene, frequency_ghz: f64, rows: &[Row]) {
    println!("{}, {frequency_ghz} GHz, {}", scene.name, counted(rows.len(), "path"));
    let names: Vec<_> = rows.iter().map(|row| row.path.interactions().to_string()).collect();
    let kinds: Vec<_> = rows.iter().map(|row| row.path.kind().to_string()).collect();
    let longest = |texts: &[String], least: usize| texts.iter().map(String::len).fold(least, usize::max);
    let (wide_kind, wide_name) = (longest(&kinds, 9), longest(&names, 10));
    println!(
        "{:<wide_kind$} {:<wide_name$} {:>9} {:>9} {:>8} {:>9} {:>16} {:>16}  vertex (m)",
        "kind", "surface", "length m", "delay ns", "gain dB", "phase deg", "AoA az,el deg", "AoD az,el deg"
    );
    for ((row, kind), name) in rows.iter().zip(&kinds).zip(&names) {
        let angles = |a: &Angles| format!("{:.2}, {:.2}", hundredths(a.local_azimuth_deg), hundredths(a.elevation_deg));
        let vertices = row.path.interactions().vertices().map(|v| format!("{:.4}, {:.4}, {:.4}", v.x, v.y, v.z));
        let vertex =
            if row.path.geometry.is_line_of_sight() { "-".to_owned() } else { vertices.collect::<Vec<_>>().join("; ") };
        println!(
            "{kind:<wide_kind$} {name:<wide_name$} {:>9.4} {:>9.4} {:>8.2} {:>9.2} {:>16} {:>16}  {vertex}",
            row.path.geometry.length,
            row.path.delay() * 1e9,
            row.gain_db(),
            row.phase_deg(),
            angles(&row.aoa),
            angles(&row.aod),
        );
    }
}
