//! Recipes: every number a corpus depends on, from a file, checked before any work.

mod check;
mod defaults;
mod error;
mod files;
mod hash;
mod keys;
mod load;
mod model_error;
mod mounting;
mod physical;
mod reasons;
mod reflection;
mod scene;
mod show;
mod table;
mod text;

#[cfg(test)]
mod tests;

use indexmap::IndexMap;
use magnetar_signal::sre::SreOptions;
use magnetar_signal::{AntennaConfig, Band, LinkConfig, NoiseConfig, RfChainConfig, RxArray};
use magnetar_trace::TraceOptions;
use serde::{Deserialize, Serialize};

use crate::replay::Protocol;

use defaults::{is_default, is_yes, yes};
pub use error::{RecipeError, RecipeProblem};
pub use hash::hex;
pub use keys::{Key, KeyKind, MAX_COUNT, MAX_LIST, Origin, is_split_name};
pub use model_error::{ModelError, Outing};
pub use mounting::Mounting;
pub use physical::{NamedSurfaces, Slabs};
pub use reflection::ReflectionLevels;
pub use scene::NominalScene;
pub use show::{Entry, differences};
pub use table::KEYS;

/// Everything that determines a corpus, but for the seed. Lengths in metres, angles in degrees, as the names say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// Name; not part of the hash.
    pub name: String,
    /// What it is for; not part of the hash.
    pub description: String,
    /// The frequency band.
    pub band: Band,
    /// The RX array.
    pub array: RxArray,
    /// Antenna patterns by name or file.
    pub antennas: AntennaConfig,
    /// Link scale.
    pub link: LinkConfig,
    /// RF-chain perturbation.
    pub rf_chain: RfChainConfig,
    /// Receiver noise.
    pub noise: NoiseConfig,
    /// The estimator.
    pub sre: SreOptions,
    /// Which paths there are.
    #[serde(default, skip_serializing_if = "is_default")]
    pub propagation: TraceOptions,
    /// The scene that is the nominal world, a shipped one's name or a file; not part of the hash, its text is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scene: Option<String>,
    /// That scene as a scene file, so that a dataset needs no other file. Filled when loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scene_text: Option<String>,
    /// Nominal room and its randomisation.
    pub room: RoomFamily,
    /// Slabs.
    pub surfaces: Surfaces,
    /// Where TX and RX may stand.
    pub devices: Devices,
    /// The reflector board and its regions.
    pub board: BoardFamily,
    /// In what ways rows differ from what a receiver's model says.
    #[serde(default, skip_serializing_if = "is_default")]
    pub model_error: ModelError,
    /// What shares one state of the receiver.
    #[serde(default, skip_serializing_if = "is_default")]
    pub outing: Outing,
    /// How a measured receiver is mounted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub mounting: Mounting,
    /// How much stronger surfaces reflect than their materials say.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reflection: ReflectionLevels,
    /// How rows are stored; not part of the hash.
    pub store: Store,
    /// What a measurement campaign does, for splits whose `protocol` is not `random`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
    /// The splits, in the order they are generated.
    pub splits: IndexMap<String, Split>,
    /// SHA-256 of every pattern that comes from a file, so that a changed file is a changed recipe. Filled when loaded.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub files: IndexMap<String, String>,
}

macro_rules! section {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $($(#[$field_doc])* pub $field: $type,)* }
    };
}

section! {
    /// The nominal room (global frame, metres) and how it varies.
    RoomFamily {
        /// Lower x bound.
        x_min_m: f64,
        /// Upper x bound.
        x_max_m: f64,
        /// Lower y bound.
        y_min_m: f64,
        /// Upper y bound.
        y_max_m: f64,
        /// Floor.
        z_min_m: f64,
        /// Ceiling.
        z_max_m: f64,
        /// Planar scale, uniform in 1 plus or minus this.
        planar_scale_max: f64,
        /// Aspect ratio, uniform in 1 plus or minus this.
        aspect_ratio_max: f64,
        /// Height scale, uniform in 1 plus or minus this.
        height_scale_max: f64,
    }
}
section! {
    /// The slabs of the surfaces.
    Surfaces {
        /// Thickness of walls, ceiling and floor, metres.
        thickness_m: f64,
        /// Material of the board.
        board_material: String,
        /// Files of materials beyond the shipped ones.
        material_files: Vec<String>,
        /// With a scene: whether the room's surfaces are the scene's, and not the splits' assignments.
        #[serde(default = "yes", skip_serializing_if = "is_yes")]
        scene_materials: bool,
    }
}
section! {
    /// Where TX and RX may stand.
    Devices {
        /// Antenna height, metres above z = 0.
        height_m: f64,
        /// Least distance from a wall, metres.
        wall_margin_m: f64,
        /// Least planar distance of TX and RX, metres.
        separation_min_m: f64,
    }
}
section! {
    /// The reflector board and the link-relative regions it stands in.
    BoardFamily {
        /// What decides where it stands.
        #[serde(default, skip_serializing_if = "BoardPlacement::is_link")]
        placement: BoardPlacement,
        /// Least width, metres.
        width_min_m: f64,
        /// Greatest width, metres.
        width_max_m: f64,
        /// Thickness, metres.
        thickness_m: f64,
        /// Height, metres.
        height_m: f64,
        /// Centre heights, metres above z = 0.
        center_heights_m: Vec<f64>,
        /// Yaw jitter, uniform in plus or minus this, degrees.
        yaw_jitter_max_deg: f64,
        /// Least distance from a device, metres.
        clearance_min_m: f64,
        /// Weight of the region across the link.
        across_weight: f64,
        /// Weight of the region beside the link.
        beside_weight: f64,
        /// Weight of the region behind the TX.
        behind_tx_weight: f64,
        /// Weight of the region behind the RX.
        behind_rx_weight: f64,
        /// Across and beside: least fraction of the link.
        along_min: f64,
        /// Across and beside: greatest fraction of the link.
        along_max: f64,
        /// Across: offset of the centre from the link, metres.
        across_offset_max_m: f64,
        /// Beside: least distance from the link, metres.
        beside_distance_min_m: f64,
        /// Beside: greatest distance from the link, metres.
        beside_distance_max_m: f64,
        /// Behind: least distance from the device, metres.
        behind_distance_min_m: f64,
        /// Behind: greatest distance from the device, metres.
        behind_distance_max_m: f64,
        /// Behind: offset of the centre from the link's line, metres.
        behind_offset_max_m: f64,
        /// Draws tried for a sample.
        attempts_max: u32,
    }
}
section! {
    /// How rows are stored.
    Store {
        /// `f32`, `f16` or `none`.
        csi: Csi,
        /// Rows of a Parquet file.
        shard_rows: u32,
        /// Parquet encoding of floating-point columns.
        encoding: Encoding,
        /// Parquet compression.
        compression: Compression,
        /// zstd level.
        compression_level: i32,
    }
}
section! {
    /// Materials of the room's surfaces, by name.
    Assignment {
        /// The four walls.
        wall: String,
        /// The ceiling.
        ceiling: String,
        /// The floor.
        floor: String,
    }
}
section! {
    /// The measurement campaign that a recipe replays in a simulated room (global frame, metres).
    Replay {
        /// Names of the board placements; every protocol is replayed without a board first, then with each.
        board_names: Vec<String>,
        /// Their centres: x.
        board_x_m: Vec<f64>,
        /// Their centres: y.
        board_y_m: f64,
        /// Full rotation: where the TX stands, x.
        rotation_tx_x_m: f64,
        /// Full rotation: where the TX stands, y.
        rotation_tx_y_m: f64,
        /// Full rotation: the RX sites, x.
        rotation_site_x_m: Vec<f64>,
        /// Full rotation: the RX sites, y.
        rotation_site_y_m: Vec<f64>,
        /// Full rotation: RX headings of a site, evenly spaced from 0.
        rotation_headings: u32,
        /// Track: columns of the grid of RX sites, x.
        track_site_x_m: Vec<f64>,
        /// Track: rows of the grid of RX sites, y.
        track_site_y_m: Vec<f64>,
        /// Track: random RX headings of a site.
        track_headings: u32,
        /// Track without the board: random RX headings, site by site, beginning again after the last; as with it if empty.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        track_headings_no_board: Vec<u32>,
        /// Track: TX positions of a heading, evenly spaced over the track.
        track_samples: u32,
        /// Track: where the TX's track begins, x.
        track_tx_x_min_m: f64,
        /// Track: where the TX's track ends, x.
        track_tx_x_max_m: f64,
        /// Track: y of the TX's track.
        track_tx_y_m: f64,
    }
}
section! {
    /// One split.
    Split {
        /// Samples (sets if `views` > 1) without a board.
        no_board: u64,
        /// Samples (sets if `views` > 1) with a board.
        board: u64,
        /// RX poses that share TX pose and layout.
        views: u32,
        /// Least translation of the room per planar axis, metres.
        translation_min_m: f64,
        /// Greatest translation of the room per planar axis, metres.
        translation_max_m: f64,
        /// Assignments of materials, one is drawn.
        materials: Vec<Assignment>,
        /// Where poses come from: drawn at random, or replayed.
        #[serde(default, skip_serializing_if = "Protocol::is_random")]
        protocol: Protocol,
    }
}

/// What decides where a board stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BoardPlacement {
    /// The link: across it, beside it or behind a device.
    #[default]
    Link,
    /// Nothing: anywhere admissible, any yaw.
    Free,
}

impl BoardPlacement {
    fn is_link(&self) -> bool {
        *self == Self::Link
    }
}

/// How the observation is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Csi {
    /// Single precision, as generated.
    F32,
    /// Half precision.
    F16,
    /// Not at all.
    None,
}

/// Parquet encoding of floating-point columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// The bytes of all values by significance: exponents, which are alike, lie together and compress.
    ByteStreamSplit,
    /// One value after another.
    Plain,
}

/// Parquet compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// zstd at `compression_level`.
    Zstd,
    /// None.
    None,
}

impl Split {
    /// Samples, or sets of views.
    #[must_use]
    pub fn sets(&self) -> u64 {
        self.no_board + self.board
    }

    /// Rows: sets times views.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.sets() * u64::from(self.views)
    }

    /// Whether set number `set` has a board. Exactly `board` of the split's sets do, evenly spread, so that the first
    /// n sets hold `floor(n * board / sets)` boards. A replay begins without.
    #[must_use]
    pub fn has_board(&self, set: u64) -> bool {
        if !self.protocol.is_random() {
            return set >= self.no_board;
        }
        let boards_before = |n: u64| u128::from(n) * u128::from(self.board) / u128::from(self.sets().max(1));
        boards_before(set + 1) > boards_before(set)
    }
}

impl Recipe {
    /// A split by name.
    ///
    /// # Errors
    /// Names the splits there are if it is none of them.
    pub fn split(&self, name: &str) -> Result<&Split, RecipeError> {
        self.splits.get(name).ok_or_else(|| {
            let known: Vec<_> = self.splits.keys().map(String::as_str).collect();
            RecipeError::new(&self.name, format!("no split {name:?}; it has {}", known.join(", ")))
        })
    }

    /// Whether rows belong to outings: a model error is on, or something is shared.
    #[must_use]
    pub fn has_outings(&self) -> bool {
        !self.model_error.is_off() || self.outing != Outing::default()
    }
}
