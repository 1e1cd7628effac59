//! The table of recipe keys itself.

use magnetar_signal::sre::SreOptions;
use magnetar_signal::{Band, KeyRange, LinkConfig, RfChainConfig, RxArray};
use magnetar_trace::MAX_ORDER;

use super::keys::KeyKind::{Assignments, Bool, Choice, Float, Floats, Integer, Integers, OneOf, Text, Texts};
use super::keys::Origin::{Ours, Paper};
use super::keys::{Key, KeyKind, MAX_COUNT, MAX_LIST, Origin};
use super::model_error::{ModelError, Outing};
use super::mounting::Mounting;
use super::reflection::ReflectionLevels;
use crate::replay::Protocol;

const fn paper(path: &'static str, kind: KeyKind, unit: &'static str, meaning: &'static str) -> Key {
    Key { path, kind, unit, origin: Paper, meaning }
}

const fn ours(path: &'static str, kind: KeyKind, unit: &'static str, meaning: &'static str) -> Key {
    Key { path, kind, unit, origin: Ours, meaning }
}

/// A number whose range stands beside its setting.
const fn float(origin: Origin, range: KeyRange<f64>, meaning: &'static str) -> Key {
    Key { path: range.key, kind: Float(range.min, range.max), unit: range.unit, origin, meaning }
}

/// A whole number whose range stands beside its setting.
#[allow(clippy::cast_possible_wrap, reason = "the bounds are far below 2^63")]
const fn whole(origin: Origin, range: KeyRange<usize>, meaning: &'static str) -> Key {
    let kind = Integer(range.min as i64, range.max as i64);
    Key { path: range.key, kind, unit: range.unit, origin, meaning }
}

/// The values of `splits.*.protocol`.
static PROTOCOLS: [&str; 3] = Protocol::LABELS;

/// Every key a recipe may hold, in the order they are shown.
pub static KEYS: &[Key] = &[
    ours("name", Text, "", "name of the recipe; not part of its hash"),
    ours("description", Text, "", "what it is for; not part of its hash"),
    float(Paper, Band::CARRIER_HZ, "centre of the band"),
    float(Paper, Band::BANDWIDTH_HZ, "width of the band; bins are bandwidth / bins apart"),
    whole(Paper, Band::BINS, "frequency bins"),
    float(Paper, RxArray::SPACING_M, "distance of the two RX elements"),
    ours(
        "antennas.tx_pattern",
        Text,
        "",
        "amplitude pattern of the TX (synthetic: the paper's chamber data are not public)",
    ),
    ours("antennas.rx_patterns", Texts(2, 2), "", "amplitude pattern of each RX element"),
    float(Ours, LinkConfig::REFERENCE_SNR_DB, "per-bin SNR at 1 m, boresight to boresight, before adjustments"),
    float(Paper, LinkConfig::INPUT_POWER_ADJUSTMENT_DB, "input-power adjustment"),
    float(Paper, LinkConfig::TX_POWER_OFFSET_MAX_DB, "TX-power offset, uniform in +- this, per observation"),
    ours("rf_chain.enabled", Bool, "", "whether the RF chain is applied at all"),
    ours("rf_chain.common_phase", Bool, "", "whether a random phase common to both channels is applied"),
    float(Ours, RfChainConfig::TIMING_OFFSET_MAX_NS, "timing offset of the asynchronous link, uniform from 0 to this"),
    float(Ours, RfChainConfig::GAIN_RIPPLE_DB_RMS, "smooth gain ripple over the band, per channel"),
    float(Ours, RfChainConfig::PHASE_RIPPLE_DEG_RMS, "smooth phase ripple over the band, per channel"),
    whole(Ours, RfChainConfig::RIPPLE_TERMS, "cosine terms of a ripple"),
    float(Ours, RfChainConfig::GAIN_IMBALANCE_DB_RMS, "gain imbalance between the channels"),
    float(Ours, RfChainConfig::PHASE_ERROR_DEG_RMS, "residual phase error between the channels"),
    paper("noise.enabled", Bool, "", "unit-variance circular complex Gaussian noise per bin and channel"),
    ours("sre.method", Choice(&["refined", "greedy"]), "", "how components are found"),
    float(Ours, SreOptions::P_FA, "chance that noise alone gives a component"),
    whole(Ours, SreOptions::MAX_PATHS, "most components the SRE looks for"),
    whole(Paper, SreOptions::KEEP, "arrivals kept, strongest first (the paper's K)"),
    ours(
        SreOptions::OVERSAMPLING_KEY,
        OneOf(&SreOptions::OVERSAMPLINGS),
        "",
        "grid points of the search per resolution cell",
    ),
    float(Paper, SreOptions::NOISE_VARIANCE, "noise variance the SRE assumes per bin and channel"),
    ours(
        SreOptions::INACTIVE_BINS.key,
        Integers(0, SreOptions::INACTIVE_BINS.max as i64),
        "",
        "bins without signal, for measured data; empty here",
    ),
    ours(
        SreOptions::EXCLUDED_BINS.key,
        Integers(0, SreOptions::EXCLUDED_BINS.max as i64),
        "",
        "bins that are not looked at (DC, pilots, guards), for measured data; empty here",
    ),
    ours("sre.aoa_mode", Choice(&["narrowband", "wideband"]), "", "how the AoA is chosen among the phase's aliases"),
    float(Ours, SreOptions::ALIAS_CONFIDENCE, "wideband: probability an alias must have"),
    float(Ours, SreOptions::DELAY_DIFFERENCE_ERROR_S, "wideband: calibration error of the delay difference"),
    float(Ours, SreOptions::PHASE_OFFSET_DEG, "inter-channel phase of the receiver, subtracted"),
    float(Paper, SreOptions::PROCESSING_GAIN_DB, "processed SNR minus raw SNR"),
    float(Ours, SreOptions::MIN_SEPARATION_CELLS, "least distance of two components"),
    paper("propagation.max_order", Integer(0, MAX_ORDER as i64), "", "most reflections of a path"),
    paper(
        "propagation.transmission",
        Bool,
        "",
        "whether waves go through boxes, in at one face and out at the opposite one",
    ),
    ours(
        "scene",
        Text,
        "",
        "scene that is the nominal world, a name or a file; sets room and device height; its text is hashed",
    ),
    paper("room.x_min_m", Float(-1.0e3, 1.0e3), "m", "nominal room bound, global frame"),
    paper("room.x_max_m", Float(-1.0e3, 1.0e3), "m", "nominal room bound, global frame"),
    paper("room.y_min_m", Float(-1.0e3, 1.0e3), "m", "nominal room bound, global frame"),
    paper("room.y_max_m", Float(-1.0e3, 1.0e3), "m", "nominal room bound, global frame"),
    paper("room.z_min_m", Float(-1.0e3, 1.0e3), "m", "nominal floor height, global frame"),
    paper("room.z_max_m", Float(-1.0e3, 1.0e3), "m", "nominal ceiling height, global frame"),
    paper(
        "room.planar_scale_max",
        Float(0.0, 0.9),
        "",
        "scale s of x and y about the room's centre, uniform in 1 +- this",
    ),
    paper(
        "room.aspect_ratio_max",
        Float(0.0, 0.9),
        "",
        "aspect a, uniform in 1 +- this: x times s sqrt(a), y times s / sqrt(a)",
    ),
    paper("room.height_scale_max", Float(0.0, 0.9), "", "scale of the height above the floor, uniform in 1 +- this"),
    ours("surfaces.thickness_m", Float(1.0e-4, 10.0), "m", "slab thickness of walls, ceiling and floor"),
    paper("surfaces.board_material", Text, "", "material of the reflector board"),
    ours("surfaces.material_files", Texts(0, MAX_LIST), "", "material files beyond the shipped materials"),
    ours(
        "surfaces.scene_materials",
        Bool,
        "",
        "with a scene: its own surfaces, materials and thicknesses; false takes the splits' assignments",
    ),
    ours("devices.height_m", Float(-1.0e3, 1.0e3), "m", "height of both antennas above z = 0"),
    ours(
        "devices.wall_margin_m",
        Float(0.0, 100.0),
        "m",
        "least distance of a device from a wall and from a scene's boxes",
    ),
    ours("devices.separation_min_m", Float(0.02, 100.0), "m", "least planar distance of TX and RX"),
    ours(
        "board.placement",
        Choice(&["link", "free"]),
        "",
        "where it stands: link (link-relative regions) or free (anywhere admissible, any yaw)",
    ),
    paper("board.width_min_m", Float(0.01, 100.0), "m", "least width"),
    paper("board.width_max_m", Float(0.01, 100.0), "m", "greatest width; uniform between"),
    ours(
        "board.thickness_m",
        Float(1.0e-4, 10.0),
        "m",
        "thickness of the box and of the slab (the paper's Real board)",
    ),
    paper("board.height_m", Float(0.01, 100.0), "m", "height"),
    paper("board.center_heights_m", Floats(-1.0e3, 1.0e3), "m", "centre heights above z = 0, one is drawn"),
    paper("board.yaw_jitter_max_deg", Float(0.0, 180.0), "deg", "yaw about the region's own, uniform in +- this"),
    ours("board.clearance_min_m", Float(0.0, 100.0), "m", "least distance of the board from any device"),
    ours("board.across_weight", Float(0.0, 1.0e6), "", "weight of the region across the link (blocking)"),
    ours("board.beside_weight", Float(0.0, 1.0e6), "", "weight of the region beside the link, facing it (reflecting)"),
    ours("board.behind_tx_weight", Float(0.0, 1.0e6), "", "weight of the region behind the TX, seen from the RX"),
    ours("board.behind_rx_weight", Float(0.0, 1.0e6), "", "weight of the region behind the RX, seen from the TX"),
    ours("board.along_min", Float(0.0, 1.0), "", "across and beside: least fraction of the link, from the TX"),
    ours("board.along_max", Float(0.0, 1.0), "", "across and beside: greatest fraction of the link, from the TX"),
    ours(
        "board.across_offset_max_m",
        Float(0.0, 100.0),
        "m",
        "across: offset of the centre from the link, uniform in +- this",
    ),
    ours("board.beside_distance_min_m", Float(0.0, 100.0), "m", "beside: least distance of the centre from the link"),
    ours(
        "board.beside_distance_max_m",
        Float(0.0, 100.0),
        "m",
        "beside: greatest distance of the centre from the link",
    ),
    ours("board.behind_distance_min_m", Float(0.0, 100.0), "m", "behind: least distance of the centre from the device"),
    ours(
        "board.behind_distance_max_m",
        Float(0.0, 100.0),
        "m",
        "behind: greatest distance of the centre from the device",
    ),
    ours(
        "board.behind_offset_max_m",
        Float(0.0, 100.0),
        "m",
        "behind: offset of the centre from the link's line, uniform in +- this",
    ),
    ours("board.attempts_max", Integer(1, 1_000_000), "", "draws tried for a sample before it is an error"),
    float(
        Ours,
        ModelError::ARRIVALS_MEAN,
        "arrivals that no traced path explains: mean of their Poisson number per row",
    ),
    float(Ours, ModelError::ARRIVALS_LEVEL_DB, "their level against the strongest traced path as received, mean"),
    float(Ours, ModelError::ARRIVALS_LEVEL_SPREAD_DB, "their level: standard deviation"),
    float(Ours, ModelError::ARRIVALS_DELAY_SPREAD_NS, "their delay after the first traced path, exponential: mean"),
    float(Ours, ModelError::ARRIVALS_ELEVATION_MAX_DEG, "their elevation, uniform in +- this; any azimuth"),
    float(Ours, ModelError::PATTERN_DB_RMS, "error of each device's amplitude pattern, smooth over angle, per outing"),
    float(Ours, ModelError::PATTERN_PHASE_DEG_RMS, "inter-element phase error that depends on angle, per outing"),
    float(Ours, ModelError::PATTERN_WIDTH_DEG, "angle over which pattern errors decorrelate"),
    float(Ours, ModelError::RX_POSITION_M_RMS, "error of the reported RX position per planar axis"),
    float(Ours, ModelError::RX_HEADING_DEG_RMS, "error of the reported RX heading"),
    float(Ours, ModelError::WALL_POSITION_M_RMS, "error of the reported position of each wall, per set"),
    float(Ours, ModelError::BOARD_POSITION_M_RMS, "error of the reported board centre per planar axis, per set"),
    float(Ours, ModelError::BOARD_YAW_DEG_RMS, "error of the reported board yaw, per set"),
    float(Ours, ModelError::BOARD_WIDTH_M_RMS, "error of the reported board width, per set"),
    float(Ours, ModelError::LEVEL_MAX_DB, "level offset of an outing, uniform in +- this"),
    whole(Ours, Outing::SETS, "consecutive sets of an outing; in a replay an outing is a site of a placement"),
    ours("outing.rf_chain", Bool, "", "whether the RF chain (but for phase and timing) is one per outing, not per row"),
    ours("outing.pose", Bool, "", "whether the error of the reported RX pose is one per outing, not per row"),
    float(Ours, Mounting::RX_HEADING_DEG, "measured data: added to the reported RX heading"),
    float(Ours, Mounting::RX_X_M, "measured data: added to the reported x of the RX"),
    float(Ours, Mounting::RX_Y_M, "measured data: added to the reported y of the RX"),
    float(Ours, Mounting::TX_HEADING_DEG, "measured data: added to the reported TX heading"),
    float(Ours, ReflectionLevels::WALLS_DB, "level of reflections off walls over their material's"),
    float(Ours, ReflectionLevels::CEILING_DB, "level of reflections off the ceiling over its material's"),
    float(Ours, ReflectionLevels::FLOOR_DB, "level of reflections off the floor over its material's"),
    float(Ours, ReflectionLevels::BOARD_DB, "level of reflections off the board over its material's"),
    float(Ours, ReflectionLevels::BOXES_DB, "level of reflections off a scene's boxes over their material's"),
    ours("store.csi", Choice(&["f32", "f16", "none"]), "", "how the observation is stored; not part of the hash"),
    ours("store.shard_rows", Integer(1, 1_000_000), "rows", "rows of a Parquet file; not part of the hash"),
    ours(
        "store.encoding",
        Choice(&["byte_stream_split", "plain"]),
        "",
        "Parquet encoding of floating-point columns; not part of the hash",
    ),
    ours("store.compression", Choice(&["zstd", "none"]), "", "Parquet compression; not part of the hash"),
    ours("store.compression_level", Integer(1, 22), "", "zstd level; not part of the hash"),
    paper("replay.board_names", Texts(1, MAX_LIST), "", "names of the board placements"),
    paper("replay.board_x_m", Floats(-1000.0, 1000.0), "m", "centres of the board placements, x"),
    paper("replay.board_y_m", Float(-1000.0, 1000.0), "m", "centres of the board placements, y"),
    paper("replay.rotation_tx_x_m", Float(-1000.0, 1000.0), "m", "full rotation: the TX, x"),
    paper("replay.rotation_tx_y_m", Float(-1000.0, 1000.0), "m", "full rotation: the TX, y"),
    paper("replay.rotation_site_x_m", Floats(-1000.0, 1000.0), "m", "full rotation: RX sites, x"),
    paper("replay.rotation_site_y_m", Floats(-1000.0, 1000.0), "m", "full rotation: RX sites, y"),
    paper("replay.rotation_headings", Integer(1, 36_000), "", "full rotation: RX headings of a site, from 0, even"),
    paper("replay.track_site_x_m", Floats(-1000.0, 1000.0), "m", "track: columns of the grid of RX sites, x"),
    paper("replay.track_site_y_m", Floats(-1000.0, 1000.0), "m", "track: rows of the grid of RX sites, y"),
    paper("replay.track_headings", Integer(1, 36_000), "", "track: random RX headings of a site"),
    ours(
        "replay.track_headings_no_board",
        Integers(1, 36_000),
        "",
        "track without the board: headings of the sites in turn (the paper: three or six); as with it if empty",
    ),
    paper(
        "replay.track_samples",
        Integer(1, 10_000),
        "",
        "track: TX positions of a heading (that they are even is ours)",
    ),
    paper("replay.track_tx_x_min_m", Float(-1000.0, 1000.0), "m", "track: where the TX's track begins, x"),
    paper("replay.track_tx_x_max_m", Float(-1000.0, 1000.0), "m", "track: where the TX's track ends, x"),
    paper("replay.track_tx_y_m", Float(-1000.0, 1000.0), "m", "track: the TX's track, y"),
    ours("splits.full-rotation.materials", Assignments, "", "our choice: those of scenes/lab.toml"),
    ours("splits.track.materials", Assignments, "", "our choice: those of scenes/lab.toml"),
    ours("splits.fusion.translation_min_m", Float(0.0, 100.0), "m", "the test split's (the paper does not say)"),
    ours("splits.fusion.translation_max_m", Float(0.0, 100.0), "m", "the test split's (the paper does not say)"),
    ours("splits.fusion.materials", Assignments, "", "the test split's (the paper does not say)"),
    paper("splits.*.no_board", Integer(0, MAX_COUNT), "samples", "samples (sets if views > 1) without a board"),
    paper("splits.*.board", Integer(0, MAX_COUNT), "samples", "samples (sets if views > 1) with a board"),
    paper("splits.*.views", Integer(1, 1000), "", "RX poses that share TX pose and layout"),
    paper(
        "splits.*.translation_min_m",
        Float(0.0, 100.0),
        "m",
        "least translation of the room, either way, per planar axis",
    ),
    paper(
        "splits.*.translation_max_m",
        Float(0.0, 100.0),
        "m",
        "greatest translation of the room, either way, per planar axis",
    ),
    paper("splits.*.materials", Assignments, "", "assignments of materials, one is drawn"),
    paper("splits.*.protocol", Choice(&PROTOCOLS), "", "where poses come from; random if not given"),
];
