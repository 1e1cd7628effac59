//! What was drawn for the link's hardware: `tx_power_offset_db`, `rf_chain`.

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Float64Type};
use arrow::error::ArrowError;
use magnetar_signal::{MAX_RIPPLE_TERMS, RfChainDraw};

use super::arrays::{fixed_lists, floats, push_all, structs, with_room};
use super::describe::{field, fixed_list};
use super::{ColumnError, ColumnGroup, GroupReader, GroupWriter, NamedColumns, ValueError};
use crate::record::Record;
use crate::schema::Shape;

const NUMBERS: [&str; 4] = ["common_phase", "timing_offset_s", "gain_imbalance_db", "phase_error"];
const RIPPLES: [&str; 2] = ["gain_ripple_db", "phase_ripple"];
/// Numbers in one ripple column: two channels of cosine terms.
const RIPPLE_LEN: usize = 2 * MAX_RIPPLE_TERMS;

/// Every dataset has them.
pub(super) struct RfChainColumns;

struct Writer {
    tx_power_offset_db: Vec<f64>,
    numbers: [Vec<f64>; NUMBERS.len()],
    ripples: [Vec<f64>; RIPPLES.len()],
}

struct Reader<'a> {
    tx_power_offset_db: &'a [f64],
    numbers: [&'a [f64]; NUMBERS.len()],
    ripples: [&'a [f64]; RIPPLES.len()],
}

fn members() -> Fields {
    let [common_phase, timing_offset, gain_imbalance, phase_error] = NUMBERS;
    let [gain_ripple, phase_ripple] = RIPPLES;
    let number = |name, unit, what| field(name, DataType::Float64, unit, "", what);
    let ripple = |name, unit, what| field(name, fixed_list(DataType::Float64, RIPPLE_LEN), unit, "", what);
    Fields::from(vec![
        number(common_phase, "rad", "phase common to both channels"),
        number(timing_offset, "s", "timing offset of the asynchronous link"),
        number(gain_imbalance, "dB", "gain of channel 1 over channel 0"),
        number(phase_error, "rad", "phase of channel 1 minus that of channel 0"),
        ripple(gain_ripple, "dB", "cosine coefficients of the gain ripple, [channel, term]"),
        ripple(phase_ripple, "rad", "cosine coefficients of the phase ripple, [channel, term]"),
    ])
}

impl ColumnGroup for RfChainColumns {
    fn fields(&self, _: &Shape) -> Vec<Field> {
        vec![
            field("tx_power_offset_db", DataType::Float64, "dB", "", "TX-power offset of this observation"),
            field("rf_chain", DataType::Struct(members()), "", "", "drawn RF-chain perturbation"),
        ]
    }

    fn writer(&self, _: &Shape, rows: usize) -> Box<dyn GroupWriter> {
        Box::new(Writer {
            tx_power_offset_db: Vec::with_capacity(rows),
            numbers: with_room(rows),
            ripples: with_room(RIPPLE_LEN * rows),
        })
    }

    fn reader<'a>(&self, columns: &NamedColumns<'a>) -> Result<Option<Box<dyn GroupReader + 'a>>, ColumnError> {
        let members = columns.members("rf_chain")?;
        let [gain, phase] = RIPPLES;
        Ok(Some(Box::new(Reader {
            tx_power_offset_db: columns.numbers::<Float64Type>("tx_power_offset_db")?,
            numbers: members.floats(NUMBERS)?,
            ripples: [members.floats_of_length(gain, RIPPLE_LEN)?, members.floats_of_length(phase, RIPPLE_LEN)?],
        })))
    }
}

impl GroupWriter for Writer {
    fn push(&mut self, record: &Record) {
        self.tx_power_offset_db.push(record.tx_power_offset_db);
        let rf = &record.rf_chain;
        push_all(
            &mut self.numbers,
            [rf.common_phase_rad, rf.timing_offset_s, rf.gain_imbalance_db, rf.phase_error_rad],
        );
        for (column, ripple) in self.ripples.iter_mut().zip([&rf.gain_ripple_db, &rf.phase_ripple_rad]) {
            column.extend(ripple.as_flattened());
        }
    }

    fn finish(self: Box<Self>, fields: &[FieldRef]) -> Result<Vec<ArrayRef>, ArrowError> {
        let mut chain: Vec<ArrayRef> = self.numbers.map(floats).into();
        if let DataType::Struct(members) = fields[1].data_type() {
            for (field, ripple) in members.iter().skip(NUMBERS.len()).zip(self.ripples) {
                chain.push(fixed_lists(field, floats(ripple))?);
            }
        }
        Ok(vec![floats(self.tx_power_offset_db), structs(&fields[1], chain, None)?])
    }
}

impl GroupReader for Reader<'_> {
    fn read(&self, row: usize, record: &mut Record) -> Result<(), ValueError> {
        record.tx_power_offset_db = self.tx_power_offset_db[row];
        let [common_phase_rad, timing_offset_s, gain_imbalance_db, phase_error_rad] =
            self.numbers.map(|column| column[row]);
        let ripple = |column: &[f64]| {
            let mut ripple = [[0.0; MAX_RIPPLE_TERMS]; 2];
            ripple.as_flattened_mut().copy_from_slice(&column[row * RIPPLE_LEN..(row + 1) * RIPPLE_LEN]);
            ripple
        };
        let [gain_ripple_db, phase_ripple_rad] = self.ripples.map(ripple);
        record.rf_chain = RfChainDraw {
            common_phase_rad,
            timing_offset_s,
            gain_imbalance_db,
            phase_error_rad,
            gain_ripple_db,
            phase_ripple_rad,
        };
        Ok(())
    }
}
