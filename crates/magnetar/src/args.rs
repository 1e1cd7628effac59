//! Values that several subcommands take from the command line.

use std::str::FromStr;

use magnetar_scene::{MAX_COORDINATE, Pose};

/// A pose given as `X,Y,Z[,YAW_DEG]`: metres in the global frame, heading in degrees counter-clockwise from +x (0 if
/// left out).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoseArg(pub Pose);

impl FromStr for PoseArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const EXPECTED: &str = "expected X,Y,Z or X,Y,Z,YAW_DEG, for example 0.98,2.28,1.08,-90";
        let parts: Vec<&str> = text.split(',').collect();
        if !(3..=4).contains(&parts.len()) {
            return Err(format!("{} numbers; {EXPECTED}", parts.len()));
        }
        let mut values = [0.0; 4];
        for ((value, part), name) in values.iter_mut().zip(&parts).zip(["X", "Y", "Z", "YAW_DEG"]) {
            *value = match part.trim().parse() {
                // Degrees have the same generous bound as metres.
                Ok(number) if f64::abs(number) <= MAX_COORDINATE => number,
                Ok(number) => return Err(format!("{name} is {number}, out of range; {EXPECTED}")),
                Err(_) => return Err(format!("{name} is `{}`, not a number; {EXPECTED}", part.escape_debug())),
            };
        }
        let [x, y, z, yaw_deg] = values;
        Ok(Self(Pose::new(x, y, z, yaw_deg.to_radians())))
    }
}

/// A carrier frequency in GHz, 0.001 to 1000.
pub fn parse_frequency_ghz(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(ghz) if (0.001..=1000.0).contains(&ghz) => Ok(ghz),
        _ => Err("expected a frequency in GHz, 0.001 to 1000".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poses_with_and_without_a_heading() {
        let PoseArg(pose) = "1,-2.5,1.08".parse().unwrap();
        assert_eq!(pose, Pose::new(1.0, -2.5, 1.08, 0.0));
        let PoseArg(pose) = " 1, -2.5, 1e0, 270".parse().unwrap();
        assert!((pose.heading + std::f64::consts::FRAC_PI_2).abs() < 1e-12);
    }

    #[test]
    fn what_is_not_a_pose_is_told() {
        for (text, reason) in
            [("", "1 numbers"), ("1,2", "2 numbers"), ("1,2,3,4,5", "5 numbers"), ("1,x,3", "Y is `x`")]
        {
            assert!(text.parse::<PoseArg>().unwrap_err().contains(reason));
        }
        for text in ["1,2,nan", "1,2,inf", "1e300,2,3", "1,2,3,-inf"] {
            assert!(text.parse::<PoseArg>().unwrap_err().contains("out of range"), "{text}");
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
