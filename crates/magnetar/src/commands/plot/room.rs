//! `magnetar plot room`.

use std::process::ExitCode;

use anyhow::bail;
use magnetar_report::figure::room_figure;
use magnetar_report::plan::{FloorPlan, PathColour, plan_paths};
use magnetar_scene::{BoxShape, Scene};
use magnetar_trace::Tracer;

use super::Output;
use crate::advice::at_its_line;
use crate::args::{PoseArg, parse_frequency_ghz};
use crate::commands::material::MaterialsArgs;
use crate::commands::propagation::PropagationArgs;

/// Flags of `magnetar plot room`.
#[derive(clap::Args)]
pub struct Args {
    /// A shipped scene's name or a scene file.
    scene: String,
    /// Transmitter: metres in the global frame (the scene's device height without Z), heading in degrees (0 if left out).
    #[arg(long, value_name = "X,Y[,Z[,YAW_DEG]]", allow_hyphen_values = true, requires = "rx")]
    tx: Option<PoseArg>,
    /// Receiver: as the transmitter.
    #[arg(long, value_name = "X,Y[,Z[,YAW_DEG]]", allow_hyphen_values = true, requires = "tx")]
    rx: Option<PoseArg>,
    #[command(flatten)]
    materials: MaterialsArgs,
    #[command(flatten)]
    propagation: PropagationArgs,
    /// Carrier frequency, GHz.
    #[arg(long, alias = "frequency-ghz", default_value = "10", value_name = "GHZ", value_parser = parse_frequency_ghz)]
    carrier_ghz: f64,
    /// What the colour of a path says.
    #[arg(long, value_enum, default_value = "surface")]
    colour: ColourArg,
    #[command(flatten)]
    output: Output,
}

/// What the colour of a path says.
#[derive(Clone, Copy, clap::ValueEnum)]
enum ColourArg {
    /// The kind of surface it meets.
    Surface,
    /// Its power relative to the strongest.
    Power,
}

/// Draws the plan; with TX and RX, the paths between them.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    args.output.check()?;
    let scene = Scene::load(&args.scene)?;
    let frequency_hz = args.carrier_ghz * 1e9;
    let resolved = scene.resolve(&args.materials.library()?, frequency_hz);
    let world = resolved.map_err(|error| at_its_line(&args.scene, error))?;
    let boxes: Vec<BoxShape> = scene.boxes.iter().map(|b| b.shape).collect();
    let link = match (&args.tx, &args.rx) {
        (Some(tx), Some(rx)) => Some((tx.in_scene(&scene), rx.in_scene(&scene))),
        (None, None) => None,
        _ => bail!("give both --tx and --rx, or neither"),
    };
    let options = args.propagation.options();
    let mut paths = Vec::new();
    if let Some((tx, rx)) = &link {
        let tracer = Tracer::new(world.room, &world.surfaces, &world.boxes, frequency_hz)?.with_options(options)?;
        let traced = tracer.trace(&tx.position, &rx.position)?;
        let power_db: Vec<f64> = traced.iter().map(|p| 20.0 * p.coefficient.norm().log10()).collect();
        paths = plan_paths(tx, rx, &traced, &power_db);
    }
    let rx: Vec<_> = link.iter().map(|(_, rx)| *rx).collect();
    let plan = FloorPlan { room: &scene.room, boxes: &boxes, tx: link.map(|(tx, _)| tx), rx: &rx, paths: &paths };
    let colour = match args.colour {
        ColourArg::Surface => PathColour::Surface,
        ColourArg::Power => PathColour::Power,
    };
    let caption = match link {
        Some(_) => format!(
            "Simulated: {} paths ({}) at {} GHz, isotropic antennas.",
            paths.len(),
            options.describe(),
            args.carrier_ghz
        ),
        None => scene.description.clone(),
    };
    args.output.write(&room_figure(&plan, &scene.name, &caption, colour, args.output.theme()))
}
