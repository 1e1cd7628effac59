//! What the commands about one link share: a scene, its materials, TX and RX.

use magnetar_scene::{Pose, ResolvedScene, Scene};
use magnetar_trace::{LeftOut, Path, TraceOptions, Tracer};

use super::material::MaterialsArgs;
use crate::advice::at_its_line;
use crate::args::PoseArg;

/// Flags of every command that traces one link.
#[derive(clap::Args)]
pub struct LinkArgs {
    /// A shipped scene's name or a scene file.
    scene: String,
    /// Transmitter: metres in the global frame (the scene's device height without Z), heading in degrees (0 if left out).
    #[arg(long, value_name = "X,Y[,Z[,YAW_DEG]]", allow_hyphen_values = true)]
    tx: PoseArg,
    /// Receiver: as the transmitter.
    #[arg(long, value_name = "X,Y[,Z[,YAW_DEG]]", allow_hyphen_values = true)]
    rx: PoseArg,
    #[command(flatten)]
    materials: MaterialsArgs,
}

/// A link and its paths.
pub struct TracedLink {
    /// The world.
    pub scene: Scene,
    /// The TX.
    pub tx: Pose,
    /// The RX.
    pub rx: Pose,
    /// The paths between them, the direct one first, then by delay.
    pub paths: Vec<Path>,
    /// What was found and left out.
    pub left_out: LeftOut,
}

impl LinkArgs {
    /// Loads the scene: with its materials at a carrier, and the devices in it.
    pub fn load(&self, frequency_hz: f64) -> anyhow::Result<(Scene, ResolvedScene, [Pose; 2])> {
        let scene = Scene::load(&self.scene)?;
        let resolved = scene.resolve(&self.materials.library()?, frequency_hz);
        let world = resolved.map_err(|error| at_its_line(&self.scene, error))?;
        let devices = [self.tx, self.rx].map(|pose| pose.in_scene(&scene));
        Ok((scene, world, devices))
    }

    /// Loads the scene and traces the link at a carrier.
    pub fn trace(&self, frequency_hz: f64, options: TraceOptions) -> anyhow::Result<TracedLink> {
        let (scene, world, [tx, rx]) = self.load(frequency_hz)?;
        let tracer = Tracer::new(world.room, &world.surfaces, &world.boxes, frequency_hz)?.with_options(options)?;
        let mut paths = Vec::new();
        let left_out = tracer.trace_into(&tx.position, &rx.position, &mut paths)?;
        paths.sort_by(|a, b| a.geometry.listing_order(&b.geometry));
        Ok(TracedLink { scene, tx, rx, paths, left_out })
    }
}
