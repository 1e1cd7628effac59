//! How a measured receiver is mounted: what its antennas' poses are, given those that the robot and the campaign report.

use magnetar_scene::{Pose, wrap};
use serde::{Deserialize, Serialize};

/// What is added to the poses of measurements before they are used (`magnetar calibrate` finds it); simulated rows have
/// the poses of the antennas themselves. All zero by default.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Mounting {
    /// Added to the RX's heading, degrees.
    pub rx_heading_deg: f64,
    /// Added to the RX's x, global frame, metres.
    pub rx_x_m: f64,
    /// Added to the RX's y, global frame, metres.
    pub rx_y_m: f64,
    /// Added to the TX's heading, degrees.
    pub tx_heading_deg: f64,
}

magnetar_signal::key_ranges! {
    "mounting", Mounting {
        f64: -180.0, 180.0, "deg" => RX_HEADING_DEG = rx_heading_deg, TX_HEADING_DEG = tx_heading_deg;
        f64: -10.0, 10.0, "m" => RX_X_M = rx_x_m, RX_Y_M = rx_y_m;
    }
}

impl Mounting {
    /// The RX antennas' pose, given the reported one.
    #[must_use]
    pub fn rx(&self, reported: &Pose) -> Pose {
        let mut pose = turned(reported, self.rx_heading_deg);
        pose.position.x += self.rx_x_m;
        pose.position.y += self.rx_y_m;
        pose
    }

    /// The TX antenna's pose, given the reported one.
    #[must_use]
    pub fn tx(&self, reported: &Pose) -> Pose {
        turned(reported, self.tx_heading_deg)
    }
}

fn turned(pose: &Pose, by_deg: f64) -> Pose {
    if by_deg == 0.0 { *pose } else { Pose { heading: wrap(pose.heading + by_deg.to_radians()), ..*pose } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poses_are_moved_and_turned() {
        let mounting = Mounting { rx_heading_deg: 90.0, rx_x_m: 0.1, rx_y_m: -0.2, tx_heading_deg: -180.0 };
        let pose = Pose::new(1.0, 2.0, 1.08, 3.0);
        let rx = mounting.rx(&pose);
        assert_eq!((rx.position.x, rx.position.y, rx.position.z), (1.1, 1.8, 1.08));
        assert!((rx.heading - wrap(3.0 + std::f64::consts::FRAC_PI_2)).abs() < 1e-12);
        assert!((mounting.tx(&pose).heading - (3.0 - std::f64::consts::PI)).abs() < 1e-12);
        assert_eq!((Mounting::default().rx(&pose), Mounting::default().tx(&pose)), (pose, pose));
    }
}
