//! Where snapshots were taken: poses on the command line or in a file.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use magnetar_files::read_text;
use magnetar_scene::{MAX_COORDINATE, Pose, Scene};
use serde::Deserialize;

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

/// One pose of a file.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct PoseLine {
    x: f64,
    y: f64,
    z: Option<f64>,
    heading_deg: f64,
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
        let pose = |p: &PoseLine| Pose::new(p.x, p.y, p.z.unwrap_or(scene.device_height), p.heading_deg.to_radians());
        Ok(lines.iter().map(pose).collect())
    }
}

fn read(path: &Path) -> anyhow::Result<Vec<PoseLine>> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    let text = read_text(path, MAX_BYTES).with_context(|| path.display().to_string())?;
    let lines = match ending.as_str() {
        "csv" => csv(&text),
        "jsonl" => json_lines(&text),
        _ => bail!("{}: expected a name that ends in .csv or .jsonl", path.display()),
    };
    let place = |(line, problem): (usize, String)| anyhow::anyhow!("{}:{line}: {problem}", path.display());
    lines.map_err(place)
}

/// A pose whose numbers make sense, or what is wrong with them.
fn checked(pose: PoseLine) -> Result<PoseLine, String> {
    let sane = |x: f64| x.abs() <= MAX_COORDINATE;
    if sane(pose.x) && sane(pose.y) && sane(pose.heading_deg) && pose.z.is_none_or(sane) {
        Ok(pose)
    } else {
        Err(format!("expected numbers within +-{MAX_COORDINATE}"))
    }
}

fn json_lines(text: &str) -> Result<Vec<PoseLine>, (usize, String)> {
    let numbered = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let pose = |line: &str| serde_json::from_str(line).map_err(|e| e.to_string()).and_then(checked);
    numbered.map(|(n, line)| pose(line).map_err(|problem| (n + 1, problem))).collect()
}

fn csv(text: &str) -> Result<Vec<PoseLine>, (usize, String)> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let header: Vec<&str> = lines.next().map(|(_, line)| line.split(',').map(str::trim).collect()).unwrap_or_default();
    let column = |name: &str| header.iter().position(|found| *found == name);
    let (Some(x), Some(y), Some(heading)) = (column("x"), column("y"), column("heading_deg")) else {
        return Err((
            1,
            format!("the header is {:?}; expected x,y,heading_deg, and z if there is one", header.join(",")),
        ));
    };
    let z = column("z");
    lines
        .map(|(n, line)| {
            let cells: Vec<&str> = line.split(',').map(str::trim).collect();
            let number = |column: usize| {
                let cell = cells.get(column).copied().unwrap_or_default();
                cell.parse::<f64>().map_err(|_| (n + 1, format!("{} is {cell:?}, not a number", header[column])))
            };
            let z = z.map(number).transpose()?;
            let pose = PoseLine { x: number(x)?, y: number(y)?, z, heading_deg: number(heading)? };
            checked(pose).map_err(|problem| (n + 1, problem))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_objects_give_the_same_poses() {
        let expected = vec![
            PoseLine { x: 1.0, y: -2.5, z: None, heading_deg: 90.0 },
            PoseLine { x: 0.0, y: 3.0, z: None, heading_deg: -10.0 },
        ];
        assert_eq!(csv("x, y, note, heading_deg\n1,-2.5,a,90\n\n0,3,b,-10\n"), Ok(expected.clone()));
        let lines = "{\"x\":1,\"y\":-2.5,\"heading_deg\":90}\n{\"x\":0,\"y\":3.0,\"heading_deg\":-10}\n";
        assert_eq!(json_lines(lines), Ok(expected));
        assert_eq!(csv("x,y,z,heading_deg\n1,2,1.2,0").unwrap()[0].z, Some(1.2));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        assert_eq!(csv("x,y\n1,2").unwrap_err().0, 1);
        assert_eq!(csv("").unwrap_err().0, 1);
        assert_eq!(csv("x,y,heading_deg\n1,2,3\n1,two,3").unwrap_err(), (3, "y is \"two\", not a number".to_owned()));
        assert_eq!(csv("x,y,heading_deg\n1,2").unwrap_err().0, 2);
        assert_eq!(csv("x,y,heading_deg\n1,2,1e300").unwrap_err().0, 2);
        assert_eq!(json_lines("{\"x\":1,\"y\":2,\"heading_deg\":3}\n{\"x\":1}").unwrap_err().0, 2);
    }
}
