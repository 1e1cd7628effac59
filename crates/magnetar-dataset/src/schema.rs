//! The columns: names, types, units, frames and meanings.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Fields, Schema};

use magnetar_signal::MAX_RIPPLE_TERMS;

use crate::recipe::Csi;

/// Version of the columns; it changes when a column does.
pub const SCHEMA_VERSION: u32 = 1;

/// Arrow's keys of an extension type in a field's metadata.
pub(crate) const EXTENSION_TYPE_NAME_KEY: &str = "ARROW:extension:name";
pub(crate) const EXTENSION_TYPE_METADATA_KEY: &str = "ARROW:extension:metadata";

/// What decides the columns' types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Frequency bins of an observation.
    pub bins: usize,
    /// Arrivals kept (K).
    pub keep: usize,
    /// How observations are stored.
    pub csi: Csi,
    /// Whether rows replay a measurement campaign.
    pub replay: bool,
}

impl Shape {
    /// Numbers in one stored observation: bins x channels x (re, im).
    #[must_use]
    pub fn csi_len(&self) -> usize {
        self.bins * 4
    }

    /// The schema of a shard.
    #[must_use]
    pub fn schema(&self) -> Arc<Schema> {
        let k = i32::try_from(self.keep).unwrap_or(i32::MAX);
        let list = |item: DataType, n: i32| DataType::FixedSizeList(Arc::new(Field::new("item", item, false)), n);
        let per_arrival = |item: DataType| list(item, k);
        let mut fields = vec![
            field("index", DataType::UInt64, "row", "", "row number within the split"),
            field("set", DataType::UInt64, "set", "", "number of the set; rows of a set share TX pose and layout"),
            field("view", DataType::UInt32, "view", "", "number of the view within its set"),
            field("room", list(DataType::Float64, 6), "m", "global", "xmin, xmax, ymin, ymax, zmin, zmax"),
            field("materials", DataType::Struct(material_fields()), "name", "", "materials of the surfaces"),
            field("board", DataType::Struct(board_fields()), "", "global", "the reflector board; null without one")
                .with_nullable(true),
            field("tx", DataType::Struct(pose_fields()), "", "global", "TX pose"),
            field("rx", DataType::Struct(pose_fields()), "", "global", "RX pose"),
            field("tx_power_offset_db", DataType::Float64, "dB", "", "TX-power offset of this observation"),
            field("rf_chain", DataType::Struct(rf_fields()), "", "", "drawn RF-chain perturbation"),
            field("los", DataType::Boolean, "", "", "whether the direct path is free"),
            field(
                "paths",
                DataType::List(Arc::new(Field::new("item", DataType::Struct(path_fields()), false))),
                "",
                "",
                "true paths: line of sight first, then first-order reflections",
            ),
            field("aoa", per_arrival(DataType::Float64), "rad", "RX-local", "estimated AoA, strongest arrival first"),
            field("snr_db", per_arrival(DataType::Float64), "dB", "", "processed SNR"),
            field("raw_snr_db", per_arrival(DataType::Float64), "dB", "", "per-bin SNR, mean over channels"),
            field(
                "delay_s",
                per_arrival(DataType::Float64),
                "s",
                "",
                "estimated delay, the link's unknown timing offset included",
            ),
            field(
                "phase_rad",
                per_arrival(DataType::Float64),
                "rad",
                "",
                "inter-element phase at band centre, element 1 minus element 0",
            ),
            field("valid", per_arrival(DataType::Boolean), "", "", "whether there is an arrival of this rank"),
        ];
        if self.replay {
            fields.extend(replay_fields());
        }
        if let Some(csi) = self.csi_field() {
            fields.push(csi);
        }
        Arc::new(Schema::new(fields))
    }

    /// The observation as `arrow.fixed_shape_tensor` [bins, 2, 2].
    fn csi_field(&self) -> Option<Field> {
        let item = match self.csi {
            Csi::F32 => DataType::Float32,
            Csi::F16 => DataType::Float16,
            Csi::None => return None,
        };
        let length = i32::try_from(self.csi_len()).ok()?;
        let storage = DataType::FixedSizeList(csi_item(item), length);
        let mut field = field(
            "csi",
            storage,
            "1 (noise has unit variance)",
            "",
            "observation [bin, channel, (re, im)], noise of unit variance per bin and channel",
        );
        // By hand, because arrow-rs has its own tensor type over lists of non-null items only, and pyarrow over lists
        // of nullable ones only.
        let metadata = field.metadata_mut();
        metadata.insert(EXTENSION_TYPE_NAME_KEY, "arrow.fixed_shape_tensor");
        let shape = format!("{{\"shape\":[{},2,2],\"dim_names\":[\"bin\",\"channel\",\"re_im\"]}}", self.bins);
        metadata.insert(EXTENSION_TYPE_METADATA_KEY, shape);
        Some(field)
    }
}

/// The item of the observation. Nullable, though never null: readers know the tensor type only over such a list.
pub(crate) fn csi_item(item: DataType) -> Arc<Field> {
    Arc::new(Field::new("item", item, true))
}

/// A field that says its unit, its frame and what it is.
fn field(name: &str, data_type: DataType, unit: &str, frame: &str, description: &str) -> Field {
    let metadata = [("unit", unit), ("frame", frame), ("description", description)]
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(key, text)| (key.to_owned(), text.to_owned()))
        .collect::<HashMap<_, _>>();
    Field::new(name, data_type, false).with_metadata(metadata)
}

pub(crate) fn material_fields() -> Fields {
    let name = |name, what| field(name, DataType::Utf8, "name", "", what);
    Fields::from(vec![
        name("wall", "material of the four walls"),
        name("ceiling", "material of the ceiling"),
        name("floor", "material of the floor"),
        name("board", "material of the board; null without one").with_nullable(true),
    ])
}

pub(crate) fn board_fields() -> Fields {
    let number = |name, unit, frame, what| field(name, DataType::Float64, unit, frame, what);
    Fields::from(vec![
        number("x", "m", "global", "centre"),
        number("y", "m", "global", "centre"),
        number("z", "m", "global", "centre"),
        number("width", "m", "board-local x", "full size"),
        number("thickness", "m", "board-local y", "full size"),
        number("height", "m", "z", "full size"),
        number("yaw", "rad", "global", "of the board-local x axis, counter-clockwise from +x"),
        field("region", DataType::Utf8, "name", "link-relative", "across, beside, behind_tx or behind_rx"),
    ])
}

pub(crate) fn pose_fields() -> Fields {
    let number = |name, unit, what| field(name, DataType::Float64, unit, "global", what);
    Fields::from(vec![
        number("x", "m", "antenna position"),
        number("y", "m", "antenna position"),
        number("z", "m", "antenna position"),
        number("heading", "rad", "counter-clockwise from +x, in [-pi, pi)"),
    ])
}

/// Numbers in one ripple column: two channels of cosine terms.
pub(crate) const RIPPLE_LEN: usize = 2 * MAX_RIPPLE_TERMS;

pub(crate) fn rf_fields() -> Fields {
    let item = || Arc::new(Field::new("item", DataType::Float64, false));
    let length = i32::try_from(RIPPLE_LEN).unwrap_or(i32::MAX);
    let ripple = |name, unit, what| field(name, DataType::FixedSizeList(item(), length), unit, "", what);
    let number = |name, unit, what| field(name, DataType::Float64, unit, "", what);
    Fields::from(vec![
        number("common_phase", "rad", "phase common to both channels"),
        number("timing_offset_s", "s", "timing offset of the asynchronous link"),
        number("gain_imbalance_db", "dB", "gain of channel 1 over channel 0"),
        number("phase_error", "rad", "phase of channel 1 minus that of channel 0"),
        ripple("gain_ripple_db", "dB", "cosine coefficients of the gain ripple, [channel, term]"),
        ripple("phase_ripple", "rad", "cosine coefficients of the phase ripple, [channel, term]"),
    ])
}

fn replay_fields() -> [Field; 4] {
    let text = |name, what| field(name, DataType::Utf8, "name", "", what);
    [
        text("protocol", "measurement protocol that is replayed (simulated stand-in): full-rotation or track"),
        text("placement", "board placement: none, or its name"),
        field("site", DataType::UInt32, "site", "", "number of the RX site within its protocol"),
        field("command", DataType::Float64, "rad", "global", "commanded RX heading, in [0, 2 pi)"),
    ]
}

pub(crate) fn path_fields() -> Fields {
    let number = |name, unit, frame, what| field(name, DataType::Float64, unit, frame, what);
    let coefficient = "passband coefficient at the RX element, antennas applied, before the link scale";
    Fields::from(vec![
        field("kind", DataType::Utf8, "name", "", "LOS or specular"),
        field("surface", DataType::Utf8, "name", "", "LOS, wall:-x .. wall:+y, floor, ceiling, board:-x .. board:+z"),
        number("delay_s", "s", "", "propagation delay to the array's centre"),
        number("coefficient0_re", "1", "", coefficient),
        number("coefficient0_im", "1", "", coefficient),
        number("coefficient1_re", "1", "", coefficient),
        number("coefficient1_im", "1", "", coefficient),
        number("aoa_azimuth", "rad", "RX-local", "direction of arrival, from the RX towards the source"),
        number("aoa_elevation", "rad", "RX-local", "direction of arrival, from the RX towards the source"),
        number("aod_azimuth", "rad", "TX-local", "direction of departure"),
        number("aod_elevation", "rad", "TX-local", "direction of departure"),
    ])
}
