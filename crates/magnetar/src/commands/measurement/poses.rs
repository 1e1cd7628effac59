//! Where snapshots were taken: poses on the command line or in a file.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use magnetar_dataset::{TablePose, poses_from_csv, poses_from_json_lines};
use magnetar_files::read_text;
use magnetar_scene::{Pose, Scene};

use crate::args::PoseArg;

/// A file of poses larger than this is a mistake.
const MAX_BYTES: u64 = 64 << 20;

/// Flags of where snapshots were taken.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
pub struct Poses {
    /// Receiver of each snapshot, in their order: metres in the global frame (the scene's device height without Z),
    /// heading in degrees. Given once, it serves all snapshots.
    #[arg(long, value_name = "X,Y[,Z[,YAW_DEG]]", allow_hyphen_values = true)]
    rx: Vec<PoseArg>,
    /// File of receiver poses, one per snapshot: .csv with the header x,y,heading_deg (and z), or .jsonl of such objects.
    #[arg(long, value_name = "FILE")]
    poses: Option<PathBuf>,
}

impl Poses {
    /// The pose of each of `count` snapshots.
    pub fn of(&self, scene: &Scene, count: usize) -> anyhow::Result<Vec<Pose>> {
        let Some(path) = &self.poses else {
            let poses: Vec<Pose> = self.rx.iter().map(|pose| pose.in_scene(scene)).collect();
            return match poses[..] {
                [one] => Ok(vec![one; count]),
                _ if poses.len() == count => Ok(poses),
                _ => bail!("--rx is given {} times for {count} snapshots; give it once, or once each", poses.len()),
            };
        };
        let lines = read(path)?;
        ensure!(
            lines.len() == count,
            "{}: {} poses for {count} snapshots; expected one each",
            path.display(),
            lines.len()
        );
        let pose = |p: &TablePose| Pose::new(p.x, p.y, p.z.unwrap_or(scene.device_height), p.heading_deg.to_radians());
        Ok(lines.iter().map(pose).collect())
    }
}

fn read(path: &Path) -> anyhow::Result<Vec<TablePose>> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    let text = read_text(path, MAX_BYTES).with_context(|| path.display().to_string())?;
    let lines = match ending.as_str() {
        "csv" => poses_from_csv(&text),
        "jsonl" => poses_from_json_lines(&text),
        _ => bail!("{}: expected a name that ends in .csv or .jsonl", path.display()),
    };
    lines.map_err(|e| anyhow::anyhow!("{}:{}: {}", path.display(), e.line, e.problem))
}
