//! What can be wrong with a link or a world.

use std::fmt;

use nalgebra::Point3;
use thiserror::Error;

/// One end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Device {
    /// The transmitter.
    Tx,
    /// The receiver.
    Rx,
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tx => "TX",
            Self::Rx => "RX",
        })
    }
}

/// Why a world cannot be traced in, or a link not be traced.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TraceError {
    /// The frequency is not a positive, finite number.
    #[error("the frequency is {0} Hz; expected a positive, finite number")]
    Frequency(f64),
    /// A path has at most three reflections.
    #[error("paths of order {0} are not traced; expected a highest order of 0 to 3")]
    Order(usize),
    /// A slab has a value that is not finite or not physical.
    #[error("{surface}: expected finite eps_r, sigma >= 0 S/m and thickness > 0 m, got {slab:?}")]
    Slab {
        /// The surface, as in `wall:-x` or `box3`.
        surface: String,
        /// Its values.
        slab: magnetar_scene::Slab,
    },
    /// A box has a size that is not positive or a value that is not finite.
    #[error("box {index}: expected a finite centre and yaw and sizes above 0 m, got {shape:?}")]
    Shape {
        /// Its position in the list.
        index: usize,
        /// Its values.
        shape: magnetar_scene::BoxShape,
    },
    /// A device is not strictly inside the room.
    #[error("{device} at {position} is not inside the room, whose bounds are {}; move it inside", Bounds(*bounds))]
    OutsideRoom {
        /// Which device.
        device: Device,
        /// Where it stands, metres.
        position: Point3<f64>,
        /// The room's bounds, as in `Room::bounds`.
        bounds: [f64; 6],
    },
    /// A device stands inside a box.
    #[error("{device} at {position} is inside box {index}; move the device or the box")]
    InsideBox {
        /// Which device.
        device: Device,
        /// Where it stands, metres.
        position: Point3<f64>,
        /// The box's position in the list.
        index: usize,
    },
    /// Both devices stand at the same point.
    #[error("TX and RX are at the same point {0}; a link needs two different points")]
    SamePoint(Point3<f64>),
}

/// Room bounds for people: `x [a, b], y [c, d], z [e, f] m`.
struct Bounds([f64; 6]);

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x0, x1, y0, y1, z0, z1] = self.0;
        write!(f, "x [{x0}, {x1}], y [{y0}, {y1}], z [{z0}, {z1}] m")
    }
}
