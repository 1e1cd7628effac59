//! Values that several subcommands take from the command line.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use magnetar_scene::{MAX_COORDINATE, Pose, Scene};

/// A pose given as `X,Y[,Z[,YAW_DEG]]`: metres in the global frame, heading in degrees counter-clockwise from +x (0 if
/// left out). Without Z, or with an empty one, the device is at its scene's device height.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoseArg {
    x: f64,
    y: f64,
    z: Option<f64>,
    heading: f64,
}

impl PoseArg {
    /// The pose in a scene.
    pub fn in_scene(&self, scene: &Scene) -> Pose {
        Pose::new(self.x, self.y, self.z.unwrap_or(scene.device_height), self.heading)
    }
}

impl FromStr for PoseArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const EXPECTED: &str = "expected X,Y[,Z[,YAW_DEG]], for example 0.98,2.28 or 0.98,2.28,1.08,-90";
        let parts: Vec<&str> = text.split(',').collect();
        if !(2..=4).contains(&parts.len()) {
            return Err(format!("{} numbers; {EXPECTED}", parts.len()));
        }
        let mut values = [None; 4];
        for ((value, part), name) in values.iter_mut().zip(&parts).zip(["X", "Y", "Z", "YAW_DEG"]) {
            *value = match part.trim().parse() {
                // Degrees have the same generous bound as metres.
                Ok(number) if f64::abs(number) <= MAX_COORDINATE => Some(number),
                Ok(number) => return Err(format!("{name} is {number:e}, out of range; {EXPECTED}")),
                Err(_) if name == "Z" && part.trim().is_empty() => None,
                Err(_) => return Err(format!("{name} is `{}`, not a number; {EXPECTED}", part.escape_debug())),
            };
        }
        let [x, y, z, yaw_deg] = values;
        let or_zero = |value: Option<f64>| value.unwrap_or(0.0);
        Ok(Self { x: or_zero(x), y: or_zero(y), z, heading: or_zero(yaw_deg).to_radians() })
    }
}

/// The number of a row or a set.
pub fn parse_number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "expected a whole number, 0 or larger; the first is 0".to_owned())
}

/// The name of a file to write, whose ending is that of its format.
fn named(text: &str, endings: &[&str]) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let fits = |ending: &&str| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending));
    match endings.iter().any(fits) {
        true => Ok(path),
        false => {
            Err(format!("expected a name that ends in .{}: the ending says what is written", endings.join(" or .")))
        }
    }
}

/// A NumPy array to write.
pub fn parse_npy_name(text: &str) -> Result<PathBuf, String> {
    named(text, &["npy"])
}

/// One array or a table of many to write.
pub fn parse_volumes_name(text: &str) -> Result<PathBuf, String> {
    named(text, &["npy", "parquet"])
}

/// A page to write.
pub fn parse_html_name(text: &str) -> Result<PathBuf, String> {
    named(text, &["html", "htm"])
}

/// A model to write.
pub fn parse_model_name(text: &str) -> Result<PathBuf, String> {
    named(text, &["safetensors"])
}

/// A TOML file to write.
pub fn parse_toml_name(text: &str) -> Result<PathBuf, String> {
    named(text, &["toml"])
}

/// A number of headings, rows or columns of a support.
pub fn parse_cells(text: &str) -> Result<usize, String> {
    const MOST: usize = 4096;
    match text.parse() {
        Ok(cells) if (1..=MOST).contains(&cells) => Ok(cells),
        _ => Err(format!("expected a whole number from 1 to {MOST} along each axis of the support")),
    }
}

/// A carrier frequency in GHz, 0.001 to 1000.
pub fn parse_frequency_ghz(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(ghz) if (0.001..=1000.0).contains(&ghz) => Ok(ghz),
        _ => Err("expected a frequency in GHz, 0.001 to 1000".to_owned()),
    }
}

/// A number of worker threads, 0 for one per core. Beyond the bound a machine would only start threads.
pub fn parse_threads(text: &str) -> Result<usize, String> {
    const MOST: usize = 1024;
    match text.parse() {
        Ok(threads) if threads <= MOST => Ok(threads),
        _ => Err(format!("expected a number of threads from 0 (one per core) to {MOST}")),
    }
}

/// Two numbers with something between them, such as `0..10` or `1/4`.
pub fn pair<T: FromStr>(text: &str, between: &str) -> Option<(T, T)> {
    let (a, b) = text.split_once(between)?;
    Some((a.trim().parse().ok()?, b.trim().parse().ok()?))
}

/// Refuses to write over what is read.
pub fn keep_inputs<'a>(out: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> anyhow::Result<()> {
    let Ok(target) = out.canonicalize() else { return Ok(()) };
    let lost = inputs.into_iter().any(|input| input.canonicalize().is_ok_and(|input| input == target));
    anyhow::ensure!(!lost, "{}: it is read and would be lost; give another name to write to", out.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poses_with_and_without_a_heading() {
        let lab = Scene::load("lab").unwrap();
        let pose = |text: &str| text.parse::<PoseArg>().unwrap().in_scene(&lab);
        assert_eq!(pose("1,-2.5,1.3"), Pose::new(1.0, -2.5, 1.3, 0.0));
        assert!((pose(" 1, -2.5, 1e0, 270").heading + std::f64::consts::FRAC_PI_2).abs() < 1e-12);
    }

    #[test]
    fn a_pose_without_z_is_at_the_scenes_device_height() {
        let mut scene = Scene::load("lab").unwrap();
        scene.device_height = 1.4;
        let pose = |text: &str| text.parse::<PoseArg>().unwrap().in_scene(&scene);
        assert_eq!(pose("1,-2.5"), Pose::new(1.0, -2.5, 1.4, 0.0));
        assert_eq!(pose("1,-2.5,"), pose("1,-2.5"));
        assert_eq!(pose("1,-2.5,,90"), pose("1,-2.5,1.4,90"));
    }

    #[test]
    fn what_is_not_a_pose_is_told() {
        for (text, reason) in [
            ("", "1 numbers"),
            (",2", "X is ``"),
            ("1,2,,", "YAW_DEG is ``"),
            ("1,2,3,4,5", "5 numbers"),
            ("1,x,3", "Y is `x`"),
        ] {
            assert!(text.parse::<PoseArg>().unwrap_err().contains(reason));
        }
        for text in ["1,2,nan", "1,2,inf", "1e300,2,3", "1,2,3,-inf"] {
            assert!(text.parse::<PoseArg>().unwrap_err().contains("out of range"), "{text}");
        }
    }

    #[test]
    fn what_is_read_is_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let (read, other) = (folder.path().join("a.toml"), folder.path().join("b.toml"));
        std::fs::write(&read, "").unwrap();
        let again = folder.path().join(".").join("a.toml");
        assert!(keep_inputs(&again, [&*read]).unwrap_err().to_string().contains("would be lost"));
        assert!(keep_inputs(&other, [&*read]).is_ok() && keep_inputs(&read, [&*other]).is_ok());
    }

    #[test]
    fn rows_are_counted_from_zero() {
        assert_eq!(parse_number("0"), Ok(0));
        for text in ["-1", "1.5", "", "first"] {
            assert!(parse_number(text).unwrap_err().contains("0 or larger"), "{text}");
        }
    }

    #[test]
    fn threads_are_bounded() {
        assert_eq!((parse_threads("0"), parse_threads("64")), (Ok(0), Ok(64)));
        for text in ["-1", "1025", "1000000000", "two"] {
            assert!(parse_threads(text).is_err(), "{text}");
        }
    }

    #[test]
    fn frequencies_are_bounded() {
        assert_eq!(parse_frequency_ghz("28"), Ok(28.0));
        for text in ["0", "-1", "nan", "1e9", "ten"] {
            assert!(parse_frequency_ghz(text).is_err(), "{text}");
        }
    }
}
