//! The room: an axis-aligned box with six outer surfaces.

use std::fmt;

use nalgebra::Point3;

/// Room bounds in the global frame, metres.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Room {
    /// Lower corner, metres.
    pub min: Point3<f64>,
    /// Upper corner, metres.
    pub max: Point3<f64>,
}

impl Room {
    /// A room from `[xmin, xmax, ymin, ymax, zmin, zmax]` in metres; `None` unless all bounds are finite and each
    /// minimum is below its maximum.
    #[must_use]
    pub fn from_bounds(bounds: [f64; 6]) -> Option<Self> {
        let [x0, x1, y0, y1, z0, z1] = bounds;
        let valid = bounds.iter().all(|b| b.is_finite()) && x0 < x1 && y0 < y1 && z0 < z1;
        valid.then(|| Self { min: Point3::new(x0, y0, z0), max: Point3::new(x1, y1, z1) })
    }

    /// `[xmin, xmax, ymin, ymax, zmin, zmax]` in metres.
    #[must_use]
    pub fn bounds(&self) -> [f64; 6] {
        [self.min.x, self.max.x, self.min.y, self.max.y, self.min.z, self.max.z]
    }

    /// Whether a point lies strictly inside.
    #[must_use]
    pub fn contains(&self, point: &Point3<f64>) -> bool {
        (0..3).all(|axis| self.min[axis] < point[axis] && point[axis] < self.max[axis])
    }
}

/// One face of an axis-aligned box: an axis (0 = x, 1 = y, 2 = z) and the side it lies on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Face {
    /// The face at the lower x bound.
    XMin = 0,
    /// The face at the upper x bound.
    XMax = 1,
    /// The face at the lower y bound.
    YMin = 2,
    /// The face at the upper y bound.
    YMax = 3,
    /// The face at the lower z bound (a room's floor).
    ZMin = 4,
    /// The face at the upper z bound (a room's ceiling).
    ZMax = 5,
}

impl Face {
    /// All six, in the order of `Room::bounds`.
    pub const ALL: [Self; 6] = [Self::XMin, Self::XMax, Self::YMin, Self::YMax, Self::ZMin, Self::ZMax];

    /// 0 for x, 1 for y, 2 for z.
    #[must_use]
    pub fn axis(self) -> usize {
        self as usize / 2
    }

    /// Whether it lies at the upper bound of its axis.
    #[must_use]
    pub fn is_max(self) -> bool {
        self as usize % 2 == 1
    }

    /// `-x`, `+x`, `-y`, `+y`, `-z` or `+z`.
    #[must_use]
    pub fn label(self) -> &'static str {
        ["-x", "+x", "-y", "+y", "-z", "+z"][self as usize]
    }
}

impl fmt::Display for Face {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}
