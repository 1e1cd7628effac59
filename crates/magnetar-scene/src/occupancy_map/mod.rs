//! From a robot's occupancy map to a room: reads a ROS `map_server` map and fits the rectangle of the outer walls.

mod fit;
mod judge;
mod obstacles;
mod picture;
mod read;
mod select;

use std::path::PathBuf;

use thiserror::Error;

pub use fit::{RoomFit, fit_room};
pub use judge::{Doubt, doubts};
pub use obstacles::{Obstacle, obstacles};
pub use picture::{picture_of_fit, picture_of_map};
pub use read::OccupancyMap;

/// What can be wrong with a map.
#[derive(Debug, Error)]
pub enum MapError {
    /// A file could not be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The YAML beside the image is not a `map_server` description.
    #[error("{}: {message}", path.display())]
    Yaml {
        /// The YAML file.
        path: PathBuf,
        /// Line, column and what was expected.
        message: String,
    },
    /// The image is not a PGM, PNG or BMP that can be read, or too large.
    #[error("{}: {message}", path.display())]
    Image {
        /// The image file.
        path: PathBuf,
        /// What was wrong.
        message: String,
    },
    /// A part was asked for that the map does not have.
    #[error("{0}")]
    NoPart(String),
    /// No rectangle stands out.
    #[error("no room found: {0}")]
    NoRoom(String),
}

/// What a cell of the map is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    /// Seen to be empty.
    Free,
    /// Seen to be an obstacle.
    Occupied,
    /// Not seen, or undecided.
    Unknown,
}
