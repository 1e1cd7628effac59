//! Structs of numbers that several groups hold: a box, a pose, an arriving wave.

use arrow::datatypes::{DataType, Field};
use magnetar_scene::{BoxShape, Pose};
use nalgebra::{Point3, Vector3};
use num_complex::Complex64;

use super::describe::field;
use crate::wave::{DeviceDirection, ReceivedWave};

/// Members of a box.
pub(super) const BOX: [&str; 7] = ["x", "y", "z", "width", "thickness", "height", "yaw"];

/// Members of a device's pose.
pub(super) const POSE: [&str; 4] = ["x", "y", "z", "heading"];

/// Members of a wave at the receiver.
pub(super) const WAVE: [&str; 7] = [
    "delay_s",
    "coefficient0_re",
    "coefficient0_im",
    "coefficient1_re",
    "coefficient1_im",
    "aoa_azimuth",
    "aoa_elevation",
];

/// A number that says its unit, its frame and what it is.
pub(super) fn number(name: &str, unit: &str, frame: &str, what: &str) -> Field {
    field(name, DataType::Float64, unit, frame, what)
}

/// The fields of a box: what its own axes are called, and what its yaw is.
pub(super) fn box_fields(own: &str, yaw_is: &str) -> Vec<Field> {
    let [x, y, z, width, thickness, height, yaw] = BOX;
    let centre = [x, y, z].map(|name| number(name, "m", "global", "centre"));
    let frames = [(width, format!("{own} x")), (thickness, format!("{own} y")), (height, "z".to_owned())];
    let sizes = frames.map(|(name, frame)| number(name, "m", &frame, "full size"));
    centre.into_iter().chain(sizes).chain([number(yaw, "rad", "global", yaw_is)]).collect()
}

/// The members of a box.
pub(super) fn box_numbers(BoxShape { center, size, yaw }: &BoxShape) -> [f64; BOX.len()] {
    [center.x, center.y, center.z, size.x, size.y, size.z, *yaw]
}

/// The box of these members.
pub(super) fn box_shape([x, y, z, width, thickness, height, yaw]: [f64; BOX.len()]) -> BoxShape {
    BoxShape { center: Point3::new(x, y, z), size: Vector3::new(width, thickness, height), yaw }
}

/// The fields of a device's pose.
pub(super) fn pose_fields() -> Vec<Field> {
    let [x, y, z, heading] = POSE;
    let position = [x, y, z].map(|name| number(name, "m", "global", "antenna position"));
    let heading = number(heading, "rad", "global", "counter-clockwise from +x, in [-pi, pi)");
    position.into_iter().chain([heading]).collect()
}

/// The members of a pose.
pub(super) fn pose_numbers(Pose { position, heading }: &Pose) -> [f64; POSE.len()] {
    [position.x, position.y, position.z, *heading]
}

/// The pose of these members.
pub(super) fn pose([x, y, z, heading]: [f64; POSE.len()]) -> Pose {
    Pose { position: Point3::new(x, y, z), heading }
}

/// The fields of a wave at the receiver; `delay_is` says what its delay is.
pub(super) fn wave_fields(delay_is: &str) -> Vec<Field> {
    let [delay, re0, im0, re1, im1, azimuth, elevation] = WAVE;
    let coefficient = "passband coefficient at the RX element, antennas applied, before the link scale";
    let direction = "direction of arrival, from the RX towards the source";
    let coefficients = [re0, im0, re1, im1].map(|name| number(name, "1", "", coefficient));
    let directions = [azimuth, elevation].map(|name| number(name, "rad", "RX-local", direction));
    [number(delay, "s", "", delay_is)].into_iter().chain(coefficients).chain(directions).collect()
}

/// The members of a wave.
pub(crate) fn wave_numbers(wave: &ReceivedWave) -> [f64; WAVE.len()] {
    let ReceivedWave { delay_s, coefficients: [a, b], aoa } = wave;
    [*delay_s, a.re, a.im, b.re, b.im, aoa.azimuth, aoa.elevation]
}

/// The wave of these members.
pub(super) fn wave([delay_s, re0, im0, re1, im1, azimuth, elevation]: [f64; WAVE.len()]) -> ReceivedWave {
    let coefficients = [Complex64::new(re0, im0), Complex64::new(re1, im1)];
    ReceivedWave { delay_s, coefficients, aoa: DeviceDirection { azimuth, elevation } }
}
