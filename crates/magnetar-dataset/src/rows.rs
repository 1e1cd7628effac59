//! Rows on their way into a record batch: plain columns that grow row by row.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, FixedSizeListArray, Float16Array, Float32Array, Float64Array, ListArray, RecordBatch,
    StringArray, StructArray, UInt32Array, UInt64Array,
};
use arrow::buffer::{BooleanBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Field, Fields, Schema};
use arrow::error::ArrowError;
use half::f16;

use crate::recipe::Csi;
use crate::record::{Record, surface_name};
use crate::schema::{RIPPLE_LEN, Shape, board_fields, csi_item, material_fields, path_fields, pose_fields, rf_fields};

const BOARD_NUMBERS: usize = 7;
const POSE_NUMBERS: usize = 4;
const RF_NUMBERS: usize = 4;
const PATH_NUMBERS: usize = 9;
const ARRIVAL_NUMBERS: usize = 5;

/// Columns under construction.
#[derive(Debug)]
pub(crate) struct Rows {
    shape: Shape,
    schema: Arc<Schema>,
    index: Vec<u64>,
    set: Vec<u64>,
    view: Vec<u32>,
    room: Vec<f64>,
    materials: [Vec<Arc<str>>; 3],
    board_material: Vec<Option<Arc<str>>>,
    board: [Vec<f64>; BOARD_NUMBERS],
    region: Vec<&'static str>,
    has_board: Vec<bool>,
    tx: [Vec<f64>; POSE_NUMBERS],
    rx: [Vec<f64>; POSE_NUMBERS],
    tx_power_offset_db: Vec<f64>,
    rf_chain: [Vec<f64>; RF_NUMBERS],
    ripples: [Vec<f64>; 2],
    los: Vec<bool>,
    path_ends: Vec<i32>,
    path_kind: Vec<&'static str>,
    path_surface: Vec<&'static str>,
    path_numbers: [Vec<f64>; PATH_NUMBERS],
    arrivals: [Vec<f64>; ARRIVAL_NUMBERS],
    valid: Vec<bool>,
    protocol: Vec<&'static str>,
    placement: Vec<Arc<str>>,
    site: Vec<u32>,
    command: Vec<f64>,
    csi: Vec<f32>,
}

impl Rows {
    /// Room for `capacity` rows.
    pub(crate) fn new(shape: Shape, capacity: usize) -> Self {
        let csi = if shape.csi == Csi::None { 0 } else { capacity * shape.csi_len() };
        Self {
            shape,
            schema: shape.schema(),
            index: Vec::with_capacity(capacity),
            set: Vec::with_capacity(capacity),
            view: Vec::with_capacity(capacity),
            room: Vec::with_capacity(6 * capacity),
            materials: Default::default(),
            board_material: Vec::with_capacity(capacity),
            board: Default::default(),
            region: Vec::with_capacity(capacity),
            has_board: Vec::with_capacity(capacity),
            tx: Default::default(),
            rx: Default::default(),
            tx_power_offset_db: Vec::with_capacity(capacity),
            rf_chain: Default::default(),
            ripples: Default::default(),
            los: Vec::with_capacity(capacity),
            path_ends: vec![0],
            path_kind: Vec::new(),
            path_surface: Vec::new(),
            path_numbers: Default::default(),
            arrivals: Default::default(),
            valid: Vec::with_capacity(capacity * shape.keep),
            protocol: Vec::new(),
            placement: Vec::new(),
            site: Vec::new(),
            command: Vec::new(),
            csi: Vec::with_capacity(csi),
        }
    }

    /// Adds a row. Its observation must be there if the shape stores one.
    pub(crate) fn push(&mut self, record: &Record) {
        self.index.push(record.index);
        self.set.push(record.set);
        self.view.push(record.view);
        self.room.extend(record.room.bounds());
        let materials = &record.materials;
        for (column, name) in self.materials.iter_mut().zip([&materials.wall, &materials.ceiling, &materials.floor]) {
            column.push(Arc::clone(name));
        }
        self.board_material.push(materials.board.clone());
        let board = record.board.map_or([0.0; BOARD_NUMBERS], |board| {
            let (center, size) = (board.shape.center, board.shape.size);
            [center.x, center.y, center.z, size.x, size.y, size.z, board.shape.yaw]
        });
        push_all(&mut self.board, board);
        self.region.push(record.board.map_or("", |board| board.region.label()));
        self.has_board.push(record.board.is_some());
        for (columns, pose) in [(&mut self.tx, &record.tx), (&mut self.rx, &record.rx)] {
            push_all(columns, [pose.position.x, pose.position.y, pose.position.z, pose.heading]);
        }
        self.tx_power_offset_db.push(record.tx_power_offset_db);
        let rf = &record.rf_chain;
        push_all(
            &mut self.rf_chain,
            [rf.common_phase_rad, rf.timing_offset_s, rf.gain_imbalance_db, rf.phase_error_rad],
        );
        for (column, ripple) in self.ripples.iter_mut().zip([&rf.gain_ripple_db, &rf.phase_ripple_rad]) {
            column.extend(ripple.as_flattened());
        }
        self.los.push(record.los);
        self.push_paths(record);
        self.push_arrivals(record);
        if let (true, Some(replayed)) = (self.shape.replay, &record.replayed) {
            self.protocol.push(replayed.protocol.label());
            self.placement.push(Arc::clone(&replayed.placement));
            self.site.push(replayed.site);
            self.command.push(replayed.command);
        }
        if self.shape.csi != Csi::None {
            self.csi.extend_from_slice(bytemuck::cast_slice(record.csi.as_deref().unwrap_or_default()));
        }
    }

    fn push_paths(&mut self, record: &Record) {
        for path in &record.paths {
            self.path_kind.push(match path.kind() {
                magnetar_trace::PathKind::Los => "LOS",
                magnetar_trace::PathKind::Specular => "specular",
                magnetar_trace::PathKind::Transmitted => "transmitted",
            });
            self.path_surface.push(surface_name(path.surface));
            let [a, b] = path.coefficients;
            push_all(
                &mut self.path_numbers,
                [
                    path.delay_s,
                    a.re,
                    a.im,
                    b.re,
                    b.im,
                    path.aoa_azimuth,
                    path.aoa_elevation,
                    path.aod_azimuth,
                    path.aod_elevation,
                ],
            );
        }
        let paths = i32::try_from(self.path_kind.len()).unwrap_or(i32::MAX);
        self.path_ends.push(paths);
    }

    fn push_arrivals(&mut self, record: &Record) {
        for rank in 0..self.shape.keep {
            let arrival = record.arrivals.get(rank).copied().unwrap_or_default();
            push_all(
                &mut self.arrivals,
                [arrival.aoa, arrival.snr_db, arrival.raw_snr_db, arrival.delay_s, arrival.phase_rad],
            );
            self.valid.push(arrival.valid);
        }
    }

    /// Rows so far.
    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    /// The rows as a batch.
    ///
    /// # Errors
    /// Only if a row's observation had another size than the shape says.
    pub(crate) fn into_batch(self) -> Result<RecordBatch, ArrowError> {
        let rows = self.len();
        let keep = i32::try_from(self.shape.keep).unwrap_or(i32::MAX);
        let [wall, ceiling, floor] =
            self.materials.map(|names| -> ArrayRef { Arc::new(StringArray::from_iter_values(names)) });
        let board_material: ArrayRef = Arc::new(self.board_material.into_iter().collect::<StringArray>());
        let has_board = NullBuffer::new(BooleanBuffer::from(self.has_board));
        let mut board: Vec<ArrayRef> = self.board.map(floats).into();
        board.push(Arc::new(StringArray::from_iter_values(self.region)));
        let mut paths: Vec<ArrayRef> = vec![
            Arc::new(StringArray::from_iter_values(self.path_kind)),
            Arc::new(StringArray::from_iter_values(self.path_surface)),
        ];
        paths.extend(self.path_numbers.map(floats));
        let path_item = Arc::new(Field::new("item", DataType::Struct(path_fields()), false));
        let path_structs = structs(path_fields(), paths, None)?;
        let paths =
            ListArray::try_new(path_item, OffsetBuffer::new(ScalarBuffer::from(self.path_ends)), path_structs, None)?;
        let mut rf_chain: Vec<ArrayRef> = self.rf_chain.map(floats).into();
        let ripple_len = i32::try_from(RIPPLE_LEN).unwrap_or(i32::MAX);
        for ripple in self.ripples {
            rf_chain.push(fixed(DataType::Float64, ripple_len, floats(ripple))?);
        }
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(UInt64Array::from(self.index)),
            Arc::new(UInt64Array::from(self.set)),
            Arc::new(UInt32Array::from(self.view)),
            fixed(DataType::Float64, 6, floats(self.room))?,
            structs(material_fields(), vec![wall, ceiling, floor, board_material], None)?,
            structs(board_fields(), board, Some(has_board))?,
            structs(pose_fields(), self.tx.map(floats).into(), None)?,
            structs(pose_fields(), self.rx.map(floats).into(), None)?,
            floats(self.tx_power_offset_db),
            structs(rf_fields(), rf_chain, None)?,
            Arc::new(BooleanArray::from(self.los)),
            Arc::new(paths),
        ];
        for numbers in self.arrivals {
            columns.push(fixed(DataType::Float64, keep, floats(numbers))?);
        }
        columns.push(fixed(DataType::Boolean, keep, Arc::new(BooleanArray::from(self.valid)))?);
        if self.shape.replay {
            columns.push(Arc::new(StringArray::from_iter_values(self.protocol)));
            columns.push(Arc::new(StringArray::from_iter_values(self.placement)));
            columns.push(Arc::new(UInt32Array::from(self.site)));
            columns.push(floats(self.command));
        }
        let csi_len = i32::try_from(self.shape.csi_len()).unwrap_or(i32::MAX);
        match self.shape.csi {
            Csi::None => {}
            Csi::F32 => columns.push(tensor(DataType::Float32, csi_len, Arc::new(Float32Array::from(self.csi)))?),
            Csi::F16 => {
                let halves: Float16Array = self.csi.iter().map(|x| f16::from_f32(*x)).collect::<Vec<_>>().into();
                columns.push(tensor(DataType::Float16, csi_len, Arc::new(halves))?);
            }
        }
        debug_assert!(columns.iter().all(|column| column.len() == rows));
        RecordBatch::try_new(self.schema, columns)
    }
}

fn push_all<const N: usize>(columns: &mut [Vec<f64>; N], values: [f64; N]) {
    for (column, value) in columns.iter_mut().zip(values) {
        column.push(value);
    }
}

fn floats(values: Vec<f64>) -> ArrayRef {
    Arc::new(Float64Array::from(values))
}

fn structs(fields: Fields, columns: Vec<ArrayRef>, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
    Ok(Arc::new(StructArray::try_new(fields, columns, nulls)?))
}

fn fixed(item: DataType, length: i32, values: ArrayRef) -> Result<ArrayRef, ArrowError> {
    Ok(Arc::new(FixedSizeListArray::try_new(Arc::new(Field::new("item", item, false)), length, values, None)?))
}

fn tensor(item: DataType, length: i32, values: ArrayRef) -> Result<ArrayRef, ArrowError> {
    Ok(Arc::new(FixedSizeListArray::try_new(csi_item(item), length, values, None)?))
}
