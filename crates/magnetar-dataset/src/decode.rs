//! From record batches back to typed rows.

use std::sync::Arc;

use arrow::array::{Array, AsArray, FixedSizeListArray, PrimitiveArray, RecordBatch, StringArray, StructArray};
use arrow::datatypes::{ArrowPrimitiveType, DataType, Float16Type, Float32Type, Float64Type, UInt32Type, UInt64Type};
use magnetar_scene::{BoxShape, Pose, Room};
use magnetar_signal::{MAX_RIPPLE_TERMS, RfChainDraw};
use nalgebra::{Point3, Vector3};
use num_complex::{Complex32, Complex64};

use crate::draw::Board;
use crate::placement::Region;
use crate::record::{Arrival, Materials, Record, RecordPath, surface_from_name};
use crate::replay::{Protocol, Replayed};
use crate::schema::RIPPLE_LEN;

/// Reads the rows of a batch whose schema was checked.
///
/// # Errors
/// Names the column and row that hold something no row of ours can.
pub(crate) fn records(batch: &RecordBatch) -> Result<Vec<Record>, String> {
    Decoder::new(batch)?.all()
}

struct Decoder<'a> {
    batch: &'a RecordBatch,
    index: &'a [u64],
    set: &'a [u64],
    view: &'a [u32],
    room: &'a [f64],
    materials: [&'a StringArray; 4],
    board: Floats<'a, 7>,
    board_nulls: &'a StructArray,
    region: &'a StringArray,
    tx: Floats<'a, 4>,
    rx: Floats<'a, 4>,
    tx_power_offset_db: &'a [f64],
    rf_chain: Floats<'a, 4>,
    ripples: [&'a [f64]; 2],
    los: &'a arrow::array::BooleanArray,
    path_ends: &'a [i32],
    path_surface: &'a StringArray,
    path_numbers: Floats<'a, 9>,
    arrivals: [&'a [f64]; 5],
    valid: &'a arrow::array::BooleanArray,
    keep: usize,
    replay: Option<ReplayColumns<'a>>,
}

struct ReplayColumns<'a> {
    protocol: &'a StringArray,
    placement: &'a StringArray,
    site: &'a [u32],
    command: &'a [f64],
}

impl<'a> ReplayColumns<'a> {
    fn new(batch: &'a RecordBatch) -> Result<Option<Self>, String> {
        if batch.column_by_name("protocol").is_none() {
            return Ok(None);
        }
        let text = |name: &str| -> Result<&'a StringArray, String> {
            column(batch, name)?.as_string_opt::<i32>().ok_or_else(|| format!("column {name} is not text"))
        };
        Ok(Some(Self {
            protocol: text("protocol")?,
            placement: text("placement")?,
            site: primitive::<UInt32Type>(column(batch, "site")?)?,
            command: primitive::<Float64Type>(column(batch, "command")?)?,
        }))
    }

    fn row(&self, row: usize) -> Result<Replayed, String> {
        let label = self.protocol.value(row);
        Ok(Replayed {
            protocol: Protocol::from_label(label).ok_or_else(|| format!("protocol {label:?} is unknown"))?,
            placement: self.placement.value(row).into(),
            site: self.site[row],
            command: self.command[row],
        })
    }
}

type Floats<'a, const N: usize> = [&'a [f64]; N];

impl<'a> Decoder<'a> {
    fn new(batch: &'a RecordBatch) -> Result<Self, String> {
        let materials = structure(batch, "materials")?;
        let board = structure(batch, "board")?;
        let paths = column(batch, "paths")?.as_list_opt::<i32>().ok_or("column paths is not a list")?;
        let path = paths.values().as_struct_opt().ok_or("column paths does not hold structs")?;
        let valid = fixed(batch, "valid")?;
        let text = |of: &'a StructArray, name: &str| -> Result<&'a StringArray, String> {
            of.column_by_name(name)
                .and_then(|c| c.as_string_opt::<i32>())
                .ok_or_else(|| format!("field {name} is not text"))
        };
        Ok(Self {
            batch,
            index: primitive::<UInt64Type>(column(batch, "index")?)?,
            set: primitive::<UInt64Type>(column(batch, "set")?)?,
            view: primitive::<UInt32Type>(column(batch, "view")?)?,
            room: primitive::<Float64Type>(fixed_values(fixed(batch, "room")?)?)?,
            materials: [
                text(materials, "wall")?,
                text(materials, "ceiling")?,
                text(materials, "floor")?,
                text(materials, "board")?,
            ],
            board: members(board, ["x", "y", "z", "width", "thickness", "height", "yaw"])?,
            board_nulls: board,
            region: text(board, "region")?,
            tx: members(structure(batch, "tx")?, ["x", "y", "z", "heading"])?,
            rx: members(structure(batch, "rx")?, ["x", "y", "z", "heading"])?,
            tx_power_offset_db: primitive::<Float64Type>(column(batch, "tx_power_offset_db")?)?,
            rf_chain: members(
                structure(batch, "rf_chain")?,
                ["common_phase", "timing_offset_s", "gain_imbalance_db", "phase_error"],
            )?,
            ripples: {
                let rf_chain = structure(batch, "rf_chain")?;
                let mut columns = [&[][..]; 2];
                for (slot, name) in columns.iter_mut().zip(["gain_ripple_db", "phase_ripple"]) {
                    let list = rf_chain
                        .column_by_name(name)
                        .and_then(|c| c.as_fixed_size_list_opt())
                        .ok_or_else(|| format!("field {name} is not a fixed-size list"))?;
                    *slot = primitive::<Float64Type>(fixed_values(list)?)?;
                }
                columns
            },
            los: column(batch, "los")?.as_boolean_opt().ok_or("column los is not boolean")?,
            path_ends: paths.value_offsets(),
            path_surface: text(path, "surface")?,
            path_numbers: members(
                path,
                [
                    "delay_s",
                    "coefficient0_re",
                    "coefficient0_im",
                    "coefficient1_re",
                    "coefficient1_im",
                    "aoa_azimuth",
                    "aoa_elevation",
                    "aod_azimuth",
                    "aod_elevation",
                ],
            )?,
            arrivals: {
                let names = ["aoa", "snr_db", "raw_snr_db", "delay_s", "phase_rad"];
                let mut columns = [&[][..]; 5];
                for (slot, name) in columns.iter_mut().zip(names) {
                    *slot = primitive::<Float64Type>(fixed_values(fixed(batch, name)?)?)?;
                }
                columns
            },
            keep: usize::try_from(valid.value_length()).unwrap_or(0),
            valid: fixed_values(valid)?.as_boolean_opt().ok_or("column valid is not boolean")?,
            replay: ReplayColumns::new(batch)?,
        })
    }

    fn all(&self) -> Result<Vec<Record>, String> {
        (0..self.batch.num_rows()).map(|row| self.record(row)).collect()
    }

    fn record(&self, row: usize) -> Result<Record, String> {
        let at = |what: &str| format!("row {}: {what}", self.index[row]);
        let name = |column: &StringArray| Arc::<str>::from(column.value(row));
        let [wall, ceiling, floor, board] = self.materials;
        let mut bounds = [0.0; 6];
        bounds.copy_from_slice(&self.room[row * 6..row * 6 + 6]);
        let pose = |of: &Floats<'_, 4>| Pose {
            position: Point3::new(of[0][row], of[1][row], of[2][row]),
            heading: of[3][row],
        };
        let rf = self.rf_chain.map(|column| column[row]);
        Ok(Record {
            index: self.index[row],
            set: self.set[row],
            view: self.view[row],
            room: Room::from_bounds(bounds).ok_or_else(|| at("room bounds are not in order"))?,
            materials: Materials {
                wall: name(wall),
                ceiling: name(ceiling),
                floor: name(floor),
                board: board.is_valid(row).then(|| name(board)),
            },
            board: self.board(row).map_err(|e| at(&e))?,
            tx: pose(&self.tx),
            rx: pose(&self.rx),
            tx_power_offset_db: self.tx_power_offset_db[row],
            rf_chain: RfChainDraw {
                common_phase_rad: rf[0],
                timing_offset_s: rf[1],
                gain_imbalance_db: rf[2],
                phase_error_rad: rf[3],
                gain_ripple_db: self.ripple(0, row),
                phase_ripple_rad: self.ripple(1, row),
            },
            los: self.los.value(row),
            paths: self.paths(row).map_err(|e| at(&e))?,
            arrivals: self.arrivals(row),
            replayed: self.replay.as_ref().map(|replay| replay.row(row)).transpose().map_err(|e| at(&e))?,
            csi: csi(self.batch, row)?,
        })
    }

    fn ripple(&self, which: usize, row: usize) -> [[f64; MAX_RIPPLE_TERMS]; 2] {
        let mut ripple = [[0.0; MAX_RIPPLE_TERMS]; 2];
        ripple.as_flattened_mut().copy_from_slice(&self.ripples[which][row * RIPPLE_LEN..(row + 1) * RIPPLE_LEN]);
        ripple
    }

    fn board(&self, row: usize) -> Result<Option<Board>, String> {
        if self.board_nulls.is_null(row) {
            return Ok(None);
        }
        let [x, y, z, width, thickness, height, yaw] = self.board.map(|column| column[row]);
        let region = self.region.value(row);
        let region = Region::from_label(region).ok_or_else(|| format!("board region {region:?} is unknown"))?;
        let shape = BoxShape { center: Point3::new(x, y, z), size: Vector3::new(width, thickness, height), yaw };
        Ok(Some(Board { shape, region }))
    }

    fn paths(&self, row: usize) -> Result<Vec<RecordPath>, String> {
        let index = |i: i32| usize::try_from(i).unwrap_or(0);
        (index(self.path_ends[row])..index(self.path_ends[row + 1]))
            .map(|i| {
                let name = self.path_surface.value(i);
                let surface = surface_from_name(name).ok_or_else(|| format!("path surface {name:?} is unknown"))?;
                let [delay_s, re0, im0, re1, im1, aoa_azimuth, aoa_elevation, aod_azimuth, aod_elevation] =
                    self.path_numbers.map(|column| column[i]);
                Ok(RecordPath {
                    surface,
                    delay_s,
                    coefficients: [Complex64::new(re0, im0), Complex64::new(re1, im1)],
                    aoa_azimuth,
                    aoa_elevation,
                    aod_azimuth,
                    aod_elevation,
                })
            })
            .collect()
    }

    fn arrivals(&self, row: usize) -> Vec<Arrival> {
        (row * self.keep..(row + 1) * self.keep)
            .map(|i| {
                let [aoa, snr_db, raw_snr_db, delay_s, phase_rad] = self.arrivals.map(|column| column[i]);
                Arrival { aoa, snr_db, raw_snr_db, delay_s, phase_rad, valid: self.valid.value(i) }
            })
            .collect()
    }
}

/// The observation of a row, if the batch holds the column.
pub(crate) fn csi(batch: &RecordBatch, row: usize) -> Result<Option<Vec<Complex32>>, String> {
    let Some(column) = batch.column_by_name("csi") else { return Ok(None) };
    let list = column.as_fixed_size_list_opt().ok_or("column csi is not a fixed-size list")?;
    let values = list.value(row);
    let pairs = |floats: &[f32]| floats.chunks_exact(2).map(|z| Complex32::new(z[0], z[1])).collect();
    match values.data_type() {
        DataType::Float32 => Ok(Some(pairs(primitive::<Float32Type>(&values)?))),
        DataType::Float16 => {
            let floats: Vec<f32> = primitive::<Float16Type>(&values)?.iter().map(|x| x.to_f32()).collect();
            Ok(Some(pairs(&floats)))
        }
        other => Err(format!("column csi holds {other}")),
    }
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a arrow::array::ArrayRef, String> {
    batch.column_by_name(name).ok_or_else(|| format!("column {name} is missing"))
}

fn structure<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a StructArray, String> {
    column(batch, name)?.as_struct_opt().ok_or_else(|| format!("column {name} is not a struct"))
}

fn fixed<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a FixedSizeListArray, String> {
    column(batch, name)?.as_fixed_size_list_opt().ok_or_else(|| format!("column {name} is not a fixed-size list"))
}

/// The values of all rows, end to end.
fn fixed_values(list: &FixedSizeListArray) -> Result<&arrow::array::ArrayRef, String> {
    let expected = list.len() * usize::try_from(list.value_length()).unwrap_or(0);
    if list.values().len() == expected { Ok(list.values()) } else { Err("a fixed-size list is cut short".into()) }
}

fn primitive<T: ArrowPrimitiveType>(array: &arrow::array::ArrayRef) -> Result<&[T::Native], String> {
    let typed: &PrimitiveArray<T> =
        array.as_primitive_opt().ok_or_else(|| format!("unexpected type {}", array.data_type()))?;
    Ok(typed.values())
}

fn members<'a, const N: usize>(of: &'a StructArray, names: [&str; N]) -> Result<Floats<'a, N>, String> {
    let mut columns = [&[][..]; N];
    for (slot, name) in columns.iter_mut().zip(names) {
        let column = of.column_by_name(name).ok_or_else(|| format!("field {name} is missing"))?;
        *slot = primitive::<Float64Type>(column)?;
    }
    Ok(columns)
}
